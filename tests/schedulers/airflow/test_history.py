"""Airflow's past, as an import reads it."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from bot.incidents.keys import Trigger
from bot.policies.specs import AirflowSpec
from bot.ports import Historian, HistoryDown
from bot.schedulers.airflow.history import MOST_LOGS_A_DAG
from bot.schedulers.airflow.scheduler import AirflowScheduler
from bot.schedulers.patience import BETWEEN_CALLS, PATIENCE
from bot.sources import SourceEvent, SourceKind
from tests.schedulers.airflow.desk import KEY, NAME, TRACEBACK, Desk
from tests.schedulers.airflow.records import Run
from tests.schedulers.airflow.server import MONDAY, PASSWORD, USER, Airflow

FAILED, SUCCEEDED, STARTED = SourceKind.RUN_FAILED, SourceKind.RUN_SUCCEEDED, SourceKind.RUN_STARTED


class Past:
    """Runs of days gone by, and what is told of them; whoever waits lets the clock go on."""

    def __init__(self, airflow: Airflow) -> None:
        self.airflow = airflow
        self.waited: list[timedelta] = []
        spec = AirflowSpec(name=NAME, url=airflow.url, user=USER, password=PASSWORD)
        self.scheduler = AirflowScheduler(spec, clock=lambda: airflow.records.now, wait=self._wait)

    def _wait(self, span: timedelta) -> None:
        self.waited.append(span)
        self.airflow.records.now += span

    def has_run(self, dag: str, at: datetime, state: str = "success", *, took: timedelta = timedelta(minutes=5)) -> Run:
        records = self.airflow.records
        records.now = max(records.now, at)
        run = records.add_run(dag, f"scheduled__{at.isoformat()}", due=at)
        records.now += took
        records.ends(run, state, log=TRACEBACK if state == "failed" else None)
        return run

    def pages(self, since: datetime = MONDAY, until: datetime | None = None) -> list[list[SourceEvent]]:
        end = until or self.airflow.records.now
        self.airflow.records.now = max(self.airflow.records.now, end)
        self.airflow.asked.clear()
        return [list(page) for page in self.scheduler.history(since=since, until=end)]

    def told(self, since: datetime = MONDAY, until: datetime | None = None) -> list[SourceEvent]:
        return [event for page in self.pages(since, until) for event in page]


@pytest.fixture
def past(airflow: Airflow) -> Iterator[Past]:
    past = Past(airflow)
    yield past
    past.scheduler.close()


def short(events: list[SourceEvent]) -> list[tuple[str, int, SourceKind]]:
    return [(event.job.name, event.run.generation, event.kind) for event in events if event.run is not None]


def test_an_airflow_can_tell_of_its_past(past: Past) -> None:
    assert isinstance(past.scheduler, Historian)


def test_runs_that_ended_in_the_stretch_are_told_in_the_order_of_their_ends(past: Past) -> None:
    past.has_run("long", MONDAY, took=timedelta(hours=3))
    past.has_run("short", MONDAY + timedelta(hours=4), "failed")
    until = past.airflow.records.now
    past.has_run("too_late", MONDAY + timedelta(hours=6))
    events = past.told(until=until + timedelta(minutes=1))

    assert short(events) == [("long", 0, SUCCEEDED), ("short", 0, FAILED)]
    assert events[0].ended_at is not None
    assert events[0].started_at is not None
    assert events[0].ended_at - events[0].started_at >= timedelta(hours=3)
    assert events[1].error is not None
    assert events[1].error.message == "no rows for 2026-11-29"


def test_it_is_told_under_the_keys_of_the_poller(past: Past, tmp_path: Path) -> None:
    past.has_run("daily", MONDAY, "failed")
    run = past.has_run("daily", MONDAY + timedelta(minutes=20), "failed")
    past.airflow.records.clear(run, user="maria", only_failed=True, note=None)
    past.airflow.records.begins(run)
    past.airflow.records.ends(run, "success")
    desk = Desk(past.airflow, tmp_path)
    polled = {event.key for event in desk.polls()}
    desk.scheduler.close()
    told = {event.key for event in past.told() if event.kind is not STARTED}

    assert len(told) == 3
    assert polled & told == {key for key in polled if not key.endswith("run.started")}
    assert len(told - polled) == 1


def test_good_runs_cost_a_page_of_calls_and_no_more(past: Past) -> None:
    for number in range(250):
        past.has_run(f"dag_{number:03}", MONDAY + timedelta(minutes=10 * number))
    past.airflow.records.tick()
    events = past.told()

    assert len({event.job.name for event in events}) == len(events) == 250
    assert len(past.airflow.calls("GET", "~/dagRuns$")) == 3
    assert len(past.airflow.asked) <= 9


def test_runs_that_ended_at_one_instant_are_all_told_once(past: Past) -> None:
    past.airflow.page_limit = 4
    for number in range(11):
        run = past.has_run(f"dag_{number:02}", MONDAY)
        run.end_date = MONDAY + timedelta(minutes=30)
    past.airflow.records.now += timedelta(hours=1)
    events = past.told()

    assert sorted(event.job.name for event in events) == [f"dag_{number:02}" for number in range(11)]


def test_how_a_run_had_failed_before_it_was_cleared_is_told_with_its_log_and_by_whom(past: Past) -> None:
    run = past.has_run("finance.daily", MONDAY, "failed")
    failed_at = run.end_date
    past.has_run("another", MONDAY + timedelta(hours=1))
    past.airflow.records.clear(run, user="maria", only_failed=True, note=None)
    past.airflow.records.begins(run)
    past.airflow.records.now += timedelta(minutes=7)
    past.airflow.records.ends(run, "success")
    past.airflow.records.tick()
    events = past.told()

    assert short(events) == [
        ("finance.daily", 0, FAILED),
        ("another", 0, SUCCEEDED),
        ("finance.daily", 1, STARTED),
        ("finance.daily", 1, SUCCEEDED),
    ]
    first, last = events[0], events[-1]
    assert failed_at is not None
    assert abs((first.at - failed_at).total_seconds()) < 1
    assert first.error is not None
    assert first.error.message == "no rows for 2026-11-29"
    assert first.run is not None
    assert first.run.trigger is Trigger.SCHEDULE
    assert last.run is not None
    assert last.run.trigger is Trigger.RERUN
    assert (events[2].by, last.by) == ("maria", "maria")


def test_our_own_reruns_are_known_by_their_key(past: Past) -> None:
    run = past.has_run("finance.daily", MONDAY, "failed")
    note = f"[ontrack rerun by U0ANA, key {KEY}]"
    past.airflow.records.clear(run, user=USER, only_failed=True, note=note)
    past.airflow.records.begins(run)
    past.airflow.records.ends(run, "success")
    past.airflow.records.tick()

    assert past.told()[-1].rerun_key == KEY


def test_a_run_cleared_twice_is_told_three_times(past: Past) -> None:
    run = past.has_run("finance.daily", MONDAY, "failed")
    for state in ("failed", "success"):
        past.airflow.records.now += timedelta(minutes=10)
        past.airflow.records.clear(run, user="maria", only_failed=True, note=None)
        past.airflow.records.begins(run)
        past.airflow.records.ends(run, state, log=TRACEBACK)
    past.airflow.records.tick()

    ends = [one for one in short(past.told()) if one[2] is not STARTED]
    assert ends == [("finance.daily", 0, FAILED), ("finance.daily", 1, FAILED), ("finance.daily", 2, SUCCEEDED)]


def test_a_run_marked_successful_by_hand_is_no_good_run(past: Past) -> None:
    run = past.has_run("finance.daily", MONDAY, "failed")
    past.airflow.records.patch(run, {"state": "success"}, user="maria")
    past.airflow.records.tick()
    (event,) = past.told()

    assert event.kind is SourceKind.RUN_CANCELLED


def test_without_the_audit_log_runs_are_told_as_they_stand(past: Past) -> None:
    past.airflow.audit_hidden = True
    run = past.has_run("finance.daily", MONDAY, "failed")
    past.airflow.records.clear(run, user="maria", only_failed=True, note=None)
    past.airflow.records.begins(run)
    past.airflow.records.ends(run, "success")
    past.airflow.records.tick()

    assert short(past.told()) == [("finance.daily", 0, SUCCEEDED)]


def test_so_many_logs_of_a_dag_are_read_and_no_more(past: Past) -> None:
    for number in range(MOST_LOGS_A_DAG + 3):
        past.has_run("broken", MONDAY + timedelta(minutes=10 * number), "failed")
    past.airflow.records.tick()
    events = past.told()

    assert len(events) == MOST_LOGS_A_DAG + 3
    assert len(past.airflow.calls("GET", "/logs/")) == MOST_LOGS_A_DAG
    assert events[-1].error is not None
    assert f"an import reads {MOST_LOGS_A_DAG} logs of a DAG" in events[-1].error.log


def test_calls_keep_their_distance_and_what_airflow_wishes_is_waited_for(past: Past) -> None:
    past.has_run("daily", MONDAY)
    past.airflow.records.tick()
    past.airflow.fails(429, "~/dagRuns$", headers={"Retry-After": "33"})
    past.airflow.fails(503, "~/dagRuns$")
    past.airflow.fails("drop", "~/dagRuns$")

    assert short(past.told()) == [("daily", 0, SUCCEEDED)]
    assert timedelta(seconds=33) in past.waited
    assert past.waited.count(BETWEEN_CALLS) == len([one for one in past.airflow.asked if "token" not in one.path])


def test_an_airflow_that_stays_unwell_is_given_up_in_words(past: Past) -> None:
    past.airflow.fails(503, "~/dagRuns$", times=1000)

    with pytest.raises(HistoryDown, match="its past cannot be read further: Airflow answered 503"):
        past.told()
    assert sum(past.waited, timedelta()) <= PATIENCE + timedelta(minutes=1)


def test_runs_that_are_not_shown_to_us_end_it_in_words(past: Past) -> None:
    past.airflow.fails(403, "~/dagRuns$", times=1000)

    with pytest.raises(HistoryDown, match="its runs are not shown: Airflow answered 403"):
        past.told()
