"""What the evidence tests share: the packaged rules, compiled once."""

import pytest
from hypothesis import settings

from bot.evidence import RuleSet, load_rules

settings.register_profile("busy machine", deadline=None)
settings.load_profile("busy machine")


@pytest.fixture(scope="session")
def rules() -> RuleSet:
    return load_rules()
