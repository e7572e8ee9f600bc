"""What a rerun does to a job's other runs, in words: at the buttons, in the modals, in what asks for a yes."""

from dataclasses import replace
from datetime import datetime

import pytest

from bot.incidents.strategy import RunStrategy
from bot.render import buttons
from bot.render.actions import ActionId
from bot.render.beside import beside, said
from bot.render.snapshot import Snapshot
from tests.render import cases
from tests.render.beside_cases import AWAITING, OPEN, TOMORROW
from tests.render.cases import DUE

BERLIN = "Europe/Berlin"
LATE = cases.SNAPSHOTS["late not started"]


@pytest.mark.parametrize(
    ("rule", "others", "sentence"),
    [
        (None, (TOMORROW,), ""),
        (RunStrategy.PARALLEL, (TOMORROW,), ""),
        (RunStrategy.SEQUENTIAL, (), ""),
        (
            RunStrategy.SEQUENTIAL,
            (TOMORROW, None),
            "The run strategy SEQUENTIAL runs one after the other: a rerun waits for the 2 runs that live.",
        ),
        (
            RunStrategy.STRICT_SEQUENTIAL,
            (),
            "The run strategy STRICT_SEQUENTIAL holds back all later runs until this one is good.",
        ),
        (
            RunStrategy.LAST_ONLY,
            (None,),
            "The run strategy LAST_ONLY lets only the newest run live, so that a rerun stops the run that lives.",
        ),
        (
            RunStrategy.LAST_ONLY,
            (),
            "The run strategy LAST_ONLY lets only the newest run live, so that a rerun stops one that has begun by then.",
        ),
        (
            RunStrategy.SERIAL_LATEST_ONLY,
            (),
            (
                "The run strategy SERIAL_LATEST_ONLY lets only the newest request wait: a rerun stops newer runs that wait"
                " by then."
            ),
        ),
        (
            RunStrategy.FIRST_ONLY,
            (TOMORROW, None),
            (
                "The run strategy FIRST_ONLY lets no second run begin: a rerun comes to nothing until the 2 runs that live"
                " have ended."
            ),
        ),
    ],
)
def test_each_strategy_has_its_sentence(
    rule: RunStrategy | None, others: tuple[datetime | None, ...], sentence: str
) -> None:
    assert said(rule, others, BERLIN) == sentence


def test_the_other_run_is_named_by_its_time_in_the_zone_of_the_job() -> None:
    assert "stops the run of Tue 1 Dec" in beside(OPEN)
    assert beside(OPEN).endswith(" CET.")


def test_the_runs_that_are_owed_are_no_others() -> None:
    assert "one that has begun by then" in beside(replace(OPEN, live=frozenset({DUE})))


def question(snapshot: Snapshot, action: ActionId) -> str:
    asked = buttons.one(snapshot, action).get("confirm")
    return asked["text"]["text"] if asked else ""


@pytest.mark.parametrize(
    ("snapshot", "action"),
    [(OPEN, ActionId.RERUN), (AWAITING, ActionId.APPROVE), (replace(OPEN, incident=LATE.incident), ActionId.START_NOW)],
)
@pytest.mark.parametrize("rule", [RunStrategy.LAST_ONLY, RunStrategy.SERIAL_LATEST_ONLY, RunStrategy.FIRST_ONLY])
def test_a_click_at_another_runs_cost_is_asked_back(snapshot: Snapshot, action: ActionId, rule: RunStrategy) -> None:
    asked = replace(snapshot, run_strategy=rule)

    assert beside(asked) in question(asked, action)
    assert beside(asked)


@pytest.mark.parametrize("rule", [None, RunStrategy.SEQUENTIAL, RunStrategy.PARALLEL, RunStrategy.STRICT_SEQUENTIAL])
def test_a_click_that_costs_no_other_is_not_asked_back(rule: RunStrategy | None) -> None:
    assert question(replace(OPEN, run_strategy=rule), ActionId.RERUN) == ""


def test_where_the_cause_is_unknown_both_are_said() -> None:
    blind = replace(OPEN, incident=cases.unknown())

    assert "The cause is not known" in question(blind, ActionId.RERUN)
    assert beside(blind) in question(blind, ActionId.RERUN)
