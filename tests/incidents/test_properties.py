"""What holds after any sequence of events: the rules above `decide`, held against random plays."""

from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.incidents.decide import EDGES, decide, still_wanted
from bot.incidents.effects import AskScheduler, Reply, ReplyKind, Reserve
from bot.incidents.events import (
    Event,
    FixDeclared,
    HandBackWanted,
    LeaveWanted,
    NotNeeded,
    PauseWanted,
    RetireWanted,
    RunStarted,
    RunSucceeded,
    TimerDue,
    UndoWanted,
)
from bot.incidents.keys import Action
from bot.incidents.model import Incident, RerunPhase, Status, TimerKind, timers_of
from bot.incidents.people import Person, Standing
from bot.incidents.policy import Door, Mode
from bot.incidents.situation import Decision, Situation
from bot.incidents.strategy import RunStrategy
from tests.incidents.histories import History
from tests.incidents.worlds import TEAM, UNKNOWN, UNSAFE, effects

FAR = timedelta(days=92)
FACTS = {
    ReplyKind.EVIDENCE: {"evidence", "downstream"},
    ReplyKind.ASK: {"ask", "status", "owed", "next_run_at", "rerun_phase", "reason", "broken_owner"},
    ReplyKind.HOLDER_NOTE: {"until", "next_run_at", "owed"},
    ReplyKind.APPROVAL: {"number", "reason", "estimate", "left", "expires_at", "owed", "asked_by"},
    ReplyKind.JOINED: {"cause", "title", "message", "evidence", "count", "while_verifying", "different"},
    ReplyKind.OWED_REMAINS: {"ran", "owed"},
    ReplyKind.RERUN: {"state", "automatic", "nominal_times", "by", "at", "cause", "message", "reason"},
    ReplyKind.ACKNOWLEDGED: {"by", "until"},
    ReplyKind.RELEASED: {"by"},
    ReplyKind.WATCHING: {"by"},
    ReplyKind.DECISION: {"decision", "by", "state"},
    ReplyKind.FIXED: {"by", "what", "cause", "link", "verify_by", "owed", "not_needed"},
    ReplyKind.NOT_NEEDED: {"by", "nominal_times", "reason"},
    ReplyKind.UNCONFIRMED: {"verify_by", "fix"},
    ReplyKind.RESUMED: {"by"},
    ReplyKind.RESOLVED: {"outcome", "run", "nominal_time", "delay", "by", "fix", "downstream"},
    ReplyKind.RETURNED: {"times", "last_outcome", "last_fix", "last_decision", "held"},
    ReplyKind.RUN: {"what", "run", "nominal_time"},
    ReplyKind.CAUSE: {"by", "cause"},
    ReplyKind.HANDED: {"by", "to", "was", "note", "back", "asked"},
    ReplyKind.MOVED: {"left", "url", "code"},
    ReplyKind.CHANGED: {"reason"},
    ReplyKind.DOWNSTREAM: {"what", "job", "hung", "jobs", "delay"},
}
OWNERS_WORD = (NotNeeded, FixDeclared, UndoWanted, LeaveWanted, PauseWanted, RetireWanted)


def holds(before: Incident | None, event: Event, situation: Situation, decision: Decision, now: datetime) -> None:
    """What every single decision must obey."""
    after = decision.incident
    assert decision.notes, "every event leaves a row"
    if before is not None and after is not None:
        touched = after != before
        assert after.version == before.version + (1 if touched else 0)
        assert touched or not decision.effects
    _licensed(situation, before, decision)
    _comes_to_nothing(situation, decision)
    _alive(after, situation, now)
    _owed(before, after, event, situation)
    _outsiders(before, event, situation, decision, now)
    _settled(before, event, after)
    for reply in effects(Reply, [decision]):
        assert FACTS[reply.kind] <= set(reply.facts), reply.kind
    _mailed(before, situation, decision)
    if situation.policy.mode is Mode.OBSERVE:
        assert not [reply for reply in effects(Reply, [decision]) if reply.mention or reply.elsewhere]
        assert not [reserve for reserve in effects(Reserve, [decision]) if reserve.automatic]
        asked = [ask for ask in effects(AskScheduler, [decision]) if ask.by is None]
        assert {ask.action for ask in asked} <= {Action.RESUME}, "a pause that a person asked for may end"
    if after is not None and not after.status.unresolved:
        assert after.chase.next is None
        assert ReplyKind.ASK not in [reply.kind for reply in effects(Reply, [decision])]


