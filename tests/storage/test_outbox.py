"""Which rows of the outbox may go out, in which order, and what becomes of them."""

from datetime import timedelta

from bot.incidents.keys import JobKey
from bot.store import EffectKind, EffectState, NewEffect
from storage.opening import SqlStorage
from tests.storage.samples import (
    NOW,
    acknowledged,
    hand_back,
    incident,
    lock,
    minutes,
    reply,
    request,
    resolved,
    root_posted,
    saved,
    stored,
)

OTHER = JobKey(scheduler="cron", name="other")


def keys_claimed(storage: SqlStorage, *, after: timedelta = timedelta(0)) -> list[str]:
    return [row.key for row in storage.claim_effects(now=NOW + after, limit=9)]


def settle_all(storage: SqlStorage, *, after: timedelta = timedelta(0)) -> list[str]:
    """Deliver what is claimable now, once."""
    rows = storage.claim_effects(now=NOW + after, limit=9)
    for row in rows:
        assert storage.begin_sending(id=row.id, now=NOW + after)
        left = storage.settle(row=row, result={"ts": "2.0"}, now=NOW + after)
        assert left is not None
        hand_back(storage, left)
    return [row.key for row in rows]


def test_a_note_waits_for_its_root(storage: SqlStorage) -> None:
    stored(storage, incident(), reply("evidence"))
    assert keys_claimed(storage) == []

    root_posted(storage, ts="17.5")

    (row,) = storage.claim_effects(now=NOW, limit=9)
    assert (row.key, row.channel, row.root_ts) == ("evidence", "C0DATA", "17.5")


def test_the_notes_of_a_thread_go_out_one_by_one_in_order(storage: SqlStorage) -> None:
    stored(storage, incident(), reply("first", lane=7), reply("second", lane=1), reply("third"))
    root_posted(storage)

    assert [settle_all(storage) for _ in range(4)] == [["first"], ["second"], ["third"], []]


def test_a_note_that_must_be_sent_again_later_holds_back_its_thread(storage: SqlStorage) -> None:
    stored(storage, incident(), reply("first"), reply("second"))
    root_posted(storage)
    (row,) = storage.claim_effects(now=NOW, limit=9)
    storage.begin_sending(id=row.id, now=NOW)
    assert storage.retry(id=row.id, at=NOW + minutes(5), uncertain=False, code="ratelimited")

    assert keys_claimed(storage, after=minutes(4)) == []
    assert keys_claimed(storage, after=minutes(5)) == ["first"]


def test_a_buried_or_cancelled_note_makes_way(storage: SqlStorage) -> None:
    stored(storage, incident(), reply("first"), reply("second"), reply("third"))
    root_posted(storage)
    (row,) = storage.claim_effects(now=NOW, limit=9)
    assert storage.bury(id=row.id, code="invalid_blocks", now=NOW)
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        uow.cancel_effect(key="second")
        uow.commit()

    assert keys_claimed(storage) == ["third"]
    assert [row.key for row in storage.reads.outbox(states=[EffectState.BURIED], limit=9)] == ["first"]


def test_across_threads_the_lower_lane_goes_first(storage: SqlStorage) -> None:
    stored(storage, incident(), reply("closing", lane=7))
    stored(storage, incident(job=OTHER), reply("ask", lane=1))
    root_posted(storage)

    assert keys_claimed(storage) == ["ask", "closing"]


def test_what_goes_into_no_thread_waits_for_none(storage: SqlStorage) -> None:
    stored(storage, incident(), reply("evidence"), request("rerun-1"), request("later", due_at=NOW + minutes(5)))

    assert keys_claimed(storage) == ["rerun-1"]
    assert keys_claimed(storage, after=minutes(5)) == ["later"]


def test_a_row_is_claimed_once(storage: SqlStorage) -> None:
    stored(storage, incident(), request("rerun-1"))

    assert keys_claimed(storage) == ["rerun-1"]
    assert keys_claimed(storage) == []


def test_a_reply_of_an_occurrence_without_a_thread_is_not_lost(storage: SqlStorage) -> None:
    stored(storage, incident(), reply("evidence"), thread=False)

    (row,) = storage.claim_effects(now=NOW, limit=9)
    assert (row.key, row.conversation, row.channel) == ("evidence", None, None)


