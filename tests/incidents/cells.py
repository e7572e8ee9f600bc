"""The cells of the (status x event) table: what may meet an occurrence, with everything that it refers to."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from bot.incidents.absence import Absence
from bot.incidents.downstream_events import DownstreamAlone, DownstreamHung, DownstreamRan
from bot.incidents.events import (
    Acknowledged,
    AnswerKind,
    Approved,
    CauseCorrected,
    CauseMarked,
    Declined,
    DeliveryBuried,
    DeliveryLate,
    Event,
    FixDeclared,
    HandBackWanted,
    HandOverWanted,
    LeaveWanted,
    NotFixed,
    NotNeeded,
    NotObserved,
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
    StillNeeded,
    StopRerunWanted,
    ThreadMoved,
    TimerDue,
    UndoWanted,
    WaitWanted,
)
from bot.incidents.keys import Action, Trigger
from bot.incidents.model import Timer, TimerKind, timers_of
from bot.incidents.policy import Door
from bot.incidents.reruns import stop_key
from bot.incidents.storm_events import StormTaken, ThreadWanted
from bot.incidents.unblocking import key_of
from bot.incidents.waits import Hung
from tests.incidents.worlds import (
    ANA,
    DAY,
    FINANCE_LIST,
    GIL,
    HOUR,
    MONDAY,
    ONCALL,
    PLATFORM,
    SAFE,
    STRANGER,
    TUESDAY,
    UNKNOWN,
    UNSAFE,
    Play,
    by,
    failed,
    late,
    rerun_of,
    run,
    started,
    succeeded,
)


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
    yield "DeliveryBuried, a mail", replace(buried, destination=FINANCE_LIST.address, door=Door.EMAIL, code="5.1.1")
    since = play.current.chase.asked_at or MONDAY
    late_ask = DeliveryLate(destination="C0FINANCE", what="ask", code="ratelimited", since=since, at=play.now)
    yield "DeliveryLate", late_ask
    yield "DeliveryLate, no ask", replace(late_ask, what="evidence")
    moved = ThreadMoved(left="C0FINANCE", to="C0JOBS", url=None, code="is_archived", at=play.now)
    yield "ThreadMoved", moved
    yield "DownstreamHung", DownstreamHung(job="shop/board", nominal_time=MONDAY, what=Hung.LATE, at=play.now)
    yield "DownstreamRan", DownstreamRan(job="shop/board", nominal_time=MONDAY, at=play.now)
    yield "DownstreamAlone", DownstreamAlone(job="shop/board", nominal_time=MONDAY, at=play.now)


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
    yield "NotObserved", NotObserved(absence=Absence(began_at=now - 6 * HOUR, ended_at=now), at=now)
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
    yield "StillNeeded", StillNeeded(by=ana)
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
    yield "ThreadWanted", ThreadWanted(by=out)
    yield "StormTaken", StormTaken(by=ana)
    yield "CauseMarked unknown", CauseMarked(by=ana, cause=UNKNOWN)
    yield "HandOverWanted", HandOverWanted(by=ana, team=PLATFORM.name)
    yield "HandOverWanted to a team that is not there", HandOverWanted(by=ana, team="nobody")
    yield "HandOverWanted by an outsider", HandOverWanted(by=out, team=PLATFORM.name)
    yield "HandBackWanted", HandBackWanted(by=ana)
    yield "HandBackWanted by the other team", HandBackWanted(by=by(GIL, now))
    yield "Acknowledged by the other team", Acknowledged(by=by(GIL, now))


def _answers(play: Play) -> Iterator[tuple[str, Event]]:
    rerun = play.incident.rerun
    decision = play.incident.decision
    for action in Action:
        if action in (Action.RERUN, Action.START):
            key = rerun.key if rerun and rerun.action is action else None
        elif action is Action.STOP:
            key = stop_key(rerun) if rerun else None
        elif action is Action.UNBLOCK:
            key = key_of(play.incident, play.incident.waived[0].failure.run) if play.incident.waived else None
        else:
            key = decision.key if decision and decision.key else None
        for answer in AnswerKind if key else [AnswerKind.TAKEN]:
            name = f"SchedulerAnswered {action}: {answer if key else 'to what nothing waits for'}"
            yield name, SchedulerAnswered(key=key or "unasked", action=action, answer=answer, at=play.now)
