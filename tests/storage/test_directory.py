"""People, groups, policies and pace."""

from dataclasses import replace
from datetime import timedelta

from bot.store import GroupRow, PersonRow
from storage.opening import SqlStorage
from tests.storage.samples import NOW

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
    def take(scope: str, after: float = 0) -> float:
        at = NOW + timedelta(seconds=after)
        found = storage.take_pace(method="chat.postMessage", scope=scope, now=at, gap_us=1_000_000)
        return (found - NOW).total_seconds()

    assert [take("C0DATA"), take("C0DATA"), take("C0JOBS"), take("C0DATA", 0.5)] == [0, 1, 0, 2]
    assert take("C0DATA", 60) == 60


def test_a_held_lane_waits_and_is_never_held_shorter(storage: SqlStorage) -> None:
    for seconds in (30, 10):
        until = NOW + timedelta(seconds=seconds)
        storage.hold_pace(method="chat.update", scope="", until=until)

    found = storage.take_pace(method="chat.update", scope="", now=NOW, gap_us=1)
    assert found == NOW + timedelta(seconds=30)
