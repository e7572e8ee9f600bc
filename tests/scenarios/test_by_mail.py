"""An owner who is not in Slack does everything by mail: what they are sent, what they answer, and what becomes of it."""

from collections.abc import Callable
from typing import Any

import pytest

from bot.compose.post import Post
from bot.incidents.keys import Action
from bot.incidents.model import DecisionKind, Status
from bot.ports import MailMessage
from tests.world.fixtures import Build
from tests.world.mail import AUTHSERV_ID, SENDER, FakeMail, FakeMailbox, answer_to
from tests.world.people import LOST_COLUMN, POLICIES
from tests.world.world import World

PIA = "pia@partner.example.com"
BY_MAIL = POLICIES.replace("C0GROWTH, usergroup: S0GROWTH", "C0GROWTH").replace("[U0GIL]", f"[{PIA}]")
ENV = {"SECRET_KEY": "the key of the world, long enough to be one", "PUBLIC_URL": "https://ontrack.example.com"}
Company = Callable[..., World]


@pytest.fixture
def post() -> FakeMail:
    return FakeMail()


@pytest.fixture
def box() -> FakeMailbox:
    return FakeMailbox()


@pytest.fixture
def company(build_world: Build, post: FakeMail, box: FakeMailbox) -> Company:
    """Nobody of growth, who own `ads`, is in Slack."""

    def build(policies: str = BY_MAIL, **more: Any) -> World:
        mail = Post(mail=post, sender=SENDER, mailbox=box, authserv_id=AUTHSERV_ID)
        return build_world(policies=policies, post=mail, env=ENV, **more)

    return build


def kinds(world: World) -> list[str]:
    """The mails to Pia, by their kind, in order."""
    rows = sorted(world.outbox(), key=lambda row: row.id)
    return [row.content["kind"] for row in rows if row.content.get("address") == PIA]


def said(message: MailMessage) -> str:
    return " ".join(message.text.split())


def answers(world: World, box: FakeMailbox, to: MailMessage, words: str, **how: Any) -> None:
    box.takes(answer_to(to, words, **{"sender": PIA, **how}))
    world.settles()


@pytest.mark.scenario(37)
def test_paused_by_mail_until_monday_saturday_is_noted_and_the_schedule_resumes_by_itself(
    company: Company, post: FakeMail, box: FakeMailbox
) -> None:
    world = company()
    world.fails("ads", at="Fri 03:12", log=LOST_COLUMN)
    monday = "2026-12-07"
    answers(world, box, post.last_to(PIA), f"pause until {monday} the network is down")

    decision = world.incident("ads").decision
    assert decision is not None
    assert (decision.kind, decision.reason, decision.by.person.id) == (DecisionKind.PAUSED, "the network is down", PIA)
    assert decision.until is not None
    assert decision.until.isoformat() == f"{monday}T09:00:00+00:00"
    assert [request.action for request in world.scheduler.asked] == [Action.PAUSE]
    assert "paused until Mon 7 Dec 09:00 UTC. Then it resumes by itself" in said(post.last_to(PIA))
    asked = kinds(world).count("ask")

    world.fails("ads", at="Sat 03:12", log=LOST_COLUMN)
    assert (world.incident("ads").noted, len(world.incidents("ads"))) == (1, 1)
    world.moves_to("Mon 08:59")
    assert world.incident("ads").status is Status.PAUSED
    assert kinds(world).count("ask") == asked, "nobody is asked while it is paused"

    world.moves_to("Mon 09:01")
    assert [request.action for request in world.scheduler.asked] == [Action.PAUSE, Action.RESUME]
    assert world.incident("ads").status is Status.VERIFYING
    world.succeeds("ads", at="Tue 03:10")
    assert world.incident("ads").status is Status.RESOLVED
    assert kinds(world).count("ask") == asked
    assert kinds(world)[-1] == "resolved"


def test_what_came_back_is_mailed_in_the_same_conversation_and_its_answer_counts_for_it(
    company: Company, post: FakeMail, box: FakeMailbox
) -> None:
    world = company()
    world.fails("ads", at="03:12", log=LOST_COLUMN)
    first = post.last_to(PIA)
    answers(world, box, first, "fixed the column is back")
    world.succeeds("ads", at="04:00", nominal="03:00", run_id="again")
    world.fails("ads", at="Tue 03:12", log=LOST_COLUMN)
    again = post.last_to(PIA)

    assert world.incident("ads").number == 2
    assert (again.subject, again.references[0]) == (first.subject, first.references[0])
    assert again.message_id != first.message_id
    answers(world, box, first, "ack")
    assert world.incident("ads").acknowledgement is None, "that was about the first occurrence"
    answers(world, box, again, "ack")
    assert world.incident("ads").acknowledgement is not None


def test_while_ontrack_only_watches_nobody_is_mailed(company: Company, post: FakeMail) -> None:
    world = company(BY_MAIL.replace("defaults:\n", "defaults:\n  mode: observe\n"))
    world.fails("ads", at="03:12", log=LOST_COLUMN)
    world.moves_to("09:00")

    assert world.incident("ads").status is Status.OPEN
    assert post.sent == []
