"""The note that we leave on a DAG run: who decided what, and the key by which we know our own request again. Pure."""

import re
from dataclasses import dataclass

from bot.incidents.keys import Action
from bot.ports import SchedulerRequest

LONGEST_NOTE = 1000
LONGEST_BY, LONGEST_REASON = 100, 200
WORDS = {Action.RERUN: "rerun", Action.START: "started", Action.STOP: "stopped"}

_MARK = re.compile(r"\[ontrack ([a-z]+) by (.*?), key (.+)\]$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What a note says that we did."""

    action: str
    by: str
    key: str


def marks_in(note: str | None) -> tuple[Mark, ...]:
    """Every request of ours that a note tells of, the oldest first."""
    return tuple(Mark(action=one[1], by=one[2], key=one[3]) for one in _MARK.finditer(note or ""))


def holds(note: str | None, key: str) -> bool:
    return any(mark.key == key for mark in marks_in(note))


def note_of(request: SchedulerRequest, before: str | None) -> str:
    """What stood there, as much of it as there is room for, and a line of ours under it."""
    by = _line(request.requested_by)[:LONGEST_BY]
    reason = _line(request.reason)[:LONGEST_REASON]
    mark = f"[ontrack {WORDS[request.action]} by {by}, key {request.key}]"
    ours = f"{reason} {mark}" if reason and len(reason) + len(mark) < LONGEST_NOTE else mark
    room = LONGEST_NOTE - len(ours) - 1
    kept = _end_of(before or "", room)
    note = f"{kept}\n{ours}" if kept else ours
    return note.encode("utf-8", "replace").decode()


def _end_of(text: str, room: int) -> str:
    """The last whole lines that fit."""
    kept: list[str] = []
    for line in reversed(text.splitlines()):
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return "\n".join(reversed(kept))


def _line(text: str) -> str:
    return " ".join(text.replace("[", "(").replace("]", ")").split())
