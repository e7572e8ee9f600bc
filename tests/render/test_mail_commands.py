"""What a mail offers to write back is what the buttons do as the record stands."""

from dataclasses import replace

import pytest

from bot.incidents.keys import Capability
from bot.mail.commands import CommandWord
from bot.render.mail import offered
from bot.render.mail.commands import effect, label
from tests.render.cases import late


@pytest.mark.parametrize(("cause", "offers"), [("late.not_started", True), ("late.not_finished", False)])
def test_what_never_started_may_be_started_by_rerun(cause: str, offers: bool) -> None:
    snapshot = late(cause, "08:15 CET")

    assert (CommandWord.RERUN in offered(snapshot, proposal=None)) is offers
    if offers:
        assert label(snapshot, CommandWord.RERUN) == "Start now"
        assert effect(snapshot, CommandWord.RERUN) is not None


def test_what_cannot_be_started_is_not_offered() -> None:
    snapshot = late("late.not_started", "08:15 CET")
    reports_only = replace(snapshot, can=snapshot.can - {Capability.START})

    assert CommandWord.RERUN not in offered(reports_only, proposal=None)