def _licensed(situation: Situation, before: Incident | None, decision: Decision) -> None:
    automatic = [reserve for reserve in effects(Reserve, [decision]) if reserve.automatic]
    asked = [ask for ask in effects(AskScheduler, [decision]) if ask.by is None and ask.action is not Action.RESUME]
    for reserve in automatic:
        assert reserve.cause != UNKNOWN
        assert reserve.cause not in situation.suspended
        assert any(one.cause == reserve.cause and one.team == TEAM.name and not one.void for one in situation.marks)
        assert situation.allowance is not None
        assert situation.allowance.left is not None
        assert reserve.estimate is not None
        assert reserve.estimate.unit == situation.allowance.unit
        assert reserve.estimate.amount <= situation.allowance.left
    for reserve in automatic:
        _harms_no_other(situation, reserve.nominal_times)
    for ask in asked:
        _harms_no_other(situation, ask.nominal_times)
        assert ask.action is Action.RERUN
        assert before is not None
        owed = next(one for one in before.owed if one.nominal_time == ask.nominal_times[0])
        assert owed.failure.cause not in (UNKNOWN, UNSAFE)
        assert not owed.failure.ruled_out_by
        assert not owed.failure.also
        assert any(
            one.cause == owed.failure.cause and one.team == TEAM.name and not one.void for one in situation.marks
        )
        assert situation.policy.mode is Mode.ACT


def _harms_no_other(situation: Situation, times: tuple[datetime | None, ...]) -> None:
    """No automatic rerun stops another run of the job, or is given up for it."""
    others = situation.live - set(times)
    assert not others or situation.run_strategy not in (
        RunStrategy.LAST_ONLY,
        RunStrategy.SERIAL_LATEST_ONLY,
        RunStrategy.FIRST_ONLY,
    )


def _comes_to_nothing(situation: Situation, decision: Decision) -> None:
    """Nobody asks for a run that its scheduler would give up at once."""
    asked = {ask.action for ask in effects(AskScheduler, [decision])}
    if situation.run_strategy is RunStrategy.FIRST_ONLY and situation.live:
        assert not asked & {Action.RERUN, Action.START}


def _mailed(before: Incident | None, situation: Situation, decision: Decision) -> None:
    """A reply goes to an address at most once, and to none at which a mail about it could not be delivered."""
    for reply in effects(Reply, [decision]):
        mails = [one.address.lower() for one in reply.elsewhere if one.door is Door.EMAIL]
        assert len(mails) == len(set(mails))
        assert not mails or Door.EMAIL in situation.doors
        assert before is None or not set(mails) & set(before.unreached)


def _alive(after: Incident | None, situation: Situation, now: datetime) -> None:
    if after is None:
        return
    timers = timers_of(after)
    if after.status.unresolved:
        assert timers, "an unresolved occurrence that nothing wakes"
    if after.status in (Status.PAUSED, Status.LEFT):
        assert timers
    horizon = max(now, situation.next_run_at or now) + FAR
    assert all(timer.due_at <= horizon or timer.kind is TimerKind.UNTIL for timer in timers), timers
    assert (after.status is Status.AWAITING_APPROVAL) == (after.proposal is not None)
    if after.status is Status.RERUNNING:
        assert after.rerun is not None
        assert after.rerun.phase is not RerunPhase.LOST
        assert TimerKind.RERUN in [timer.kind for timer in timers]


