"""The cells of the (status x event) table: an occurrence of every status and variant, and an event of every kind.

Each occurrence is played, not built by hand, so that no cell shows a state that cannot be.
"""

from collections.abc import Callable, Iterator
from datetime import timedelta

from bot.incidents.events import (
    Acknowledged,
    AnswerKind,
    Approved,
    CauseCorrected,
    CauseMarked,
    Declined,
    DeliveryBuried,
    Event,
    FixDeclared,
    LeaveWanted,
    NotFixed,
    NotNeeded,
    OwedChoice,
    PauseWanted,
    Released,
    RerunWanted,
    RetireWanted,
    RunCancelled,
    RunSkipped,
    ScheduleChanged,
    SchedulerAnswered,
    StartWanted,
    StopRerunWanted,
    TimerDue,
    UndoWanted,
    WaitWanted,
)
from bot.incidents.keys import Action, Capability, Cost, Trigger
from bot.incidents.model import AtEnd, Timer, TimerKind, timers_of
from bot.incidents.reruns import stop_key
from tests.incidents.worlds import (
    ALL,
    ANA,
    BEN,
    DAY,
    HOUR,
    MINUTE,
    MONDAY,
    ONCALL,
    SAFE,
    STRANGER,
    TUESDAY,
    UNKNOWN,
    UNSAFE,
    Play,
    World,
    by,
    failed,
    late,
    rerun_of,
    run,
    started,
    succeeded,
)

POOR = {"estimate": Cost(amount=30.0)}


def opened(cause: str = UNSAFE) -> Play:
    play = Play()
    play.tell(failed(cause=cause))
    play.now += 5 * MINUTE
    return play


def nothing() -> Play:
    return Play()


def retired_before() -> Play:
    return Play(World(changes={"retired": True}))


def open_acknowledged() -> Play:
    play = opened()
    play.tell(Acknowledged(by=by(BEN, play.now)))
    return play


def open_late() -> Play:
    play = Play(now=MONDAY + 15 * MINUTE)
    play.tell(late())
    return play


def open_lost() -> Play:
    play = rerunning_requested()
    play.answer(AnswerKind.CANNOT_TELL)
    return play


def open_by_hand() -> Play:
    play = awaiting()
    play.tell(started(run(trigger=Trigger.RERUN, generation=1), at=play.now, by="Olga"))
    return play


def open_pausing() -> Play:
    play = opened()
    play.tell(PauseWanted(by=by(at=play.now), until=play.now + 3 * DAY))
    return play


def open_pause_over() -> Play:
    play = opened()
    play.tell(PauseWanted(by=by(at=play.now), until=play.now + DAY, at_end=AtEnd.ASK))
    play.answer(AnswerKind.TAKEN, Action.PAUSE)
    play.after(DAY)
    return play


def rerunning_backing_off() -> Play:
    play = Play()
    play.tell(failed(cause=SAFE))
    play.now += MINUTE
    return play


def rerunning_requested() -> Play:
    play = rerunning_backing_off()
    play.after(4 * MINUTE)
    return play


def rerunning_by_start() -> Play:
    play = open_late()
    play.tell(StartWanted(by=by(at=play.now)))
    return play


def rerunning_looked_up() -> Play:
    play = rerunning_requested()
    play.after(30 * MINUTE)
    return play


def rerunning() -> Play:
    play = rerunning_requested()
    play.tell(started(rerun_of(), at=play.now, rerun_key=play.incident.rerun and play.incident.rerun.key))
    return play


def rerunning_for_owner() -> Play:
    play = opened()
    play.tell(RerunWanted(by=by(at=play.now)))
    play.tell(started(rerun_of(), at=play.now, rerun_key=play.incident.rerun and play.incident.rerun.key))
    return play


def awaiting() -> Play:
    play = Play(World(changes=POOR))
    play.tell(failed(cause=SAFE))
    play.now += 5 * MINUTE
    return play


def verifying() -> Play:
    play = opened()
    play.tell(FixDeclared(by=by(at=play.now), what="put the column back", choices=((MONDAY, OwedChoice.NEXT_RUN),)))
    return play


def unconfirmed() -> Play:
    play = verifying()
    play.until(TUESDAY + HOUR)
    return play


def resumed() -> Play:
    play = paused()
    play.until(play.now + 3 * DAY)
    return play


def recovered() -> Play:
    play = rerunning()
    play.now += 20 * MINUTE
    play.tell(succeeded(rerun_of(), at=play.now, rerun_key=play.incident.rerun and play.incident.rerun.key))
    return play


