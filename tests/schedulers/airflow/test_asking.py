"""What Airflow is asked for, when it is not asked, and what a look tells."""

from datetime import timedelta
from pathlib import Path

import pytest

from bot.incidents.keys import Action, Capability
from bot.ports import Looked, SchedulerAnswer, Taken
from tests.schedulers.airflow.desk import KEY, Desk
from tests.schedulers.airflow.server import PASSWORD, USER, Airflow, Fault


def test_a_rerun_clears_the_failed_tasks_and_leaves_a_note(desk: Desk, airflow: Airflow) -> None:
    run = desk.fails()
    run.note = "seen by sam"
    answer = desk.scheduler.ask(desk.request(run))

    assert answer == SchedulerAnswer(taken=Taken.TAKEN)
    assert (run.state, run.clear_number) == ("queued", 1)
    assert run.note == f"seen by sam\nthe cause is marked safe [ontrack rerun by U0ANA, key {KEY}]"
    trial, clear = airflow.calls("POST", "/clear$")
    assert trial.body == {"dry_run": True, "only_failed": True}
    assert clear.body == {"dry_run": False, "only_failed": True, "note": run.note}


def test_a_fresh_rerun_clears_every_task(desk: Desk, airflow: Airflow) -> None:
    run = desk.fails()
    desk.scheduler.ask(desk.request(run, fresh=True))

    assert [asked.body["only_failed"] for asked in airflow.calls("POST", "/clear$")] == [False, False]
    assert airflow.clears()[0].body["run_on_latest_version"] is True


def test_a_rerun_of_what_was_fixed_runs_by_the_newest_version(desk: Desk, airflow: Airflow) -> None:
    run = desk.fails()
    desk.scheduler.ask(desk.request(run, fixed=True))
    clear = airflow.clears()[0]

    assert clear.body == {"dry_run": False, "only_failed": True, "run_on_latest_version": True, "note": run.note}


def test_a_note_that_is_full_loses_its_oldest_lines(desk: Desk) -> None:
    run = desk.fails()
    run.note = "\n".join(f"line {number} " + "x" * 90 for number in range(10))
    answer = desk.scheduler.ask(desk.request(run, reason="r" * 5000, requested_by="b" * 5000))

    assert answer.taken is Taken.TAKEN
    assert len(run.note) <= 1000
    assert run.note.splitlines()[0].startswith("line ")
    assert run.note.endswith(f"key {KEY}]")


@pytest.mark.parametrize("state", ["running", "queued", "success"])
def test_a_run_that_lives_or_went_well_is_not_cleared(desk: Desk, airflow: Airflow, state: str) -> None:
    run = desk.fails()
    run.state = state
    answer = desk.scheduler.ask(desk.request(run))

    assert answer.taken is Taken.REFUSED
    assert answer.retry_after is None
    assert airflow.calls("POST", "/clear$") == []


def test_a_run_without_failed_tasks_is_not_cleared(desk: Desk, airflow: Airflow) -> None:
    run = desk.fails()
    run.tasks[0].state = "success"
    answer = desk.scheduler.ask(desk.request(run))

    assert (answer.taken, answer.message) == (
        Taken.REFUSED,
        "no task of the run failed: Airflow would run nothing again",
    )
    assert airflow.clears() == []


def test_a_task_that_airflow_will_try_again_by_itself_is_left_to_it(desk: Desk, airflow: Airflow) -> None:
    run = desk.fails(tasks=("extract", "load"))
    run.tasks[1].state = "up_for_retry"
    answer = desk.scheduler.ask(desk.request(run, fresh=True))

    assert "up_for_retry" in answer.message
    assert airflow.clears() == []


def test_asked_again_under_the_same_key_it_is_not_cleared_again(desk: Desk, airflow: Airflow) -> None:
    run = desk.fails()
    desk.scheduler.ask(desk.request(run))
    airflow.records.begins(run)
    airflow.records.ends(run, "failed")

    assert desk.scheduler.ask(desk.request(run)).taken is Taken.ALREADY
    assert run.clear_number == 1


def test_scenario_11_the_answer_is_lost_and_the_look_finds_the_one_run(desk: Desk, airflow: Airflow) -> None:
    run = desk.fails()
    airflow.fails("lose", "/clear$", body_holds='"dry_run": false')
    answer = desk.scheduler.ask(desk.request(run))
    airflow.records.begins(run)
    airflow.records.ends(run, "failed")

    assert answer.taken is Taken.UNCERTAIN
    assert desk.scheduler.look(desk.request(run)) is Looked.STARTED
    assert run.clear_number == 1


