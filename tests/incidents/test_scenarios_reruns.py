"""Scenarios about the life of a rerun, each told as its line tells it."""

from dataclasses import replace

import pytest

from bot.incidents.effects import (
    AskScheduler,
    LookFor,
    Release,
    Reply,
    ReplyKind,
    RerunResult,
    Reserve,
    Settle,
    ToldKind,
)
from bot.incidents.events import (
    Acknowledged,
    AnswerKind,
    NotNeeded,
    RerunWanted,
    StartWanted,
)
from bot.incidents.keys import Action, Capability
from bot.incidents.lateness import NOT_FINISHED
from bot.incidents.model import Outcome, Status
from bot.incidents.policy import RecoversBy, RerunPolicy
from tests.incidents.worlds import (
    ALL,
    ANA,
    HOUR,
    MINUTE,
    MONDAY,
    ONCALL_MENTION,
    OTHER_SAFE,
    POLICY,
    SAFE,
    TUESDAY,
    UNSAFE,
    Play,
    World,
    by,
    effects,
    failed,
    late,
    mentioned,
    replies,
    rerun_of,
    run,
    started,
    succeeded,
    told,
)


def rerunning(world: World | None = None) -> Play:
    """A licensed rerun was asked for and has started."""
    play = Play(world)
    play.tell(failed())
    play.after(5 * MINUTE)
    play.answer(AnswerKind.TAKEN)
    play.tell(started(rerun_of(), at=play.now, rerun_key=key_of(play)))
    return play


def key_of(play: Play) -> str:
    assert play.incident.rerun is not None
    return play.incident.rerun.key


@pytest.mark.scenario(42)
def test_a_licensed_rerun_at_night_that_heals_mentions_nobody_ever() -> None:
    play = rerunning()
    decision = play.tell(succeeded(rerun_of(), at=play.now + 20 * MINUTE, rerun_key=key_of(play)))

    assert (play.status, play.incident.outcome) == (Status.RESOLVED, Outcome.RECOVERED)
    assert play.mentions == []
    assert ReplyKind.EVIDENCE in [reply.kind for reply in play.all(Reply)]
    assert [settled.result for settled in effects(Settle, [decision])] == [RerunResult.SUCCEEDED]


@pytest.mark.scenario(42)
def test_when_the_licensed_rerun_fails_the_oncall_is_asked_at_once() -> None:
    play = rerunning()
    decision = play.tell(failed(rerun_of(), UNSAFE, play.now, rerun_key=key_of(play)))

    assert play.status is Status.OPEN
    assert mentioned(decision) == [ONCALL_MENTION.id]


@pytest.mark.scenario(21)
def test_a_rerun_that_fails_with_another_safe_cause_gets_no_second_licence() -> None:
    play = rerunning()
    decision = play.tell(failed(rerun_of(), OTHER_SAFE, play.now, rerun_key=key_of(play)))

    assert play.status is Status.OPEN
    assert effects(Reserve, [decision]) == []
    assert f"its licence was for {SAFE}" in play.incident.reason
    assert [owed.failure.cause for owed in play.incident.owed] == [OTHER_SAFE]


def test_a_rerun_that_fails_the_same_way_is_rerun_until_its_maximum() -> None:
    play = rerunning()
    play.tell(failed(rerun_of(), SAFE, play.now, rerun_key=key_of(play)), reruns=((MONDAY, 1),))
    play.after(5 * MINUTE, reruns=((MONDAY, 1),))
    decision = play.tell(failed(rerun_of(generation=2), SAFE, play.now, rerun_key=key_of(play)), reruns=((MONDAY, 2),))

    assert [ask.key[-2:] for ask in play.all(AskScheduler)] == ["#1", "#2"]
    assert play.status is Status.OPEN
    assert mentioned(decision) == [ONCALL_MENTION.id]


@pytest.mark.scenario(49)
def test_a_rerun_that_never_started_is_looked_up_after_half_an_hour_then_the_owner_is_asked() -> None:
    play = Play()
    play.tell(failed())
    play.after(5 * MINUTE)
    play.answer(AnswerKind.TAKEN)
    looked = play.after(30 * MINUTE)

    assert [look.key for look in effects(LookFor, looked)] == [key_of(play)]
    assert play.mentions == []

    decision = play.answer(AnswerKind.NOT_STARTED)

    assert len(effects(Release, [decision])) == 1
    assert mentioned(decision) == [ONCALL_MENTION.id]
    assert play.status is Status.OPEN


def test_a_lost_rerun_keeps_its_booking_and_is_never_asked_for_again() -> None:
    play = Play()
    play.tell(failed())
    play.after(5 * MINUTE)
    lost = play.answer(AnswerKind.CANNOT_TELL)
    play.after(6 * HOUR)

    assert mentioned(lost) == [ONCALL_MENTION.id]
    assert len(play.all(AskScheduler)) == 1
    assert play.all(Release) == []

    play.tell(started(rerun_of(), at=play.now, rerun_key=key_of(play)))

    assert play.status is Status.RERUNNING

    play.tell(succeeded(rerun_of(), at=play.now, rerun_key=key_of(play)))

    assert play.incident.outcome is Outcome.RECOVERED
    assert len(play.all(Settle)) == 1


def test_a_stale_answer_cannot_unmake_a_rerun_that_was_seen_to_run() -> None:
    play = rerunning()
    play.answer(AnswerKind.NOT_STARTED)

    assert play.status is Status.RERUNNING
    assert play.all(Release) == []


def test_an_acknowledgement_during_the_back_off_leaves_the_rerun_alone() -> None:
    play = Play()
    play.tell(failed())
    play.tell(Acknowledged(by=by(at=play.now)))
    play.after(5 * MINUTE)

    assert [ask.action for ask in play.all(AskScheduler)] == [Action.RERUN]


