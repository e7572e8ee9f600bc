"""By which signals and sub-workflows workflows hang together."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from bot.schedulers.maestro.shapes import Definition, Step
from bot.schedulers.maestro.signals import uses_of
from tests.maestro.fake.server import MONDAY, Maestro
from tests.schedulers.maestro.desk import DAILY, NAME, Desk

SIGNAL = f"{NAME}/signal/"


def writer(*names: str) -> dict[str, Any]:
    outputs = [{"name": name, "params": {}} for name in names]
    return {"step": {"id": "load", "type": "Kubernetes", "signal_outputs": outputs}}


def uses(*steps: dict[str, Any], triggers: Any = (), ran: tuple[dict[str, Any], ...] = ()) -> Any:
    definition = msgspec.convert({"workflow": {"steps": steps, "signal_triggers": list(triggers)}}, Definition)
    told = [{"workflow_id": "w", "workflow_instance_id": 1, "step_id": "s", **one} for one in ran]
    return uses_of(definition, scheduler=NAME, workflow="w", steps=msgspec.convert(told, list[Step]))


def test_two_workflows_meet_by_the_signal_between_them(maestro: Maestro, tmp_path: Path) -> None:
    maestro.push(DAILY, steps=(writer("db/sales/out"),))
    maestro.push("board.pack", steps=("pack",), workflow={"signal_triggers": [{"definitions": {"db/sales/out": {}}}]})
    desk = Desk(maestro, tmp_path, DAILY, "board.pack")
    desk.polls()
    told = {event.job.name: event.change for event in desk.changes() if event.change is not None}

    assert told[DAILY].writes == (f"{SIGNAL}db/sales/out",)
    assert told["board.pack"].reads == (f"{SIGNAL}db/sales/out", f"{NAME}/workflow/board.pack")


def test_signals_of_steps_in_loops_are_found_too() -> None:
    inner = {"step": {"id": "in", "signal_dependencies": [{"name": "db/in"}]}}
    loop = {"foreach": {"id": "each", "steps": [{"while": {"id": "again", "steps": [inner]}}]}}

    assert f"{SIGNAL}db/in" in uses(loop).reads


@pytest.mark.parametrize(
    "written",
    [
        [{"name": "db/x"}],
        {"definitions": [{"name": {"type": "STRING", "value": "db/x"}}]},
        {"definitions": {"db/x": {"match_params": {}}}},
        ["db/x"],
    ],
)
def test_dependencies_may_be_written_in_several_forms(written: Any) -> None:
    assert f"{SIGNAL}db/x" in uses({"step": {"id": "s", "signal_dependencies": written}}).reads


@pytest.mark.parametrize("written", [None, 7, "db/x", {"definitions": 3}, [None, 4, {"name": 5}]])
def test_other_forms_say_nothing_and_break_nothing(written: Any) -> None:
    assert uses({"step": {"id": "s", "signal_outputs": written}}).writes == ()


def test_a_name_with_a_parameter_in_it_is_filled_by_a_run() -> None:
    step = writer("db/${region}/out")
    ran = ({"signal_outputs": {"outputs": [{"name": "db/eu/out", "signal_id": 5}]}},)

    assert uses(step).open
    assert uses(step).writes == ()
    assert uses(step, ran=ran).writes == (f"{SIGNAL}db/eu/out",)


def test_only_a_sub_workflow_that_is_not_waited_for_is_downstream() -> None:
    """One that is waited for is a part: how it ends shows in the run that started it."""
    params = {"subworkflow_id": {"type": "STRING", "value": "sales.publish"}}
    part = {"subworkflow": {"id": "pub", "sync": True, "params": params}}
    apart = {"subworkflow": {"id": "pub", "sync": False, "params": params}}

    assert uses(part).writes == ()
    assert uses(apart).writes == (f"{NAME}/workflow/sales.publish",)


def test_names_that_a_run_filled_stay_as_long_as_the_version_does(maestro: Maestro, tmp_path: Path) -> None:
    maestro.push(DAILY, steps=(writer("db/${region}/out"),))
    desk = Desk(maestro, tmp_path)
    maestro.succeeds(maestro.scheduled(DAILY, MONDAY))
    desk.polls(40)
    steps_asked = len(maestro.calls("GET", "/instances/1/steps$"))

    assert steps_asked <= 4
    assert len(desk.changes()) <= 2
