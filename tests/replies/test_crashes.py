"""Whatever fails while a mail is taken, and wherever: taken again it is done once and answered once. No mail blocks the next."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from bot.incidents.model import Status
from bot.ports import ArrivedMail
from bot.store import MailboxPlace, StorageDown
from tests.replies.post import MAILBOX, VALIDITY, Post, told_in
from tests.world.people import LOST_COLUMN
from tests.world.world import World

PEOPLE = ("ana", "olga", "ben", "rita")
MOST_STEPS = 40


class Killed(BaseException):
    """The process ends here."""


@dataclass(slots=True)
class Fuse:
    """Counts calls, and fails at one of them: before it happens, or when it has happened."""

    at: int
    after: bool
    failure: type[BaseException]
    calls: int = 0

    @property
    def blown(self) -> bool:
        return self.calls > self.at

    def around(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any, **how: Any) -> Any:
            here = self.calls == self.at
            self.calls += 1
            if here and not self.after:
                raise self.failure("down")
            result = call(*args, **how)
            if here:
                raise self.failure("down")
            return result

        return called


class Fused:
    """The storage behind a fuse."""

    def __init__(self, storage: Any, fuse: Fuse) -> None:
        self._storage = storage
        self._fuse = fuse

    def __getattr__(self, name: str) -> Any:
        part = getattr(self._storage, name)
        return self._fuse.around(part) if callable(part) else Fused(part, self._fuse)


@pytest.fixture(autouse=True)
def failed(world: World) -> None:
    world.has_run("orders")
    world.fails("orders", at="03:12", log=LOST_COLUMN)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("failure", [StorageDown, Killed])
def test_a_mail_is_done_once_wherever_it_fails(
    world: World, post: Post, failure: type[BaseException], after: bool
) -> None:
    row = post.asks("orders", "finance@example.com", shared=True)
    for step in range(MOST_STEPS):
        raw = post.reply(row, f"fixed at step {step}", by=PEOPLE[step % len(PEOPLE)])
        fuse = Fuse(at=step, after=after, failure=failure)
        service = world.service
        fused = post.correspondence(storage=Fused(service.storage, fuse), take_in=fuse.around(service.intake.take_in))
        before = {one.id for one in post.mails()}
        place = MailboxPlace(validity=VALIDITY, uid=step + 1)
        try:
            fused.take(ArrivedMail(uid=step + 1, message=raw), place=place, mailbox=MAILBOX, now=world.now)
        except failure:
            post.correspondence().take(
                ArrivedMail(uid=step + 1, message=raw), place=place, mailbox=MAILBOX, now=world.now
            )
        answers = [one for one in post.mails() if one.id not in before]
        told = [told_in(one) for one in answers]
        assert [one.kind if one else None for one in told] == ["done"], f"step {step}"
        assert answers[0].content["facts"]["said"] == f"fixed at step {step}"
        assert world.service.storage.place_in(mailbox=MAILBOX) == place
        world.passes(minutes=5)
        if not fuse.blown:
            break
    else:
        raise AssertionError("the way through a mail does not end")
    said = [one.reason for one in world.timeline("orders") if one.kind == "fixed"]
    assert said == [f"at step {number}" for number in range(step + 1)]
    assert step >= 8, "the fuse must have met every part of the way"


def test_what_was_done_before_the_crash_is_told_though_it_would_not_work_any_more(world: World, post: Post) -> None:
    world.clicks("sam", "Rerun", "orders")
    assert world.incident("orders").status is Status.AWAITING_APPROVAL
    raw = post.reply(post.wants_approval("orders", "ana"), "approve")
    fuse = Fuse(at=0, after=True, failure=Killed)
    correspondence = post.correspondence(take_in=fuse.around(world.service.intake.take_in))
    arrived, place = ArrivedMail(uid=1, message=raw), MailboxPlace(validity=VALIDITY, uid=1)
    with pytest.raises(Killed):
        correspondence.take(arrived, place=place, mailbox=MAILBOX, now=world.now)
    world.kill()
    world.settles()
    world.rerun_succeeds("orders")
    world.passes(hours=26)
    assert world.incident("orders").status is Status.RESOLVED

    (answer,) = post.takes(raw)

    assert "on its way" in post.words(answer)
    assert answer.content["facts"]["said"] == "approve"
    assert len(world.reruns()) == 1


def test_a_mail_over_which_our_code_stumbles_is_put_behind_us(
    world: World, post: Post, caplog: pytest.LogCaptureFixture
) -> None:
    row = post.asks("orders", "ana")
    raw = post.reply(row, "ack")

    def stumbles(*_: object) -> object:
        raise RuntimeError("a bug of ours")

    with caplog.at_level(logging.ERROR):
        assert post.takes(raw, snapshot_of=stumbles) == []
    assert [(record.getMessage(), record.__dict__["uid"]) for record in caplog.records] == [
        ("a mail could not be read", post.uid)
    ]
    assert world.service.storage.place_in(mailbox=MAILBOX) == MailboxPlace(validity=VALIDITY, uid=post.uid)
    assert len(post.says(row, "ack")) == 1, "the next one is read"


def test_while_the_database_is_down_the_mail_stays_where_it_is(world: World, post: Post) -> None:
    raw = post.reply(post.asks("orders", "ana"), "ack")
    fuse = Fuse(at=0, after=False, failure=StorageDown)

    with pytest.raises(StorageDown):
        post.takes(raw, storage=Fused(world.service.storage, fuse))

    assert world.service.storage.place_in(mailbox=MAILBOX) is None
    assert len(post.takes(raw)) == 1
