"""Scenarios about words and their ends: who has it, paused, retired, left, fixed, taken back; each told as its line tells it."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.incidents.decide import concerns
from bot.incidents.effects import AskScheduler, Reply, ReplyKind, ToldKind
from bot.incidents.events import (
    Acknowledged,
    AnswerKind,
    CauseMarked,
    FixDeclared,
    LeaveWanted,
    NotFixed,
    NotNeeded,
    OwedChoice,
    PauseWanted,
    Released,
    RerunWanted,
    RetireWanted,
    UndoWanted,
    WaitWanted,
)
from bot.incidents.keys import Action, Capability, Trigger
from bot.incidents.model import AtEnd, DecisionKind, Outcome, OwedPlan, Status, TimerKind, timers_of
from bot.incidents.policy import Mode, RecoversBy
from tests.incidents.worlds import (
    ADMIN,
    ALL,
    ANA,
    BEN,
    BOT,
    DAY,
    HOUR,
    MINUTE,
    MONDAY,
    ONCALL,
    ONCALL_MENTION,
    POLICY,
    SAFE,
    STRANGER,
    TEAM,
    TUESDAY,
    UNKNOWN,
    UNSAFE,
    Play,
    World,
    by,
    directory,
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


def opened(world: World | None = None) -> Play:
    play = Play(world)
    play.tell(failed(cause=UNSAFE))
    return play


def fixed(choice: OwedChoice = OwedChoice.NEXT_RUN) -> Play:
    play = opened()
    play.tell(FixDeclared(by=by(at=play.now), what="put the column back", choices=((MONDAY, choice),)))
    return play


def paused(at_end: AtEnd = AtEnd.RESUME) -> Play:
    play = opened()
    play.tell(PauseWanted(by=by(at=play.now), until=play.now + 3 * DAY, at_end=at_end))
    play.answer(AnswerKind.TAKEN, Action.PAUSE)
    return play


@pytest.mark.scenario(7)
def test_of_two_acknowledgements_the_first_wins_and_the_other_is_told_who() -> None:
    play = opened()
    play.tell(Acknowledged(by=by(ANA, play.now)))
    second = play.tell(Acknowledged(by=by(BEN, play.now + timedelta(milliseconds=50))))

    assert told(second).kind is ToldKind.TAKEN
    assert told(second).facts["by"] == ANA
    assert play.incident.first_word_at == play.now


@pytest.mark.scenario(8)
def test_an_acknowledgement_that_races_the_good_run_is_told_by_which_run_it_was_resolved() -> None:
    play = opened()
    play.tell(succeeded(run(run_id="manual__9", trigger=Trigger.MANUAL), at=play.now))
    decision = play.tell(Acknowledged(by=by(at=play.now)))

    assert play.status is Status.RESOLVED
    assert told(decision).kind is ToldKind.SETTLED
    assert told(decision).facts["run"] == "manual__9"


@pytest.mark.scenario(9)
@pytest.mark.parametrize("make", [RerunWanted, RetireWanted, Acknowledged, Released, NotNeeded])
def test_a_button_of_a_settled_occurrence_only_tells_the_state(make: type) -> None:
    play = paused()
    before = play.incident
    decision = play.tell(make(by=by(at=play.now)))

    assert told(decision).kind is ToldKind.SETTLED
    assert told(decision).facts["status"] is Status.PAUSED
    assert decision.incident == before
    assert decision.effects == ()


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


@pytest.mark.scenario(37)
def test_paused_until_monday_saturdays_failure_is_noted_and_monday_resumes_by_itself() -> None:
    play = paused()
    noted = play.tell(failed(run(TUESDAY), UNSAFE, play.now + DAY))
    ended = play.after(3 * DAY)

    assert (noted.effects, noted.incident and noted.incident.noted) == ((), 1)
    assert [ask.action for ask in effects(AskScheduler, ended)] == [Action.RESUME]
    assert play.status is Status.VERIFYING

    next_run = MONDAY + 4 * DAY
    play.now = next_run + HOUR
    play.tell(succeeded(run(next_run), at=play.now))

    assert play.status is Status.RESOLVED


@pytest.mark.scenario(37)
def test_a_pause_that_shall_ask_asks_even_though_a_run_was_good_and_resume_is_at_hand() -> None:
    play = paused(AtEnd.ASK)
    ended = play.after(3 * DAY, last_good_at=play.now + HOUR)

    assert play.status is Status.OPEN
    assert mentioned(ended[0]) == [ONCALL_MENTION.id]

    decision = play.tell(UndoWanted(by=by(at=play.now)))

    assert [ask.action for ask in effects(AskScheduler, [decision])] == [Action.RESUME]
    assert play.status is Status.VERIFYING


@pytest.mark.scenario(37)
def test_a_resumption_by_hand_in_the_scheduler_counts() -> None:
    play = paused()
    play.now = TUESDAY + MINUTE
    resumed = play.tell(started(run(TUESDAY), at=play.now))
    play.tell(succeeded(run(TUESDAY), at=play.now + HOUR))

    assert replies(resumed) == [ReplyKind.RESUMED]
    assert play.status is Status.RESOLVED


@pytest.mark.scenario(37)
def test_a_retired_job_that_runs_again_is_an_incident_that_only_a_word_ends() -> None:
    play = Play(World(changes={"retired": True}))
    asked = play.tell(started(run(TUESDAY), at=play.now))
    play.tell(succeeded(run(TUESDAY), at=play.now))

    assert mentioned(asked) == [ONCALL_MENTION.id]
    assert (play.status, play.incident.owed) == (Status.OPEN, ())
    assert timers_of(play.incident)

    play.tell(FixDeclared(by=by(at=play.now), what="removed it from the crontab"))

    assert (play.status, play.incident.outcome) == (Status.RESOLVED, Outcome.FIXED)


def test_a_failing_run_of_a_retired_job_is_never_rerun() -> None:
    play = Play(World(changes={"retired": True}))
    play.tell(failed(cause=SAFE))

    assert (play.status, play.incident.reason) == (Status.OPEN, "the job is retired")


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
    assert mentioned(unconfirmed[0]) == [ANA.id, ONCALL_MENTION.id]
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


@pytest.mark.scenario(46)
def test_a_pause_that_the_scheduler_refuses_is_recorded_but_not_in_force_and_the_chase_goes_on() -> None:
    play = opened()
    play.tell(PauseWanted(by=by(BEN, play.now), until=play.now + DAY))
    refused = play.answer(AnswerKind.REFUSED, Action.PAUSE, message="403: may not edit this DAG")

    assert play.status is Status.OPEN
    assert play.incident.decision is not None
    assert play.incident.decision.kind is DecisionKind.PAUSED
    assert play.incident.decision.refused == "403: may not edit this DAG"
    assert mentioned(refused) == [BEN.id, ONCALL_MENTION.id]
    assert mentioned(play.after(15 * MINUTE)[0]) == [ONCALL_MENTION.id]


@pytest.mark.scenario(47)
def test_where_the_scheduler_cannot_pause_it_only_silences_and_says_so() -> None:
    play = opened(World(changes={"can": ALL - {Capability.PAUSE}}))
    decision = play.tell(PauseWanted(by=by(at=play.now), until=play.now + DAY))

    assert play.status is Status.PAUSED
    assert effects(AskScheduler, [decision]) == []
    assert effects(Reply, [decision])[0].facts["state"] == "silences_only"
    assert "only silenced" in told(decision).reason


@pytest.mark.scenario(48)
def test_a_wrong_retirement_is_taken_back_and_both_stand_in_the_timeline() -> None:
    play = opened()
    play.tell(RetireWanted(by=by(at=play.now)))
    play.answer(AnswerKind.TAKEN, Action.RETIRE)
    decision = play.tell(UndoWanted(by=by(BEN, play.now)))
    kinds = [note.kind for _, decided in play.decisions for note in decided.notes]

    assert [ask.action for ask in effects(AskScheduler, [decision])] == [Action.RESUME]
    assert play.status is Status.VERIFYING
    assert kinds.index("in_force") < kinds.index("undone")


def test_a_resumption_that_the_scheduler_refuses_asks_and_can_be_tried_again() -> None:
    play = paused()
    play.after(3 * DAY)
    refused = play.answer(AnswerKind.REFUSED, Action.RESUME, message="500")
    again = play.tell(UndoWanted(by=by(at=play.now)))

    assert ANA.id in mentioned(refused)
    assert refused.incident is not None
    assert refused.incident.status is Status.OPEN
    assert [ask.action for ask in effects(AskScheduler, [again])] == [Action.RESUME]
    assert len({ask.key for ask in play.all(AskScheduler)}) == 3


def test_a_pause_confirmed_after_a_good_run_still_ends_by_itself() -> None:
    play = opened()
    play.tell(PauseWanted(by=by(at=play.now), until=play.now + DAY))
    play.tell(succeeded(rerun_of(), at=play.now))
    play.answer(AnswerKind.TAKEN, Action.PAUSE)

    assert play.status is Status.PAUSED

    ended = play.after(DAY)

    assert [ask.action for ask in effects(AskScheduler, ended)] == [Action.RESUME]


def test_a_pause_whose_job_has_other_trouble_by_then_is_resumed_all_the_same() -> None:
    play = paused()
    ended = play.after(3 * DAY, unresolved=7)

    assert [ask.action for ask in effects(AskScheduler, ended)] == [Action.RESUME]
    assert play.status is Status.RESOLVED


@pytest.mark.parametrize(("good", "status"), [(True, Status.RESOLVED), (False, Status.OPEN)])
def test_what_was_left_is_settled_at_its_end_if_it_was_good_since_else_asked_again(
    *, good: bool, status: Status
) -> None:
    play = opened()
    play.tell(LeaveWanted(by=by(at=play.now), until=play.now + DAY))
    play.after(DAY, last_good_at=play.now + HOUR if good else None)

    assert play.status is status


def test_reopen_brings_back_what_was_called_not_needed() -> None:
    play = opened()
    play.now = TUESDAY + 20 * MINUTE
    play.tell(failed(run(TUESDAY), UNSAFE))
    play.tell(NotNeeded(by=by(at=play.now)))
    play.tell(UndoWanted(by=by(at=play.now)))

    assert play.status is Status.OPEN
    assert [owed.nominal_time for owed in play.incident.owed] == [MONDAY, TUESDAY]


def test_nothing_settled_is_reopened_beside_an_unresolved_occurrence() -> None:
    play = opened()
    play.tell(NotNeeded(by=by(at=play.now)))
    decision = play.tell(UndoWanted(by=by(at=play.now)), unresolved=9)

    assert (play.status, told(decision).facts["record"]) == (Status.RESOLVED, 9)


@pytest.mark.parametrize(("who", "kind"), [(STRANGER, ToldKind.NOT_YOURS), (BOT, ToldKind.NOT_YOURS)])
def test_only_those_who_may_decide_decide(who: type, kind: ToldKind) -> None:
    play = opened()
    decision = play.tell(RetireWanted(by=by(who, play.now)))

    assert told(decision).kind is kind
    assert decision.effects == ()


@pytest.mark.parametrize("who", [ANA, ONCALL, ADMIN])
def test_members_the_oncall_and_admins_decide(who: type) -> None:
    play = opened()

    assert told(play.tell(RetireWanted(by=by(who, play.now)))).kind is ToldKind.DONE


def test_a_stale_directory_fails_closed_for_deciding_and_open_for_asking() -> None:
    play = opened()
    old = directory(play.now, read_at=play.now - HOUR)
    refused = play.tell(RetireWanted(by=by(at=play.now)), directory=old)
    written_down = play.tell(RetireWanted(by=by(at=play.now)), directory=replace(old, literal=frozenset({ANA.id})))

    assert told(refused).kind is ToldKind.UNSURE
    assert told(written_down).kind is ToldKind.DONE
    assert mentioned(Play().tell(failed(cause=UNSAFE), directory=old)) == [ONCALL_MENTION.id]


def test_only_a_member_marks_a_cause_safe_and_unknown_never_is() -> None:
    play = opened()
    said = [
        told(play.tell(CauseMarked(by=by(who, play.now), cause=cause))).kind
        for who, cause in ((ANA, UNSAFE), (ONCALL, UNSAFE), (ANA, UNKNOWN), (ANA, "late.not_started"))
    ]

    assert said == [ToldKind.DONE, ToldKind.NOT_YOURS, ToldKind.CANNOT, ToldKind.CANNOT]


def test_waiting_for_a_late_run_is_an_acknowledgement_that_ends_when_said() -> None:
    play = Play(now=MONDAY + 15 * MINUTE)
    play.tell(late())
    play.tell(WaitWanted(by=by(at=play.now), until=play.now + HOUR))

    assert play.after(59 * MINUTE) == []
    assert mentioned(play.after(MINUTE)[0]) == [ANA.id]


@pytest.mark.parametrize("mode", [Mode.OBSERVE, Mode.ASK])
def test_only_in_mode_act_something_is_rerun_and_observing_pings_nobody(mode: Mode) -> None:
    play = Play(World(policy=replace(POLICY, mode=mode)))
    play.tell(failed())
    play.after(2 * DAY)

    assert play.all(AskScheduler) == []
    assert "it would be rerun in mode act" in play.incident.reason
    assert bool(play.mentions) == (mode is Mode.ASK)


@pytest.mark.scenario(27)
def test_an_owner_record_that_leads_to_nobody_falls_to_the_fallback_and_says_so() -> None:
    world = World(policy=replace(POLICY, team=replace(TEAM, members=(), usergroup=None)))
    play = Play(world)
    nobody = directory(
        play.now, owners=frozenset(), oncall=frozenset(), oncall_mentions=(), team_mentions=(), emails=()
    )
    decision = play.tell(failed(cause=UNSAFE), directory=nobody)
    ask = next(reply for reply in effects(Reply, [decision]) if reply.kind is ReplyKind.ASK)

    assert ask.facts["broken_owner"]
    assert [destination.address for destination in ask.elsewhere] == ["C0JOBS", "data-oncall@example.com"]


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
