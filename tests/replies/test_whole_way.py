"""A mail that the ladder wrote is answered at the address that it names: record, answer and links belong together.

Only the mail server is a fake; the mailbox is the test.
"""

import re
from dataclasses import dataclass, field

import pytest

from bot.compose.post import Post as Served
from bot.incidents.model import Status
from bot.ports import MailMessage
from bot.replies import LinkDone
from bot.store import EffectRow
from tests.replies.post import KEY, Post
from tests.replies.reports import report
from tests.world.fixtures import Build
from tests.world.people import LOST_COLUMN, POLICIES, STRANGE
from tests.world.world import World

BY_MAIL = POLICIES.replace("{after: 30m, ask: team}", "{after: 30m, ask: team, by: [channel, email]}")
PAGES = "https://ontrack.example.com"


@dataclass(slots=True)
class Server:
    """Takes every mail and keeps it."""

    taken: list[MailMessage] = field(default_factory=list)

    def send(self, message: MailMessage) -> None:
        self.taken.append(message)

    def to(self, address: str) -> list[MailMessage]:
        return [one for one in self.taken if one.to == address]


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def world(build_world: Build, server: Server) -> World:
    served = Served(mail=server, sender="ontrack <ontrack@bot.example.com>")
    return build_world(policies=BY_MAIL, post=served, env={"SECRET_KEY": KEY, "PUBLIC_URL": PAGES})


def row_of(world: World, message: MailMessage) -> EffectRow:
    (row,) = [row for row in world.outbox() if row.key == message.key]
    return row


def test_an_ask_by_mail_is_answered_and_the_answer_stands_below_it(world: World, post: Post, server: Server) -> None:
    world.has_run("orders")
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    assert server.taken == []
    world.moves_to("04:00")
    (ask,) = server.to("ana@example.com")
    assert server.to("olga@example.com")

    (answer,) = post.says(row_of(world, ask), "ack", "Message-ID: <ana-1@mail.example.com>")

    held = world.incident("orders").acknowledgement
    assert held is not None
    assert (held.by.person.id, held.by.door) == ("U0ANA", "email")
    sent = next(one for one in server.taken if one.key == answer.key)
    assert (sent.to, sent.answers) == ("ana@example.com", "<ana-1@mail.example.com>")
    assert sent.references[:1] == ask.references[:1], "one record is one conversation"
    assert "It is yours" in sent.text


def test_the_links_of_an_ask_act_for_whom_it_was_sent_to(world: World, post: Post, server: Server) -> None:
    world.has_run("orders")
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.moves_to("04:00")
    (ask,) = server.to("olga@example.com")
    links = {word: name for name, word in re.findall(rf"{PAGES}/d/([\w-]+)/(\w+)", ask.text)}

    done = post.links.act(links["fixed"], "fixed", argument="by hand", until="", sure=False, now=post.now)

    assert isinstance(done, LinkDone)
    fix = world.incident("orders").fix
    assert fix is not None
    assert (fix.by.person.id, fix.by.door) == ("U0OLGA", "web")
    assert world.incident("orders").status is Status.VERIFYING


def test_the_question_about_an_unknown_cause_has_the_one_link_that_says_yes(
    world: World, post: Post, server: Server
) -> None:
    world.has_run("orders")
    world.fails("orders", at="03:12", log=STRANGE)
    world.moves_to("04:00")
    (ask,) = server.to("ana@example.com")

    (question,) = post.says(row_of(world, ask), "rerun")

    sent = next(one for one in server.taken if one.key == question.key)
    ((name, word),) = set(re.findall(rf"{PAGES}/d/([\w-]+)/(\w+)\?sure=1", sent.text))
    assert world.reruns() == []
    post.links.act(name, word, argument="", until="", sure=True, now=post.now)
    world.settles()
    assert len(world.reruns()) == 1


def test_an_explanation_says_what_works_now(world: World, post: Post, server: Server) -> None:
    world.has_run("orders")
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.moves_to("04:00")
    (ask,) = server.to("ana@example.com")

    (answer,) = post.says(row_of(world, ask), "yes please")

    sent = next(one for one in server.taken if one.key == answer.key)
    assert "the first line is no command" in " ".join(sent.text.split())
    lines = [line.strip() for line in sent.text.splitlines()]
    assert {"ack", "rerun"} <= set(lines)
    assert "approve" not in lines


def test_whoever_decides_nothing_gets_no_key_to_the_record_with_the_explanation(
    world: World, post: Post, server: Server
) -> None:
    world.has_run("orders")
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.moves_to("04:00")
    (ask,) = server.to("ana@example.com")

    post.says(row_of(world, ask), "go ahead", by="eve@partner.example.org")

    (sent,) = server.to("eve@partner.example.org")
    for form in (sent.text, sent.html):
        assert "no owner who may decide" in " ".join(form.split())
        assert PAGES not in form
        assert "amount" not in form, "nothing of the evidence"


def test_when_nobody_got_the_ask_the_ladder_does_not_wait_an_hour(world: World, post: Post, server: Server) -> None:
    world.has_run("orders")
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.moves_to("04:00")
    asked, step = len(world.asks()), world.incident("orders").chase.step

    for person in ("ana", "olga"):
        (ask,) = server.to(f"{person}@example.com")
        assert world.incident("orders").chase.step == step, "the other one may have it"
        post.takes(report(post.signer.mail(row_of(world, ask).id), f"{person}@example.com"))

    world.passes(minutes=5)
    assert world.incident("orders").chase.step == step + 1
    assert len(world.asks()) + len(world.direct("ben")) > asked
    assert "could not be delivered" in world.reasons("orders")
