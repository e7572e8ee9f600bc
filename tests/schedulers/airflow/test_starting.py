"""A run that Airflow's schedule has not begun is begun as the schedule would have, once, or not at all."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bot.incidents.keys import Action, Capability, RunRef, Trigger
from bot.ports import Looked, SchedulerRequest, Taken
from tests.schedulers.airflow.desk import KEY, Desk
from tests.schedulers.airflow.server import Airflow

DAG = "finance.daily"
DUE = datetime(2026, 11, 30, 6, tzinfo=UTC)
ID = "ontrack__2026-11-30T06:00:00+0000"


@pytest.fixture
def wanted(desk: Desk, airflow: Airflow) -> SchedulerRequest:
    """The run of six o'clock, which the schedule has not begun."""
    airflow.records.add_dag(DAG, next_run=DUE)
    desk.moves(timedelta(minutes=20))
    return desk.request(action=Action.START, nominal_times=(DUE,))


def test_it_is_begun_with_the_interval_that_the_schedule_would_have_given_it(
    desk: Desk, airflow: Airflow, wanted: SchedulerRequest
) -> None:
    answer = desk.scheduler.ask(wanted)

    assert Capability.START in desk.scheduler.can
    assert answer.taken is Taken.TAKEN
    assert airflow.calls("POST", "/dagRuns$")[0].body == {
        "dag_run_id": ID,
        "logical_date": "2026-11-30T05:00:00+00:00",
        "data_interval_start": "2026-11-30T05:00:00+00:00",
        "data_interval_end": "2026-11-30T06:00:00+00:00",
        "run_after": "2026-11-30T06:00:00+00:00",
        "note": f"the cause is marked safe [ontrack started by U0ANA, key {KEY}]",
    }


def test_its_run_is_told_under_our_key_for_the_time_that_was_owed(
    desk: Desk, airflow: Airflow, wanted: SchedulerRequest
) -> None:
    desk.scheduler.ask(wanted)
    run = airflow.records.run(DAG, ID)
    airflow.records.begins(run)
    started = desk.polls()[-1]
    airflow.records.ends(run, "success")
    ended = desk.polls()[-1]

    assert [event.kind for event in (started, ended)] == ["run.started", "run.succeeded"]
    assert {(event.rerun_key, event.by) for event in (started, ended)} == {(KEY, None)}
    assert ended.run is not None
    assert (ended.run.nominal_time, ended.run.trigger) == (DUE, Trigger.MANUAL)


def test_a_clear_of_it_by_hand_is_nothing_of_ours(desk: Desk, airflow: Airflow, wanted: SchedulerRequest) -> None:
    desk.scheduler.ask(wanted)
    run = airflow.records.run(DAG, ID)
    airflow.records.begins(run)
    airflow.records.ends(run, "failed")
    desk.polls()
    airflow.records.clear(run, user="maria", only_failed=True, note=None)
    airflow.records.begins(run)
    again = desk.polls()[-1]

    assert (again.kind, again.rerun_key, again.by) == ("run.started", None, "maria")


def test_asked_again_it_says_that_it_was_asked(desk: Desk, airflow: Airflow, wanted: SchedulerRequest) -> None:
    first, second = desk.scheduler.ask(wanted), desk.scheduler.ask(wanted)

    assert (first.taken, second.taken) == (Taken.TAKEN, Taken.ALREADY)
    assert len(airflow.records.runs) == 1


