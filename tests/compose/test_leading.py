"""Who leads among the processes of one database, and when this one stops to."""

from datetime import UTC, datetime, timedelta

import pytest

from bot.compose.host_clock import clock_trouble
from bot.compose.leading import Leadership
from bot.compose.roles import NeedsPostgres, Role, check_database
from storage.clock import DatabaseClock
from storage.together import open_leader
from tests.storage.sessions import end_sessions

NOW = datetime(2026, 11, 30, 3, 12, tzinfo=UTC)


class Told:
    """What a leadership called, in order, and whether it counted as leading then."""

    def __init__(self, url: str | None) -> None:
        self.calls: list[tuple[str, bool]] = []
        self.leadership = Leadership(open_leader(url) if url else None, gained=self.gained, leading=self.leading)

    def gained(self) -> None:
        self.calls.append(("gained", self.leadership.leads))

    def leading(self) -> None:
        self.calls.append(("leading", self.leadership.leads))


def test_whoever_begins_nothing_leads(database_url: str) -> None:
    assert Told(database_url).leadership.leads


def test_a_process_that_never_leads_does_not(database_url: str) -> None:
    told = Told(None)
    told.leadership.begin()

    assert not told.leadership.leads
    assert told.leadership.step(NOW) == NOW + timedelta(seconds=1)


def test_the_first_leads_and_is_told_before_and_after(database_url: str) -> None:
    told = Told(database_url)
    told.leadership.begin()

    assert told.leadership.leads
    assert told.calls == [("gained", False), ("leading", True)]
    told.leadership.end()


def test_the_second_leads_once_the_first_has_ended(postgresql_url: str) -> None:
    first, second = Told(postgresql_url), Told(postgresql_url)
    first.leadership.begin()
    second.leadership.begin()
    assert (first.leadership.leads, second.leadership.leads) == (True, False)

    first.leadership.end()
    second.leadership.step(NOW)

    assert (first.leadership.leads, second.leadership.leads) == (False, True)
    second.leadership.end()


def test_a_leader_whose_session_was_ended_does_not_lead_until_it_has_begun_anew(postgresql_url: str) -> None:
    told = Told(postgresql_url)
    told.leadership.begin()
    end_sessions(postgresql_url)

    before = told.leadership.leads
    told.leadership.step(NOW)

    assert (before, told.leadership.leads) == (False, True)
    assert [call for call, _ in told.calls] == ["gained", "leading"] * 2
    told.leadership.end()


def test_one_that_could_not_begin_to_lead_tries_again(database_url: str) -> None:
    tries: list[int] = []

    def gained() -> None:
        tries.append(1)
        if len(tries) == 1:
            raise RuntimeError("the database went away")

    leadership = Leadership(open_leader(database_url), gained=gained, leading=lambda: None)
    with pytest.raises(RuntimeError):
        leadership.begin()
    before = leadership.leads

    leadership.step(NOW)

    assert (before, leadership.leads) == (False, True)
    leadership.end()


@pytest.mark.parametrize("role", [Role.WEB, Role.WORKER, Role.CLOCK])
def test_the_split_processes_need_postgresql(role: Role) -> None:
    check_database(role, "postgresql://host/database")
    check_database(Role.RUN, "sqlite:///ontrack.db")

    with pytest.raises(NeedsPostgres, match=f"{role} is one of several"):
        check_database(role, "sqlite:///ontrack.db")


@pytest.mark.parametrize(
    ("off", "words"),
    [
        (timedelta(seconds=4), None),
        (timedelta(seconds=-4), None),
        (timedelta(seconds=7), "7.0 s ahead of the database's"),
        (timedelta(seconds=-7), "7.0 s behind the database's"),
    ],
)
def test_clocks_more_than_five_seconds_apart_are_told(off: timedelta, words: str | None) -> None:
    said = clock_trouble(clock=lambda: NOW + off, database_now=lambda: NOW)

    assert (words in said) if words and said else said is words


def test_the_time_that_asking_took_is_no_trouble() -> None:
    looks = iter((NOW, NOW + timedelta(seconds=9)))

    assert clock_trouble(clock=lambda: next(looks), database_now=lambda: NOW + timedelta(seconds=8)) is None


def test_a_database_tells_its_time(postgresql_url: str) -> None:
    database_now = DatabaseClock(postgresql_url)

    assert clock_trouble(clock=lambda: datetime.now(UTC), database_now=database_now) is None
    behind = clock_trouble(clock=lambda: datetime.now(UTC) - timedelta(minutes=2), database_now=database_now)
    assert behind is not None
    assert "behind" in behind
    database_now.close()