def test_sending_begins_once(storage: SqlStorage) -> None:
    stored(storage, incident(), request("rerun-1"))
    (row,) = storage.claim_effects(now=NOW, limit=9)

    assert storage.begin_sending(id=row.id, now=NOW)
    assert not storage.begin_sending(id=row.id, now=NOW)


def test_sending_does_not_begin_after_the_lease(storage: SqlStorage) -> None:
    stored(storage, incident(), request("rerun-1"))
    (row,) = storage.claim_effects(now=NOW, limit=9)

    assert not storage.begin_sending(id=row.id, now=NOW + minutes(2))


def test_beginning_renews_the_lease(storage: SqlStorage) -> None:
    stored(storage, incident(), request("rerun-1"))
    (row,) = storage.claim_effects(now=NOW, limit=9)
    storage.begin_sending(id=row.id, now=NOW + minutes(1))

    assert storage.void_leases(now=NOW + minutes(2)) == 0
    assert storage.void_leases(now=NOW + minutes(3)) == 1


def test_a_cancelled_request_is_not_begun(storage: SqlStorage) -> None:
    stored(storage, incident(), request("rerun-1"))
    (row,) = storage.claim_effects(now=NOW, limit=9)
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        uow.cancel_effect(key="rerun-1")
        uow.commit()

    assert not storage.begin_sending(id=row.id, now=NOW)


def test_a_request_that_is_being_sent_cannot_be_cancelled(storage: SqlStorage) -> None:
    stored(storage, incident(), request("rerun-1"))
    (row,) = storage.claim_effects(now=NOW, limit=9)
    storage.begin_sending(id=row.id, now=NOW)
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        uow.cancel_effect(key="rerun-1")
        uow.commit()

    assert storage.settle(row=row, result={}, now=NOW) is not None


def test_a_unit_of_work_begins_a_send_only_with_its_commit(storage: SqlStorage) -> None:
    stored(storage, incident(), request("rerun-1"))
    (row,) = storage.claim_effects(now=NOW, limit=9)
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        lock(uow)
        assert uow.begin_sending(id=row.id)

    assert storage.begin_sending(id=row.id, now=NOW)


def test_a_row_is_settled_once(storage: SqlStorage) -> None:
    stored(storage, incident(), request("rerun-1"))
    (row,) = storage.claim_effects(now=NOW, limit=9)
    storage.begin_sending(id=row.id, now=NOW)

    with storage.begin_write(born_leased=False, now=NOW) as uow:
        assert uow.settle_effect(id=row.id, state=EffectState.REFUSED, result={"why": "paused"})
        uow.commit()
    assert storage.settle(row=row, result={}, now=NOW) is None
    assert [found.state for found in storage.reads.outbox(states=list(EffectState), limit=9)] == [EffectState.REFUSED]


def test_an_uncertain_row_comes_back_with_the_instant_since_when(storage: SqlStorage) -> None:
    stored(storage, incident(), request("rerun-1"))
    (row,) = storage.claim_effects(now=NOW, limit=9)
    storage.begin_sending(id=row.id, now=NOW + timedelta(seconds=1))
    storage.retry(id=row.id, at=NOW + minutes(1), uncertain=True, code="timeout")

    (again,) = storage.claim_effects(now=NOW + minutes(1), limit=9)
    assert (again.uncertain_at, again.attempt) == (NOW + timedelta(seconds=1), 1)

    storage.begin_sending(id=row.id, now=NOW + minutes(1))
    storage.retry(id=row.id, at=NOW + minutes(2), uncertain=False, code="refused")
    (certain,) = storage.claim_effects(now=NOW + minutes(2), limit=9)
    assert (certain.uncertain_at, certain.attempt) == (None, 2)


def test_what_is_due_at_once_is_born_leased(storage: SqlStorage) -> None:
    later = request("later", due_at=NOW + minutes(5))
    _, committed = stored(storage, incident(), reply("evidence"), request("rerun-1"), later, born_leased=True)

    assert [row.key for row in committed.effects] == ["rerun-1"]
    assert [view.root_ts for view in committed.views] == [None]
    assert keys_claimed(storage) == []
    assert storage.claim_views(now=NOW, limit=9) == ()
    assert storage.begin_sending(id=committed.effects[0].id, now=NOW)


