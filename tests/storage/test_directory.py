"""People, groups, policies and pace."""

from dataclasses import replace
from datetime import timedelta

from bot.store import GroupRow, Lane, PersonRow
from storage.opening import SqlStorage
from tests.storage.samples import NOW, incident, request, stored

ANA = PersonRow(id="U0ANA", name="Ana", email="ana@example.com", active=True, read_at=NOW)
BEN = PersonRow(id="U0BEN", name="Ben", email=None, active=False, read_at=NOW)
TEAM = GroupRow(id="S0DATA", members=("U0ANA", "U0BEN"), exists=True, read_at=NOW)


def test_people_and_groups_are_as_last_read(storage: SqlStorage) -> None:
    storage.save_people(people=[ANA, BEN], groups=[TEAM], now=NOW)
    later = replace(BEN, active=True, read_at=NOW + timedelta(minutes=5))
    gone = replace(TEAM, members=(), exists=False)
    storage.save_people(people=[later], groups=[gone], now=NOW)

    assert storage.load_people() == ((ANA, later), (gone,))


def test_a_version_of_the_policies_is_published_once(storage: SqlStorage) -> None:
    for _ in range(2):
        storage.publish_policies(version="a1", text="version: 1", now=NOW)


def test_sends_of_one_lane_are_spaced(storage: SqlStorage) -> None:
    keys = [f"note-{number}" for number in range(5)]
    stored(storage, incident(), *(request(key) for key in keys))
    rows = iter(storage.claim_effects(now=NOW, limit=9))

    def begins(scope: str, after: float = 0) -> float:
        lane = Lane(method="chat.postMessage", scope=scope, gap=timedelta(seconds=1))
        found = storage.begin_sending(id=next(rows).id, now=NOW + timedelta(seconds=after), lane=lane)
        assert found is not None
        return (found - NOW).total_seconds()

    assert [begins("C0DATA"), begins("C0DATA"), begins("C0JOBS"), begins("C0DATA", 0.5)] == [0, 1, 0, 2]
    assert begins("C0DATA", 60) == 60


def test_a_row_whose_lane_is_taken_comes_back_for_its_slot(storage: SqlStorage) -> None:
    stored(storage, incident(), request("first"), request("second"))
    first, second = storage.claim_effects(now=NOW, limit=9)
    lane = Lane(method="chat.postMessage", scope="C0DATA", gap=timedelta(seconds=1))
    assert storage.begin_sending(id=first.id, now=NOW, lane=lane) == NOW
    slot = storage.begin_sending(id=second.id, now=NOW, lane=lane)

    assert slot == NOW + timedelta(seconds=1)
    assert storage.claim_effects(now=NOW, limit=9) == ()
    (again,) = storage.claim_effects(now=slot, limit=9)
    assert (again.id, again.paced, again.uncertain_at) == (second.id, True, None)


def test_a_held_lane_waits_and_is_never_held_shorter(storage: SqlStorage) -> None:
    for seconds in (30, 10):
        until = NOW + timedelta(seconds=seconds)
        storage.hold_pace(method="chat.update", scope="", until=until)
    stored(storage, incident())
    (view,) = storage.claim_views(now=NOW, limit=9)

    lane = Lane(method="chat.update", scope="", gap=timedelta(microseconds=1))
    assert storage.begin_view(id=view.id, now=NOW, lane=lane) == NOW + timedelta(seconds=30)
