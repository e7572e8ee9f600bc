"""Mail in the database: written once by its key, read once by its key, the mailbox's place, broken addresses."""

from datetime import timedelta

import pytest

from bot.store import BrokenAddress, EffectKind, EffectState, MailboxPlace, NewMail, ReadMail
from storage.opening import SqlStorage
from tests.storage.samples import JOB, NOW, incident, reply, stored

HOUR = timedelta(hours=1)
BOX = "ontrack@example.com"
ANSWER = NewMail(key="answer:m1", address="Ana@Example.com", content={"kind": "answer", "text": "done"}, due_at=NOW)


def read(key: str = "m1", **fields: object) -> ReadMail:
    return ReadMail(**{"key": key, "at": NOW, "sender": "ana@example.com"} | fields)  # type: ignore[arg-type]


def done(storage: SqlStorage, mail: ReadMail, *, uid: int = 7, validity: int = 1, **fields: object) -> bool:
    place = MailboxPlace(validity=validity, uid=uid)
    return storage.done_with(mail, place=place, mailbox=BOX, now=NOW, **fields)  # type: ignore[arg-type]


def test_a_mail_is_written_once_by_its_key_and_sent_like_any_row(storage: SqlStorage) -> None:
    assert storage.put_mail(ANSWER, now=NOW)
    assert not storage.put_mail(ANSWER, now=NOW)

    (row,) = storage.claim_effects(now=NOW, limit=10)
    assert (row.kind, row.record, row.content["address"], row.content["kind"]) == (
        EffectKind.EMAIL,
        0,
        "Ana@Example.com",
        "answer",
    )
    assert storage.sent_mail(id=row.id) is not None
    assert storage.begin_sending(id=row.id, now=NOW) == NOW
    assert storage.settle(row=row, result={"message_id": "<a@b>"}, now=NOW) is not None
    assert storage.claim_effects(now=NOW, limit=10) == ()
    assert not storage.put_mail(ANSWER, now=NOW), "a key that was used is used"


def test_a_mail_about_an_occurrence_names_it_and_its_job(storage: SqlStorage) -> None:
    one, _ = stored(storage, incident())
    about = NewMail(
        key="answer:m2", address="a@example.com", content={"kind": "answer"}, due_at=NOW, occurrence=(one.record, 1)
    )
    assert storage.put_mail(about, now=NOW)

    (row,) = storage.claim_effects(now=NOW, limit=10)
    assert (row.record, row.number, row.job) == (one.record, 1, JOB)


def test_one_about_an_occurrence_that_is_not_there_is_about_none(storage: SqlStorage) -> None:
    stray = NewMail(key="a", address="a@example.com", content={"kind": "answer"}, due_at=NOW, occurrence=(99, 1))
    assert storage.put_mail(stray, now=NOW)
    assert storage.claim_effects(now=NOW, limit=10)[0].record == 0


def test_only_mails_are_found_as_sent_mails(storage: SqlStorage) -> None:
    stored(storage, incident(), reply("5.1/1"))
    (row,) = storage.reads.outbox(states=tuple(EffectState), limit=10)

    assert storage.sent_mail(id=row.id) is None
    assert storage.sent_mail(id=row.id + 1) is None


def test_answers_to_an_address_are_counted_since_an_instant(storage: SqlStorage) -> None:
    storage.put_mail(ANSWER, now=NOW - HOUR)
    done(storage, read(), answers=[NewMail(key="b", address="ana@example.com", content={"kind": "answer"}, due_at=NOW)])
    storage.put_mail(NewMail(key="c", address="ben@example.com", content={"kind": "answer"}, due_at=NOW), now=NOW)

    assert storage.mails_to(address="ana@example.COM", since=NOW - HOUR) == 2
    assert storage.mails_to(address="ana@example.com", since=NOW) == 1
    assert storage.mails_to(address="eve@example.com", since=NOW - HOUR) == 0


def test_a_mail_that_was_read_is_done_with_once(storage: SqlStorage) -> None:
    marks = [BrokenAddress(address="gone@example.com", status="5.1.1", since=NOW)]
    assert not storage.mail_done(key="m1")
    assert done(storage, read(occurrence="5.1", told=True, reason="no command"), answers=[ANSWER], broken=marks)
    assert storage.mail_done(key="m1")
    late = NewMail(key="answer:again", address="ana@example.com", content={"kind": "answer"}, due_at=NOW)
    assert not done(
        storage, read(), uid=8, answers=[late], broken=[BrokenAddress(address="x@y", status="5", since=NOW)]
    )

    assert [row.key for row in storage.claim_effects(now=NOW, limit=10)] == ["answer:m1"]
    assert [one.address for one in storage.broken_addresses(now=NOW, lasts=HOUR)] == ["gone@example.com"]
    assert storage.place_in(mailbox=BOX) == MailboxPlace(validity=1, uid=8)


def test_nothing_of_a_mail_is_kept_when_its_answer_cannot_be_written(storage: SqlStorage) -> None:
    bad = NewMail(key="bad", address="a@example.com", content={"kind": object()}, due_at=NOW)
    with pytest.raises(Exception, match=r"object|unsupported"):
        done(storage, read(), answers=[ANSWER, bad])

    assert not storage.mail_done(key="m1")
    assert storage.place_in(mailbox=BOX) is None
    assert storage.claim_effects(now=NOW, limit=10) == ()


def test_who_was_told_about_an_occurrence_is_remembered(storage: SqlStorage) -> None:
    done(storage, read("m1", occurrence="5.1", told=True))
    done(storage, read("m2", occurrence="5.2", sender="ben@example.com"))

    assert storage.explained(sender="ANA@example.com", occurrence="5.1")
    assert not storage.explained(sender="ana@example.com", occurrence="5.2")
    assert not storage.explained(sender="ben@example.com", occurrence="5.2"), "he wrote, and was told nothing"


def test_a_mailbox_moves_on_and_never_back(storage: SqlStorage) -> None:
    assert storage.place_in(mailbox=BOX) is None
    storage.begin_at(MailboxPlace(validity=1, uid=3), mailbox=BOX)
    done(storage, read("m1"), uid=7)
    done(storage, read("m2"), uid=5)
    assert storage.place_in(mailbox=BOX) == MailboxPlace(validity=1, uid=7)

    storage.begin_at(MailboxPlace(validity=2, uid=0), mailbox=BOX)
    done(storage, read("m3"), uid=9)
    assert storage.place_in(mailbox=BOX) == MailboxPlace(validity=2, uid=0), (
        "a UID of the earlier validity says nothing"
    )
    assert storage.mail_done(key="m3")
    assert storage.place_in(mailbox="other@example.com") is None


def test_a_broken_address_is_believed_for_a_while_and_can_be_mended(storage: SqlStorage) -> None:
    storage.break_address(BrokenAddress(address="Gone@example.com", status="5.1.1", since=NOW - HOUR))
    assert storage.broken_addresses(now=NOW, lasts=HOUR) == ()
    storage.break_address(BrokenAddress(address="gone@example.com", status="5.2.1", since=NOW))
    assert storage.broken_addresses(now=NOW, lasts=HOUR) == (
        BrokenAddress(address="gone@example.com", status="5.2.1", since=NOW),
    )

    assert storage.mend_address(address="GONE@example.com")
    assert not storage.mend_address(address="gone@example.com")
    assert storage.broken_addresses(now=NOW, lasts=HOUR) == ()