def test_the_first_note_of_a_quiet_thread_is_born_leased(storage: SqlStorage) -> None:
    one, _ = stored(storage, incident())
    root_posted(storage, ts="17.5")

    committed = saved(storage, acknowledged(one), reply("ack"), reply("more"), born_leased=True)

    assert [(row.key, row.root_ts, row.channel) for row in committed.effects] == [("ack", "17.5", "C0DATA")]
    assert [(view.root_ts, view.wanted_version, view.shown_version) for view in committed.views] == [("17.5", 2, 1)]


def test_a_note_behind_an_unsettled_one_is_not_born_leased(storage: SqlStorage) -> None:
    one, _ = stored(storage, incident(), reply("evidence"))
    root_posted(storage)

    committed = saved(storage, acknowledged(one), reply("ack"), born_leased=True)

    assert committed.effects == ()
    assert keys_claimed(storage) == ["evidence"]


def test_a_row_that_was_born_leased_reads_like_a_claimed_one(storage: SqlStorage) -> None:
    _, committed = stored(storage, incident(), request("rerun-1"), born_leased=True)
    storage.release_leases()

    assert storage.claim_effects(now=NOW, limit=9) == committed.effects


def test_content_is_told_in_json_words_whoever_holds_the_row(storage: SqlStorage) -> None:
    effect = NewEffect(key="k", kind=EffectKind.DIRECT, content={"at": NOW, "who": ("a", "b")}, due_at=NOW)
    _, committed = stored(storage, incident(), effect, born_leased=True)

    assert committed.effects[0].content == {"at": "2026-11-30T03:12:00.250001Z", "who": ["a", "b"]}


def test_no_more_rows_are_born_leased_than_can_be_sent_in_time(storage: SqlStorage) -> None:
    _, committed = stored(storage, incident(), *(request(f"r{number}") for number in range(50)), born_leased=True)

    assert len(committed.effects) == 32
    assert len(storage.claim_effects(now=NOW, limit=99)) == 18


def test_a_lapsed_lease_that_was_not_begun_simply_returns(storage: SqlStorage) -> None:
    stored(storage, incident(), request("rerun-1"))
    keys_claimed(storage)

    assert storage.void_leases(now=NOW + timedelta(seconds=89)) == 0
    assert storage.void_leases(now=NOW + timedelta(seconds=90)) == 1
    (row,) = storage.claim_effects(now=NOW + timedelta(seconds=90), limit=9)
    assert (row.uncertain_at, row.attempt) == (None, 0)


def test_a_lapsed_lease_that_was_begun_makes_the_row_uncertain(storage: SqlStorage) -> None:
    stored(storage, incident(), request("rerun-1"))
    (row,) = storage.claim_effects(now=NOW, limit=9)
    storage.begin_sending(id=row.id, now=NOW)
    storage.void_leases(now=NOW + minutes(2))

    (again,) = storage.claim_effects(now=NOW + minutes(2), limit=9)
    assert again.uncertain_at == NOW
    assert not storage.retry(id=99, at=NOW, uncertain=False, code="no such row")


def test_a_process_that_stops_hands_its_leases_back(storage: SqlStorage) -> None:
    stored(storage, incident(), request("rerun-1"))
    keys_claimed(storage)

    storage.release_leases()

    assert keys_claimed(storage) == ["rerun-1"]


def test_the_next_instant_of_the_queue(storage: SqlStorage) -> None:
    assert storage.next_effect_at(now=NOW) is None
    one, _ = stored(storage, incident(), reply("evidence"), request("later", due_at=NOW + minutes(5)))
    assert storage.next_effect_at(now=NOW + minutes(1)) == NOW + minutes(1)

    root_posted(storage)
    assert settle_all(storage) == ["evidence"]
    assert storage.next_effect_at(now=NOW) == NOW + minutes(5)

    saved(storage, resolved(one))
    assert storage.next_effect_at(now=NOW) == NOW