def _owed(before: Incident | None, after: Incident | None, event: Event, situation: Situation) -> None:
    if before is None or after is None:
        return
    gone = {one.nominal_time for one in before.owed} - {one.nominal_time for one in after.owed}
    if not gone or isinstance(event, (RunSucceeded, *OWNERS_WORD)):
        return
    over = isinstance(event, TimerDue) and event.timer.kind is TimerKind.UNTIL
    assert over, f"{gone} vanished by {type(event).__name__}"


def _settled(before: Incident | None, event: Event, after: Incident | None) -> None:
    """What is settled opens again only by a word, at its end, or when its schedule was resumed by hand."""
    if before is None or after is None or before.status.unresolved or not after.status.unresolved:
        return
    over = isinstance(event, TimerDue) and event.timer.kind is TimerKind.UNTIL
    resumed = before.status is Status.PAUSED and isinstance(event, RunStarted | RunSucceeded)
    assert over or resumed or isinstance(event, UndoWanted)


def _outsiders(before: Incident | None, event: Event, situation: Situation, decision: Decision, now: datetime) -> None:
    who: Person | None = getattr(getattr(event, "by", None), "person", None)
    if (
        before is None
        or who is None
        or situation.directory.standing(who, now) not in (Standing.OUTSIDER, Standing.NOBODY)
    ):
        return
    after = decision.incident
    assert after is not None
    assert after.owed == before.owed
    assert after.rerun == before.rerun
    assert after.decision == before.decision
    asked = [effect for effect in decision.effects if not isinstance(effect, Reply)]
    assert not asked
    if isinstance(event, HandBackWanted) and before.handed and before.handed[-1].by.person == who:
        assert after.handed in (before.handed, before.handed[:-1])
        return
    assert after.handed == before.handed
    if after.proposal == before.proposal:
        unlike = replace(after, watchers=before.watchers, version=before.version, chase=before.chase)
        assert replace(unlike, acknowledgement=before.acknowledgement) == before


@settings(max_examples=400, deadline=None)
@given(seed=st.integers(0, 2**48), length=st.integers(1, 45))
def test_the_rules_hold_in_any_history(seed: int, length: int) -> None:
    history = History(seed)
    for _ in range(length):
        before, event, situation, decision = history.step()

        assert decide(before, event, situation, history.now) == decision, "the same input gives the same output"
        holds(before, event, situation, decision, history.now)


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**48), length=st.integers(1, 25))
def test_timers_alone_never_fire_without_rest(seed: int, length: int) -> None:
    history = History(seed)
    for _ in range(length):
        history.step()
    for _ in range(40):
        incident = history.incident
        if incident is None or not timers_of(incident):
            return
        timer = min(timers_of(incident), key=lambda one: one.due_at)
        history.now = max(history.now, timer.due_at)
        history.incident = decide(
            incident, TimerDue(timer=timer), history.world.situation(history.now), history.now
        ).incident

        assert history.incident is not None
        assert timer not in timers_of(history.incident), "a timer that stays due after it fired"


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**48))
def test_only_the_live_rerun_is_still_wanted(seed: int) -> None:
    history = History(seed)
    for _ in range(30):
        history.step()
        rerun = history.incident.rerun if history.incident else None
        for key, action in history.actions.items():
            if action in (Action.RERUN, Action.START) and still_wanted(history.incident, key, action, history.now):
                assert rerun is not None
                assert rerun.key == key
                assert rerun.phase is RerunPhase.REQUESTED


def test_random_histories_go_everywhere() -> None:
    """The rules above are worth what the histories visit: every status, and most edges of the table."""
    seen, taken = Counter[Status](), set()
    for seed in range(400):
        history = History(seed)
        for _ in range(40):
            before, _, _, decision = history.step()
            if decision.incident is not None:
                seen[decision.incident.status] += 1
                taken.add((before.status if before else None, decision.incident.status))

    allowed = {(before, after) for before, reached in EDGES.items() for after in reached}
    assert set(seen) == set(Status)
    assert min(seen.values()) > 100
    assert len(taken & allowed) > 0.8 * len(allowed)
