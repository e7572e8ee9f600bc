"""A mail, a click and a link at the same instant: one outcome, and each of the others is told who was first."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from bot.ports import ArrivedMail
from bot.replies import LinkDone
from bot.store import EffectRow, MailboxPlace
from tests.replies.post import MAILBOX, VALIDITY, Post, told_in
from tests.world.people import LOST_COLUMN
from tests.world.world import World


@pytest.fixture(autouse=True)
def failed(world: World) -> None:
    world.has_run("orders")
    world.fails("orders", at="03:12", log=LOST_COLUMN)


def together(*acts: Callable[[], Any]) -> list[Any]:
    """All at once, each in a thread of its own."""
    barrier = Barrier(len(acts))

    def act(one: Callable[[], Any]) -> Any:
        barrier.wait()
        return one()

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(act, acts))


def mails_in(post: Post, raw: bytes, uid: int) -> Callable[[], None]:
    correspondence = post.correspondence()
    place = MailboxPlace(validity=VALIDITY, uid=uid)
    arrived = ArrivedMail(uid=uid, message=raw)
    return lambda: correspondence.take(arrived, place=place, mailbox=MAILBOX, now=post.now)


def answers(post: Post) -> list[EffectRow]:
    return [row for row in post.mails() if row.content["kind"] == "answer"]


@pytest.mark.scenario(7)
def test_a_mail_and_a_link_at_once_one_has_it_and_the_other_is_told_who(world: World, post: Post) -> None:
    mailed, linked = post.asks("orders", "ana"), post.asks("orders", "olga")
    links, name = post.links, post.link(linked, "ack")

    def clicks() -> object:
        return links.act(name, "ack", argument="", until="", sure=False, now=post.now)

    _, done = together(mails_in(post, post.reply(mailed, "ack"), 1), clicks)
    world.settles()

    assert isinstance(done, LinkDone)
    (answer,) = answers(post)
    by_mail = told_in(answer)
    assert by_mail is not None
    assert sorted([by_mail.kind, done.told.kind]) == ["done", "taken"]
    held = world.incident("orders").acknowledgement
    assert held is not None
    second = by_mail if by_mail.kind == "taken" else done.told
    assert held.by.person.name in str(second.facts["by"])
    assert [one.kind for one in world.timeline("orders")].count("acknowledged") == 1


def test_the_same_mail_read_by_two_at_once_acts_and_is_answered_once(world: World, post: Post) -> None:
    raw = post.reply(post.asks("orders", "ana"), "fixed the column is back")

    together(mails_in(post, raw, 1), mails_in(post, raw, 1))
    world.settles()

    assert len(answers(post)) == 1
    assert [one.kind for one in world.timeline("orders")].count("fixed") == 1


def test_a_link_pressed_twice_at_once_acts_once(world: World, post: Post) -> None:
    row = post.asks("orders", "ana")
    links, name = post.links, post.link(row, "fixed")

    def presses() -> object:
        return links.act(name, "fixed", argument="the column is back", until="", sure=False, now=post.now)

    found = together(presses, presses)
    world.settles()

    assert sorted(done.again for done in found) == [False, True]
    assert {done.told.reason for done in found} == {"recorded: a good run confirms it"}
    assert [one.kind for one in world.timeline("orders")].count("fixed") == 1
