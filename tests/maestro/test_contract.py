"""The fake is held to the field tables in everything that it says, and the connector reads nothing that is in no table."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any, get_args, get_origin

import httpx
import msgspec
import pytest

from bot.schedulers.maestro import shapes
from tests.maestro.fake.playing import foreach, subworkflow
from tests.maestro.fake.records import Json
from tests.maestro.fake.server import MONDAY, Maestro
from tests.maestro.fields import PRIMITIVES, TABLES, WORDS
from tests.maestro.holding import breaches

READS = {
    shapes.Overview: "Overview",
    shapes.Properties: "Properties",
    shapes.Definition: "Definition",
    shapes.Metadata: "Metadata",
    shapes.Workflow: "Workflow",
    shapes.TimeTrigger: "Trigger",
    shapes.Extras: "Extras",
    shapes.Changes: "Changes",
    shapes.ChangeLine: "Change",
    shapes.InstancePage: "Page",
    shapes.PageInfo: "PageInfo",
    shapes.Instance: "Instance",
    shapes.Initiator: "Initiator",
    shapes.Ancestor: "Ancestor",
    shapes.RuntimeOverview: "Runtime",
    shapes.Rollup: "Rollup",
    shapes.StepState: "Leaves",
    shapes.Aggregated: "Aggregated",
    shapes.StepView: "View",
    shapes.Step: "Step",
    shapes.StepRetry: "Retry",
    shapes.RuntimeState: "State",
    shapes.Acted: "Begun",
}
EVENTS = {"WORKFLOW_INSTANCE_STATUS_CHANGE_EVENT": "WorkflowEvent", "STEP_INSTANCE_STATUS_CHANGE_EVENT": "StepEvent"}


@pytest.fixture
def rich(maestro: Maestro) -> Maestro:
    """Everything that the tables speak of has happened once."""
    alerting: Json = {
        "emails": ["x@example.com"],
        "slack": {"users": [], "channels": ["#sales-data"], "mention_users": []},
        "tct": {"completed_by_hour": 7, "tz": "UTC"},
        "type_configs": {"SUCCESS_WITHIN": {"duration_minutes": 1440}},
    }
    waits: Json = {"step": {"id": "load", "type": "Kubernetes", "signal_dependencies": [{"name": "db/raw"}]}}
    tells: Json = {"step": {"id": "extract", "type": "Kubernetes", "signal_outputs": [{"name": "db/raw"}]}}
    maestro.push(
        "sales.daily",
        steps=("first", waits, subworkflow("publish", "sales.publish"), foreach("each", 2, "one", "two")),
        cron="0 6 * * *",
        timezone="Europe/Berlin",
        owner={"name": "data-sales", "team": "finance"},
        alerting=alerting,
        step_concurrency=20,
        description="the day's sales",
        git={"sha": "4f2a9c1", "branch": "main", "path": "sales.yaml"},
        workflow={"timeout": "3 hours", "criticality": "HIGH", "tags": [{"name": "finance"}], "name": "Sales"},
    )
    maestro.push("sales.raw", steps=(tells,))
    maestro.push("sales.publish", steps=("write", "check"))
    run = maestro.scheduled("sales.daily", MONDAY)
    maestro.fails(run, "first", message="lost", errors=("java.io.IOException: reset",))
    maestro.moves(timedelta(minutes=2))
    maestro.logs(run, "first", "second try", level="WARN")
    maestro.succeeds(run, "first")
    maestro.succeeds(maestro.started("sales.raw"))
    maestro.succeeds(run, "load")
    child = maestro.child(run, "publish")
    maestro.fails(
        child, "write", kind="fatal", artifacts={"maestro_kubernetes": {"type": "KUBERNETES", "job_id": "j1"}}
    )
    again = maestro.restarts(run, user="maria")
    maestro.succeeds(maestro.child(again, "publish"))
    maestro.fails(maestro.child(again, "each", 2), "one", kind="internal")
    maestro.succeeds(maestro.child(again, "each", 1))
    maestro.runs_only(again, "load")
    maestro.succeeds(maestro.run("sales.daily"))
    maestro.changes("sales.daily", user="ben", alerting_disabled=True, run_strategy="LAST_ONLY")
    return maestro


def test_the_fake_says_nothing_that_a_table_does_not_have(rich: Maestro) -> None:
    asked = {
        "/workflows/sales.daily/overview": "Overview",
        "/workflows/sales.daily/timeline": "Changes",
        "/workflows/sales.daily/versions/active?enriched=true": "Definition",
        "/workflows/sales.daily/properties-snapshot/latest": "Properties",
        "/workflows/sales.daily/instances?first=200": "Page",
        "/workflows/sales.daily/instances/1": "Instance",
        **{f"/workflows/sales.daily/instances/1/runs/{run}": "Instance" for run in (1, 2, 3, "latest")},
        **{f"/workflows/sales.daily/instances/1/runs/{run}/steps": "[Step]" for run in (1, 2, 3)},
        "/workflows/sales.daily/instances/1/steps": "[Step]",
        "/workflows/sales.publish/instances/1/runs/1": "Instance",
        "/workflows/sales.publish/instances/1/runs/1/steps": "[Step]",
        "/workflows/sales.daily/instances/1/runs/1/steps/first/attempts/1": "Step",
    }
    with httpx.Client(base_url=f"{rich.url}/api/v3") as http:
        found = [breach for path, kind in asked.items() for breach in breaches(kind, http.get(path).json(), path)]

    assert found == []


def test_its_events_have_the_fields_of_the_models_and_no_others(rich: Maestro) -> None:
    found = [breach for event in rich.events for breach in breaches(EVENTS.get(event["type"], "ChangeEvent"), event)]

    assert found == []
    assert {event["type"] for event in rich.events} >= set(EVENTS)


@pytest.mark.parametrize("shape", READS, ids=lambda shape: shape.__name__)
def test_the_connector_reads_only_what_a_table_has(shape: type[msgspec.Struct]) -> None:
    unknown = set(shape.__struct_fields__) - set(TABLES[READS[shape]])

    assert unknown == set()


def test_every_shape_that_the_connector_reads_has_its_table() -> None:
    structs = {
        one
        for one in vars(shapes).values()
        if isinstance(one, type) and issubclass(one, msgspec.Struct) and one.__module__ == shapes.__name__
    }

    assert structs - set(READS) == {shapes.GitInfo}


@pytest.mark.parametrize("shape", READS, ids=lambda shape: shape.__name__)
def test_what_a_table_may_leave_out_the_connector_may_miss(shape: type[msgspec.Struct]) -> None:
    table = TABLES[READS[shape]]
    needed = {field.name for field in msgspec.structs.fields(shape) if field.required}

    assert {name for name in needed if table[name].endswith("?")} == set()


def test_the_connector_can_read_all_that_the_fake_says(rich: Maestro) -> None:
    with httpx.Client(base_url=f"{rich.url}/api/v3/workflows/sales.daily") as http:
        instance = msgspec.json.decode(http.get("/instances/1").content, type=shapes.Instance)
        steps = msgspec.json.decode(http.get("/instances/1/steps").content, type=tuple[shapes.Step, ...])
        definition = msgspec.json.decode(http.get("/versions/default").content, type=shapes.Definition)

    assert (instance.workflow_run_id, instance.initiator.type) == (3, "MANUAL")
    assert {step.step_id: step.status for step in steps}["each"] == "FATALLY_FAILED"
    assert definition.metadata.git_info is not None
    assert definition.metadata.git_info.sha == "4f2a9c1"


def test_every_name_in_a_table_is_a_table_a_word_or_a_primitive() -> None:
    known = {*TABLES, *PRIMITIVES, *WORDS}
    used = {kind.strip("[]{}?").strip("[]{}") for table in TABLES.values() for kind in table.values()}

    assert used - known == set()


def types_in(annotation: Any) -> Iterator[Any]:
    yield annotation
    for inner in get_args(annotation) if get_origin(annotation) else ():
        yield from types_in(inner)


@pytest.mark.parametrize("shape", READS, ids=lambda shape: shape.__name__)
def test_texts_numbers_and_flags_are_of_the_tables_type(shape: type[msgspec.Struct]) -> None:
    """Where the connector names a plain type, the table has the same one; `Any` reads whatever comes."""
    plain = {str: "str", int: "int", bool: "bool"}
    table = TABLES[READS[shape]]
    wrong = [
        (field.name, table[field.name])
        for field in msgspec.structs.fields(shape)
        for kind in types_in(field.type)
        if kind in plain and get_origin(field.type) not in (dict, tuple)
        if table[field.name].rstrip("?") not in (plain[kind], *(WORDS if kind is str else ()))
    ]

    assert wrong == []
