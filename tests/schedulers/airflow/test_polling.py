"""What is polled, in the events that intake takes."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.incidents.keys import JobKey, Trigger
from bot.incidents.policy import Schedule
from bot.sources import SourceEvent, SourceKind
from tests.schedulers.airflow.desk import KEY, NAME, TRACEBACK, Desk, NotTaken
from tests.schedulers.airflow.server import USER, Airflow

DUE = datetime(2026, 11, 30, 6, tzinfo=UTC)


def kinds(events: list[SourceEvent]) -> list[str]:
    return [f"{event.run.generation} {event.kind}" for event in events if event.run is not None]


def test_a_failed_run_is_told_with_its_tasks_and_its_log(desk: Desk) -> None:
    desk.fails(tasks=("extract", "load"))
    started, failed = desk.polls()

    assert started.kind is SourceKind.RUN_STARTED
    assert failed.key == (
        "prod/finance.daily|2026-11-30T06:00:00+00:00|scheduled__2026-11-30T06:00:00+00:00|0|run.failed"
    )
    assert failed.run is not None
    assert failed.run.nominal_time == DUE
    assert failed.run.trigger is Trigger.SCHEDULE
    assert failed.error is not None
    assert (failed.error.type, failed.error.message) == ("ValueError", "no rows for 2026-11-29")
    assert failed.error.log.splitlines()[0] == "Parts of finance.daily: extract (try 1 of 2), load (try 1 of 2)"
    assert '  File "/dags/daily.py", line 12, in extract' in failed.error.log
    assert failed.facts["code"] == {"version": "4f2a9c1", "definition_version": 3, "bundle": "main"}
    assert failed.facts["failed_part"]["name"] == "extract"


def test_nothing_is_told_twice_and_a_poll_is_one_page_of_runs_for_all_dags(desk: Desk, airflow: Airflow) -> None:
    for number in range(40):
        run = airflow.records.add_run(f"dag_{number}", "r1", due=DUE)
        airflow.records.ends(run, "success")
    first = desk.polls()
    desk.moves(timedelta(seconds=30))
    airflow.asked.clear()
    again = desk.polls()

    assert kinds(first).count("0 run.succeeded") == 40
    assert again == []
    assert [asked.path for asked in airflow.asked] == ["/api/v2/dags/~/dagRuns", "/api/v2/eventLogs"]


def test_pages_are_read_to_the_end_whatever_their_size(desk: Desk, airflow: Airflow) -> None:
    airflow.page_limit = 7
    for number in range(30):
        airflow.records.ends(airflow.records.add_run(f"dag_{number:02}", "r1", due=DUE), "success")
    events = desk.polls(5)

    assert sorted({event.job.name for event in events}) == [f"dag_{number:02}" for number in range(30)]
    assert len(events) == 60
    assert len(airflow.calls("GET", "dagRuns$")) == 5


def test_a_run_cleared_by_hand_is_told_with_the_next_generation_and_by_whom(desk: Desk, airflow: Airflow) -> None:
    """SCENARIO 45, as far as the connector knows of it."""
    run = desk.fails()
    desk.polls()
    airflow.records.clear(run, user="maria", only_failed=True, note=None)
    airflow.records.begins(run)
    (started,) = desk.polls()
    airflow.records.ends(run, "success")
    (succeeded,) = desk.polls()

    assert (started.run and started.run.generation, started.by, started.rerun_key) == (1, "maria", None)
    assert (succeeded.kind, succeeded.by) == (SourceKind.RUN_SUCCEEDED, "maria")
    assert succeeded.run is not None
    assert succeeded.run.generation == run.clear_number == 1
    assert succeeded.run.trigger is Trigger.RERUN


def test_a_run_cleared_by_us_carries_our_key_and_nobodys_name(desk: Desk, airflow: Airflow) -> None:
    run = desk.fails()
    desk.polls()
    desk.scheduler.ask(desk.request(run))
    airflow.records.begins(run)
    airflow.records.ends(run, "failed", log=TRACEBACK)
    started, failed = desk.polls()

    assert (started.rerun_key, started.by) == (KEY, None)
    assert (failed.rerun_key, failed.by) == (KEY, None)
    assert kinds([failed]) == ["1 run.failed"]


def test_our_key_in_the_note_does_not_make_a_later_clear_by_hand_ours(desk: Desk, airflow: Airflow) -> None:
    run = desk.fails()
    desk.scheduler.ask(desk.request(run))
    airflow.records.begins(run)
    airflow.records.ends(run, "failed")
    desk.polls()
    airflow.records.clear(run, user="maria", only_failed=True, note=None)
    airflow.records.begins(run)
    (started,) = desk.polls()

    assert KEY in (run.note or "")
    assert (started.rerun_key, started.by) == (None, "maria")
    assert kinds([started]) == ["2 run.started"]


def test_clears_from_before_the_first_look_count(desk: Desk, airflow: Airflow) -> None:
    run = desk.fails()
    for user in ("maria", "sam"):
        airflow.records.clear(run, user=user, only_failed=True, note=None)
        airflow.records.begins(run)
        airflow.records.ends(run, "failed")

    assert kinds(desk.polls()) == ["2 run.started", "2 run.failed"]


def test_the_audit_log_is_read_page_by_page(desk: Desk, airflow: Airflow) -> None:
    airflow.page_limit = 3
    run = desk.fails()
    for _ in range(8):
        airflow.records.clear(run, user="maria", only_failed=True, note=None)
        airflow.records.begins(run)
        airflow.records.ends(run, "failed")

    assert kinds(desk.polls()) == ["8 run.started", "8 run.failed"]
    assert run.clear_number == 8


def test_a_long_audit_log_is_read_on_where_it_was_left(
    desk: Desk, airflow: Airflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.schedulers.airflow.runs.MOST_AUDIT_PAGES", 1)
    airflow.page_limit = 4
    for number in range(9):
        run = desk.fails(f"dag_{number}")
        desk.moves(timedelta(minutes=3))
        airflow.records.clear(run, user=f"user_{number}", only_failed=True, note=None)
    desk.polls(8)
    for run in airflow.records.runs:
        airflow.records.begins(run)
    desk.polls(8)

    begun = {event.job.name: event.by for event in desk.taken if event.run and event.run.generation == 1}
    assert begun == {f"dag_{number}": f"user_{number}" for number in range(9)}


def test_without_its_audit_log_a_clear_is_known_by_when_it_was_queued(desk: Desk, airflow: Airflow) -> None:
    airflow.audit_hidden = True
    run = desk.fails()
    desk.polls()
    airflow.records.clear(run, user="maria", only_failed=True, note=None)
    airflow.records.begins(run)
    (started,) = desk.polls()

    assert kinds([started]) == ["1 run.started"]
    assert started.by is None


def test_a_success_that_a_person_set_is_no_good_run(desk: Desk, airflow: Airflow) -> None:
    run = airflow.records.add_run("finance.daily", "r1", due=DUE)
    desk.polls()
    airflow.records.patch(run, {"state": "success"}, user="maria")
    (told,) = desk.polls()

    assert told.kind is SourceKind.RUN_CANCELLED
    assert told.by == "maria, who marked it successful in Airflow,"


def test_a_failed_run_marked_successful_is_no_good_run_either(desk: Desk, airflow: Airflow) -> None:
    run = desk.fails()
    desk.polls()
    airflow.records.patch(run, {"state": "success"}, user="maria")

    assert kinds(desk.polls()) == ["0 run.cancelled"]


def test_a_run_that_a_person_set_to_failed_was_stopped(desk: Desk, airflow: Airflow) -> None:
    run = airflow.records.add_run("finance.daily", "r1", due=DUE)
    desk.polls()
    airflow.records.patch(run, {"state": "failed"}, user="maria")
    (told,) = desk.polls()

    assert (told.kind, told.by) == (SourceKind.RUN_CANCELLED, "maria")
    assert airflow.calls("GET", "taskInstances") == []


def test_a_manual_run_names_who_started_it_and_has_no_nominal_time(desk: Desk, airflow: Airflow) -> None:
    airflow.records.add_run("finance.daily", "manual__1", due=None)
    (started,) = desk.polls()

    assert started.run is not None
    assert (started.by, started.run.trigger, started.run.nominal_time) == ("maria", Trigger.MANUAL, None)


def test_a_dag_is_told_when_it_changes_and_only_then(desk: Desk, airflow: Airflow) -> None:
    airflow.records.add_dag("finance.daily", owner="finance", next_run=DUE + timedelta(hours=1))
    desk.polls(3)
    (first,) = desk.changes()
    airflow.records.dags["finance.daily"]["is_paused"] = True
    desk.moves(timedelta(minutes=6))
    desk.polls()
    _, second = desk.changes()

    assert first.change is not None
    assert (first.change.owner, first.change.schedule) == ("finance", Schedule(next_run_at=DUE + timedelta(hours=1)))
    assert second.change is not None
    assert second.change.schedule == Schedule()
    assert desk.scheduler.schedule_of(JobKey(scheduler=NAME, name="finance.daily")) == Schedule()


def test_a_dag_that_is_missing_twice_is_gone(desk: Desk, airflow: Airflow) -> None:
    airflow.records.add_dag("finance.daily")
    desk.polls()
    del airflow.records.dags["finance.daily"]
    for _ in range(2):
        desk.moves(timedelta(minutes=6))
        desk.polls()

    assert [event.change.deleted for event in desk.changes() if event.change] == [False, True]


def test_a_restart_goes_on_where_it_was(desk: Desk, airflow: Airflow) -> None:
    run = desk.fails()
    desk.polls()
    desk.moves(timedelta(hours=7))
    airflow.records.clear(run, user="maria", only_failed=True, note=None)
    airflow.records.begins(run)
    desk.moves(timedelta(hours=7))
    desk.restarted()

    assert kinds(desk.polls()) == ["1 run.started"]


def test_a_lost_state_file_tells_the_same_keys_again(desk: Desk, tmp_path: Path) -> None:
    desk.fails()
    first = desk.polls()
    (tmp_path / NAME / "polled.json").write_text("{")
    desk.restarted()

    assert [event.key for event in desk.polls()] == [event.key for event in first]


def test_what_was_not_taken_is_reported_again(desk: Desk) -> None:
    desk.fails()
    desk.refuses = True
    with pytest.raises(NotTaken):
        desk.poller.step(desk.clock())
    desk.refuses = False
    desk.moves(timedelta(seconds=15))

    assert kinds(desk.polls()) == ["0 run.started", "0 run.failed"]


def test_the_audit_log_says_who_asked_for_our_own_rerun(desk: Desk, airflow: Airflow) -> None:
    """The stand-in logs as Airflow does: the trial leaves no row, the clear one with the note."""
    run = desk.fails()
    desk.scheduler.ask(desk.request(run))
    (row,) = airflow.records.audit

    assert (row["event"], row["owner"]) == ("clear_dag_run", USER)
    assert KEY in json.loads(row["extra"])["note"]
