"""The fake keeps Maestro's rules: retries, ends, restarts, run strategies, parts, signals, schedules and its events."""

from datetime import timedelta
from typing import Any

import httpx
import pytest

from tests.maestro.fake.playing import foreach, subworkflow
from tests.maestro.fake.records import Json, Run
from tests.maestro.fake.server import MONDAY, Maestro

DAY = timedelta(days=1)


def statuses(run: Run) -> dict[str, list[str]]:
    return {step: [attempt.status for attempt in attempts] for step, attempts in run.attempts.items()}


def restarts(maestro: Maestro, path: str, **body: Any) -> httpx.Response:
    body = {"restart_policy": "RESTART_FROM_INCOMPLETE"} | body
    return httpx.post(f"{maestro.url}/api/v3/workflows/{path}/actions/restart", json=body, headers={"user": "maria"})


def transitions(maestro: Maestro, name: str) -> list[tuple[str, str]]:
    return [
        (event["old_status"], event["new_status"])
        for event in maestro.events
        if event["type"] == "WORKFLOW_INSTANCE_STATUS_CHANGE_EVENT" and event["workflow_id"] == name
    ]


def test_the_engine_tries_again_up_to_its_limit_and_then_gives_up(maestro: Maestro) -> None:
    maestro.push("daily")
    run = maestro.scheduled("daily", MONDAY)
    maestro.fails(run)

    assert (run.status, statuses(run)["load"]) == ("IN_PROGRESS", ["USER_FAILED"])

    maestro.moves(timedelta(seconds=59))
    maestro.moves(timedelta(seconds=2))
    maestro.fails(run)
    maestro.moves(timedelta(seconds=121))
    last = maestro.fails(run)

    assert statuses(run) == {"load": ["USER_FAILED", "USER_FAILED", "FATALLY_FAILED"]}
    assert (run.status, last.retries["error"]) == ("FAILED", 2)


def test_the_counters_of_retries_begin_anew_with_every_run(maestro: Maestro) -> None:
    maestro.push("daily")
    run = maestro.scheduled("daily", MONDAY)
    maestro.fails_for_good(run)
    again = maestro.restarts(run)

    assert again.attempts["load"][0].retries["error"] == 0
    assert maestro.fails(again).status == "USER_FAILED"


@pytest.mark.parametrize(
    ("kind", "step", "workflow"),
    [
        ("fatal", "FATALLY_FAILED", "FAILED"),
        ("internal", "INTERNALLY_FAILED", "FAILED"),
        ("timeout", "TIMED_OUT", "TIMED_OUT"),
        ("platform", "PLATFORM_FAILED", "IN_PROGRESS"),
    ],
)
def test_how_an_attempt_ends_decides_what_becomes_of_the_run(
    maestro: Maestro, kind: str, step: str, workflow: str
) -> None:
    maestro.push("daily")
    run = maestro.scheduled("daily", MONDAY)

    assert maestro.fails(run, kind=kind).status == step
    assert run.status == workflow


def test_an_ignored_failure_lets_the_run_go_on_to_its_good_end(maestro: Maestro) -> None:
    lenient: Json = {"step": {"id": "load", "type": "Kubernetes", "failure_mode": "IGNORE_FAILURE"}}
    maestro.push("daily", steps=(lenient, "publish"))
    run = maestro.scheduled("daily", MONDAY)
    maestro.fails_for_good(run)
    maestro.succeeds(run)

    assert (run.status, statuses(run)["load"][-1]) == ("SUCCEEDED", "COMPLETED_WITH_ERROR")


def test_what_runs_beside_a_failure_runs_to_its_end_first(maestro: Maestro) -> None:
    beside: Json = {"step": {"id": "beside", "type": "Kubernetes", "transition": {}}}
    maestro.push("daily", steps=({"step": {"id": "load", "type": "Kubernetes", "transition": {}}}, beside))
    run = maestro.scheduled("daily", MONDAY)
    maestro.fails(run, kind="fatal")

    assert run.status == "IN_PROGRESS"

    maestro.succeeds(run, "beside")

    assert run.status == "FAILED"


def test_a_restart_runs_what_is_incomplete_by_the_definition_of_then(maestro: Maestro) -> None:
    maestro.push("daily")
    run = maestro.scheduled("daily", MONDAY)
    maestro.succeeds(run, "load")
    maestro.fails_for_good(run, "publish")
    maestro.push("daily", steps=("load", "check", "publish"))
    again = maestro.restarts(run)

    assert (again.dag, again.version.number, run.db_status) == (["publish"], 1, "FAILED_2")
    assert again.params["RUN_TS"] == run.params["RUN_TS"]
    assert maestro.restarts(_ended(maestro, again), beginning=True).dag == ["load", "publish"]


def _ended(maestro: Maestro, run: Run) -> Run:
    maestro.succeeds(run)
    return run


