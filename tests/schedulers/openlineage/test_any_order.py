"""Events that come shuffled and twice end as the ordered ones do: the same runs, the same open trouble, the same error."""

import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.handlers.doubles import Clock
from tests.schedulers.openlineage.events import ROOT, TASK, captured, dag_run, error, failing_dag, run_event, task
from tests.schedulers.openlineage.road import Road, lineage_road
from tests.schedulers.openlineage.test_producers import dbt_run

Ends = tuple[frozenset[Any], frozenset[Any]]


@contextmanager
def new_road(template: Path) -> Iterator[Road]:
    with TemporaryDirectory() as place:
        file = Path(place) / "ontrack.db"
        shutil.copyfile(template, file)
        with lineage_road(f"sqlite:///{file}", Clock()) as road:
            yield road


def end_of(template: Path, events: list[dict[str, Any]], *, at_once: int = 1) -> Ends:
    """The runs and the open trouble after these events, some at once, and after all that waits."""
    with new_road(template) as road:
        for start in range(0, len(events), at_once):
            road.takes(*events[start : start + at_once])
        road.waits()
        trouble = frozenset(
            (str(one.job), one.failure.message, one.failure.fingerprint, one.failure.run) for one in road.unresolved()
        )
        return frozenset(road.runs()), trouble


def started_late() -> list[dict[str, Any]]:
    """A scheduled DAG run in which a task fails once, goes well, and another one fails for good."""
    dag: dict[str, Any] = {"job": "finance.daily", "facets": dag_run()}
    failed: dict[str, Any] = {
        "facets": {**dag_run(), **error("task_failure"), "airflowState": {"tasksState": {"load": "failed"}}}
    }
    of: dict[str, Any] = {"parent": ROOT, "root": ROOT}
    return [
        run_event("START", "06:00:01", **dag),
        run_event("START", "06:00:02", run=TASK, job="finance.daily.extract", facets=task("extract", retries=1), **of),
        run_event(
            "FAIL", "06:00:03", run=TASK, job="finance.daily.extract",
            facets={**task("extract", retries=1), **error("connection reset")}, **of,
        ),
        run_event(
            "COMPLETE", "06:05:03", run="t2", job="finance.daily.extract",
            facets=task("extract", attempt=2, retries=1), **of,
        ),
        run_event("FAIL", "06:06:00", run="t3", job="finance.daily.load", facets={**task("load"), **error("disk full")}, **of),
        run_event("FAIL", "06:06:01", **{**dag, **failed}),
    ]  # fmt: skip


STORIES: dict[str, Callable[[], list[dict[str, Any]]]] = {
    "failing": failing_dag,
    "cleared": lambda: captured()[:10],
    "all": captured,
    "retried": started_late,
    "dbt": dbt_run,
    "dbt really": lambda: [event for event in captured("dbt-failed") if "raw.sql" not in event["job"]["name"]],
}


@pytest.mark.parametrize("story", STORIES)
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), twice=st.integers(0, 4), at_once=st.sampled_from([1, 1, 3, 50]))
def test_the_end_is_the_same(migrated_file: Path, story: str, seed: int, twice: int, at_once: int) -> None:
    events = STORIES[story]()
    ordered_runs, ordered_trouble = end_of(migrated_file, events)
    chance = random.Random(seed)
    mixed = [*events, *chance.choices(events, k=twice)]
    chance.shuffle(mixed)
    runs, trouble = end_of(migrated_file, mixed, at_once=at_once)

    assert trouble == ordered_trouble
    last = {(job, run, max(of[2] for of in ordered_runs if of[:2] == (job, run))) for job, run, *_ in ordered_runs}
    newest = {of for of in ordered_runs if of[:3] in last}
    assert {of for of in runs if of[:3] in last} == newest


@pytest.mark.parametrize("lost", range(4))
def test_a_lost_event_of_a_failing_dag_loses_the_error_at_most(migrated_file: Path, lost: int) -> None:
    events = failing_dag()
    _, whole = end_of(migrated_file, events)
    _, trouble = end_of(migrated_file, [event for number, event in enumerate(events) if number != lost])

    if lost == 3:
        assert trouble == frozenset(), "its end was never told: the poller heals that"
    elif lost == 2:
        assert {job for job, *_ in trouble} == {job for job, *_ in whole}
    else:
        assert {(job, message) for job, message, *_ in trouble} == {(job, message) for job, message, *_ in whole}