def test_the_look_finds_it_in_the_audit_log_when_the_note_was_written_over(desk: Desk, airflow: Airflow) -> None:
    run = desk.fails()
    airflow.fails("lose", "/clear$", body_holds='"dry_run": false')
    desk.scheduler.ask(desk.request(run))
    airflow.records.begins(run)
    airflow.records.ends(run, "failed")
    airflow.records.patch(run, {"note": "mine now"}, user="maria")

    assert desk.scheduler.look(desk.request(run)) is Looked.STARTED


def test_a_request_that_never_arrived_is_found_not_started(desk: Desk, airflow: Airflow) -> None:
    run = desk.fails()
    airflow.fails("drop", "/clear$", body_holds='"dry_run": false')

    assert desk.scheduler.ask(desk.request(run)).taken is Taken.UNCERTAIN
    assert desk.scheduler.look(desk.request(run)) is Looked.NOT_STARTED


def test_a_clear_by_hand_meanwhile_counts_as_started(desk: Desk, airflow: Airflow) -> None:
    run = desk.fails()
    airflow.records.clear(run, user="maria", only_failed=True, note=None)
    looked_while_queued = desk.scheduler.look(desk.request(run))
    airflow.records.begins(run)
    airflow.records.ends(run, "failed")

    assert looked_while_queued is Looked.STARTED
    assert desk.scheduler.look(desk.request(run)) is Looked.STARTED


def test_a_look_without_the_audit_log_cannot_tell(desk: Desk, airflow: Airflow) -> None:
    run = desk.fails()
    airflow.audit_hidden = True

    assert desk.scheduler.look(desk.request(run)) is Looked.CANNOT_TELL


def test_a_dag_is_paused_and_resumed(desk: Desk, airflow: Airflow) -> None:
    airflow.records.add_dag("finance.daily")
    pause, resume = (desk.request(action=action) for action in (Action.PAUSE, Action.RESUME))

    assert desk.scheduler.look(pause) is Looked.NOT_STARTED
    assert desk.scheduler.ask(pause).taken is Taken.TAKEN
    assert airflow.records.dags["finance.daily"]["is_paused"] is True
    assert desk.scheduler.look(pause) is Looked.STARTED
    assert desk.scheduler.ask(resume).taken is Taken.TAKEN
    assert airflow.records.dags["finance.daily"]["is_paused"] is False


def test_a_dag_that_somebody_paused_is_not_taken_for_ours(desk: Desk, airflow: Airflow) -> None:
    desk.fails()
    airflow.records.dags["finance.daily"]["is_paused"] = True
    answer = desk.scheduler.ask(desk.request(action=Action.PAUSE))

    assert answer.taken is Taken.REFUSED
    assert "ontrack resumes only what it paused" in answer.message


def test_only_a_rerun_of_ours_is_stopped(desk: Desk, airflow: Airflow) -> None:
    run = desk.fails()
    desk.scheduler.ask(desk.request(run))
    airflow.records.begins(run)
    stop = desk.request(run, action=Action.STOP, key=f"{KEY}:stop", requested_by="U0ANA")
    other = desk.request(run, action=Action.STOP, key=f"{KEY}2:stop")
    refused = desk.scheduler.ask(other)
    taken = desk.scheduler.ask(stop)

    assert refused.taken is Taken.REFUSED
    assert taken.taken is Taken.TAKEN
    assert run.state == "failed"
    assert desk.scheduler.look(stop) is Looked.STARTED
    cancelled = desk.polls()[-1]
    assert (cancelled.kind, cancelled.by, cancelled.rerun_key) == ("run.cancelled", "U0ANA", KEY)


def test_a_run_that_a_person_cleared_after_us_is_not_stopped(desk: Desk, airflow: Airflow) -> None:
    run = desk.fails()
    desk.scheduler.ask(desk.request(run))
    airflow.records.begins(run)
    airflow.records.ends(run, "failed")
    airflow.records.clear(run, user="maria", only_failed=True, note=None)
    airflow.records.begins(run)
    answer = desk.scheduler.ask(desk.request(run, action=Action.STOP, key=f"{KEY}:stop"))

    assert answer.taken is Taken.REFUSED
    assert run.state == "running"


def test_what_it_cannot_do_is_refused(desk: Desk) -> None:
    assert Capability.RETIRE not in desk.scheduler.can
    assert desk.scheduler.ask(desk.request(action=Action.RETIRE)).taken is Taken.REFUSED