def test_a_good_run_beside_an_earlier_failure_is_no_success(maestro: Maestro) -> None:
    maestro.push("daily")
    run = maestro.scheduled("daily", MONDAY)
    maestro.succeeds(run, "load")
    maestro.fails_for_good(run, "publish")
    again = maestro.runs_only(run, "load")
    maestro.succeeds(again)

    assert (again.status, again.run_status) == ("FAILED", "SUCCEEDED")


def test_a_failing_part_fails_its_parent_and_its_restart_begins_at_the_root(maestro: Maestro) -> None:
    maestro.push("part", steps=("one", "two"))
    maestro.push("whole", steps=("first", subworkflow("part", "part"), "last"))
    run = maestro.scheduled("whole", MONDAY)
    maestro.succeeds(run, "first")
    part = maestro.child(run, "part")
    maestro.succeeds(part, "one")
    maestro.fails_for_good(part, "two")

    assert (part.correlation_id, part.depth, run.status) == (run.correlation_id, 1, "FAILED")

    answer = restarts(maestro, "part/instances/1").json()
    again = maestro.run("whole")

    assert (answer["workflow_id"], answer["workflow_run_id"]) == ("whole", 2)
    assert (again.dag, maestro.child(again, "part").dag) == (["part", "last"], ["two"])

    maestro.succeeds(again)

    assert (again.status, maestro.run("part").status) == ("SUCCEEDED", "SUCCEEDED")


def test_a_part_of_a_run_that_lives_is_tried_again_there(maestro: Maestro) -> None:
    beside: Json = {"step": {"id": "beside", "type": "Kubernetes", "transition": {}}}
    whole = subworkflow("part", "part")
    whole["subworkflow"]["transition"] = {}
    maestro.push("part", steps=("one",))
    maestro.push("whole", steps=(whole, beside))
    run = maestro.scheduled("whole", MONDAY)
    maestro.fails_for_good(maestro.child(run, "part"), "one")

    assert run.status == "IN_PROGRESS"

    answer = restarts(maestro, "part/instances/1")

    assert (answer.status_code, answer.json()["workflow_uuid"]) == (200, run.uuid)
    assert [attempt.status for attempt in run.attempts["part"]] == ["FATALLY_FAILED", "RUNNING"]
    assert maestro.child(run, "part").run_id == 2


def test_of_a_loop_only_the_failed_iterations_run_again(maestro: Maestro) -> None:
    maestro.push("looped", steps=(foreach("each", 3, "load"),))
    run = maestro.scheduled("looped", MONDAY)
    maestro.succeeds(maestro.child(run, "each", 1))
    maestro.fails_for_good(maestro.child(run, "each", 2))
    maestro.succeeds(maestro.child(run, "each", 3))
    again = maestro.restarts(run)

    assert run.status == "FAILED"
    assert [maestro.child(again, "each", number).run_id for number in (1, 2, 3)] == [1, 2, 1]


@pytest.mark.parametrize(
    ("rule", "first", "second", "third"),
    [
        ("SEQUENTIAL", "IN_PROGRESS", "CREATED", "CREATED"),
        ("PARALLEL", "IN_PROGRESS", "IN_PROGRESS", "IN_PROGRESS"),
        ("FIRST_ONLY", "IN_PROGRESS", "STOPPED", "STOPPED"),
        ("LAST_ONLY", "STOPPED", "STOPPED", "IN_PROGRESS"),
        ("SERIAL_LATEST_ONLY", "IN_PROGRESS", "STOPPED", "CREATED"),
    ],
)
def test_the_run_strategy_decides_what_lives_beside_what(
    maestro: Maestro, rule: str, first: str, second: str, third: str
) -> None:
    maestro.push("daily", strategy=rule)
    runs = [maestro.scheduled("daily", MONDAY + day * DAY) for day in range(3)]

    assert [run.status for run in runs] == [first, second, third]


@pytest.mark.parametrize("by", ["restart", "unblock"])
def test_a_failure_blocks_all_later_runs_of_a_strict_sequence(maestro: Maestro, by: str) -> None:
    maestro.push("daily", strategy="STRICT_SEQUENTIAL")
    run = maestro.scheduled("daily", MONDAY)
    maestro.fails_for_good(run)
    later = maestro.scheduled("daily", MONDAY + DAY)

    assert later.status == "CREATED"

    if by == "restart":
        maestro.succeeds(maestro.restarts(run))
    else:
        maestro.unblocks(run)

    assert later.status == "IN_PROGRESS"


def test_a_stop_and_a_kill_end_differently_and_name_who_did_it(maestro: Maestro) -> None:
    maestro.push("daily")
    stopped, killed = maestro.scheduled("daily", MONDAY), maestro.scheduled("daily", MONDAY + DAY)
    maestro.stops(stopped, user="ben")
    maestro.kills(killed, user="ann")
    said = [run.attempts["load"][-1].timeline.entries[-1]["message"] for run in (stopped, killed)]

    assert (stopped.status, killed.status) == ("STOPPED", "FAILED")
    assert said[0].startswith("User [ben] take action [STOP]")
    assert said[1].startswith("User [ann] take action [KILL]")


