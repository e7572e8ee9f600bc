"""Scenarios about good runs, fixes and reopening: what ends an occurrence and what does not."""

from dataclasses import replace

import pytest

from bot.incidents.decide import concerns
from bot.incidents.effects import Reply, ReplyKind, ToldKind
from bot.incidents.events import (
    FixDeclared,
    NotFixed,
    NotNeeded,
    OwedChoice,
    RerunWanted,
    UndoWanted,
)
from bot.incidents.keys import Trigger
from bot.incidents.matching import untroubled
from bot.incidents.model import Outcome, OwedPlan, Status, TimerKind, timers_of
from bot.incidents.policy import RecoversBy
from tests.incidents.worlds import (
    ANA,
    DAY,
    HOUR,
    MINUTE,
    MONDAY,
    ONCALL_MENTION,
    POLICY,
    TUESDAY,
    UNKNOWN,
    UNSAFE,
    Play,
    World,
    by,
    effects,
    failed,
    mentioned,
    replies,
    rerun_of,
    run,
    succeeded,
    told,
)


def opened(world: World | None = None) -> Play:
    play = Play(world)
    play.tell(failed(cause=UNSAFE))
    return play


def fixed(choice: OwedChoice = OwedChoice.NEXT_RUN) -> Play:
    play = opened()
    play.tell(FixDeclared(by=by(at=play.now), what="put the column back", choices=((MONDAY, choice),)))
    return play


@pytest.mark.scenario(10)
def test_a_failure_that_comes_after_its_good_run_opens_nothing() -> None:
    play = Play()
    play.tell(failed(), paid=frozenset({MONDAY}))

    assert play.current is None


@pytest.mark.scenario(10)
def test_where_any_later_run_pays_an_older_failure_told_late_opens_nothing() -> None:
    play = Play(World(policy=replace(POLICY, recovers_by=RecoversBy.ANY_LATER_RUN)))
    play.tell(failed(), last_good_time=TUESDAY)

    assert play.current is None


@pytest.mark.scenario(10)
def test_an_older_success_closes_nothing_for_a_later_time() -> None:
    play = Play(World(policy=replace(POLICY, recovers_by=RecoversBy.ANY_LATER_RUN)), now=TUESDAY + HOUR)
    play.tell(failed(run(TUESDAY), UNSAFE))
    play.tell(succeeded(run(MONDAY), at=play.now))

    assert play.status is Status.OPEN


@pytest.mark.scenario(41)
def test_tuesday_does_not_bring_mondays_partition_and_says_so_once() -> None:
    play = opened()
    play.now = TUESDAY + HOUR
    told_once = play.tell(succeeded(run(TUESDAY), at=play.now))
    again = play.tell(succeeded(run(TUESDAY + DAY), at=play.now))

    assert [owed.nominal_time for owed in play.incident.owed] == [MONDAY]
    assert (replies(told_once), replies(again)) == ([ReplyKind.OWED_REMAINS], [])

    play.tell(NotNeeded(by=by(at=play.now), nominal_times=(MONDAY,)))

    assert (play.status, play.incident.outcome) == (Status.RESOLVED, Outcome.NOT_NEEDED)


@pytest.mark.scenario(41)
def test_where_any_later_run_pays_tuesday_resolves_monday() -> None:
    play = opened(World(policy=replace(POLICY, recovers_by=RecoversBy.ANY_LATER_RUN)))
    play.tell(succeeded(run(TUESDAY), at=TUESDAY + HOUR))

    assert (play.status, play.incident.outcome) == (Status.RESOLVED, Outcome.RECOVERED_ALONE)


@pytest.mark.scenario(39)
def test_fixed_then_the_same_failure_goes_back_to_the_owner_with_the_fix_shown() -> None:
    play = fixed()
    play.now = TUESDAY + 20 * MINUTE
    decision = play.tell(failed(run(TUESDAY), UNSAFE, play.now))
    joined = next(reply for reply in effects(Reply, [decision]) if reply.kind is ReplyKind.JOINED)

    assert (play.status, play.incident.reason) == (Status.OPEN, "the fix did not hold")
    assert joined.facts["fix"].what == "put the column back"
    assert ANA.id in mentioned(decision)
    assert ONCALL_MENTION.id in mentioned(decision)


