"""What a workflow's run strategy does to a rerun: what nobody decided stops no run, and nothing that comes to nothing is asked."""

from datetime import timedelta
from typing import Any

import pytest

from bot.incidents.keys import Action
from bot.incidents.strategy import RunStrategy
from bot.ports import BY_ITSELF, Taken
from bot.schedulers.maestro.shapes import Properties
from bot.schedulers.maestro.strategies import strategy_in
from tests.maestro.fake.faults import Asked
from tests.maestro.fake.server import MONDAY
from tests.schedulers.maestro.asker import FLOW, LATE, Asker, refused

TUESDAY = MONDAY + timedelta(days=1)
WEDNESDAY = MONDAY + timedelta(days=2)
AT_COST = ("LAST_ONLY", "SERIAL_LATEST_ONLY")


@pytest.mark.parametrize("strategy", AT_COST)
def test_nothing_that_would_stop_a_newer_run_is_asked_for_by_itself(asker: Asker, strategy: str) -> None:
    failed = asker.fails(strategy=strategy)
    newer = asker.maestro.scheduled(FLOW, TUESDAY)

    message = refused(asker.ask(failed, requested_by=BY_ITSELF))

    assert "1 running run lives in Maestro" in message
    assert strategy in message
    assert newer.alive
    assert asker.changed() == []


def test_a_queued_newer_run_counts_as_well(asker: Asker) -> None:
    failed = asker.fails(strategy="SERIAL_LATEST_ONLY")
    asker.maestro.scheduled(FLOW, TUESDAY)
    queued = asker.maestro.scheduled(FLOW, WEDNESDAY)

    assert queued.queued
    assert "1 running and 1 queued runs live" in refused(asker.ask(failed, requested_by=BY_ITSELF))


def test_a_person_who_was_told_may_go_on(asker: Asker) -> None:
    failed = asker.fails(strategy="LAST_ONLY")
    newer = asker.maestro.scheduled(FLOW, TUESDAY)

    assert asker.ask(failed).taken is Taken.TAKEN
    asker.maestro.works()
    assert newer.status == "STOPPED"


@pytest.mark.parametrize("strategy", AT_COST)
def test_with_no_other_run_it_is_asked_for_by_itself(asker: Asker, strategy: str) -> None:
    failed = asker.fails(strategy=strategy)

    assert asker.ask(failed, requested_by=BY_ITSELF).taken is Taken.TAKEN


@pytest.mark.parametrize("by", [BY_ITSELF, "Ana"])
@pytest.mark.parametrize("action", [Action.RERUN, Action.START])
def test_what_would_be_created_stopped_is_asked_for_by_nobody(asker: Asker, by: str, action: Action) -> None:
    failed = asker.fails(strategy="FIRST_ONLY")
    asker.maestro.scheduled(FLOW, TUESDAY)
    run = failed if action is Action.RERUN else LATE
    times = (MONDAY,) if action is Action.RERUN else (WEDNESDAY,)

    message = refused(asker.ask(run, action, requested_by=by, nominal_times=times))

    assert "one more would be created stopped (run strategy FIRST_ONLY)" in message
    assert asker.changed() == []


def test_a_start_that_would_stop_another_is_not_asked_for_by_itself(asker: Asker) -> None:
    asker.fails(strategy="LAST_ONLY")
    asker.maestro.scheduled(FLOW, TUESDAY)

    assert "would stop others" in refused(
        asker.ask(LATE, Action.START, requested_by=BY_ITSELF, nominal_times=(WEDNESDAY,))
    )


@pytest.mark.parametrize("strategy", ["SEQUENTIAL", "STRICT_SEQUENTIAL", "PARALLEL"])
def test_the_others_let_a_rerun_be(asker: Asker, strategy: str) -> None:
    failed = asker.fails(strategy=strategy)
    newer = asker.maestro.scheduled(FLOW, TUESDAY)

    assert asker.ask(failed, requested_by=BY_ITSELF).taken is Taken.TAKEN
    assert newer.alive


def test_a_run_that_is_created_stopped_all_the_same_is_a_refusal(asker: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = asker.fails(strategy="FIRST_ONLY")
    answer = asker.maestro.answered

    def after_another_began(asked: Asked) -> tuple[int, Any]:
        if asked.path.endswith("/restart"):
            asker.maestro.scheduled(FLOW, TUESDAY)
        return answer(asked)

    monkeypatch.setattr(asker.maestro, "answered", after_another_began)

    assert "created the run stopped" in refused(asker.ask(failed))
    assert [run.status for run in asker.ours()] == ["STOPPED"]


def test_a_workflow_that_begins_nothing_is_not_asked(asker: Asker) -> None:
    failed = asker.fails()
    asker.maestro.changes(FLOW, user="ann", run_strategy={"rule": "SEQUENTIAL", "workflow_concurrency": 0})

    assert "its workflow_concurrency is 0" in refused(asker.ask(failed))


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ({"rule": "LAST_ONLY", "workflow_concurrency": 1}, RunStrategy.LAST_ONLY),
        ({"rule": "last_only"}, RunStrategy.LAST_ONLY),
        ("SEQUENTIAL", RunStrategy.SEQUENTIAL),
        ({"rule": "SOMETHING_NEW"}, None),
        ({"rule": None}, None),
        ([], None),
        (None, None),
    ],
)
def test_the_strategy_is_read_in_each_of_its_spellings(told: object, found: RunStrategy | None) -> None:
    assert strategy_in(Properties(run_strategy=told)) is found


def test_a_workflow_without_properties_has_none() -> None:
    assert strategy_in(None) is None