def test_a_step_waits_for_its_signal_and_a_repeated_signal_is_none(maestro: Maestro) -> None:
    waits: Json = {
        "step": {
            "id": "load",
            "type": "Kubernetes",
            "signal_dependencies": [{"name": "db/raw", "match_params": {"d": {"value": 20261130, "operator": ">="}}}],
        }
    }
    maestro.push("daily", steps=(waits,))
    run = maestro.scheduled("daily", MONDAY)
    maestro.announces("db/raw", {"d": 20261129})

    assert run.attempts["load"][-1].status == "WAITING_FOR_SIGNALS"
    assert maestro.announces("db/raw", {"d": 20261130}) is not None
    assert run.attempts["load"][-1].status == "RUNNING"
    assert maestro.announces("db/raw", {"d": 20261130}) is None


def test_a_signal_starts_what_waits_for_it_and_a_rerun_does_not_start_it_again(maestro: Maestro) -> None:
    tells: Json = {"step": {"id": "load", "type": "Kubernetes", "signal_outputs": [{"name": "db/out"}]}}
    maestro.push("first", steps=(tells, "check"))
    maestro.push("after", workflow={"signal_triggers": [{"definitions": {"db/out": {}}}]})
    run = maestro.scheduled("first", MONDAY)
    maestro.succeeds(run)
    maestro.succeeds(maestro.restarts(run, beginning=True))

    assert [one.initiator["type"] for one in maestro.workflow("after").runs] == ["SIGNAL"]
    assert maestro.run("first").attempts["load"][-1].outputs[0]["signal_id"] == -1


def test_a_tick_starts_one_instance_and_what_is_missed_while_off_stays_missed(maestro: Maestro) -> None:
    maestro.push("daily", cron="0 6 * * *", timezone="Europe/Berlin", strategy="PARALLEL")
    maestro.moves_to(MONDAY + DAY)
    maestro.changes("daily", time_trigger_disabled=True)
    maestro.moves_to(MONDAY + 3 * DAY)
    maestro.changes("daily", time_trigger_disabled=False)
    maestro.moves_to(MONDAY + 4 * DAY)
    ticks = [run.initiator["trigger_time"] for run in maestro.workflow("daily").runs]
    again = maestro.scheduled("daily", MONDAY + timedelta(hours=23))

    assert [(one // 1000 - int(MONDAY.timestamp())) / 3600 for one in ticks] == [23, 95]
    assert again.instance_id == 1
    assert len(maestro.workflow("daily").runs) == 2


def test_a_run_whose_parameters_cannot_be_evaluated_fails_without_a_change_of_status(maestro: Maestro) -> None:
    maestro.push("daily")
    maestro.breaks("daily")
    run = maestro.scheduled("daily", MONDAY)

    assert transitions(maestro, "daily") == [("FAILED", "FAILED")]
    assert (run.attempts, run.started_at) == ({}, None)


def test_no_event_tells_of_what_is_only_queued(maestro: Maestro) -> None:
    maestro.push("daily")
    run = maestro.scheduled("daily", MONDAY)
    maestro.scheduled("daily", MONDAY + DAY)
    maestro.succeeds(run)

    assert transitions(maestro, "daily") == [
        ("CREATED", "IN_PROGRESS"),
        ("IN_PROGRESS", "SUCCEEDED"),
        ("CREATED", "IN_PROGRESS"),
    ]


def test_a_timeline_keeps_its_last_32_entries_and_says_nothing_twice_in_a_row(maestro: Maestro) -> None:
    maestro.push("daily")
    run = maestro.scheduled("daily", MONDAY)
    for number in range(40):
        maestro.logs(run, "load", f"row {number // 2}")
    for number in range(40):
        maestro.logs(run, "load", f"line {number}")
    said = [entry["message"] for entry in run.attempts["load"][-1].timeline.entries]

    assert len(said) == 32
    assert said[0] == "line 8"
    assert len(set(said)) == len(said)


@pytest.mark.parametrize("kind", ["lose", "drop", "late", 500, 408])
def test_a_fault_does_what_it_says(maestro: Maestro, kind: str | int) -> None:
    maestro.push("daily")
    run = maestro.scheduled("daily", MONDAY)
    maestro.fails_for_good(run)
    maestro.fails_to_answer(kind, "/restart$")
    code = None
    try:
        code = restarts(maestro, "daily/instances/1").status_code
    except httpx.TransportError:
        code = None

    assert code == {"late": 500}.get(str(kind), kind if isinstance(kind, int) else None)
    assert len(maestro.reruns("daily")) == (1 if kind in ("lose", "late") else 0)
