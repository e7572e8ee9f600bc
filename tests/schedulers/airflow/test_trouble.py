"""Polling an Airflow that is not well: it backs off, goes on, and loses nothing."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from bot.policies.specs import AirflowSpec
from bot.schedulers.airflow.polling import AirflowPoller
from bot.schedulers.airflow.scheduler import AirflowScheduler
from tests.schedulers.airflow.desk import TRACEBACK, Desk
from tests.schedulers.airflow.server import PASSWORD, USER, Airflow
from tests.schedulers.airflow.test_polling import DUE, kinds


def wait_after(desk: Desk) -> timedelta:
    now = desk.clock()
    return desk.poller.step(now) - now


@pytest.mark.parametrize("kind", [500, 503, 429, 401, 403, "lose", "drop", "garbage"])
@pytest.mark.parametrize("path", ["/dagRuns$", "/eventLogs$", "/dags$", "/taskInstances$", "/auth/token$"])
def test_a_failure_is_told_in_the_end_whatever_failed_before(
    desk: Desk, airflow: Airflow, kind: str | int, path: str
) -> None:
    desk.fails()
    airflow.fails(kind, path, times=2)
    events = desk.polls(12)

    assert kinds(events) == ["0 run.started", "0 run.failed"]
    assert desk.poller.trouble == ""


def test_it_backs_off_and_comes_back(desk: Desk, airflow: Airflow) -> None:
    airflow.fails(500, times=5)
    waits = []
    for _ in range(6):
        waits.append(wait_after(desk).total_seconds())
        desk.moves(timedelta(seconds=waits[-1]))

    assert waits == [15, 30, 60, 120, 240, 15]


def test_it_waits_as_long_as_airflow_asks_for(desk: Desk, airflow: Airflow) -> None:
    airflow.fails(429, "/dagRuns$", headers={"Retry-After": "90"})

    assert wait_after(desk) == timedelta(seconds=90)
    assert desk.poller.trouble == "Airflow answered 429: fault 429"


def test_nothing_is_asked_before_it_is_due(desk: Desk, airflow: Airflow) -> None:
    desk.polls()
    asked = len(airflow.asked)
    desk.poller.step(desk.clock() - timedelta(seconds=5))

    assert len(airflow.asked) == asked


def test_a_log_that_is_not_shown_costs_only_the_log(desk: Desk, airflow: Airflow) -> None:
    desk.fails()
    airflow.fails(500, "/logs/", times=9)
    _, failed = desk.polls()

    assert failed.error is not None
    assert failed.error.log.splitlines() == [
        "Parts of finance.daily: extract (try 1 of 2)",
        "the log of extract was not shown: Airflow answered 500: fault 500",
    ]


def test_tasks_that_are_never_shown_do_not_hold_up_the_others(desk: Desk, airflow: Airflow) -> None:
    desk.fails("aaa")
    desk.fails("bbb")
    airflow.fails(500, "/dags/aaa/.*/taskInstances$", times=99)
    events = desk.polls(6)

    assert kinds(events) == ["0 run.started", "0 run.failed"] * 2
    assert events[1].error is not None
    assert "were not shown in 3 tries" in events[1].error.log


def test_a_storm_is_read_some_failures_at_a_time(desk: Desk, airflow: Airflow) -> None:
    for number in range(50):
        desk.fails(f"dag_{number:02}")
    first = desk.polls()
    rest = desk.polls(3)

    assert kinds(first).count("0 run.failed") == 20
    assert kinds(rest).count("0 run.failed") == 30
    assert len(airflow.calls("GET", "/logs/")) == 50


def test_a_run_that_changes_while_pages_are_read_is_not_skipped(desk: Desk, airflow: Airflow) -> None:
    airflow.page_limit = 5
    runs = [airflow.records.add_run(f"dag_{number:02}", "r1", due=DUE) for number in range(12)]
    desk.polls()
    for run in runs[:3]:
        airflow.records.ends(run, "failed", log=TRACEBACK)
    desk.polls(2)
    desk.moves(timedelta(minutes=1))
    desk.polls(3)

    failed = sorted(event.job.name for event in desk.taken if event.kind == "run.failed")
    assert failed == ["dag_00", "dag_01", "dag_02"]


def test_a_server_that_hangs_ends_the_step_in_time(
    airflow: Airflow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.schedulers.airflow.dags.CALL_WITHIN", timedelta(milliseconds=200))
    desk = Desk(airflow, tmp_path)
    airflow.fails("hang", "/dags$")
    begun = datetime.now().astimezone()
    desk.polls()

    assert datetime.now().astimezone() - begun < timedelta(seconds=5)
    assert desk.poller.trouble == "it did not answer in time"


def test_an_address_that_is_none_is_a_trouble_and_no_crash(airflow: Airflow, tmp_path: Path) -> None:
    spec = AirflowSpec(name="prod", url="http://[nowhere", user=USER, password=PASSWORD)
    scheduler = AirflowScheduler(spec, clock=lambda: DUE)
    poller = AirflowPoller(scheduler, state=tmp_path, report=lambda events: None)

    assert poller.step(DUE) > DUE
    assert poller.trouble != ""
