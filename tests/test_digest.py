"""When a team's digest is due: its own days and zone, right across a change of the clocks, and one writer only."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pytest

from bot.digest import Digests, key_of, turn_on
from bot.incidents.people import Destination
from bot.incidents.policy import Door, Hours, Team
from bot.people import People
from bot.policies import load
from bot.store import EffectState
from bot.teams import Teams
from storage.opening import SqlStorage, open_storage

BERLIN = "Europe/Berlin"
POLICIES = """version: 1
teams:
  core:
    slack: {channel: C0CORE}
    hours: {days: mon-fri, from: "08:00", to: "18:00", timezone: Europe/Berlin}
  far:
    slack: {channel: C0FAR}
    hours: {days: mon-fri, from: "08:00", to: "18:00", timezone: Pacific/Auckland}
"""
CORES_CHANNEL = Destination(door=Door.CHANNEL, address="C0CORE")


def team(at: time = time(8), *, days: tuple[int, ...] = (0, 1, 2, 3, 4), **more: Any) -> Team:
    hours = Hours(days=days, starts=time(0, 30), ends=time(18), zone=BERLIN)
    return Team(**{"name": "core", "channel": "C0CORE", "hours": hours, "digest_at": at, **more})


def due_at(of: Team, day: date) -> datetime | None:
    turn = turn_on(of, day)
    return turn.at if turn else None


def test_it_is_due_at_the_teams_own_time_in_winter_and_in_summer() -> None:
    assert due_at(team(), date(2026, 3, 27)) == datetime(2026, 3, 27, 7, tzinfo=UTC)
    assert due_at(team(), date(2026, 3, 30)) == datetime(2026, 3, 30, 6, tzinfo=UTC)


def test_a_time_that_the_change_of_the_clocks_skips_is_the_instant_after_it() -> None:
    assert due_at(team(time(2, 30), days=(6,)), date(2026, 3, 29)) == datetime(2026, 3, 29, 1, tzinfo=UTC)


def test_a_time_that_comes_twice_is_meant_the_first_time() -> None:
    assert due_at(team(time(2, 30), days=(6,)), date(2026, 10, 25)) == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)


@pytest.mark.parametrize("change", [{"hours": None}, {"digest_at": None}])
def test_a_team_without_hours_or_the_wish_has_none(change: dict[str, Any]) -> None:
    assert due_at(team(**change), date(2026, 11, 30)) is None


def test_days_without_hours_have_none() -> None:
    assert [due_at(team(), date(2026, 12, day)) is None for day in range(4, 8)] == [False, True, True, False]


@pytest.fixture
def storages(database_url: str) -> Iterator[list[SqlStorage]]:
    """What two processes hold: two connections to PostgreSQL; SQLite serves one process, whose threads share its own."""
    with ExitStack() as closing:
        names = ("clock-1", "clock-2") if database_url.startswith("postgresql") else ("run-1",)
        opened = [open_storage(database_url, instance=name) for name in names]
        for storage in opened:
            closing.callback(storage.close)
        yield opened * (2 // len(opened))


def writer(storage: SqlStorage, told: list[str]) -> Digests:
    policies = load(POLICIES, env={})
    people = People()
    teams = Teams(reads=storage.reads, policies=lambda: policies, people=lambda: people, thread_url=lambda *_: None)
    return Digests(storage=storage, teams=teams, people=lambda: people, written=lambda: told.append("written"))


def test_each_team_has_its_own_morning(storages: list[SqlStorage]) -> None:
    told: list[str] = []
    digests = writer(storages[0], told)
    monday = datetime(2026, 11, 30, 0, 0, tzinfo=UTC)

    assert digests.step(monday - timedelta(hours=4)) == datetime(2026, 11, 30, 7, tzinfo=UTC)
    assert told == ["written"], "it is Monday morning in Auckland"
    assert digests.step(monday) == datetime(2026, 11, 30, 7, tzinfo=UTC)
    assert digests.step(monday.replace(hour=7)) == datetime(2026, 11, 30, 19, tzinfo=UTC)
    assert told == ["written", "written"]
    keys = {row.key for row in storages[0].reads.outbox(states=tuple(EffectState), limit=10)}
    assert keys == {"digest:core:2026-11-30", "digest:far:2026-11-30"}


@pytest.mark.scenario(2)
def test_of_two_that_write_at_once_one_does(storages: list[SqlStorage]) -> None:
    told: list[str] = []
    start = threading.Barrier(2)
    failures: list[BaseException] = []
    first_day = date(2026, 11, 30)

    def write(digests: Digests) -> None:
        try:
            for day in range(10):
                start.wait(10)
                digests.step(datetime(2026, 11, 30, 7, tzinfo=UTC) + timedelta(days=day))
        except BaseException as failure:  # noqa: BLE001 whatever it is, the test must see it
            failures.append(failure)
            start.abort()

    threads = [threading.Thread(target=write, args=(writer(storage, told),)) for storage in storages]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
    core = load(POLICIES, env={}).teams["core"]
    keys = [row.key for row in storages[0].reads.outbox(states=tuple(EffectState), limit=100)]
    workdays = [day for day in range(10) if (first_day + timedelta(days=day)).weekday() < 5]
    assert sorted(key for key in keys if key.startswith("digest:core")) == [
        key_of(core, first_day + timedelta(days=day), CORES_CHANNEL) for day in workdays
    ]
