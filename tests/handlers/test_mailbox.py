"""The mailbox's door: each mail once and in order, whatever fails in between; only the leader reads, and stopping is prompt."""

import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from bot.ports import ArrivedMail, MailboxDown
from bot.store import StorageDown
from bot.store.mail import MailboxPlace, ReadMail
from handlers.mailbox import A_MOMENT, AT_ONCE, MailboxDoor
from storage.opening import SqlStorage, open_storage
from tests.handlers.doubles import NOON, Clock

NAME = "ontrack@example.com@mail.example.com/INBOX"
SECOND = timedelta(seconds=1)


class Folder:
    """A mailbox that holds `mails`, fails as told, and answers a wait at once unless the test holds it."""

    def __init__(self) -> None:
        self.validity = 7
        self.mails: dict[int, bytes] = {}
        self.trouble = ""
        self.opened = self.waits = self.closings = 0
        self.on_wait: Callable[[timedelta], None] = lambda _: None
        self.closed = threading.Event()

    def open(self) -> int:
        if self.trouble:
            raise MailboxDown(self.trouble)
        self.opened += 1
        return self.validity

    def after(self, uid: int, *, limit: int) -> tuple[ArrivedMail, ...]:
        found = [ArrivedMail(uid=each, message=self.mails[each]) for each in sorted(self.mails) if each > uid]
        return tuple(found[:limit])

    def wait(self, timeout: timedelta) -> None:
        self.waits += 1
        self.on_wait(timeout)

    def close(self) -> None:
        self.closings += 1
        self.closed.set()


@dataclass
class Reader:
    """What is behind the door: moves the place as the real one does, after what the test has it do."""

    storage: SqlStorage
    taken: list[int] = field(default_factory=list)
    before: Callable[[int], None] = lambda _: None

    def take(self, arrived: ArrivedMail, *, place: MailboxPlace, mailbox: str, now: object) -> None:
        self.before(arrived.uid)
        self.taken.append(arrived.uid)
        self.storage.done_with(
            ReadMail(key=f"{place.validity}:{place.uid}", at=NOON), place=place, mailbox=mailbox, now=NOON
        )


@pytest.fixture
def storage(sqlite_url: str) -> Iterator[SqlStorage]:
    opened = open_storage(sqlite_url, instance="reader")
    yield opened
    opened.close()


@pytest.fixture
def reader(storage: SqlStorage) -> Reader:
    return Reader(storage)


@pytest.fixture
def folder() -> Folder:
    return Folder()


@dataclass
class Lead:
    leads: bool = True

    def __call__(self) -> bool:
        return self.leads


@pytest.fixture
def lead() -> Lead:
    return Lead()


@pytest.fixture
def door(folder: Folder, reader: Reader, lead: Lead, clock: Clock) -> MailboxDoor:
    return MailboxDoor(mailbox=folder, name=NAME, take=reader.take, places=reader.storage, leads=lead, clock=clock)


def test_it_begins_with_what_lies_there_and_goes_on_from_its_place(
    door: MailboxDoor, folder: Folder, reader: Reader, clock: Clock
) -> None:
    folder.mails = {3: b"three", 5: b"five"}
    door.step(clock())
    folder.mails |= {6: b"six"}
    door.step(clock())

    assert reader.taken == [3, 5, 6]
    assert reader.storage.place_in(mailbox=NAME) == MailboxPlace(validity=7, uid=6)


def test_while_there_are_mails_it_reads_and_then_it_waits(
    door: MailboxDoor, folder: Folder, reader: Reader, clock: Clock
) -> None:
    folder.mails = dict.fromkeys(range(1, 2 * AT_ONCE), b"mail")
    again_at = [door.step(clock()) for _ in range(3)]

    assert again_at == [clock(), clock(), clock() + A_MOMENT]
    assert folder.waits == 1
    assert reader.taken == sorted(folder.mails)


def test_another_life_reads_on_and_does_nothing_twice(
    door: MailboxDoor, folder: Folder, reader: Reader, lead: Lead, clock: Clock
) -> None:
    folder.mails = {1: b"one"}
    door.step(clock())
    folder.mails |= {2: b"two"}
    again = MailboxDoor(mailbox=folder, name=NAME, take=reader.take, places=reader.storage, leads=lead, clock=clock)
    again.step(clock())

    assert reader.taken == [1, 2]


def test_uids_that_are_given_anew_are_read_from_the_start(
    door: MailboxDoor, folder: Folder, reader: Reader, clock: Clock
) -> None:
    folder.mails = {8: b"eight"}
    door.step(clock())
    folder.validity, folder.mails = 9, {1: b"eight", 2: b"new"}
    door.step(clock())

    assert reader.taken == [8, 1, 2]
    assert reader.storage.place_in(mailbox=NAME) == MailboxPlace(validity=9, uid=2)


