"""The messages that show the newest state: posted once, collapsed, looked for, moved, handed on."""

from dataclasses import replace
from datetime import timedelta

from bot.incidents.keys import JobKey
from bot.incidents.model import Incident
from bot.store import ViewRow
from storage.opening import SqlStorage
from tests.storage.samples import (
    NOW,
    acknowledged,
    hand_back,
    incident,
    lock,
    minutes,
    reply,
    resolved,
    root_posted,
    saved,
    stored,
)


def claimed(storage: SqlStorage, *, after: timedelta = timedelta(0)) -> ViewRow | None:
    views = storage.claim_views(now=NOW + after, limit=9)
    assert len(views) < 2
    return views[0] if views else None


def continued(storage: SqlStorage, one: Incident, *, after: timedelta = timedelta(0)) -> Incident:
    """The next occurrence of the record goes on in its thread."""
    again = incident(record=one.record, number=one.number + 1)
    with storage.begin_write(born_leased=False, now=NOW + after) as uow:
        lock(uow)
        uow.save_incident(again, expected=None)
        uow.open_thread(incident=again, channel="C0DATA", continue_from=one.number)
        uow.add_effects(incident=again, effects=[reply("returned")], now=NOW)
        uow.commit()
    return again


def test_a_root_is_posted_then_updated_in_place(storage: SqlStorage) -> None:
    one, _ = stored(storage, incident())
    view = claimed(storage)
    assert view is not None
    assert (view.root_ts, view.wanted_version, view.key) == (None, 1, f"{one.record}.1/root")
    hand_back(storage, storage.settle_view(row=view, root_ts="17.5", now=NOW))
    assert claimed(storage) is None
    assert storage.reads.conversation_of(record=one.record, number=1) == ("C0DATA", "17.5")
    assert storage.reads.occurrence_at(channel="C0DATA", root_ts="17.5") == (one.record, 1)

    saved(storage, acknowledged(one))

    again = claimed(storage)
    assert again is not None
    assert (again.root_ts, again.wanted_version, again.shown_version) == ("17.5", 2, 1)


def test_updates_collapse_to_the_newest(storage: SqlStorage) -> None:
    one, _ = stored(storage, incident())
    root_posted(storage)
    second = acknowledged(one)
    third = acknowledged(second)
    saved(storage, second)
    saved(storage, third)

    view = claimed(storage)
    assert view is not None
    assert view.wanted_version == 3
    hand_back(storage, storage.settle_view(row=view, root_ts="1.0", now=NOW))
    assert claimed(storage) is None


def test_a_view_that_changed_while_it_was_sent_is_sent_once_more(storage: SqlStorage) -> None:
    one, _ = stored(storage, incident())
    view = claimed(storage)
    assert view is not None
    saved(storage, acknowledged(one))
    assert claimed(storage) is None

    hand_back(storage, storage.settle_view(row=view, root_ts="1.0", now=NOW))

    again = claimed(storage)
    assert again is not None
    assert (again.wanted_version, again.shown_version) == (2, 1)


def test_new_roots_go_before_updates_and_in_order_of_failure(storage: SqlStorage) -> None:
    one, _ = stored(storage, incident())
    root_posted(storage)
    saved(storage, acknowledged(one))
    others = [stored(storage, incident(job=JobKey(scheduler="cron", name=name)))[0] for name in ("b", "a")]

    views = storage.claim_views(now=NOW, limit=9)
    assert [view.record for view in views] == [others[0].record, others[1].record, one.record]


def test_a_view_steps_back_until_its_lane_is_free(storage: SqlStorage) -> None:
    stored(storage, incident())
    view = claimed(storage)
    assert view is not None
    storage.retry_view(id=view.id, at=NOW + minutes(1), uncertain=False, code="pace")

    assert claimed(storage) is None
    again = claimed(storage, after=minutes(1))
    assert again is not None
    assert again.uncertain_at is None


def test_a_root_that_may_have_been_posted_is_uncertain(storage: SqlStorage) -> None:
    stored(storage, incident())
    view = claimed(storage)
    assert view is not None
    assert storage.begin_view(id=view.id, now=NOW + timedelta(seconds=2))
    storage.void_leases(now=NOW + minutes(2))

    again = claimed(storage, after=minutes(2))
    assert again is not None
    assert (again.uncertain_at, again.attempt) == (NOW + timedelta(seconds=2), 1)


