"""The scopes: every method that is called is covered, and nothing is asked for that no method needs."""

import re
from pathlib import Path

import pytest
import yaml

import bot.adapters
from bot.adapters.slack_scopes import COMMANDS, NEEDED, SCOPES_OF, methods_that_need
from bot.compose.manifest import manifest_yaml
from bot.sandbox.slack.methods import METHODS

FAMILIES = "apps|auth|blocks|chat|conversations|files|usergroups|users|views"
CALLED = re.compile(rf'"((?:{FAMILIES})\.[A-Za-z.]*[A-Za-z])"')
APP_LEVEL = {"apps.connections.open"}


def called() -> set[str]:
    """The methods whose names stand in the adapter's code."""
    (place,) = bot.adapters.__path__
    code = "\n".join(path.read_text() for path in Path(place).glob("slack*.py") if path.name != "slack_scopes.py")
    return set(CALLED.findall(code))


def test_every_method_that_is_called_has_its_scopes_and_no_other_is_listed() -> None:
    assert called() - APP_LEVEL == set(SCOPES_OF)


@pytest.mark.parametrize("method", sorted(SCOPES_OF))
def test_the_strict_workspace_lets_each_method_be_called_with_these_scopes_alone(method: str) -> None:
    wanted = METHODS[method].scopes

    assert not wanted or set(SCOPES_OF[method]) & set(wanted)


def test_every_scope_of_the_manifest_is_needed() -> None:
    manifest = yaml.safe_load(manifest_yaml("https://ontrack.example.com"))

    assert manifest["oauth_config"]["scopes"]["bot"] == sorted(NEEDED)
    for scope in NEEDED - {COMMANDS}:
        assert methods_that_need(scope), scope
    assert manifest["features"]["slash_commands"]


def test_for_socket_mode_no_address_is_named() -> None:
    printed = manifest_yaml(None)
    settings = yaml.safe_load(printed)["settings"]

    assert settings["socket_mode_enabled"] is True
    assert settings["interactivity"] == {"is_enabled": True}
    assert "url" not in printed
