"""The scheduler of the races itself: it plays every order, finds what only one of them shows, and says what it left out."""

import threading
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import comb
from typing import Any

import psycopg
import pytest

from tests.races.conductor import Actor, Conductor, Stuck, stop
from tests.races.orders import Orders
from tests.races.steps import Footprint, statement_footprint, statement_label

SAME = Footprint(outside=frozenset({"the same"}))


def nobody(actors: Sequence[Actor]) -> frozenset[str]:
    return frozenset()


def played(
    before: Callable[[], Mapping[str, Callable[[], Any]]],
    *,
    limit: int = 1000,
    waits: Callable[[Sequence[Actor]], frozenset[str]] = nobody,
) -> tuple[list[list[str]], bool]:
    """The orders that were played, and whether there was no other one."""
    orders, found = Orders(limit=limit), []
    for walk in orders:
        conductor = Conductor(before(), waits)
        conductor.play(walk)
        if not walk.redundant:
            found.append([str(step) for step in conductor.taken if step.does != "begins"])
    return found, orders.complete


def steps(*footprints: Footprint) -> Callable[[], None]:
    def work() -> None:
        for number, footprint in enumerate(footprints):
            stop(f"step {number}", footprint)

    return work


def test_steps_that_meet_are_played_in_every_order() -> None:
    found, complete = played(lambda: {"a": steps(SAME, SAME, SAME), "b": steps(SAME, SAME, SAME)})

    assert complete
    assert len(found) == comb(6, 3)
    assert len({tuple(order) for order in found}) == comb(6, 3)


def test_three_actors_are_played_in_every_order() -> None:
    found, complete = played(lambda: dict.fromkeys("abc", steps(SAME, SAME)))

    assert complete
    assert len({tuple(order) for order in found}) == len(found) == 90


def test_steps_that_do_not_meet_are_played_once() -> None:
    apart = [Footprint(outside=frozenset({name})) for name in "ab"]
    found, complete = played(lambda: {name: steps(*[one] * 4) for name, one in zip("ab", apart, strict=True)})

    assert complete
    assert len(found) == 1


def test_one_step_that_meets_is_tried_before_and_after_each_of_the_others() -> None:
    alone = Footprint(outside=frozenset({"alone"}))
    found, complete = played(lambda: {"a": steps(alone, SAME, alone, SAME), "b": steps(SAME)})

    assert complete
    assert len(found) == 3


def test_where_there_are_too_many_those_with_few_changes_come_first_and_it_says_so() -> None:
    found, complete = played(lambda: {"a": steps(*[SAME] * 8), "b": steps(*[SAME] * 8)}, limit=30)
    changes = [sum(one[0] != other[0] for one, other in pairwise(order)) for order in found]

    assert not complete
    assert 20 < len(found) <= 30
    assert max(changes) <= 3
    assert found == played(lambda: {"a": steps(*[SAME] * 8), "b": steps(*[SAME] * 8)}, limit=30)[0]


def test_it_finds_an_update_that_is_lost() -> None:
    """What a careless actor reads and another one changes before it writes."""
    ends = []

    def before() -> Mapping[str, Callable[[], None]]:
        box = {"sum": 0}
        ends.append(box)

        def careless() -> None:
            stop("reads", SAME)
            seen = box["sum"]
            stop("writes", SAME)
            box["sum"] = seen + 1

        return {"a": careless, "b": careless}

    played(before)

    assert sorted({box["sum"] for box in ends}) == [1, 2]


def test_an_actor_that_waits_is_left_alone_until_it_can_go_on(postgresql_url: str) -> None:
    """Two transactions on one row of a real database: whoever comes second waits for the commit of the first."""
    with psycopg.connect(postgresql_url, autocommit=True) as admin:
        admin.execute("CREATE TABLE counted (n int)")
        ends = []

        def before() -> Mapping[str, Callable[[], None]]:
            admin.execute("TRUNCATE counted")
            admin.execute("INSERT INTO counted VALUES (0)")
            return {"a": counts, "b": counts}

        def counts() -> None:
            with psycopg.connect(postgresql_url) as mine:
                stop("updates", SAME, session=mine.info.backend_pid)
                mine.execute("UPDATE counted SET n = n + 1")
                stop("commits", SAME, session=mine.info.backend_pid)

        def waits(actors: Sequence[Actor]) -> frozenset[str]:
            ends.append(admin.execute("SELECT n FROM counted").fetchone())
            blocked = "SELECT cardinality(pg_blocking_pids(%s)) > 0"
            return frozenset(
                one.name
                for one in actors
                if one.session and admin.execute(blocked, (one.session,)).fetchone() == (True,)
            )

        found, complete = played(before, waits=waits)
        total = admin.execute("SELECT n FROM counted").fetchone()

    assert complete
    assert total == (2,)
    assert ["a: updates", "b: updates", "a: commits", "b: commits"] in found


def test_actors_that_nobody_ends_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.races.conductor.STUCK_AFTER", 0.05)
    halted = threading.Event()

    with pytest.raises(Stuck, match="a"):
        played(lambda: {"a": lambda: halted.wait(1)}, waits=lambda actors: frozenset(one.name for one in actors))
    halted.set()


@pytest.mark.parametrize(
    ("statement", "label", "holds"),
    [
        ("SELECT jobs.id FROM jobs ORDER BY jobs.id FOR NO KEY UPDATE", "SELECT jobs for update", {"jobs"}),
        (
            "SELECT outbox.id, jobs.name FROM outbox JOIN jobs ON true FOR UPDATE OF outbox SKIP LOCKED",
            "SELECT outbox for update",
            {"outbox"},
        ),
        ("SELECT budgets.id FROM budgets", "SELECT budgets", set()),
        ("INSERT INTO budgets (scope) VALUES (1) ON CONFLICT DO UPDATE SET scope = 1", "INSERT budgets", {"budgets"}),
        ("DELETE FROM timers WHERE timers.id = 1", "DELETE timers", {"timers"}),
        ("SELECT pg_advisory_xact_lock(1)", "SELECT turn for update", {"turn"}),
    ],
)
def test_a_statement_is_known_by_what_it_holds(statement: str, label: str, holds: set[str]) -> None:
    assert statement_label(statement) == label
    assert statement_footprint(statement).holds == holds