def test_an_unknown_run_is_refused_in_airflows_words(desk: Desk) -> None:
    run = desk.fails()
    request = desk.request(run)
    run.run_id = "another"
    answer = desk.scheduler.ask(request)

    assert answer.taken is Taken.REFUSED
    assert "was not found" in answer.message


@pytest.mark.parametrize(
    ("fault", "taken", "again"),
    [
        (Fault(kind=429, headers={"Retry-After": "7"}), Taken.REFUSED, timedelta(seconds=7)),
        (Fault(kind=403), Taken.REFUSED, None),
        (Fault(kind=500), Taken.UNCERTAIN, None),
        (Fault(kind=408), Taken.UNCERTAIN, None),
        (Fault(kind=302, headers={"Location": "/elsewhere"}), Taken.UNCERTAIN, None),
        (Fault(kind="late"), Taken.UNCERTAIN, None),
        (Fault(kind="garbage"), Taken.TAKEN, None),
    ],
)
def test_the_answer_to_the_clear_itself(
    desk: Desk, airflow: Airflow, fault: Fault, taken: Taken, again: timedelta | None
) -> None:
    run = desk.fails()
    fault.path, fault.body_holds = "/clear$", '"dry_run": false'
    airflow.faults.append(fault)
    answer = desk.scheduler.ask(desk.request(run))

    assert (answer.taken, answer.retry_after) == (taken, again)
    assert len(airflow.clears()) == 1


@pytest.mark.parametrize("kind", ["lose", "drop", "garbage", 500, 502, 429])
@pytest.mark.parametrize("path", ["/auth/token", "dagRuns/[^/]+$", "/clear$"])
def test_what_goes_wrong_before_the_clear_is_asked_again_later(
    desk: Desk, airflow: Airflow, kind: str | int, path: str
) -> None:
    run = desk.fails()
    airflow.fails(kind, path)
    answer = desk.scheduler.ask(desk.request(run))

    assert answer.taken is Taken.REFUSED
    assert answer.retry_after is not None or path == "/auth/token"
    assert airflow.clears() == []


def test_a_server_that_is_not_there_was_asked_nothing(airflow: Airflow, tmp_path: Path) -> None:
    desk = Desk(airflow, tmp_path)
    run = desk.fails()
    airflow.close()
    answer = desk.scheduler.ask(desk.request(run))

    assert answer.taken is Taken.REFUSED
    assert answer.retry_after is not None


def test_a_token_that_airflow_takes_no_more_is_renewed_and_the_request_made_once(desk: Desk, airflow: Airflow) -> None:
    run = desk.fails()
    desk.polls()
    airflow.tokens.clear()
    answer = desk.scheduler.ask(desk.request(run))

    assert answer.taken is Taken.TAKEN
    assert airflow.given == 2
    assert run.clear_number == 1


def test_a_token_is_renewed_before_it_ends(desk: Desk, airflow: Airflow) -> None:
    airflow.token_lasts = timedelta(minutes=10)
    desk.polls()
    for _ in range(12):
        desk.moves(timedelta(minutes=1))
        desk.polls()

    assert desk.poller.trouble == ""
    assert airflow.given == 2


def test_a_wrong_password_is_told_and_not_tried_again_and_again(airflow: Airflow, tmp_path: Path) -> None:
    desk = Desk(airflow, tmp_path, user=USER, password="guessed")
    run = desk.fails()
    answer = desk.scheduler.ask(desk.request(run))

    assert (answer.taken, answer.retry_after) == (Taken.REFUSED, None)
    assert answer.message == "Airflow gave no token: it answered 401"
    assert "guessed" not in answer.message
    assert len(airflow.calls("POST", "/auth/token")) == 1


def test_a_given_token_is_used_as_it_is(airflow: Airflow, tmp_path: Path) -> None:
    airflow.tokens["a-static-token"] = airflow.records.now + timedelta(days=1)
    desk = Desk(airflow, tmp_path, token="a-static-token")
    run = desk.fails()
    taken = desk.scheduler.ask(desk.request(run)).taken
    airflow.tokens.clear()
    airflow.records.begins(run)
    airflow.records.ends(run, "failed")
    refused = desk.scheduler.ask(desk.request(run, key=f"{KEY}1"))

    assert taken is Taken.TAKEN
    assert (refused.taken, refused.message) == (Taken.REFUSED, "Airflow answered 403: Invalid JWT token")
    assert airflow.given == 0
    assert PASSWORD not in str(airflow.asked)
