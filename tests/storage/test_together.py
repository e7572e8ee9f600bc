"""Who leads among the processes of one database, and how they wake each other."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta

import psycopg
import pytest

from bot.store.together import Hints, Leader
from storage.hints import CHANNEL, GAP
from storage.together import open_hints, open_leader
from tests.house.tree import ROOT
from tests.storage.sessions import end_sessions

SOON = 20.0
LEADING = """
import sys
from storage.together import open_leader
leader = open_leader({url!r})
print(leader.try_lead(), flush=True)
sys.stdin.read()
"""

Lead = Callable[[], Leader]


@pytest.fixture
def candidate(database_url: str) -> Iterator[Lead]:
    made: list[Leader] = []

    def make() -> Leader:
        made.append(open_leader(database_url))
        return made[-1]

    yield make
    for leader in made:
        leader.resign()


@pytest.fixture
def contender(postgresql_url: str) -> Iterator[Lead]:
    made: list[Leader] = []

    def make() -> Leader:
        made.append(open_leader(postgresql_url))
        return made[-1]

    yield make
    for leader in made:
        leader.resign()


def test_nobody_leads_before_being_asked_to(candidate: Lead) -> None:
    leader = candidate()

    assert leader.lost
    assert leader.try_lead()
    assert not leader.lost


def test_who_leads_goes_on_leading(candidate: Lead) -> None:
    leader = candidate()

    assert [leader.try_lead(), leader.try_lead()] == [True, True]


def test_who_resigned_leads_no_more(candidate: Lead) -> None:
    leader = candidate()
    leader.try_lead()
    leader.resign()

    assert leader.lost


def test_one_of_two_leads_until_it_resigns(contender: Lead) -> None:
    first, second = contender(), contender()

    assert (first.try_lead(), second.try_lead(), second.lost) == (True, False, True)
    first.resign()
    assert (second.try_lead(), second.lost) == (True, False)


def test_who_waits_leads_the_moment_that_the_leader_ends(contender: Lead) -> None:
    first, second = contender(), contender()
    first.try_lead()
    threading.Timer(0.05, first.resign).start()
    began = time.monotonic()

    assert second.try_lead(wait=timedelta(seconds=SOON))
    assert time.monotonic() - began < SOON / 2


def test_who_waits_in_vain_is_told(contender: Lead) -> None:
    first, second = contender(), contender()
    first.try_lead()

    assert not second.try_lead(wait=timedelta(milliseconds=20))
    first.resign()
    assert second.try_lead()


def test_a_wait_ends_when_the_waiting_process_stops(contender: Lead) -> None:
    first, second = contender(), contender()
    first.try_lead()
    second.try_lead()
    waiting = threading.Thread(target=lambda: second.try_lead(wait=timedelta(seconds=SOON * 2)))
    waiting.start()
    began = time.monotonic()
    second.resign()
    waiting.join()

    assert time.monotonic() - began < SOON
    assert second.lost


def test_a_killed_leader_is_followed_by_another(postgresql_url: str, contender: Lead) -> None:
    script = LEADING.format(url=postgresql_url)
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as leader:
        assert leader.stdout is not None
        assert leader.stdout.readline() == "True\n"
        assert not contender().try_lead()
        leader.kill()
        leader.wait()

        assert contender().try_lead(wait=timedelta(seconds=SOON))


def test_a_leader_whose_session_ended_knows_it(postgresql_url: str, contender: Lead) -> None:
    first, second = contender(), contender()
    first.try_lead()

    assert end_sessions(postgresql_url, "advisory") == 1
    assert first.lost
    assert second.try_lead(wait=timedelta(seconds=SOON))
    assert not first.try_lead()


class Ear:
    """Counts how often it was woken."""

    def __init__(self) -> None:
        self._woken = threading.Semaphore(0)

    def woken(self) -> None:
        self._woken.release()

    def hears(self, wait: float = SOON) -> bool:
        return self._woken.acquire(timeout=wait)


@pytest.fixture
def hints(postgresql_url: str) -> Iterator[Callable[[Ear], Hints]]:
    """Hints of as many processes as a test wants; each has heard its first call already."""
    made: list[Hints] = []

    def make(ear: Ear) -> Hints:
        made.append(open_hints(postgresql_url, woken=ear.woken))
        assert ear.hears()
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_a_hint_wakes_the_others_and_not_its_sender(hints: Callable[[Ear], Hints]) -> None:
    mine, yours = Ear(), Ear()
    sender = hints(mine)
    answer = hints(yours)
    sender.hint()

    assert yours.hears()
    assert not mine.hears(0)
    answer.hint()
    assert mine.hears()


def test_hints_are_at_least_a_gap_apart(postgresql_url: str, hints: Callable[[Ear], Hints]) -> None:
    sender = hints(Ear())
    with psycopg.connect(postgresql_url, autocommit=True) as connection:
        connection.execute(f"LISTEN {CHANNEL}".encode())
        began = time.monotonic()
        for _ in range(20):
            sender.hint()
            assert len(list(connection.notifies(timeout=SOON, stop_after=1))) == 1
        lasted = time.monotonic() - began

    assert lasted >= 19 * GAP


def test_hints_that_come_too_fast_become_one(postgresql_url: str, hints: Callable[[Ear], Hints]) -> None:
    sender = hints(Ear())
    with psycopg.connect(postgresql_url, autocommit=True) as connection:
        connection.execute(f"LISTEN {CHANNEL}".encode())
        began = time.monotonic()
        for _ in range(1000):
            sender.hint()
        heard = list(connection.notifies(timeout=0.1))
        lasted = time.monotonic() - began

    assert 1 <= len(heard) <= lasted / GAP + 1


def test_hints_go_on_after_the_connections_were_lost(postgresql_url: str, hints: Callable[[Ear], Hints]) -> None:
    yours = Ear()
    sender = hints(Ear())
    hints(yours)
    sender.hint()
    assert yours.hears()

    assert end_sessions(postgresql_url) == 4
    assert yours.hears()
    sender.hint()
    assert yours.hears()


def test_a_database_that_is_away_costs_no_exception(postgresql_url: str) -> None:
    nowhere = postgresql_url.replace("@/", "@/no_such_")
    leader, hints = open_leader(nowhere), open_hints(nowhere, woken=lambda: None)
    hints.hint()

    assert not leader.try_lead()
    assert leader.lost
    leader.resign()
    hints.close()


def test_one_process_has_nobody_to_wake(sqlite_url: str) -> None:
    ear = Ear()
    hints = open_hints(sqlite_url, woken=ear.woken)
    hints.hint()
    hints.close()

    assert not ear.hears(0)
