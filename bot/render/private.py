"""The private answer to a person who pressed, wrote or asked something. It must not show what only the team may see."""

from typing import Any

from bot.incidents.effects import Told, ToldKind
from bot.render import buttons, offers
from bot.render.actions import ActionId
from bot.render.bounds import bounded
from bot.render.rendered import Rendered
from bot.render.segments import Segment, words
from bot.render.snapshot import Snapshot
from bot.render.templates import draft, phrase

_STATES = {
    "open": "open",
    "rerunning": "being rerun",
    "awaiting_approval": "waiting for approval",
    "verifying": "waiting for a good run to confirm the fix",
    "resolved": "resolved",
    "paused": "paused",
    "retired": "retired",
    "left": "left as it is",
}


def told(answer: Told, snapshot: Snapshot | None) -> Rendered:
    """What the person is told, seen by nobody else; `snapshot` is the occurrence as it stands now, where there is one."""
    drafted = draft("told", _values(answer, snapshot), zone=snapshot.zone if snapshot else "UTC")
    row: tuple[dict[str, Any], ...] = ()
    if snapshot is not None and answer.kind is ToldKind.CONFIRM_UNKNOWN:
        offered = (*offers.shown(snapshot), *offers.under_more(snapshot))
        again = [action for action in (ActionId.APPROVE, ActionId.RERUN) if action in offered]
        row = buttons.row(snapshot, again, name="told")
    return bounded(Rendered(text=drafted.text, blocks=(*drafted.blocks, *row)))


def told_line(answer: Told, snapshot: Snapshot | None) -> tuple[Segment, ...]:
    """The same in one line, for the error under a field of a modal or for a mail."""
    return phrase("told_line", _values(answer, snapshot), zone=snapshot.zone if snapshot else "UTC")


def _values(answer: Told, snapshot: Snapshot | None) -> dict[str, Any]:
    facts = dict.fromkeys(("can", "status", "run", "by", "until", "estimate", "noted", "record")) | dict(answer.facts)
    status = facts["status"] or (snapshot.incident.status if snapshot else None)
    return {
        "t": answer,
        "f": facts,
        "who": facts["can"] or (snapshot.owners if snapshot else ()),
        "team": words(snapshot.team, 60) if snapshot else "",
        "run": facts["run"] or (snapshot.incident.closed_by_run if snapshot else None),
        "state": words(_STATES.get(str(status), "settled"), 60) if status else None,
        "settled": status in ("resolved", "paused", "retired", "left"),
    }
