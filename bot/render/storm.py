"""The messages of a storm: its root, which counts, and its pages of rows, each with the way to a thread of its own.

It must not look anything up; a row says what its occurrence is now.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from bot.incidents.model import Incident, RerunPhase, Status
from bot.incidents.storm import Held, aside
from bot.render.actions import ActionId, value_of
from bot.render.blocks import Block, button
from bot.render.rendered import Rendered
from bot.render.segments import Segment, Words, link, mrkdwn
from bot.render.templates import draft, phrase

MOST_ROW = 180
MOST_LISTED = 6
MINUTE = timedelta(minutes=1)
SIGNS = {
    Status.OPEN: "🔴",
    Status.RERUNNING: "🔁",
    Status.AWAITING_APPROVAL: "🟡",
    Status.VERIFYING: "🔵",
    Status.RESOLVED: "✅",
    Status.PAUSED: "⏸",
    Status.RETIRED: "⏹",
    Status.LEFT: "⚪",
}
SAID = {
    Status.OPEN: "waiting for their owner",
    Status.RERUNNING: "being rerun or held for a rerun",
    Status.AWAITING_APPROVAL: "waiting for a yes",
    Status.VERIFYING: "waiting for a good run",
    Status.RESOLVED: "settled",
    Status.PAUSED: "paused",
    Status.RETIRED: "retired",
    Status.LEFT: "left as they are",
}
ORDER = tuple(SAID)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """So many rows have this status, this cause and this team."""

    status: Status
    cause: str
    team: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StormRoot:
    """All that the root of a storm may show; `last_at` is when its newest row opened.

    `apart`: so many failed with the rows that have threads of their own; `since`: about when the first of all failed, None
    where that was not counted. `held`: who is on it for a team.
    """

    began_at: datetime
    last_at: datetime
    settled_at: datetime | None
    counts: tuple[Counted, ...]
    apart: int = 0
    since: datetime | None = None
    held: tuple[Held, ...] = ()

    def counted(self, what: str) -> tuple[tuple[str, int], ...]:
        """How many rows have each status, cause or team, the most first."""
        found: Counter[str] = Counter()
        for one in self.counts:
            found[getattr(one, what) or ""] += one.count
        return tuple(found.most_common())

    @property
    def rows(self) -> int:
        return sum(one.count for one in self.counts)

    @property
    def within(self) -> timedelta:
        """In how many whole minutes all of them failed."""
        took = self.last_at - min(self.since or self.began_at, self.began_at)
        return max(1, -(-took // MINUTE)) * MINUTE

    @property
    def unsettled(self) -> int:
        return sum(one.count for one in self.counts if one.status.unresolved)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One row: `url` is the address of its own thread, where it has one."""

    row: int
    incident: Incident
    team: str
    url: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StormPage:
    """A page of rows; `first` is the number of the first that may stand on it, `held` who is on it for a team."""

    first: int
    lines: tuple[Line, ...]
    held: tuple[Held, ...] = ()


def storm_root(storm: StormRoot) -> Rendered:
    """The root of the storm's thread."""
    statuses = dict(storm.counted("status"))
    values: dict[str, Any] = {
        "s": storm,
        "statuses": tuple((SIGNS[each], statuses[each], SAID[each]) for each in ORDER if each in statuses),
        "causes": storm.counted("cause"),
        "teams": storm.counted("team"),
        "most": MOST_LISTED,
        "held": storm.held if storm.unsettled else (),
    }
    drafted = draft("storm", values, zone="UTC")
    return Rendered(text=drafted.text, blocks=drafted.blocks)


def storm_page(page: StormPage) -> Rendered:
    """A page of the storm's rows."""
    drafted = draft("storm_page", {"page": page, "last": page.lines[-1].row}, zone="UTC")
    return Rendered(text=drafted.text, blocks=(*drafted.blocks, *(_row(line, page.held) for line in page.lines)))


def _row(line: Line, held: tuple[Held, ...]) -> Block:
    incident = line.incident
    values = {"line": line, "i": incident, "now": _now(incident), "on_it": _on_it(line, held)}
    said = phrase("storm_row", values, zone="UTC")
    segments: list[Segment] = [Words(text=f"{SIGNS[incident.status]} "), *said]
    if line.url:
        segments += [Words(text=" · "), link(line.url, "its thread")]
    text = {"type": "mrkdwn", "text": mrkdwn(segments, MOST_ROW * 2), "verbatim": True}
    row: Block = {"type": "section", "block_id": f"row:{incident.id}:{incident.version}", "text": text}
    if aside(incident.storm):
        row["accessory"] = button(ActionId.OPEN_THREAD, "Open thread", value=value_of(incident))
    return row


def _now(incident: Incident) -> str:
    held = incident.rerun is not None and incident.rerun.phase is RerunPhase.HELD
    match incident.status:
        case Status.RERUNNING if held:
            return "held until another has run well"
        case Status.RESOLVED:
            return str(incident.outcome or "settled").replace("_", " ")
        case _:
            return incident.status.replace("_", " ")


def _on_it(line: Line, held: tuple[Held, ...]) -> str:
    """Who has acknowledged the row itself, else who is on it for all rows of the team that answers it."""
    incident = line.incident
    if not incident.status.unresolved:
        return ""
    if incident.acknowledgement is not None:
        return str(incident.acknowledgement.by.person)
    team = incident.handed[-1].team if incident.handed else line.team
    by = next((one.by for one in held if one.team == team), None) if aside(incident.storm) else None
    return str(by.person) if by is not None else ""