@pytest.mark.parametrize(
    ("fault", "answer", "found"),
    [
        ("lose", Taken.UNCERTAIN, Looked.STARTED),
        ("drop", Taken.UNCERTAIN, Looked.NOT_STARTED),
        ("late", Taken.UNCERTAIN, Looked.STARTED),
        (503, Taken.UNCERTAIN, Looked.NOT_STARTED),
        (429, Taken.REFUSED, Looked.NOT_STARTED),
    ],
)
def test_after_a_lost_answer_a_look_finds_it_by_its_id(
    desk: Desk, airflow: Airflow, wanted: SchedulerRequest, fault: Any, answer: Taken, found: Looked
) -> None:
    airflow.fails(fault, "/dagRuns$", method="POST")

    assert desk.scheduler.ask(wanted).taken is answer
    assert desk.scheduler.look(wanted) is found
    assert desk.scheduler.ask(wanted).taken is (Taken.ALREADY if found is Looked.STARTED else Taken.TAKEN)
    assert len(airflow.records.runs) == 1


def test_a_look_that_gets_no_answer_cannot_tell(desk: Desk, airflow: Airflow, wanted: SchedulerRequest) -> None:
    airflow.fails(500, f"/dagRuns/{ID}$".replace("+", "%2B").replace(":", "%3A"))

    assert desk.scheduler.look(wanted) is Looked.CANNOT_TELL


def test_a_run_that_the_schedule_began_meanwhile_is_not_doubled(
    desk: Desk, airflow: Airflow, wanted: SchedulerRequest
) -> None:
    airflow.records.add_run(DAG, "scheduled__2026-11-30T05:00:00+00:00", due=DUE)
    answer = desk.scheduler.ask(wanted)

    assert answer.taken is Taken.REFUSED
    assert "begun a run of that time" in answer.message
    assert len(airflow.records.runs) == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"is_paused": True}, "paused in Airflow"),
        ({"is_stale": True}, "gone from Airflow"),
        ({"next_dagrun_logical_date": None}, "no next run"),
        ({"next_dagrun_data_interval_end": "2026-11-30T07:00:00Z"}, "its next run is that of 2026-11-30 07:00 UTC"),
    ],
)
def test_where_the_interval_is_not_sure_it_is_refused_with_words(
    desk: Desk, airflow: Airflow, wanted: SchedulerRequest, change: dict[str, Any], words: str
) -> None:
    airflow.records.dags[DAG] |= change
    answer = desk.scheduler.ask(wanted)

    assert (answer.taken, answer.retry_after) == (Taken.REFUSED, None)
    assert words in answer.message
    assert airflow.records.runs == []


def test_another_start_of_that_time_is_refused_with_what_became_of_the_first(
    desk: Desk, airflow: Airflow, wanted: SchedulerRequest
) -> None:
    desk.scheduler.ask(wanted)
    other = desk.request(action=Action.START, nominal_times=(DUE,), key=f"{KEY}x")
    answer = desk.scheduler.ask(other)

    assert answer.taken is Taken.REFUSED
    assert "started a run of that time before: it is queued" in answer.message
    assert desk.scheduler.look(other) is Looked.NOT_STARTED


def test_a_run_that_we_started_is_stopped_by_us_and_by_nobody_else(
    desk: Desk, airflow: Airflow, wanted: SchedulerRequest
) -> None:
    desk.scheduler.ask(wanted)
    run = airflow.records.run(DAG, ID)
    airflow.records.begins(run)
    ref = RunRef(run_id=ID, nominal_time=DUE)
    other = desk.scheduler.ask(_stop(desk, ref, f"{KEY}x"))
    ours = desk.scheduler.ask(_stop(desk, ref, KEY))

    assert (other.taken, ours.taken) == (Taken.REFUSED, Taken.TAKEN)
    assert run.state == "failed"


def test_a_request_that_names_no_time_is_refused(desk: Desk, wanted: SchedulerRequest) -> None:
    nothing = desk.request(action=Action.START)

    assert desk.scheduler.ask(nothing).taken is Taken.REFUSED
    assert desk.scheduler.look(nothing) is Looked.CANNOT_TELL


def _stop(desk: Desk, run: RunRef, key: str) -> SchedulerRequest:
    plain = desk.request(action=Action.STOP, key=f"{key}:stop")
    return SchedulerRequest(action=plain.action, key=plain.key, job=plain.job, run=run, requested_by=plain.requested_by)
