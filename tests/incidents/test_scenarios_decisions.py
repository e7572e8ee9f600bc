"""Scenarios about pause, retire and leave: recorded, in force, over, taken back; each told as its line tells it."""

import pytest

from bot.incidents.effects import AskScheduler, Reply, ReplyKind, ToldKind
from bot.incidents.events import (
    AnswerKind,
    FixDeclared,
    LeaveWanted,
    PauseWanted,
    RetireWanted,
    UndoWanted,
)
from bot.incidents.keys import Action, Capability
from bot.incidents.model import AtEnd, DecisionKind, Outcome, Status, timers_of
from tests.incidents.worlds import (
    ALL,
    ANA,
    BEN,
    DAY,
    HOUR,
    MINUTE,
    MONDAY,
    ONCALL_MENTION,
    SAFE,
    TUESDAY,
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
    started,
    succeeded,
    told,
)


def opened(world: World | None = None) -> Play:
    play = Play(world)
    play.tell(failed(cause=UNSAFE))
    return play


def paused(at_end: AtEnd = AtEnd.RESUME) -> Play:
    play = opened()
    play.tell(PauseWanted(by=by(at=play.now), until=play.now + 3 * DAY, at_end=at_end))
    play.answer(AnswerKind.TAKEN, Action.PAUSE)
    return play


@pytest.mark.scenario(37)
def test_paused_until_monday_saturdays_failure_is_noted_and_monday_resumes_by_itself() -> None:
    play = paused()
    noted = play.tell(failed(run(TUESDAY), UNSAFE, play.now + DAY))
    ended = play.after(3 * DAY)

    assert (noted.effects, noted.incident and noted.incident.noted) == ((), 1)
    assert [ask.action for ask in effects(AskScheduler, ended)] == [Action.RESUME]
    assert [decision.incident and decision.incident.status for decision in ended] == [Status.VERIFYING]

    next_run = MONDAY + 4 * DAY
    play.now = next_run + HOUR
    play.tell(succeeded(run(next_run), at=play.now))

    assert play.status is Status.RESOLVED


@pytest.mark.scenario(37)
def test_a_pause_that_shall_ask_asks_even_though_a_run_was_good_and_resume_is_at_hand() -> None:
    play = paused(AtEnd.ASK)
    ended = play.after(3 * DAY, last_good_at=play.now + HOUR)

    assert [decision.incident and decision.incident.status for decision in ended] == [Status.OPEN]
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


def test_a_refused_resumption_is_the_on_calls_too_even_though_somebody_asked_for_it() -> None:
    play = paused()
    play.tell(UndoWanted(by=by(BEN, play.now)))
    refused = play.answer(AnswerKind.REFUSED, Action.RESUME, message="500")

    assert play.status is Status.OPEN
    assert ONCALL_MENTION.id in mentioned(refused)


def test_what_cannot_be_resumed_is_asked_for_instead_of_being_forgotten() -> None:
    play = opened(World(changes={"can": ALL - {Capability.RESUME}}))
    play.tell(PauseWanted(by=by(at=play.now), until=play.now + DAY))
    play.answer(AnswerKind.TAKEN, Action.PAUSE)
    ended = play.after(DAY)

    assert play.status is Status.OPEN
    assert effects(AskScheduler, ended) == []
    assert mentioned(ended[0]) == [ONCALL_MENTION.id]


def test_another_word_waits_until_the_scheduler_has_answered_the_first() -> None:
    play = opened()
    play.tell(PauseWanted(by=by(at=play.now), until=play.now + DAY))
    second = play.tell(RetireWanted(by=by(BEN, play.now)))
    later = play.tell(PauseWanted(by=by(at=play.now), until=play.now + 2 * DAY))

    assert told(second).kind is ToldKind.OTHER_STATE
    assert told(later).kind is ToldKind.DONE
    assert [ask.action for ask in play.all(AskScheduler)] == [Action.PAUSE]

    play.answer(AnswerKind.TAKEN, Action.PAUSE)

    assert play.incident.decision is not None
    assert play.incident.decision.until == play.now + 2 * DAY


def test_an_uncertain_answer_about_a_rerun_opens_nothing_that_was_settled() -> None:
    play = Play()
    play.tell(failed())
    play.after(5 * MINUTE)
    play.tell(LeaveWanted(by=by(at=play.now), until=play.now + DAY))
    play.answer(AnswerKind.CANNOT_TELL)

    assert play.status is Status.LEFT
    assert play.mentions == []
