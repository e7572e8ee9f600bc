"""A send that may have arrived, and one that was begun after it: told apart, so that nothing is sent a third time."""

from datetime import timedelta

from bot.store import EffectRow, NewMail
from storage.opening import SqlStorage
from tests.storage.samples import NOW

MAIL = NewMail(key="m", address="ana@example.com", content={"kind": "digest"}, due_at=NOW)
MINUTE = timedelta(minutes=1)


def begun(storage: SqlStorage, *, after: timedelta) -> EffectRow:
    (row,) = storage.claim_effects(now=NOW + after, limit=10)
    assert storage.begin_sending(id=row.id, now=NOW + after) == NOW + after
    return row


def claimed(storage: SqlStorage, *, after: timedelta) -> EffectRow:
    (row,) = storage.claim_effects(now=NOW + after, limit=10)
    return row


def test_one_that_may_have_arrived_was_not_sent_again_yet(storage: SqlStorage) -> None:
    storage.put_mail(MAIL, now=NOW)
    row = begun(storage, after=timedelta(0))
    storage.retry(id=row.id, at=NOW, uncertain=True, code="lost")

    again = claimed(storage, after=MINUTE)
    assert (again.uncertain_at, again.resent) == (NOW, False)


def test_one_that_was_sent_again_and_lost_its_process_is_known_as_that(storage: SqlStorage) -> None:
    storage.put_mail(MAIL, now=NOW)
    row = begun(storage, after=timedelta(0))
    storage.retry(id=row.id, at=NOW, uncertain=True, code="lost")
    begun(storage, after=MINUTE)
    storage.void_leases(now=NOW + 10 * MINUTE)

    again = claimed(storage, after=20 * MINUTE)
    assert (again.uncertain_at, again.resent) == (NOW, True)


def test_a_second_send_that_surely_failed_does_not_count(storage: SqlStorage) -> None:
    storage.put_mail(MAIL, now=NOW)
    row = begun(storage, after=timedelta(0))
    storage.retry(id=row.id, at=NOW, uncertain=True, code="lost")
    begun(storage, after=MINUTE)
    storage.retry(id=row.id, at=NOW, uncertain=True, code="4.3.0", earlier=True)
    assert not claimed(storage, after=2 * MINUTE).resent
    storage.retry(id=row.id, at=NOW, uncertain=True, code="look_later")

    begun(storage, after=3 * MINUTE)
    storage.void_leases(now=NOW + 10 * MINUTE)
    assert claimed(storage, after=20 * MINUTE).resent