def test_an_update_that_may_have_been_sent_is_simply_sent_again(storage: SqlStorage) -> None:
    one, _ = stored(storage, incident())
    root_posted(storage)
    saved(storage, acknowledged(one))
    view = claimed(storage)
    assert view is not None
    storage.begin_view(id=view.id, now=NOW)
    storage.void_leases(now=NOW + minutes(2))

    again = claimed(storage, after=minutes(2))
    assert again is not None
    assert again.uncertain_at is None


def test_a_conversation_moves_with_a_new_root(storage: SqlStorage) -> None:
    one, _ = stored(storage, incident(), reply("evidence"))
    root_posted(storage)
    before = storage.reads.conversation_of(record=one.record, number=1)
    (row,) = storage.claim_effects(now=NOW, limit=9)
    assert (before, row.conversation is not None) == (("C0DATA", "1.0"), True)

    left = ("C0DATA", "1.0")
    assert storage.move_conversation(conversation=row.conversation or 0, left=left, channel="C0JOBS", now=NOW)
    storage.retry(id=row.id, at=NOW, uncertain=False, code="is_archived")

    assert storage.claim_effects(now=NOW, limit=9) == ()
    view = claimed(storage)
    assert view is not None
    assert (view.channel, view.root_ts, view.key) == ("C0JOBS", None, f"{one.record}.1/root+")
    hand_back(storage, storage.settle_view(row=view, root_ts="9.9", now=NOW))
    (again,) = storage.claim_effects(now=NOW, limit=9)
    assert (again.channel, again.root_ts) == ("C0JOBS", "9.9")


def test_a_conversation_moves_only_from_where_it_stands(storage: SqlStorage) -> None:
    """Two sends that find the channel gone at once: the second must not take the new root away again."""
    one, _ = stored(storage, incident())
    root_posted(storage)
    assert storage.move_conversation(conversation=1, left=("C0DATA", "1.0"), channel="C0JOBS", now=NOW)
    view = claimed(storage)
    assert view is not None
    hand_back(storage, storage.settle_view(row=view, root_ts="9.9", now=NOW))

    assert not storage.move_conversation(conversation=1, left=("C0DATA", "1.0"), channel="C0JOBS", now=NOW)
    assert storage.reads.conversation_of(record=one.record, number=1) == ("C0JOBS", "9.9")
    assert claimed(storage) is None


def test_a_send_that_was_overtaken_by_a_move_names_no_root(storage: SqlStorage) -> None:
    one, _ = stored(storage, incident())
    view = claimed(storage)
    assert view is not None
    left = (view.channel, view.root_ts)
    assert storage.move_conversation(conversation=view.conversation, left=left, channel="C0JOBS", now=NOW)

    hand_back(storage, storage.settle_view(row=view, root_ts="1.0", now=NOW))

    assert storage.reads.conversation_of(record=one.record, number=1) == ("C0JOBS", None)


def test_the_next_occurrence_goes_on_in_the_same_thread(storage: SqlStorage) -> None:
    one, _ = stored(storage, incident(), reply("evidence"))
    root_posted(storage)
    saved(storage, resolved(one), reply("resolved"))
    root_posted(storage)

    continued(storage, one)

    view = claimed(storage)
    assert view is not None
    assert (view.record, view.number, view.root_ts, view.wanted_version) == (one.record, 2, "1.0", 1)
    (row,) = storage.claim_effects(now=NOW, limit=9)
    assert row.key == "evidence"
    hand_back(storage, storage.settle_view(row=view, root_ts="1.0", now=NOW))
    assert claimed(storage) is None
    assert storage.reads.occurrence_at(channel="C0DATA", root_ts="1.0") == (one.record, 2)
    assert storage.reads.conversation_of(record=one.record, number=1) == ("C0DATA", "1.0")


def test_a_send_of_the_earlier_occurrence_does_not_count_for_the_next(storage: SqlStorage) -> None:
    one, _ = stored(storage, incident())
    settled = replace(resolved(one), version=2)
    saved(storage, settled)
    under_way = claimed(storage)
    assert under_way is not None
    continued(storage, one)

    hand_back(storage, storage.settle_view(row=under_way, root_ts="1.0", now=NOW))

    view = claimed(storage)
    assert view is not None
    assert (view.number, view.root_ts, view.shown_version) == (2, "1.0", 0)


def test_an_earlier_occurrence_no_longer_changes_the_root(storage: SqlStorage) -> None:
    one, _ = stored(storage, incident())
    settled = resolved(one)
    saved(storage, settled)
    root_posted(storage)
    continued(storage, one)
    root_posted(storage)

    saved(storage, replace(settled, version=3, corrected_cause="data.schema"))

    assert claimed(storage) is None
