"""One who knows only the API: what is asked, answered and refused, by the fake and by the server that `MAESTRO_URL` names."""

from typing import Any
from uuid import uuid4

import pytest

from tests.maestro.holding import breaches
from tests.maestro.target import Target

START = {"initiator": {"type": "manual"}}


def fits(target: Target, kind: str, value: Any) -> bool:
    found = breaches(kind, value, strict=not target.live)

    assert found == []

    return True


def started(target: Target, name: str, **more: object) -> dict[str, Any]:
    answer = target.post(f"/workflows/{name}/versions/active/actions/start", START | more)

    assert answer.status_code == 200, answer.text
    assert fits(target, "Begun", answer.json())

    found: dict[str, Any] = answer.json()
    return found


def failed(target: Target) -> tuple[str, int]:
    """A failed instance by the API alone: killed while a concurrency of 0 kept it in the queue."""
    name = target.makes(run_strategy={"rule": "SEQUENTIAL", "workflow_concurrency": 0})
    instance = started(target, name)["workflow_instance_id"]
    killed = target.put(f"/workflows/{name}/instances/{instance}/actions/kill")

    assert killed.status_code == 200, killed.text
    assert fits(target, "Ended", killed.json())
    assert target.ended(name, instance)["status"] == "FAILED"

    return name, instance


def test_every_read_has_the_fields_of_its_table(target: Target) -> None:
    name = target.makes()
    instance = started(target, name)["workflow_instance_id"]
    run = target.ended(name, instance)
    where = f"/workflows/{name}/instances/{instance}"

    assert run["status"] == "SUCCEEDED"
    assert fits(target, "Instance", run)
    assert fits(target, "Instance", target.read(where))
    assert "aggregated_info" in target.read(where)
    assert "aggregated_info" not in run
    assert fits(target, "[Step]", target.read(f"{where}/steps"))
    assert fits(target, "[Step]", target.read(f"{where}/runs/1/steps"))
    assert fits(target, "Step", target.read(f"{where}/runs/1/steps/nothing/attempts/latest"))
    assert fits(target, "Overview", target.read(f"/workflows/{name}/overview"))
    assert fits(target, "Changes", target.read(f"/workflows/{name}/timeline"))
    assert fits(target, "Definition", target.read(f"/workflows/{name}/versions/default", enriched="true"))
    assert fits(target, "Properties", target.read(f"/workflows/{name}/properties-snapshot/latest"))


def test_pages_hold_the_newest_first_and_leave_the_cursor_out(target: Target) -> None:
    name = target.makes()
    for _ in range(3):
        target.ended(name, started(target, name)["workflow_instance_id"])
    first = target.read(f"/workflows/{name}/instances", first=2, aggregated="false")
    then = target.read(f"/workflows/{name}/instances", first=2, cursor=first["page_info"]["end_cursor"])

    assert fits(target, "Page", first)
    assert fits(target, "[Instance]", first["elements"])
    assert [one["workflow_instance_id"] for one in first["elements"]] == [3, 2]
    assert (first["total_count"], first["page_info"]["has_next_page"]) == (3, True)
    assert [one["workflow_instance_id"] for one in then["elements"]] == [1]
    assert (then["page_info"]["has_next_page"], then["page_info"]["has_previous_page"]) == (False, True)
    assert "aggregated_info" not in first["elements"][0]
    assert "aggregated_info" in then["elements"][0]


@pytest.mark.parametrize("query", [{}, {"first": 1, "last": 1}, {"first": 0}, {"first": 201}, {"last": 201}])
def test_a_page_is_asked_for_by_exactly_one_number_up_to_200(target: Target, query: dict[str, int]) -> None:
    name = target.makes()
    answer = target.get(f"/workflows/{name}/instances", **query)

    assert answer.status_code == 400


def test_what_is_not_there_is_404_with_a_message(target: Target) -> None:
    name = target.makes()
    for path in ("/workflows/ontrack-no-such/overview", f"/workflows/{name}/instances/9/runs/latest"):
        answer = target.get(path)

        assert answer.status_code == 404
        assert fits(target, "Error", answer.json())
        assert answer.json()["status"] == "NOT_FOUND"


def test_a_change_without_a_persons_name_is_refused(target: Target) -> None:
    name = target.makes()
    answers = [
        target.post(f"/workflows/{name}/versions/active/actions/start", START, user=None),
        target.post(f"/workflows/{name}/properties", {"time_trigger_disabled": True}, user=None),
        target.put(f"/workflows/{name}/actions/deactivate", user=None),
    ]

    assert [answer.status_code for answer in answers] == [400, 400, 400]
    assert target.read(f"/workflows/{name}/overview")["active_version_id"] == 1


def test_a_field_that_nobody_knows_is_refused_and_nothing_is_done(target: Target) -> None:
    name, instance = failed(target)
    body = {"restart_policy": "RESTART_FROM_INCOMPLETE", "comment": "approved by the owner"}
    answer = target.post(f"/workflows/{name}/instances/{instance}/actions/restart", body)

    assert answer.status_code == 400
    assert target.ended(name, instance)["workflow_run_id"] == 1