def test_several_owed_times_are_rerun_one_by_one_oldest_first() -> None:
    play = Play()
    play.tell(failed(cause=UNSAFE))
    play.now = TUESDAY + 20 * MINUTE
    play.tell(failed(run(TUESDAY), UNSAFE))
    play.tell(RerunWanted(by=by(at=play.now)))
    first = key_of(play)
    play.tell(succeeded(rerun_of(), at=play.now, rerun_key=first))

    assert [ask.nominal_times for ask in play.all(AskScheduler)] == [(MONDAY,), (TUESDAY,)]
    assert key_of(play) != first

    play.tell(succeeded(rerun_of(TUESDAY), at=play.now, rerun_key=key_of(play)))

    assert play.incident.outcome is Outcome.RECOVERED
    assert {one.key for one in play.all(Settle)} == {one.key for one in play.reserved}


def test_where_any_later_run_pays_only_the_newest_is_rerun() -> None:
    play = Play(World(policy=replace(POLICY, recovers_by=RecoversBy.ANY_LATER_RUN)))
    play.tell(failed(cause=UNSAFE))
    play.now = TUESDAY + 20 * MINUTE
    play.tell(failed(run(TUESDAY), UNSAFE))
    play.tell(RerunWanted(by=by(at=play.now)))

    assert [ask.nominal_times for ask in play.all(AskScheduler)] == [(TUESDAY,)]


def test_one_unsafe_time_leaves_all_of_them_to_the_owner() -> None:
    play = rerunning()
    play.tell(failed(run(TUESDAY), UNSAFE, play.now))
    decision = play.tell(succeeded(rerun_of(), at=play.now, rerun_key=key_of(play)))

    assert play.status is Status.OPEN
    assert mentioned(decision) == [ONCALL_MENTION.id]
    assert [owed.nominal_time for owed in play.incident.owed] == [TUESDAY]


def test_another_time_that_would_heal_as_well_mentions_nobody_while_rerunning() -> None:
    play = rerunning()
    play.tell(failed(run(TUESDAY), OTHER_SAFE, play.now))

    assert play.mentions == []

    play.tell(succeeded(rerun_of(), at=play.now, rerun_key=key_of(play)))

    assert play.status is Status.RERUNNING
    assert play.incident.rerun is not None
    assert play.incident.rerun.waiting == (TUESDAY,)


def test_what_a_person_calls_not_needed_takes_its_planned_rerun_along() -> None:
    play = Play()
    play.tell(failed())
    play.tell(failed(run(TUESDAY), SAFE, play.now))
    decision = play.tell(NotNeeded(by=by(at=play.now), nominal_times=(MONDAY,)))

    assert len(effects(Release, [decision])) == 1
    assert [owed.nominal_time for owed in play.incident.owed] == [TUESDAY]
    assert play.status is Status.OPEN
    assert mentioned(decision) == [], "who spoke is at work on it"


def test_a_run_that_did_not_start_is_started_and_its_failure_comes_back_to_who_started_it() -> None:
    play = Play(now=MONDAY + 15 * MINUTE)
    play.tell(late())
    play.tell(StartWanted(by=by(at=play.now)))
    key = key_of(play)
    play.tell(started(at=play.now, rerun_key=key))
    decision = play.tell(failed(at=play.now, rerun_key=key))

    assert [ask.action for ask in play.all(AskScheduler)] == [Action.START]
    assert play.status is Status.OPEN
    assert mentioned(decision) == [ANA.id]


def test_late_then_started_is_quiet_until_it_should_have_ended_and_asked_anew_when_it_fails() -> None:
    play = Play(now=MONDAY + 15 * MINUTE)
    play.tell(late())
    begun = play.tell(started(at=play.now))

    assert replies(begun) == [ReplyKind.RUN]
    assert play.after(44 * MINUTE) == []

    decision = play.tell(failed(cause=UNSAFE, at=play.now))

    assert mentioned(decision) == [ONCALL_MENTION.id]


def test_a_late_run_is_never_rerun_while_it_lives() -> None:
    play = Play(now=MONDAY + HOUR)
    play.tell(late(cause=NOT_FINISHED), live=frozenset({MONDAY}))
    decision = play.tell(RerunWanted(by=by(at=play.now)), live=frozenset({MONDAY}))

    assert told(decision).kind is ToldKind.CANNOT
    assert play.all(AskScheduler) == []


@pytest.mark.scenario(20)
def test_where_runs_must_not_overlap_a_rerun_that_would_reach_the_next_is_left_to_the_owner() -> None:
    policy = replace(POLICY, rerun=replace(RerunPolicy(), forbid_overlap=True))
    play = Play(World(policy=policy, every=HOUR))
    play.now = MONDAY + 40 * MINUTE
    play.tell(failed(at=play.now))

    assert play.status is Status.OPEN
    assert "must not overlap" in play.incident.reason


def test_without_the_capability_nothing_is_rerun_and_the_owner_hears_why() -> None:
    play = Play(World(changes={"can": ALL - {Capability.RERUN}}))
    play.tell(failed())

    assert play.status is Status.OPEN
    assert "cannot be asked for reruns" in play.incident.reason


def test_a_refused_request_gives_its_reservation_back_and_asks() -> None:
    play = Play()
    play.tell(failed())
    play.after(5 * MINUTE)
    decision = play.answer(AnswerKind.REFUSED, message="DAG is paused")

    assert len(effects(Release, [decision])) == 1
    assert "DAG is paused" in play.incident.reason
    assert mentioned(decision) == [ONCALL_MENTION.id]