@pytest.mark.scenario(39)
def test_fixed_then_another_failure_is_told_as_such_in_the_same_occurrence() -> None:
    play = fixed()
    play.now = TUESDAY + 20 * MINUTE
    play.tell(failed(run(TUESDAY), UNKNOWN, play.now))

    assert (play.status, play.incident.reason) == (Status.OPEN, "it failed differently; the fix is unconfirmed")


@pytest.mark.scenario(39)
def test_a_skipped_run_confirms_nothing_and_the_owner_is_asked_at_its_timer() -> None:
    play = fixed()
    verify_by = play.incident.verify_by
    assert verify_by is not None
    unconfirmed = play.until(verify_by)

    assert [reply.kind for reply in effects(Reply, unconfirmed)] == [ReplyKind.UNCONFIRMED]
    assert mentioned(unconfirmed[0]) == [ONCALL_MENTION.id], "her acknowledgement has ended"
    assert (play.status, play.incident.unconfirmed) == (Status.VERIFYING, True)
    assert TimerKind.VERIFY in [timer.kind for timer in timers_of(play.incident)]


@pytest.mark.scenario(39)
def test_the_same_failure_after_it_was_resolved_reopens_its_record_another_opens_a_new_one() -> None:
    play = fixed()
    play.now = TUESDAY + HOUR
    play.tell(succeeded(run(TUESDAY), at=play.now))
    settled = play.incident
    same, other = Play(now=TUESDAY + DAY), Play(now=TUESDAY + DAY)
    reopened = same.tell(failed(run(TUESDAY + DAY), UNSAFE), previous=settled, times=1)
    other.tell(failed(run(TUESDAY + DAY), UNKNOWN), linked=settled.record)
    returned = next(reply for reply in effects(Reply, [reopened]) if reply.kind is ReplyKind.RETURNED)

    assert (settled.outcome, same.incident.record, same.incident.number) == (Outcome.FIXED, settled.record, 2)
    assert (returned.facts["held"], returned.facts["times"]) == (False, 2)
    assert (other.incident.returned, other.incident.linked_record) == (None, settled.record)


def test_a_failure_from_before_the_fix_does_not_disprove_it() -> None:
    play = fixed()
    play.tell(failed(run(MONDAY, generation=1), UNSAFE, play.now - MINUTE))

    assert play.status is Status.VERIFYING


def test_a_fix_taken_back_takes_back_that_the_next_run_pays() -> None:
    play = fixed()
    play.tell(NotFixed(by=by(at=play.now)))

    assert play.status is Status.OPEN
    assert [owed.plan for owed in play.incident.owed] == [OwedPlan.SAME_RUN]
    assert play.incident.fix is None


def test_fixed_confirmed_by_its_rerun_that_fails_did_not_hold() -> None:
    play = fixed(OwedChoice.RERUN_NOW)
    assert play.incident.rerun is not None
    play.tell(failed(rerun_of(), UNSAFE, play.now + MINUTE, rerun_key=play.incident.rerun.key))

    assert (play.status, play.incident.reason) == (Status.OPEN, "the fix did not hold")


def test_reopen_brings_back_what_was_called_not_needed() -> None:
    play = opened()
    play.now = TUESDAY + 20 * MINUTE
    play.tell(failed(run(TUESDAY), UNSAFE))
    play.tell(NotNeeded(by=by(at=play.now)))
    play.tell(UndoWanted(by=by(at=play.now)))

    assert play.status is Status.OPEN
    assert [owed.nominal_time for owed in play.incident.owed] == [MONDAY, TUESDAY]