def test_a_restart_is_one_more_run_that_keeps_what_the_instance_is(target: Target) -> None:
    name, instance = failed(target)
    before = target.ended(name, instance)
    target.post(f"/workflows/{name}/properties", {"run_strategy": {"rule": "SEQUENTIAL", "workflow_concurrency": 1}})
    request_id = str(uuid4())
    body = {"restart_policy": "restart_from_incomplete", "request_id": request_id}
    answer = target.post(f"/workflows/{name}/instances/{instance}/actions/restart", body, user="maria")
    after = target.ended(name, instance)

    assert answer.status_code == 200, answer.text
    assert fits(target, "Begun", answer.json())
    assert (answer.json()["status"], answer.json()["workflow_uuid"]) == ("CREATED", request_id)
    assert (after["workflow_run_id"], after["workflow_uuid"], after["status"]) == (2, request_id, "SUCCEEDED")
    assert after["correlation_id"] == before["correlation_id"]
    assert after["initiator"]["type"] == "MANUAL"
    assert after["params"]["RUN_TS"]["evaluated_result"] == before["params"]["RUN_TS"]["evaluated_result"]


def test_the_same_request_again_is_a_duplicate_once_the_first_is_over(target: Target) -> None:
    name = target.makes()
    instance = started(target, name)["workflow_instance_id"]
    target.ended(name, instance)
    where, body = (
        f"/workflows/{name}/instances/{instance}/actions/restart",
        {
            "restart_policy": "RESTART_FROM_BEGINNING",
            "request_id": str(uuid4()),
        },
    )
    first = target.post(where, body)
    target.ended(name, instance)
    second = target.post(where, body)

    assert (first.json()["status"], second.json()["status"]) == ("CREATED", "DUPLICATED")
    assert second.status_code == 200
    assert second.json()["workflow_uuid"] == body["request_id"]
    assert target.ended(name, instance)["workflow_run_id"] == 2


def test_while_a_run_lives_there_is_no_second_one(target: Target) -> None:
    name, instance = failed(target)
    where = f"/workflows/{name}/instances/{instance}/actions/restart"
    body = {"restart_policy": "RESTART_FROM_BEGINNING", "request_id": str(uuid4())}
    queued, again = target.post(where, body), target.post(where, body)

    assert queued.status_code == 200
    assert again.status_code == 400
    assert "non-terminal" in again.json()["message"]
    assert target.read(f"/workflows/{name}/overview")["nonterminal_instances"]["CREATED"] == 1


def test_a_start_is_recognised_by_its_request_id(target: Target) -> None:
    name, request_id = target.makes(), str(uuid4())
    run_params = {"RUN_TS": {"type": "LONG", "value": 1_796_018_400_000}}
    begun = started(target, name, request_id=request_id, run_params=run_params, persist_failed_run=True)
    target.ended(name, begun["workflow_instance_id"])
    again = started(target, name, request_id=request_id, run_params=run_params, persist_failed_run=True)
    run = target.ended(name, begun["workflow_instance_id"])

    assert (begun["status"], again["status"]) == ("CREATED", "DUPLICATED")
    assert (run["workflow_uuid"], run["params"]["RUN_TS"]["evaluated_result"]) == (request_id, 1_796_018_400_000)
    assert target.read(f"/workflows/{name}/overview")["latest_instance_id"] == 1


def test_unblocking_counts_the_failure_no_more_and_only_once(target: Target) -> None:
    name, instance = failed(target)
    open_before = target.read(f"/workflows/{name}/overview")["failed_instances"]
    answer = target.put(f"/workflows/{name}/instances/{instance}/actions/unblock")
    open_after = target.read(f"/workflows/{name}/overview")["failed_instances"]

    assert answer.status_code == 200
    assert fits(target, "Ended", answer.json())
    assert (open_before, open_after) == (1, 0)
    assert target.ended(name, instance)["status"] == "FAILED"


def test_only_what_failed_can_be_unblocked_and_only_what_lives_be_stopped(target: Target) -> None:
    name = target.makes()
    instance = started(target, name)["workflow_instance_id"]
    target.ended(name, instance)
    answers = [target.put(f"/workflows/{name}/instances/{instance}/actions/{one}") for one in ("unblock", "stop")]

    assert [answer.status_code for answer in answers] == [400, 400]


def test_the_schedule_alone_is_switched_off_and_on(target: Target) -> None:
    name = target.makes(description="kept")
    off = target.post(f"/workflows/{name}/properties", {"time_trigger_disabled": True})
    on = target.post(f"/workflows/{name}/properties", {"time_trigger_disabled": False})

    assert fits(target, "Properties", off.json())
    assert (off.json()["time_trigger_disabled"], on.json()["time_trigger_disabled"]) == (True, False)
    assert on.json()["description"] == "kept"


def test_a_deactivated_workflow_has_no_active_version(target: Target) -> None:
    name = target.makes()
    answer = target.put(f"/workflows/{name}/actions/deactivate")

    assert answer.status_code == 200
    assert fits(target, "Activation", answer.json())
    assert answer.json()["workflow_version_id"] == 0
    assert "active_version_id" not in target.read(f"/workflows/{name}/overview")
    assert target.get(f"/workflows/{name}/versions/active").status_code == 404
    assert target.get(f"/workflows/{name}/versions/default").status_code == 200
    assert target.post(f"/workflows/{name}/versions/active/actions/start", START).status_code == 404


def test_the_action_maps_name_what_may_be_asked_when(target: Target) -> None:
    of_runs = target.read("/workflows/instances/action-map")
    of_steps = target.read("/workflows/steps/instances/action-map")

    assert of_runs["FAILED"] == ["RESTART", "UNBLOCK"]
    assert of_runs["IN_PROGRESS"] == ["STOP", "KILL"]
    assert of_steps["FATALLY_FAILED"] == ["RESTART", "SKIP"]
