"""The rerun rule, refusal by refusal: the worst error is a wrong "licensed"."""

from dataclasses import replace
from typing import Any

import pytest

from bot.incidents.events import Acknowledged
from bot.incidents.keys import Capability, Cost, Trigger
from bot.incidents.licence import Licence, live_mark, markable, verdict
from bot.incidents.model import Owed, OwedPlan, ProposalReason
from bot.incidents.policy import Mode, RerunPolicy
from bot.incidents.situation import Allowance
from tests.incidents.worlds import (
    ALL,
    MINUTE,
    MONDAY,
    OTHER_SAFE,
    POLICY,
    SAFE,
    TUESDAY,
    UNKNOWN,
    UNSAFE,
    Play,
    World,
    by,
    failed,
    failure,
    mark,
    run,
)

NOW = MONDAY + 20 * MINUTE


def owed(plan: OwedPlan = OwedPlan.SAME_RUN, **how: Any) -> Owed:
    of = failure(**how)
    return Owed(nominal_time=of.run.nominal_time, since=of.at, failure=of, plan=plan)


def judged(one: Owed | None = None, *, planned: bool = False, **situation: Any) -> Any:
    return verdict(one or owed(), replace(World().situation(NOW), **situation), NOW, incident=None, planned=planned)


def test_a_marked_cause_with_budget_left_is_granted() -> None:
    assert judged().licence is Licence.GRANTED


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"cause": UNKNOWN}, "the cause is unknown"),
        ({"cause": "late.not_started"}, "a late run is never rerun"),
        ({"cause": UNSAFE}, "has not marked"),
        ({"never_safe": True}, "never safe"),
        ({"ruled_out_by": ("schema error",)}, "schema error was seen as well"),
        ({"also": (UNSAFE,)}, f"{UNSAFE} matched as well"),
        ({"also": (OTHER_SAFE, UNKNOWN)}, f"{UNKNOWN} matched as well"),
        ({"of": run(trigger=Trigger.MANUAL)}, "a manual run"),
        ({"of": run(trigger=Trigger.BACKFILL)}, "a backfill run"),
    ],
)
def test_a_failure_that_is_not_surely_safe_is_refused(how: dict[str, Any], why: str) -> None:
    given = judged(owed(**how), marks=(mark(SAFE), mark(OTHER_SAFE), mark(UNKNOWN), mark("late.not_started")))

    assert given.licence is Licence.REFUSED
    assert why in given.reason


@pytest.mark.scenario(13)
def test_two_rules_that_are_both_marked_safe_are_safe() -> None:
    assert judged(owed(also=(OTHER_SAFE,))).licence is Licence.GRANTED


@pytest.mark.scenario(14)
@pytest.mark.parametrize(
    ("situation", "why"),
    [
        ({"marks": (mark(SAFE, team="strangers"),)}, "was marked safe by strangers, which does not own this job"),
        ({"marks": (mark(SAFE, void="Zoe is not a member"),)}, "does not count: Zoe is not a member"),
        ({"marks": ()}, "has not marked"),
        ({"suspended": frozenset({SAFE})}, "suspended"),
        ({"policy": replace(POLICY, team=None)}, "which does not own this job"),
        ({"can": ALL - {Capability.RERUN}}, "cannot be asked for reruns"),
        ({"live": frozenset({MONDAY})}, "a run of it lives"),
        ({"paid": frozenset({MONDAY})}, "it has a good run by now"),
        ({"retired": True}, "the job is retired"),
        ({"reruns": ((MONDAY, 2),)}, "it was rerun 2 times already"),
        ({"policy": replace(POLICY, rerun=replace(RerunPolicy(), max=0))}, "it was rerun 0 times already"),
        ({"policy": replace(POLICY, mode=Mode.ASK)}, "it would be rerun in mode act"),
        ({"policy": replace(POLICY, mode=Mode.OBSERVE)}, "it would be rerun in mode act"),
    ],
)
def test_surroundings_that_forbid_it_are_named(situation: dict[str, Any], why: str) -> None:
    given = judged(**situation)

    assert given.licence is Licence.REFUSED
    assert why in given.reason


