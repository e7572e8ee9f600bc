"""What a job's run strategy makes of a rerun: said before anybody approves it, and no licence at another run's cost."""

from datetime import timedelta
from typing import Any

import pytest

from bot.incidents import strategy
from bot.incidents.effects import AskScheduler, Reply, ReplyKind, Told, ToldKind
from bot.incidents.events import Approved, FixDeclared, OwedChoice, RerunWanted, StartWanted
from bot.incidents.licence import Licence, verdict
from bot.incidents.model import Owed, OwedPlan, Status
from bot.incidents.situation import Allowance
from bot.incidents.strategy import Consequence, RunStrategy
from tests.incidents.worlds import (
    MINUTE,
    MONDAY,
    TUESDAY,
    Play,
    World,
    by,
    effects,
    failed,
    failure,
    late,
    replies,
    told,
)

NOW = MONDAY + 20 * MINUTE
TABLE = {
    (None, False): Consequence.NOTHING,
    (None, True): Consequence.NOTHING,
    (RunStrategy.PARALLEL, False): Consequence.NOTHING,
    (RunStrategy.PARALLEL, True): Consequence.NOTHING,
    (RunStrategy.SEQUENTIAL, False): Consequence.NOTHING,
    (RunStrategy.SEQUENTIAL, True): Consequence.WAITS,
    (RunStrategy.STRICT_SEQUENTIAL, False): Consequence.RELEASES,
    (RunStrategy.STRICT_SEQUENTIAL, True): Consequence.RELEASES,
    (RunStrategy.FIRST_ONLY, False): Consequence.MAY_BE_GIVEN_UP,
    (RunStrategy.FIRST_ONLY, True): Consequence.GIVEN_UP,
    (RunStrategy.LAST_ONLY, False): Consequence.MAY_STOP,
    (RunStrategy.LAST_ONLY, True): Consequence.STOPS,
    (RunStrategy.SERIAL_LATEST_ONLY, False): Consequence.MAY_DROP,
    (RunStrategy.SERIAL_LATEST_ONLY, True): Consequence.DROPS,
}
AT_COST = (RunStrategy.LAST_ONLY, RunStrategy.SERIAL_LATEST_ONLY, RunStrategy.FIRST_ONLY)
HARMLESS = [None, RunStrategy.SEQUENTIAL, RunStrategy.STRICT_SEQUENTIAL, RunStrategy.PARALLEL]


def world(rule: RunStrategy | None, *live: Any, **changes: Any) -> World:
    return World(changes={"run_strategy": rule, "live": frozenset(live), **changes})


def test_every_strategy_has_its_consequence() -> None:
    met = {
        (rule, others): strategy.consequence_of(rule, others_live=others)
        for rule in (None, *RunStrategy)
        for others in (False, True)
    }

    assert met == TABLE


def test_the_others_are_those_that_are_not_meant() -> None:
    live = frozenset({TUESDAY, MONDAY, None})

    assert strategy.others(live, (MONDAY,)) == (TUESDAY, None)
    assert strategy.others(live, ()) == (MONDAY, TUESDAY, None)
    assert strategy.others(frozenset({MONDAY}), (MONDAY, TUESDAY)) == ()


@pytest.mark.parametrize("rule", AT_COST)
@pytest.mark.parametrize("other", [TUESDAY, MONDAY - timedelta(days=1), None])
def test_no_licence_at_another_runs_cost(rule: RunStrategy, other: Any) -> None:
    of = failure()
    owed = Owed(nominal_time=MONDAY, since=of.at, failure=of, plan=OwedPlan.SAME_RUN)
    judged = verdict(owed, world(rule, other).situation(NOW), NOW, incident=None)

    assert judged.licence is Licence.REFUSED
    assert f"(run strategy {rule})" in judged.reason


@pytest.mark.parametrize("rule", HARMLESS)
def test_a_strategy_that_harms_no_other_leaves_the_licence(rule: RunStrategy | None) -> None:
    of = failure()
    owed = Owed(nominal_time=MONDAY, since=of.at, failure=of, plan=OwedPlan.SAME_RUN)

    assert verdict(owed, world(rule, TUESDAY).situation(NOW), NOW, incident=None).licence is Licence.GRANTED


@pytest.mark.parametrize("rule", AT_COST)
def test_a_newer_run_that_begins_during_the_back_off_takes_the_rerun_back(rule: RunStrategy) -> None:
    play = Play(world(rule))
    play.tell(failed())

    assert len(play.reserved) == 1
    fired = play.after(30 * MINUTE, live=frozenset({TUESDAY}))
    assert effects(AskScheduler, fired) == []
    assert play.status is Status.OPEN
    assert f"(run strategy {rule})" in play.incident.reason


@pytest.mark.parametrize("rule", [RunStrategy.LAST_ONLY, RunStrategy.SERIAL_LATEST_ONLY])
def test_a_person_may_go_on_at_another_runs_cost(rule: RunStrategy) -> None:
    play = Play(world(rule, TUESDAY))
    play.tell(failed())
    decision = play.tell(RerunWanted(by=by()))

    assert told(decision).kind is ToldKind.DONE
    assert [ask.by for ask in effects(AskScheduler, [decision])] == [by()]


def test_nobody_asks_for_a_run_that_would_be_given_up() -> None:
    play = Play(world(RunStrategy.FIRST_ONLY, TUESDAY))
    play.tell(failed())
    refused = play.tell(RerunWanted(by=by()))
    fixed = play.tell(FixDeclared(by=by(), choices=((MONDAY, OwedChoice.RERUN_NOW),)))

    assert told(refused).kind is ToldKind.CANNOT
    assert "would be given up (run strategy FIRST_ONLY)" in told(refused).reason
    assert "recorded, but not rerun" in told(fixed).reason
    assert play.all(AskScheduler) == []


def test_nothing_is_started_that_would_be_given_up() -> None:
    play = Play(world(RunStrategy.FIRST_ONLY, TUESDAY))
    play.tell(late())
    refused = play.tell(StartWanted(by=by()))

    assert told(refused).kind is ToldKind.CANNOT
    assert "given up" in told(refused).reason


def asked_for_a_yes(rule: RunStrategy | None, *live: Any) -> tuple[Play, Reply]:
    play = Play(world(rule, *live, allowance=Allowance(unit="run_hours", job=0.0)))
    decision = play.tell(failed())

    assert ReplyKind.APPROVAL in replies(decision)
    return play, next(reply for reply in effects(Reply, [decision]) if reply.kind is ReplyKind.APPROVAL)


def test_what_asks_for_a_yes_says_what_it_does_to_other_runs() -> None:
    _, reply = asked_for_a_yes(RunStrategy.STRICT_SEQUENTIAL, TUESDAY)

    assert reply.facts["beside"] == {"strategy": RunStrategy.STRICT_SEQUENTIAL, "others": (TUESDAY,)}


def test_a_job_without_a_strategy_says_nothing_of_it() -> None:
    _, reply = asked_for_a_yes(None, TUESDAY)

    assert "beside" not in reply.facts


def test_a_yes_to_what_would_be_given_up_by_now_is_refused() -> None:
    play, _ = asked_for_a_yes(RunStrategy.FIRST_ONLY)
    answer: Told = told(play.tell(Approved(by=by(), proposal=1), live=frozenset({TUESDAY})))

    assert answer.kind is ToldKind.CANNOT
    assert play.status is Status.AWAITING_APPROVAL