def fixed() -> Play:
    play = verifying()
    play.now = TUESDAY + 30 * MINUTE
    play.tell(succeeded(run(TUESDAY), at=play.now))
    return play


def resolved_while_rerunning() -> Play:
    play = rerunning()
    play.tell(succeeded(run(run_id="manual__1", trigger=Trigger.MANUAL), at=play.now, by="Olga"))
    return play


def resolved_while_pausing() -> Play:
    play = open_pausing()
    play.tell(succeeded(run(run_id="manual__1", trigger=Trigger.MANUAL), at=play.now, by="Olga"))
    return play


def open_retiring() -> Play:
    play = opened()
    play.tell(RetireWanted(by=by(at=play.now)))
    return play


def paused() -> Play:
    play = open_pausing()
    play.answer(AnswerKind.TAKEN, Action.PAUSE)
    return play


def silenced() -> Play:
    play = opened()
    play.world.changes["can"] = ALL - {Capability.PAUSE, Capability.RESUME, Capability.RETIRE}
    play.tell(PauseWanted(by=by(at=play.now), until=play.now + 3 * DAY))
    return play


def retired() -> Play:
    play = opened()
    play.tell(RetireWanted(by=by(at=play.now), reason="replaced by the stream"))
    play.answer(AnswerKind.TAKEN, Action.RETIRE)
    return play


def left() -> Play:
    play = opened()
    play.tell(LeaveWanted(by=by(at=play.now), until=play.now + 7 * DAY, reason="harmless"))
    return play


STATES: dict[str, Callable[[], Play]] = {
    "(none)": nothing,
    "(none), the job was retired": retired_before,
    "open": opened,
    "open, cause unknown": lambda: opened(UNKNOWN),
    "open, Ben is on it": open_acknowledged,
    "open, its run is late": open_late,
    "open, its rerun is lost": open_lost,
    "open, a run by hand took the proposal's place": open_by_hand,
    "open, a pause is recorded": open_pausing,
    "open, a retirement is recorded": open_retiring,
    "open, its pause is over and its schedule still held": open_pause_over,
    "rerunning, backing off": rerunning_backing_off,
    "rerunning, requested": rerunning_requested,
    "rerunning, looked up": rerunning_looked_up,
    "rerunning, running": rerunning,
    "rerunning for its owner": rerunning_for_owner,
    "rerunning, a start requested": rerunning_by_start,
    "awaiting approval": awaiting,
    "verifying": verifying,
    "verifying, unconfirmed": unconfirmed,
    "verifying, resumed": resumed,
    "resolved, recovered": recovered,
    "resolved, fixed": fixed,
    "resolved, our rerun still runs": resolved_while_rerunning,
    "resolved, a pause is recorded": resolved_while_pausing,
    "paused": paused,
    "paused, silences only": silenced,
    "retired": retired,
    "left": left,
}


def events_of(play: Play) -> Iterator[tuple[str, Event]]:
    """Every event that can meet this occurrence, named; what it refers to is the occurrence's own where there is one."""
    yield from _runs(play)
    if play.current is None:
        return
    yield from _words(play)
    for kind in TimerKind:
        live = next((timer for timer in timers_of(play.current) if timer.kind is kind), None)
        if live is not None:
            yield f"TimerDue {kind}", TimerDue(timer=live)
        yield f"TimerDue {kind}, stale", TimerDue(timer=Timer(kind=kind, due_at=MONDAY - HOUR))
    yield from _answers(play)
    buried = DeliveryBuried(destination="C0FINANCE", what="ask", code="channel_not_found", at=play.now)
    yield "DeliveryBuried", buried