def test_a_mark_of_the_owning_team_counts_beside_a_strangers() -> None:
    situation = replace(World().situation(NOW), marks=(mark(SAFE, team="strangers"), mark(SAFE)))

    assert live_mark(SAFE, situation) == mark(SAFE)


@pytest.mark.scenario(20)
@pytest.mark.parametrize(
    ("situation", "licence"),
    [
        ({}, Licence.GRANTED),
        ({"live": frozenset({TUESDAY})}, Licence.REFUSED),
        ({"next_run_at": NOW + 34 * MINUTE}, Licence.REFUSED),
        ({"next_run_at": NOW + 36 * MINUTE}, Licence.GRANTED),
        ({"next_run_at": NOW + 19 * MINUTE, "usual_duration": None}, Licence.REFUSED),
        ({"next_run_at": NOW + 21 * MINUTE, "usual_duration": None}, Licence.GRANTED),
        ({"next_run_at": None}, Licence.GRANTED),
    ],
)
def test_where_runs_must_not_overlap(situation: dict[str, Any], licence: Licence) -> None:
    policy = replace(POLICY, rerun=replace(RerunPolicy(), forbid_overlap=True))

    assert judged(policy=policy, **situation).licence is licence


def test_when_its_back_off_is_over_it_is_not_waited_for_twice() -> None:
    policy = replace(POLICY, rerun=replace(RerunPolicy(), forbid_overlap=True))

    assert judged(planned=True, policy=policy, next_run_at=NOW + 31 * MINUTE).licence is Licence.GRANTED


@pytest.mark.parametrize(
    ("plan", "licence"), [(OwedPlan.SAME_RUN, Licence.GRANTED), (OwedPlan.ANY_LATER_RUN, Licence.REFUSED)]
)
def test_a_newer_run_that_brings_it_as_well_makes_a_rerun_needless(plan: OwedPlan, licence: Licence) -> None:
    assert judged(owed(plan), latest_started=TUESDAY).licence is licence


@pytest.mark.parametrize(
    ("situation", "propose"),
    [
        ({"estimate": None}, ProposalReason.UNKNOWN_COST),
        ({"estimate": Cost(amount=1.0, unit="core_hours")}, ProposalReason.UNKNOWN_COST),
        ({"allowance": None}, ProposalReason.OVER_BUDGET),
        ({"allowance": Allowance(unit="run_hours", job=None)}, ProposalReason.OVER_BUDGET),
        ({"allowance": Allowance(unit="run_hours", job=0.4)}, ProposalReason.OVER_BUDGET),
        ({"allowance": Allowance(unit="run_hours", job=4.0, team=0.4)}, ProposalReason.OVER_BUDGET),
        ({"allowance": Allowance(unit="run_hours", job=0.5, team=0.5)}, None),
    ],
)
def test_without_a_known_cost_and_budget_left_for_job_and_team_it_is_proposed(
    situation: dict[str, Any], propose: ProposalReason | None
) -> None:
    given = judged(**situation)

    assert given.propose is propose
    assert given.licence is (Licence.PROPOSE if propose else Licence.GRANTED)


def test_somebody_at_work_is_not_disturbed_by_a_new_automatic_rerun() -> None:
    play = Play()
    play.tell(failed())
    play.tell(Acknowledged(by=by(at=NOW)))
    one, situation = play.incident.owed[0], play.world.situation(NOW)

    assert verdict(one, situation, NOW, incident=play.incident).reason == "somebody is working on it"
    assert verdict(one, situation, NOW, incident=play.incident, planned=True).licence is Licence.GRANTED


@pytest.mark.scenario(21)
def test_the_licence_of_one_cause_is_none_for_another() -> None:
    play = Play()
    play.tell(failed())
    given = verdict(owed(cause=OTHER_SAFE), play.world.situation(NOW), NOW, incident=play.incident)

    assert given.licence is Licence.REFUSED
    assert "another cause gets no second one" in given.reason


@pytest.mark.parametrize(
    ("cause", "never_safe", "can"),
    [(SAFE, False, True), (SAFE, True, False), (UNKNOWN, False, False), ("late.not_finished", False, False)],
)
def test_unknown_and_late_can_never_be_marked(cause: str, *, never_safe: bool, can: bool) -> None:
    assert (markable(cause, never_safe=never_safe) is None) is can