@pytest.mark.scenario(9)
def test_reopen_on_a_message_from_before_a_later_occurrence_is_refused() -> None:
    play = opened()
    play.tell(succeeded(run(MONDAY)))
    assert play.incident.status is Status.RESOLVED
    before = play.incident
    decision = play.tell(UndoWanted(by=by(at=play.now)), newer=2)

    assert told(decision).kind is ToldKind.SETTLED
    assert decision.incident == before
    assert decision.effects == ()


def test_nothing_settled_is_reopened_beside_an_unresolved_occurrence() -> None:
    play = opened()
    play.tell(NotNeeded(by=by(at=play.now)))
    decision = play.tell(UndoWanted(by=by(at=play.now)), unresolved=9)

    assert (play.status, told(decision).facts["record"]) == (Status.RESOLVED, 9)


def test_the_end_of_our_rerun_concerns_the_occurrence_that_asked_for_it_even_when_settled() -> None:
    play = Play()
    play.tell(failed())
    play.after(5 * MINUTE)
    assert play.incident.rerun is not None
    key = play.incident.rerun.key
    play.tell(succeeded(run(run_id="manual__1", trigger=Trigger.MANUAL), at=play.now))
    ours = failed(rerun_of(), UNKNOWN, play.now, rerun_key=key)

    assert concerns(ours, None, (), play.incident) is play.incident
    assert concerns(failed(run(TUESDAY), UNKNOWN), None, (), play.incident) is None

    play.tell(ours)

    assert play.status is Status.RESOLVED


def test_a_run_by_hand_that_ended_before_the_fix_confirms_nothing() -> None:
    play = fixed()
    by_hand = run(TUESDAY, run_id="manual__1", trigger=Trigger.MANUAL)
    play.tell(succeeded(by_hand, at=play.now - MINUTE))

    assert play.status is Status.VERIFYING

    play.tell(succeeded(by_hand, at=play.now + MINUTE))

    assert (play.status, play.incident.outcome) == (Status.RESOLVED, Outcome.FIXED)


def test_with_nothing_owed_and_the_fix_taken_back_the_next_good_run_ends_it() -> None:
    play = fixed(OwedChoice.NOT_NEEDED)
    play.tell(NotFixed(by=by(at=play.now)))
    assert (play.status, play.incident.owed) == (Status.OPEN, ())
    assert timers_of(play.incident)

    play.tell(succeeded(run(TUESDAY), at=TUESDAY + HOUR))

    assert play.status is Status.RESOLVED


def test_what_a_person_called_not_needed_is_not_owed_again_when_its_rerun_fails() -> None:
    play = opened()
    play.tell(failed(run(TUESDAY), UNSAFE, play.now))
    play.tell(RerunWanted(by=by(at=play.now), nominal_times=(MONDAY,)))
    play.tell(NotNeeded(by=by(at=play.now), nominal_times=(MONDAY,)))
    assert play.incident.rerun is not None
    play.tell(failed(rerun_of(), UNSAFE, play.now, rerun_key=play.incident.rerun.key))

    assert play.status is Status.OPEN
    assert [owed.nominal_time for owed in play.incident.owed] == [TUESDAY]


def test_not_needed_does_not_spare_a_fix_its_confirmation() -> None:
    play = fixed()
    play.tell(NotNeeded(by=by(at=play.now)))

    assert (play.status, play.incident.owed) == (Status.VERIFYING, ())

    play.tell(succeeded(run(TUESDAY), at=TUESDAY + HOUR))

    assert play.incident.outcome is Outcome.FIXED


def test_what_is_taken_for_untroubled_would_have_changed_nothing() -> None:
    quiet = succeeded(run(MONDAY))
    asked_for = replace(quiet, rerun_key="somebody's key")
    decision = Play().tell(quiet)

    assert untroubled(quiet, in_force=())
    assert (decision.incident, decision.effects) == (None, ())
    assert not untroubled(asked_for, in_force=())
    assert not untroubled(failed(), in_force=())
    assert not untroubled(quiet, in_force=(opened().incident,))
