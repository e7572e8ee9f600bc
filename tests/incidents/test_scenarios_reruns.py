"""Scenarios about reruns, approval and budget, each told as its line tells it."""

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
    Approved,
    Declined,
    FixDeclared,
    NotNeeded,
    OwedChoice,
    PauseWanted,
    RerunWanted,
    StartWanted,
)
from bot.incidents.keys import Action, Capability, Cost, Trigger
from bot.incidents.lateness import NOT_FINISHED
from bot.incidents.model import Outcome, ProposalReason, RerunPhase, Status
from bot.incidents.policy import RecoversBy, RerunPolicy
from bot.incidents.situation import Allowance
from tests.incidents.worlds import (
    ALL,
    ANA,
    BEN,
    DAY,
    HOUR,
    MINUTE,
    MONDAY,
    ONCALL_MENTION,
    OTHER_SAFE,
    POLICY,
    SAFE,
    STRANGER,
    TUESDAY,
    UNKNOWN,
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


def over_budget() -> Play:
    play = Play(World(changes={"estimate": Cost(amount=30.0)}))
    play.tell(failed())
    return play


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


@pytest.mark.scenario(15)
def test_an_unknown_cause_is_never_rerun_but_by_an_owner_who_was_told_so() -> None:
    play = Play()
    play.tell(failed(cause=UNKNOWN))
    outsider = play.tell(RerunWanted(by=by(STRANGER, play.now)))
    refused = play.tell(Approved(by=by(STRANGER, play.now), proposal=1, confirmed=True))
    warned = play.tell(Approved(by=by(ANA, play.now), proposal=1))

    assert outsider.incident is not None
    assert outsider.incident.status is Status.AWAITING_APPROVAL
    assert (told(refused).kind, told(warned).kind) == (ToldKind.NOT_YOURS, ToldKind.CONFIRM_UNKNOWN)
    assert play.all(AskScheduler) == []

    play.tell(Approved(by=by(ANA, play.now), proposal=1, confirmed=True))

    assert [(ask.action, ask.by and ask.by.person) for ask in play.all(AskScheduler)] == [(Action.RERUN, ANA)]
    assert [reserve.automatic for reserve in play.reserved] == [False]


@pytest.mark.scenario(16)
def test_the_budget_is_reserved_before_the_request_and_settled_after() -> None:
    play = Play()
    play.tell(failed())

    assert [reserve.estimate for reserve in play.reserved] == [Cost(amount=0.5)]
    assert play.all(AskScheduler) == []

    play.after(5 * MINUTE)
    key = key_of(play)
    play.tell(succeeded(rerun_of(), rerun_key=key, cost=Cost(amount=0.7)))

    assert [(one.key, one.cost) for one in play.all(Settle)] == [(key, Cost(amount=0.7))]


@pytest.mark.scenario(17)
def test_what_the_allowance_does_not_cover_waits_for_a_yes_and_is_booked_apart() -> None:
    play = over_budget()

    assert play.incident.proposal is not None
    assert play.incident.proposal.reason is ProposalReason.OVER_BUDGET

    play.tell(Approved(by=by(ANA, play.now), proposal=1))

    assert [(one.automatic, one.estimate) for one in play.reserved] == [(False, Cost(amount=30.0))]


@pytest.mark.scenario(18)
def test_an_approval_after_the_good_run_or_after_its_time_reruns_nothing() -> None:
    paid, expired = over_budget(), over_budget()
    paid.tell(succeeded(run(run_id="manual__1", trigger=Trigger.MANUAL), at=paid.now))
    too_late = paid.tell(Approved(by=by(ANA, paid.now), proposal=1))
    assert expired.incident.proposal is not None
    expired.until(expired.incident.proposal.expires_at)
    after_expiry = expired.tell(Approved(by=by(ANA, expired.now), proposal=1))

    assert told(too_late).kind is ToldKind.SETTLED
    assert told(too_late).facts["run"] == "manual__1"
    assert told(after_expiry).kind is ToldKind.EXPIRED
    assert (expired.status, expired.now) == (Status.OPEN, TUESDAY)
    assert [*paid.all(AskScheduler), *expired.all(AskScheduler)] == []


@pytest.mark.scenario(19)
def test_approved_twice_is_one_rerun() -> None:
    play = over_budget()
    play.tell(Approved(by=by(ANA, play.now), proposal=1))
    second = play.tell(Approved(by=by(BEN, play.now), proposal=1))

    assert len(play.all(AskScheduler)) == 1
    assert told(second).kind is ToldKind.EXPIRED


@pytest.mark.scenario(19)
def test_a_pause_takes_back_a_rerun_that_was_not_requested_yet() -> None:
    play = Play()
    play.tell(failed())
    decision = play.tell(PauseWanted(by=by(at=play.now), until=play.now + DAY))
    play.after(HOUR)

    assert len(effects(Release, [decision])) == 1
    assert [ask.action for ask in play.all(AskScheduler)] == [Action.PAUSE]


@pytest.mark.scenario(45)
def test_somebody_clears_the_task_in_the_scheduler_while_an_approval_waits() -> None:
    play = over_budget()
    by_hand = play.tell(started(rerun_of(), at=play.now, by="Olga"))

    assert play.incident.proposal is None
    assert effects(Reply, [by_hand])[0].facts["by"] == "Olga"
    assert effects(Reply, [by_hand])[0].facts["withdrew"]
    assert play.after(44 * MINUTE) == [], "while it runs nobody is asked"

    play.tell(succeeded(rerun_of(), at=play.now, by="Olga"))

    assert (play.status, play.incident.outcome) == (Status.RESOLVED, Outcome.RECOVERED_BY_HAND)


def test_when_the_run_by_hand_fails_too_the_owner_is_asked_again() -> None:
    play = over_budget()
    play.tell(started(rerun_of(trigger=Trigger.MANUAL), at=play.now, by="Olga"))
    decision = play.tell(failed(rerun_of(trigger=Trigger.MANUAL), SAFE, play.now + 5 * MINUTE))

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


def test_a_decline_is_a_no_and_the_decliner_holds_it() -> None:
    play = over_budget()
    play.tell(Declined(by=by(BEN, play.now), proposal=1))

    assert play.status is Status.OPEN
    assert play.incident.acknowledgement is not None
    assert play.incident.acknowledgement.by.person == BEN


def test_fixed_with_a_rerun_that_cannot_be_made_waits_and_gives_nothing_up() -> None:
    play = Play(World(changes={"can": frozenset()}))
    play.tell(failed(cause=UNSAFE))
    decision = play.tell(FixDeclared(by=by(at=play.now), choices=((MONDAY, OwedChoice.RERUN_NOW),)))
    play.now = TUESDAY + HOUR
    play.tell(succeeded(run(TUESDAY), at=play.now))

    assert "cannot be asked for reruns" in told(decision).reason
    assert play.status is Status.VERIFYING
    assert [owed.nominal_time for owed in play.incident.owed] == [MONDAY]


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


def test_an_allowance_that_shrank_during_the_back_off_does_not_unmake_a_booked_rerun() -> None:
    play = Play()
    play.tell(failed())
    play.after(5 * MINUTE, allowance=Allowance(unit="run_hours", job=0.0))

    assert play.incident.rerun is not None
    assert play.incident.rerun.phase is RerunPhase.REQUESTED
