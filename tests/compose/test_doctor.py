"""What `doctor` says of a Slack that is set up wrongly: each finding by its part, with what to do about it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from bot.adapters.slack import SlackChat
from bot.adapters.slack_scopes import NEEDED
from bot.compose.doctor_slack import examine_slack
from bot.compose.finding import Finding, Health
from bot.policies import Policies, load
from bot.sandbox.slack.app import build_app
from bot.sandbox.slack.client import Workspace
from bot.sandbox.slack.server import serve
from bot.settings import Settings
from tests.world.people import CHANNELS, GROUPS, PEOPLE, POLICIES, TOKEN, seed

NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Office:
    """The workspace, and the doctor who looks at it."""

    slack: Workspace

    def findings(self, policies: str = POLICIES, *, token: str = TOKEN, app_token: str = "") -> list[Finding]:
        env = {
            "SLACK_BOT_TOKEN": token,
            "SLACK_SIGNING_SECRET": "shared",
            "SLACK_API_URL": f"{self.slack.url}/api/",
            **({"SLACK_APP_TOKEN": app_token} if app_token else {}),
        }
        settings = Settings.from_env(env)
        chat = SlackChat(token=token, clock=lambda: NOW, base_url=settings.slack_api_url)
        try:
            return list(examine_slack(settings, chat, loaded(policies), clock=lambda: NOW))
        finally:
            chat.close()

    def trouble(self, policies: str = POLICIES, **more: str) -> list[Finding]:
        return [found for found in self.findings(policies, **more) if found.health is not Health.OK]


def loaded(policies: str) -> Policies:
    return load(policies, env={})


@pytest.fixture
def office() -> Iterator[Office]:
    seeded = seed()
    seeded["bot"]["scopes"] = sorted(NEEDED)
    server = serve(
        build_app(callback="http://127.0.0.1:9/slack/events", signing_secret="s", clock=lambda: NOW, seed=seeded)
    )
    with Workspace(server.url) as slack:
        yield Office(slack=slack)
    server.stop()


def test_of_a_good_installation_everything_is_well_and_every_message_was_checked(office: Office) -> None:
    found = office.findings()

    assert [each for each in found if each.health is not Health.OK] == []
    assert {each.part for each in found} >= {"Slack", "Slack scopes", "channel of team finance", "Slack messages"}
    count = int(next(each.says for each in found if each.part == "Slack messages").split()[0])
    assert count == len(office.slack.calls(method="blocks.validate")) >= 30
    assert office.slack.journal() == [], "nothing was sent"


CHANNEL = "channel of team finance"
WRONG: list[tuple[str, Callable[[Workspace], object], Health, str, str, str]] = [
    (
        "a channel that is archived",
        lambda slack: slack.change_channel(CHANNELS["finance"], archived=True),
        Health.BROKEN,
        CHANNEL,
        "#finance-jobs is archived",
        "unarchive",
    ),
    (
        "a channel without ontrack",
        lambda slack: slack.change_channel(CHANNELS["finance"], bot_member=False),
        Health.BROKEN,
        CHANNEL,
        "ontrack is not in #finance-jobs",
        "/invite @ontrack",
    ),
    (
        "a private channel without ontrack",
        lambda slack: slack.change_channel(CHANNELS["finance"], bot_member=False, private=True),
        Health.BROKEN,
        CHANNEL,
        "C0FINANCE is not there, or is private",
        "/invite @ontrack",
    ),
    (
        "the fallback channel archived",
        lambda slack: slack.change_channel(CHANNELS["jobs"], archived=True),
        Health.BROKEN,
        "channel of fallback",
        "#jobs-jobs is archived",
        "unarchive",
    ),
    (
        "a group that is disabled",
        lambda slack: slack.change_people(
            usergroups=[{"id": GROUPS["finance-oncall"], "handle": "finance-oncall", "users": [], "disabled": True}]
        ),
        Health.BROKEN,
        "team finance",
        "usergroup S0FINONCALL is not there, or is disabled",
        "enable it",
    ),
    (
        "a group without members",
        lambda slack: slack.change_people(
            usergroups=[{"id": GROUPS["finance-data"], "handle": "finance-data", "users": []}]
        ),
        Health.BROKEN,
        "team finance",
        "team_usergroup S0FINDATA has no members",
        "add members",
    ),
    (
        "a member who left",
        lambda slack: slack.change_people(users=[{"id": PEOPLE["olga"], "name": "olga", "deleted": True}]),
        Health.WARN,
        "team finance",
        "U0OLGA is deactivated",
        "remove the name",
    ),
    (
        "an address that is nobody's",
        lambda slack: slack.change_people(users=[{"id": PEOPLE["ana"], "name": "ana", "email": "other@example.com"}]),
        Health.WARN,
        "team finance",
        "ana@example.com is nobody",
        "correct or remove the name",
    ),
    (
        "a scope too many",
        lambda slack: slack.change_token(scopes=[*NEEDED, "chat:write.public"]),
        Health.WARN,
        "Slack scopes",
        "more than is needed: chat:write.public",
        "take them out",
    ),
]


@pytest.mark.parametrize(
    ("what", "change", "health", "part", "says", "fix"), WRONG, ids=[each[0].replace(" ", "-") for each in WRONG]
)
def test_each_trouble_is_one_finding_with_its_fix(
    office: Office,
    what: str,
    change: Callable[[Workspace], object],
    health: Health,
    part: str,
    says: str,
    fix: str,
) -> None:
    change(office.slack)
    (found,) = office.trouble()

    assert (found.part, found.health) == (part, health), what
    assert says in found.says
    assert fix in found.fix


@pytest.mark.parametrize("scope", sorted(NEEDED))
def test_a_missing_scope_is_named_with_the_method_that_needs_it(office: Office, scope: str) -> None:
    office.slack.change_token(scopes=sorted(NEEDED - {scope}))
    found = next(each for each in office.findings() if each.part == "Slack scopes")

    assert found.health is Health.BROKEN
    assert found.says.startswith(f"{scope} is missing, which ")
    assert "reinstall the app" in found.fix


@pytest.mark.parametrize(
    ("token", "revoked", "code"), [("xoxb-wrong", False, "invalid_auth"), (TOKEN, True, "token_revoked")]
)
def test_a_token_that_opens_nothing_is_all_there_is_to_say(
    office: Office, token: str, revoked: bool, code: str
) -> None:
    office.slack.change_token(revoked=revoked)
    (found,) = office.findings(token=token)

    assert (found.health, found.says) == (Health.BROKEN, f"the token opens nothing: {code}")
    assert "SLACK_BOT_TOKEN" in found.fix


def test_what_slack_refuses_of_our_messages_is_told_with_its_place(office: Office) -> None:
    office.slack.inject("blocks.validate", error="invalid_blocks")
    (found,) = office.trouble()

    assert (found.part, found.health) == ("Slack messages", Health.BROKEN)
    assert "the root message: invalid_blocks" in found.says


def test_a_workspace_that_does_not_validate_is_no_failure(office: Office) -> None:
    office.slack.inject("blocks.validate", error="unknown_method", count=None)
    (found,) = office.trouble()

    assert found.health is Health.WARN
    assert "not checked after 0" in found.says


def test_socket_mode_is_looked_at_where_it_is_set_up(office: Office) -> None:
    good = office.findings(app_token="xapp-sandbox")[-1]
    bad = office.findings(app_token="xapp-other")[-1]

    assert (good.part, good.health) == ("Socket Mode", Health.OK)
    assert (bad.part, bad.health) == ("Socket Mode", Health.BROKEN)
    assert "connections:write" in bad.fix
