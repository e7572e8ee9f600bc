"""The public Python client of Maestro drives the fake in every call that it has; of its other module see below.

`maestro.client.watch` is written for Python 3.12 and newer (quotes nested in an f-string) and is not imported here.
"""

from collections.abc import Callable

import pytest
import yaml
from maestro import Foreach, Job, MaestroClient, Subworkflow, Workflow

from tests.maestro.fake.records import Json
from tests.maestro.fake.server import Maestro
from tests.maestro.holding import breaches

Written = Callable[[], str]


@pytest.fixture
def client(maestro: Maestro) -> MaestroClient:
    return MaestroClient(base_url=maestro.url, user="ann")


@pytest.fixture
def written() -> str:
    workflow = Workflow(id="sales.daily").name("Sales daily")
    workflow.owner("data-sales").tags("finance").run_strategy("LAST_ONLY").param("region", "eu")
    workflow.job(Job(id="load", type="Kubernetes")).job(Job(id="publish", type="Kubernetes"))
    text = workflow.to_yaml()

    assert isinstance(text, str)

    return text


def test_a_workflow_that_it_pushes_is_there_as_it_was_written(client: MaestroClient, written: str) -> None:
    answer = client.push_yaml(written)
    found = client.get_workflow("sales.daily", version="latest", enriched=True)

    assert breaches("Definition", answer["workflow_definition"]) == []
    assert breaches("Definition", found) == []
    assert [next(iter(step.values()))["id"] for step in found["workflow"]["steps"]] == ["load", "publish"]
    assert found["properties_snapshot"]["run_strategy"] == {"rule": "LAST_ONLY", "workflow_concurrency": 1}
    assert found["workflow"]["params"]["region"] == {"type": "STRING", "value": "eu"}


def test_its_sub_workflows_and_loops_become_steps_that_run(client: MaestroClient, maestro: Maestro) -> None:
    parent = (
        Workflow(id="parent").owner("data-sales").job(Subworkflow(id="child").workflow_id("child").version("latest"))
    )
    loop = Foreach(id="each").loop_param("day", [1, 2]).job(Job(id="one", type="Kubernetes"))
    client.push_yaml(Workflow(id="child").owner("data-sales").job(Job(id="do", type="NoOp")).to_yaml())
    client.push_yaml(parent.job(loop).to_yaml())
    client.start("parent")
    waiting = maestro.run("parent")
    maestro.succeeds(maestro.child(waiting, "each", 1))
    maestro.succeeds(maestro.child(waiting, "each", 2))

    assert maestro.run("child").status == "SUCCEEDED"
    assert client.get_instance("parent", 1)["status"] == "SUCCEEDED"


def test_a_second_push_is_a_second_version(client: MaestroClient, written: str) -> None:
    client.push_yaml(written)
    client.push_yaml(written)
    versions = [client.get_workflow("sales.daily", version=one) for one in ("1", "2", "default")]

    assert [one["metadata"]["workflow_version_id"] for one in versions] == [1, 2, 2]


def test_what_it_validates_is_not_pushed(client: MaestroClient, maestro: Maestro, written: str) -> None:
    client.validate_yaml(written)

    assert maestro.engine.workflows == {}


def test_it_starts_reads_and_stops_runs(client: MaestroClient, maestro: Maestro, written: str) -> None:
    client.push_yaml(written)
    begun = client.start("sales.daily", run_params={"region": {"type": "STRING", "value": "us"}})
    running = client.get_instance("sales.daily", begun["workflow_instance_id"])
    step = client.get_instance("sales.daily", 1, run_id=1, step_id="load", attempt_id=1)
    stopped = client.stop("sales.daily", instance_id=1)
    after = client.get_instance("sales.daily", 1, run_id=1)

    assert (begun["status"], begun["workflow_run_id"]) == ("CREATED", 1)
    assert running["aggregated_info"]["workflow_instance_status"] == "IN_PROGRESS"
    assert (running["initiator"]["user"], running["params"]["region"]["evaluated_result"]) == ("ann", "us")
    assert step["runtime_state"]["status"] == "RUNNING"
    assert breaches("Ended", stopped) == []
    assert after["status"] == "STOPPED"


def test_it_stops_one_step_and_all_runs(client: MaestroClient, maestro: Maestro, written: str) -> None:
    client.push_yaml(written)
    client.start("sales.daily")
    client.stop("sales.daily", instance_id=1, step_id="load")
    client.start("sales.daily")
    client.stop("sales.daily")

    assert client.get_instance("sales.daily", 1, step_id="load")["runtime_state"]["status"] == "STOPPED"
    assert client.get_instance("sales.daily", 2)["status"] == "STOPPED"


def test_what_is_not_there_it_hands_on_as_the_error_body(client: MaestroClient) -> None:
    answer: Json = client.get_instance("nothing", 1)

    assert breaches("Error", answer) == []
    assert answer["status"] == "NOT_FOUND"


def test_the_yaml_it_writes_is_the_dsl(written: str) -> None:
    assert yaml.safe_load(written)["Workflow"]["id"] == "sales.daily"
