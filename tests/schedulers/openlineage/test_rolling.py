"""Which part's failure is the run's, and what is still waited for: tables of small families of runs."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.schedulers.openlineage.rolling import ended_badly, failing_parts, failure_of, waits
from bot.store.lineage import Known, LineageRun, PartError, Told

SIX = datetime(2026, 11, 30, 6, tzinfo=UTC)
SAID_NOTHING = PartError(message="task_failure")


def part(
    id: str,
    minute: int,
    state: Told = Told.FAILED,
    *,
    name: str | None = None,
    attempt: int = 1,
    tries: int | None = None,
    says: str | None = "no",
    parent: str = "root",
) -> LineageRun:
    error = PartError(message=says) if says is not None and state is Told.FAILED else None
    known = Known(heard=("k",), part=name or id, tries=tries, error=error)
    return LineageRun(
        source="s",
        run_id=id,
        job=f"job.{name or id}",
        root="root",
        parent=parent,
        state=state,
        state_at=SIX + timedelta(minutes=minute),
        attempt=attempt,
        known=known,
        seen_at=SIX,
    )


def root(*, says: PartError | None = SAID_NOTHING, failing: tuple[str, ...] = (), silent: bool = False) -> LineageRun:
    known = Known(heard=("k",), error=says, failing=failing, silent=silent)
    return replace(part("root", 90), own=True, parent=None, known=known)


FAMILIES = {
    "the first in time": ([part("a", 2), part("b", 1)], ["b", "a"]),
    "one that tells its error before one that does not": ([part("a", 1, says=None), part("b", 2)], ["b", "a"]),
    "a final one before one that is tried again": ([part("a", 1, tries=3), part("b", 2, tries=1)], ["b", "a"]),
    "undone by a later try": ([part("a1", 1, name="a"), part("a2", 3, Told.SUCCEEDED, name="a", attempt=2)], []),
    "not undone by an earlier success": (
        [part("a1", 1, Told.SUCCEEDED, name="a"), part("a2", 3, name="a", attempt=2)],
        ["a2"],
    ),
    "the last try of each part": ([part("a1", 1, name="a"), part("a2", 3, name="a", attempt=2)], ["a2"]),
    "undone with what it is a part of": ([part("q", 1, parent="t"), part("t", 2, Told.SUCCEEDED)], []),
    "undone with a later try of what it is a part of": (
        [part("q", 1, parent="t1"), part("t1", 2, name="t"), part("t2", 4, Told.SUCCEEDED, name="t", attempt=2)],
        [],
    ),
    "inner before outer, as it came first": ([part("q", 1, parent="t"), part("t", 2)], ["q", "t"]),
    "parents that go round in a circle": ([part("a", 1, parent="b"), part("b", 2, parent="a")], ["a", "b"]),
    "what was stopped did not fail": ([part("a", 1, Told.CANCELLED), part("b", 2, Told.STARTED)], []),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_which_failures_count_and_which_is_told_first(family: str) -> None:
    parts, expected = FAMILIES[family]

    assert [one.run_id for one in failing_parts(parts)] == expected


@given(st.permutations(range(6)), st.lists(st.tuples(st.integers(0, 9), st.sampled_from(Told)), min_size=6, max_size=6))
def test_the_order_in_which_parts_are_read_changes_nothing(order: list[int], ends: list[tuple[int, Told]]) -> None:
    parts = [
        part(f"p{number}", minute, state, name=f"n{number % 3}", attempt=1 + number // 3)
        for number, (minute, state) in enumerate(ends)
    ]

    assert failing_parts([parts[place] for place in order]) == failing_parts(parts)


@pytest.mark.parametrize(
    ("run", "parts", "waiting"),
    [
        (root(), [], True),
        (root(says=None), [], True),
        (root(says=PartError(message="no space left")), [], False),
        (root(), [part("a", 1)], False),
        (root(), [part("a", 1, says=None)], True),
        (root(), [part("a", 1), part("b", 2, Told.STARTED)], True),
        (root(says=PartError(message="no space left")), [part("b", 2, Told.STARTED)], True),
        (root(failing=("a", "b")), [part("a", 1)], True),
        (root(failing=("a", "b")), [part("a", 1), part("b", 2), part("c", 3, Told.STARTED)], False),
        (root(failing=("a",)), [part("a2", 1, name="a[2]")], False),
    ],
)
def test_when_a_failed_run_waits_for_its_parts(run: LineageRun, parts: list[LineageRun], waiting: bool) -> None:
    assert waits(run, parts) is waiting


@pytest.mark.parametrize(
    ("says", "parts", "error"),
    [
        ("task_failure", [part("a", 1, says="disk full")], "disk full"),
        ("Command `dbt run` failed at 06:00 after 6 seconds", [part("a", 1, says="disk full")], "disk full"),
        ("timed_out", [part("a", 1, says="connection reset", tries=3)], "timed_out"),
        ("timed_out", [part("a", 1, says="disk full", tries=1)], "disk full"),
        ("no space left", [], "no space left"),
        ("task_failure", [part("a", 1, says=None)], "a failed; its error was not told"),
        (None, [], "it failed; its error was not told"),
    ],
)
def test_what_the_error_of_a_run_is(says: str | None, parts: list[LineageRun], error: str) -> None:
    run = root(says=PartError(message=says) if says is not None else None)

    assert failure_of(run, parts).error.message == error


@pytest.mark.parametrize(
    ("silent", "parts", "badly"),
    [
        (True, [part("a", 1, Told.SUCCEEDED), part("b", 2)], True),
        (True, [part("a", 1), part("b", 2, Told.SUCCEEDED)], False),
        (True, [], False),
        (False, [part("b", 2)], False),
    ],
)
def test_a_producer_that_never_tells_of_a_failure(silent: bool, parts: list[LineageRun], badly: bool) -> None:
    assert ended_badly(root(says=None, silent=silent), parts) is badly
