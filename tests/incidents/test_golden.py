"""The whole (status x event) table against a golden file: its diff is the review of a change in behaviour.

`UPDATE_GOLDEN=1` rewrites it.
"""

import os
from datetime import datetime
from pathlib import Path

from bot.incidents.downstream_events import DownstreamEvent
from bot.incidents.effects import AskScheduler, Effect, LookFor, MarkCause, Release, Reply, Reserve, Settle
from bot.incidents.events import (
    AnswerKind,
    DeliveryBuried,
    DeliveryLate,
    PersonEvent,
    RunEvent,
    SchedulerAnswered,
    ThreadMoved,
    TimerDue,
)
from bot.incidents.keys import Action
from bot.incidents.model import Status, TimerKind, timers_of
from bot.incidents.policy import Door
from bot.incidents.situation import Decision
from tests.incidents.cells import events_of
from tests.incidents.states import STATES

GOLDEN = Path(__file__).parent / "golden" / "decisions.txt"


def test_the_whole_table_is_as_it_was() -> None:
    printed = "\n".join(line for name in STATES for line in section(name)) + "\n"
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text(printed, encoding="utf-8")

    assert printed == GOLDEN.read_text(encoding="utf-8")


def test_every_status_and_every_event_is_in_the_table() -> None:
    plays = [make() for make in STATES.values()]
    events = [event for play in plays for _, event in events_of(play)]

    assert {play.current.status for play in plays if play.current} == set(Status)
    assert {type(event) for event in events} == {
        *RunEvent.__args__,
        *PersonEvent.__args__,
        TimerDue,
        SchedulerAnswered,
        DeliveryBuried,
        DeliveryLate,
        ThreadMoved,
        *DownstreamEvent.__args__,
    }
    assert {event.timer.kind for event in events if isinstance(event, TimerDue)} == set(TimerKind)
    answers = {(event.action, event.answer) for event in events if isinstance(event, SchedulerAnswered)}
    assert answers == {(action, answer) for action in Action for answer in AnswerKind}


def section(name: str) -> list[str]:
    """One occurrence: for each outcome the events that lead to it."""
    cells: dict[str, list[str]] = {}
    for event, _ in events_of(STATES[name]()):
        play = STATES[name]()
        before = play.current
        decision = play.tell(dict(events_of(play))[event])
        same = before is not None and decision.incident is before
        cells.setdefault(("unchanged" if same else "") + _cell(decision, play.now, same=same), []).append(event)
    lines = [f"== {name} =="]
    for cell, events in cells.items():
        lines += [*events, *(f"    {line}" for line in cell.split("\n"))]
    return [*lines, ""]


def _cell(decision: Decision, now: datetime, *, same: bool) -> str:
    incident = decision.incident
    parts = [str(incident.status) if incident else "(none)"]
    if same:
        parts = []
    elif incident is not None:
        parts += [f"{timer.kind}+{_span(timer.due_at, now)}" for timer in timers_of(incident)]
        if incident.acknowledgement:
            parts.append(f"held by {incident.acknowledgement.by.person}")
    shown = [", ".join(parts), ", ".join(_effect(effect) for effect in decision.effects) or "-"]
    shown.append(f"told {decision.told.kind}" if decision.told else "-")
    return " | ".join(shown) + "\n" + "; ".join(f"{note.kind}: {note.reason}" for note in decision.notes)


def _span(due_at: datetime, now: datetime) -> str:
    minutes = round((due_at - now).total_seconds() / 60)
    return f"{minutes // 60}h{minutes % 60:02}"


def _effect(effect: Effect) -> str:
    match effect:
        case Reply():
            said = effect.facts.get("state") or effect.facts.get("ask") or effect.facts.get("what")
            whom = ", ".join(mention.name for mention in effect.mention)
            mail = ", ".join(one.address for one in effect.elsewhere if one.door is Door.EMAIL)
            said = f"{effect.kind}{f' {said}' if said else ''}{f' @{whom}' if whom else ''}"
            return f"{said}{f' by mail to {mail}' if mail else ''}"
        case AskScheduler() | LookFor():
            return f"{type(effect).__name__} {effect.action}"
        case Settle():
            return f"Settle {effect.result}"
        case Reserve():
            return f"Reserve {'automatic' if effect.automatic else 'approved'}"
        case MarkCause():
            return f"MarkCause {'safe' if effect.safe else 'revoked'}"
        case Release():
            return "Release"
        case _:
            return type(effect).__name__