def _runs(play: Play) -> Iterator[tuple[str, Event]]:
    now = play.now
    key = play.current.rerun.key if play.current and play.current.rerun else None
    again, hand = rerun_of(), run(run_id="manual__1", trigger=Trigger.MANUAL)
    yield "RunStarted, the next", started(run(TUESDAY), at=now)
    yield "RunStarted, what is owed, by hand", started(hand, at=now, by="Olga")
    yield "RunSucceeded, what is owed", succeeded(again, at=now)
    yield "RunSucceeded, the next", succeeded(run(TUESDAY), at=max(now, TUESDAY + HOUR))
    yield "RunFailed, what is owed, the same way", failed(again, UNSAFE, at=now)
    yield "RunFailed, the next, the same way", failed(run(TUESDAY), UNSAFE, at=now + timedelta(days=1))
    yield "RunFailed, the next, differently", failed(run(TUESDAY), UNKNOWN, at=now + timedelta(days=1))
    yield "RunFailed, the next, marked safe", failed(run(TUESDAY), SAFE, at=now + timedelta(days=1))
    yield "RunFailed, will retry", failed(run(TUESDAY), UNKNOWN, at=now, will_retry=True)
    yield "RunFailed, by hand, nothing owed", failed(run(None, trigger=Trigger.MANUAL), UNKNOWN, at=now)
    yield "RunCancelled, what is owed", RunCancelled(run=again, at=now, by="Olga")
    yield "RunSkipped, the next", RunSkipped(run=run(TUESDAY), at=now, reason="skipped by a branch")
    yield "RunLate, the next", late(TUESDAY)
    if key is not None:
        yield "RunStarted, our rerun", started(again, at=now, rerun_key=key)
        yield "RunSucceeded, our rerun", succeeded(again, at=now, rerun_key=key)
        yield "RunFailed, our rerun, the same way", failed(again, SAFE, at=now, rerun_key=key)
        yield "RunFailed, our rerun, differently", failed(again, UNKNOWN, at=now, rerun_key=key)
        yield "RunCancelled, our rerun", RunCancelled(run=again, at=now, rerun_key=key, by="Olga")
    yield "ScheduleChanged", ScheduleChanged(at=now)


def _words(play: Play) -> Iterator[tuple[str, Event]]:
    now = play.now
    number = play.current.proposals if play.current else 0
    ana, out, oncall = by(ANA, now), by(STRANGER, now), by(ONCALL, now)
    yield "Acknowledged", Acknowledged(by=ana)
    yield "Acknowledged, taken over", Acknowledged(by=ana, take_over=True)
    yield "Acknowledged by an outsider", Acknowledged(by=out)
    yield "Released", Released(by=ana)
    yield "RerunWanted", RerunWanted(by=ana)
    yield "RerunWanted, confirmed", RerunWanted(by=ana, confirmed=True)
    yield "RerunWanted by an outsider", RerunWanted(by=out)
    yield "StopRerunWanted", StopRerunWanted(by=ana)
    yield "Approved", Approved(by=ana, proposal=number)
    yield "Approved, another proposal", Approved(by=ana, proposal=number + 1)
    yield "Approved by an outsider", Approved(by=out, proposal=number)
    yield "Declined", Declined(by=ana, proposal=number)
    yield "FixDeclared, rerun now", FixDeclared(by=ana, choices=((MONDAY, OwedChoice.RERUN_NOW),))
    yield "FixDeclared, the next run pays", FixDeclared(by=ana, choices=((MONDAY, OwedChoice.NEXT_RUN),))
    yield "FixDeclared, not needed", FixDeclared(by=ana, choices=((MONDAY, OwedChoice.NOT_NEEDED),))
    yield "NotFixed", NotFixed(by=ana)
    yield "NotNeeded", NotNeeded(by=ana)
    yield "PauseWanted", PauseWanted(by=ana, until=now + 2 * DAY)
    yield "PauseWanted, in the past", PauseWanted(by=ana, until=now)
    yield "RetireWanted", RetireWanted(by=ana)
    yield "LeaveWanted", LeaveWanted(by=ana, until=now + 7 * DAY)
    yield "LeaveWanted, for too long", LeaveWanted(by=ana, until=now + 91 * DAY)
    yield "WaitWanted", WaitWanted(by=ana, until=now + HOUR)
    yield "StartWanted", StartWanted(by=ana)
    yield "UndoWanted", UndoWanted(by=ana)
    yield "UndoWanted by an outsider", UndoWanted(by=out)
    yield "CauseCorrected", CauseCorrected(by=ana, cause="data.late_partner")
    yield "CauseMarked", CauseMarked(by=ana, cause=UNSAFE)
    yield "CauseMarked by the on-call", CauseMarked(by=oncall, cause=UNSAFE)
    yield "CauseMarked unknown", CauseMarked(by=ana, cause=UNKNOWN)


def _answers(play: Play) -> Iterator[tuple[str, Event]]:
    rerun = play.incident.rerun
    decision = play.incident.decision
    for action in Action:
        if action in (Action.RERUN, Action.START):
            key = rerun.key if rerun and rerun.action is action else None
        elif action is Action.STOP:
            key = stop_key(rerun) if rerun else None
        else:
            key = decision.key if decision and decision.key else None
        for answer in AnswerKind if key else [AnswerKind.TAKEN]:
            name = f"SchedulerAnswered {action}: {answer if key else 'to what nothing waits for'}"
            yield name, SchedulerAnswered(key=key or "unasked", action=action, answer=answer, at=play.now)
