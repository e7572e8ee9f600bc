"""When Slack cannot be written to: asks go by mail, and afterwards each thread begins where things stand, not with a replay."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from bot.compose.post import Post
from bot.store import EffectState
from tests.world.fixtures import Build
from tests.world.mail import AUTHSERV_ID, SENDER, FakeMail, FakeMailbox, answer_to
from tests.world.people import LOST_COLUMN, POLICIES, RESET
from tests.world.world import World

KEY = "the key of the world, long enough to be one"
WITH_LIST = POLICIES.replace(
    "    manager: maria@example.com", "    manager: maria@example.com\n    email: finance@example.com"
)
ANA, BEN, RITA, LIST = (f"{name}@example.com" for name in ("ana", "ben", "rita", "finance"))
Company = Callable[..., World]


@pytest.fixture
def post() -> FakeMail:
    return FakeMail()


@pytest.fixture
def box() -> FakeMailbox:
    return FakeMailbox()


@pytest.fixture
def company(build_world: Build, post: FakeMail, box: FakeMailbox) -> Company:
    def build(policies: str = WITH_LIST, **more: Any) -> World:
        given = Post(mail=post, sender=SENDER, mailbox=box, authserv_id=AUTHSERV_ID)
        return build_world(policies=policies, post=given, env={"SECRET_KEY": KEY}, **more)

    return build


def kinds(world: World, *states: EffectState) -> list[str]:
    return [str(row.content.get("kind", row.kind)) for row in reversed(world.outbox(*states))]


@pytest.mark.scenario(5)
def test_while_slack_is_down_the_ask_goes_by_mail_once_with_the_evidence(company: Company, post: FakeMail) -> None:
    world = company()
    world.stage.slack.go_away()
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.moves_to("03:21")
    assert post.sent == []

    world.moves_to("03:24")
    assert [message.to for message in post.sent] == [BEN]
    assert "UndefinedColumn" in post.sent[0].text
    assert "Slack" in post.sent[0].text
    assert len([row for row in world.timeline("orders") if row.kind == "late_message"]) == 1


@pytest.mark.scenario(5)
def test_when_slack_is_back_there_is_one_thread_with_the_current_state_and_no_replay(
    company: Company, post: FakeMail, box: FakeMailbox
) -> None:
    world = company()
    world.stage.slack.go_away()
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.moves_to("04:10")
    box.takes(answer_to(post.to(LIST)[-1], "ack", sender=ANA))
    world.moves_to("05:12")
    world.stage.slack.go_away(away=False)
    world.passes(minutes=3)

    assert len(world.channel("finance")) == 1
    assert "On it: Ana since" in world.text_of(world.root("orders"))
    evidence, log = world.replies("orders")
    assert "UndefinedColumn" in evidence
    assert "[file]" in log
    assert world.mentions() == []
    assert world.outbox(EffectState.WAITING, EffectState.SENDING, EffectState.BURIED) == ()


@pytest.mark.scenario(5)
def test_an_ask_that_nobody_answered_is_made_in_slack_once_it_is_back_the_newest_alone(company: Company) -> None:
    world = company()
    world.stage.slack.go_away()
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.moves_to("03:50")
    world.stage.slack.go_away(away=False)
    world.passes(minutes=2)

    assert len(world.mentions()) == 1


@pytest.mark.scenario(30)
@pytest.mark.parametrize("code", ["token_revoked", "invalid_auth"])
def test_a_token_that_opens_nothing_sends_asks_by_mail_at_once_and_tells_the_admins_once_a_day(
    company: Company, post: FakeMail, code: str
) -> None:
    world = company()
    world.stage.slack.inject("chat.postMessage", error=code, count=None)
    world.fails("orders", at="23:50", log=LOST_COLUMN)
    world.passes(minutes=1)
    assert sorted(message.to for message in post.sent) == [BEN, RITA]
    fault = post.to(RITA)[0]
    assert code in fault.text
    assert "token" in fault.text.lower()

    world.fails("stock", at="23:55", log=LOST_COLUMN)
    world.passes(minutes=2)
    assert len(post.to(RITA)) == 1
    world.moves_to("Tue 00:02")
    assert len(post.to(RITA)) == 2


@pytest.mark.scenario(30)
def test_a_refusal_is_told_to_the_admins_also_while_nobody_has_to_be_asked(company: Company, post: FakeMail) -> None:
    world = company()
    world.has_run("revenue")
    world.stage.slack.inject("chat.postMessage", error="account_inactive", count=None)
    world.fails("revenue", at="03:12", log=RESET)
    world.passes(minutes=1)

    assert [message.to for message in post.sent] == [RITA]


@pytest.mark.scenario(4)
def test_a_slow_slack_is_waited_for_as_long_as_the_policy_says(company: Company, post: FakeMail) -> None:
    world = company(WITH_LIST.replace("  chase:\n", "  chase:\n    mail_after: 3m\n"))
    world.stage.slack.inject("chat.postMessage", status=429, retry_after=240, contains="/root")
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.passes(minutes=2)
    assert post.sent == []
    world.passes(minutes=1, seconds=5)

    assert [message.to for message in post.sent] == [BEN]
    world.passes(minutes=2)
    assert len(world.channel("finance")) == 1


def test_what_slack_takes_in_time_is_not_late(company: Company, post: FakeMail) -> None:
    world = company()
    world.stage.slack.inject("chat.postMessage", before="drop", count=2)
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.moves_to("03:26")

    assert post.sent == []
    assert [row for row in world.timeline("orders") if row.kind == "late_message"] == []


def test_that_an_ask_is_late_is_made_known_once_whoever_looks(company: Company) -> None:
    world = company()
    world.stage.slack.go_away()
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.moves_to("03:24")
    world.kill()
    world.passes(minutes=5)

    late = [row for row in world.timeline("orders") if row.kind == "late_message"]
    assert len(late) == 1
    assert timedelta(minutes=9) < late[0].at - world.incident("orders").opened_at < timedelta(minutes=12)