def test_a_mailbox_that_is_down_is_asked_later_and_later_and_told_once(
    door: MailboxDoor, folder: Folder, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    folder.trouble = "cannot connect to mail.example.com: see IMAP_URL"
    waits = []
    with caplog.at_level(logging.INFO, logger="handlers.mailbox"):
        for _ in range(8):
            again_at = door.step(clock())
            assert again_at is not None
            waits.append((again_at - clock()) // SECOND)
            clock.at = again_at
        told = door.state()
        folder.trouble = ""
        door.step(clock())

    assert waits == [1, 2, 4, 8, 16, 32, 60, 60]
    assert told == "cannot connect to mail.example.com: see IMAP_URL"
    assert [record.message for record in caplog.records if record.levelno >= logging.WARNING] == [
        "the mailbox is not read"
    ]
    assert door.state() == "ok"


def test_before_its_time_it_asks_nobody(door: MailboxDoor, folder: Folder, clock: Clock) -> None:
    folder.trouble = "down"
    again_at = door.step(clock())
    folder.trouble = ""

    assert door.step(clock()) == again_at
    assert folder.opened == 0


def test_a_connection_that_is_lost_once_is_no_trouble(
    door: MailboxDoor, folder: Folder, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    door.step(clock())
    folder.trouble = "the connection was lost"
    with caplog.at_level(logging.INFO, logger="handlers.mailbox"):
        clock.at = door.step(clock()) or clock()
        assert door.state() == "ok"

        door.step(clock())

    assert door.state() == "the connection was lost"
    assert [record.levelname for record in caplog.records] == ["INFO", "WARNING"]


def test_a_wait_that_fails_is_trouble_as_well(door: MailboxDoor, folder: Folder, clock: Clock) -> None:
    def lost(_: timedelta) -> None:
        raise MailboxDown("the connection was lost")

    folder.on_wait = lost

    assert door.step(clock()) == clock() + SECOND


def test_while_nothing_can_be_stored_the_mail_stays_and_is_taken_later(
    door: MailboxDoor, folder: Folder, reader: Reader, clock: Clock
) -> None:
    def down(_: int) -> None:
        raise StorageDown

    folder.mails = {1: b"one", 2: b"two"}
    reader.before = down
    again_at = door.step(clock())

    assert (reader.taken, again_at) == ([], clock() + SECOND)
    assert "stay in the mailbox" in door.state()

    reader.before = lambda _: None
    clock.at = again_at or clock()
    door.step(clock())

    assert reader.taken == [1, 2]


def test_a_mail_that_nothing_can_be_done_with_does_not_hold_up_the_others(
    door: MailboxDoor, folder: Folder, reader: Reader, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    tried = []

    def stumbles(uid: int) -> None:
        if uid == 2:
            tried.append(uid)
            raise ZeroDivisionError

    folder.mails = {1: b"one", 2: b"poison", 3: b"three"}
    reader.before = stumbles
    with caplog.at_level(logging.ERROR, logger="handlers.mailbox"):
        for _ in range(3):
            clock.at = door.step(clock()) or clock()

    assert reader.taken == [1, 3]
    assert len(tried) == 3
    assert caplog.records[-1].message == "a mail was passed over"
    assert caplog.records[-1].__dict__["uid"] == 2


def test_only_the_leader_reads(door: MailboxDoor, folder: Folder, reader: Reader, lead: Lead, clock: Clock) -> None:
    folder.mails, lead.leads = {1: b"one"}, False

    assert door.step(clock()) is None
    assert (folder.opened, folder.closings, reader.taken) == (0, 1, [])
    assert door.state() == "ok"

    lead.leads = True
    door.step(clock())

    assert reader.taken == [1]


def test_who_no_longer_leads_stops_between_two_mails(
    door: MailboxDoor, folder: Folder, reader: Reader, lead: Lead, clock: Clock
) -> None:
    def lose(uid: int) -> None:
        lead.leads = uid < 2

    folder.mails, reader.before = {1: b"one", 2: b"two", 3: b"three"}, lose
    door.step(clock())

    assert reader.taken == [1, 2]
    assert folder.waits == 0


def test_closing_ends_a_wait_and_nothing_is_read_after_it(
    door: MailboxDoor, folder: Folder, reader: Reader, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    waiting = threading.Event()

    def held(_: timedelta) -> None:
        waiting.set()
        assert folder.closed.wait(20)
        raise MailboxDown("the connection was closed by us")

    folder.on_wait = held
    answers = []
    stepping = threading.Thread(target=lambda: answers.append(door.step(clock())))
    with caplog.at_level(logging.INFO, logger="handlers.mailbox"):
        stepping.start()
        assert waiting.wait(20)
        caplog.clear()
        door.close()
        stepping.join(20)
    folder.mails = {1: b"one"}

    assert answers == [None]
    assert door.step(clock()) is None
    assert reader.taken == []
    assert caplog.records == []
