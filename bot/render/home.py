"""The Home tab of one person: what waits for them first, then what their teams have open, marked and put aside.

A view of one moment, within Slack's limits however much there is. It must not choose who may see what.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from bot.render import buttons, offers
from bot.render.actions import ActionId
from bot.render.blocks import Block, actions, button, dialog
from bot.render.lines import Confirm, EndingLine, MarkLine, OwnerFault
from bot.render.root import values_of
from bot.render.snapshot import Snapshot
from bot.render.templates import draft

MOST_MINE = 10
MOST_OPEN = 12
MOST_MARKS = 8
MOST_LINES = 10
MOST_HEALTH = 20
MOST_MARK_VALUE = 2000
_DIVIDER: Block = {"type": "divider"}


class Seen(StrEnum):
    """What the person is to the company's jobs: `nobody` and `unsure` see no record of any."""

    TEAM = "team"
    NOBODY = "nobody"
    UNSURE = "unsure"


class Waits(StrEnum):
    """Why a record waits for the person."""

    APPROVAL = "approval"
    ASKED = "asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeRecord:
    """An unresolved record; `decides`: its buttons are for this person, `holds`: they are on it.

    `asked_at`: when they were asked by name or group.
    """

    snapshot: Snapshot
    decides: bool
    holds: bool = False
    waits: Waits | None = None
    asked_at: datetime | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamHealth:
    """A team's unresolved records by age; the ages do not overlap."""

    team: str
    open: int
    under_1h: int
    under_4h: int
    under_1d: int
    older: int
    unattended: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """What one person's Home tab says at `at`; the counts say how much there is where only the first are shown.

    `mine` waits for the person, `held` they are on already.
    `decides`: the teams whose marks the person may change. `sees_health`: they manage, or are an admin.
    """

    seen: Seen
    at: datetime
    zone: str = "UTC"
    teams: tuple[str, ...] = ()
    mine: tuple[HomeRecord, ...] = ()
    mine_count: int = 0
    held: tuple[HomeRecord, ...] = ()
    held_count: int = 0
    open: tuple[HomeRecord, ...] = ()
    open_count: int = 0
    marks: tuple[MarkLine, ...] = ()
    ending: tuple[EndingLine, ...] = ()
    faults: tuple[OwnerFault, ...] = ()
    health: tuple[TeamHealth, ...] = ()
    decides: frozenset[str] = frozenset()
    sees_health: bool = False


def home(page: Home) -> dict[str, Any]:
    """The view for `views.publish`."""
    return {"type": "home", "blocks": _blocks(page)}


def mark_value(team: str, cause: str) -> str:
    """What a button about a team's marks on a cause carries."""
    return f"{team}/{cause}"


def read_mark_value(value: str) -> tuple[str, str]:
    """Team and cause of such a button; raises ValueError for anything else."""
    team, slash, cause = value.partition("/")
    if not team or not slash or not cause:
        raise ValueError("not the value of a mark's button")
    return team, cause


def _blocks(page: Home) -> list[Block]:
    if page.seen is not Seen.TEAM:
        return _drafted("home_stranger", page)
    sections = (
        _drafted("home_head", page),
        _records(page, "mine", page.mine[:MOST_MINE], count=page.mine_count),
        _records(page, "held", page.held[:MOST_MINE], count=page.held_count),
        _records(page, "open", page.open[:MOST_OPEN], count=page.open_count),
        _listed(page, "home_ending", page.ending, most=MOST_LINES),
        _marks(page),
        _listed(page, "home_faults", page.faults, most=MOST_LINES),
        _listed(page, "home_health", page.health, most=MOST_HEALTH) if page.sees_health else [],
    )
    return [block for section in sections if section for block in (_DIVIDER, *section)][1:]


def _records(page: Home, name: str, records: Sequence[HomeRecord], *, count: int) -> list[Block]:
    """Each record in a few lines, with the buttons of its thread where they are for this person."""
    if not count:
        return []
    blocks = _drafted(f"home_{name}", page)
    for number, record in enumerate(records):
        snapshot = record.snapshot
        values = {**values_of(snapshot), "p": snapshot.incident.proposal, "record": record, "many": len(page.teams) > 1}
        blocks += draft("home_record", values, zone=snapshot.zone).blocks
        if record.decides:
            blocks += buttons.row(snapshot, _offered(record), name=f"{name}{number}")
    return [*blocks, *_rest(page, count - len(records), where="/job-health")]


def _offered(record: HomeRecord) -> list[ActionId]:
    """The buttons of its thread, but for taking what is the person's already."""
    shown = offers.shown(record.snapshot)
    return [*(one for one in shown if not (record.holds and one is ActionId.ACK)), *_thread(record.snapshot)]


def _thread(snapshot: Snapshot) -> tuple[ActionId, ...]:
    """A row of a storm has no thread of its own until somebody wants it."""
    place = snapshot.incident.storm
    return (ActionId.OPEN_THREAD,) if place is not None and not place.opened else ()


def _listed(page: Home, template: str, lines: Sequence[Any], *, most: int) -> list[Block]:
    """A section of one list; nothing where there is nothing."""
    if not lines:
        return []
    return [*_drafted(template, page, lines=lines[:most]), *_rest(page, len(lines) - most)]


def _marks(page: Home) -> list[Block]:
    """The teams' safe marks; those made in the chat with the buttons to change them."""
    if not page.marks:
        return []
    blocks = _drafted("home_marks", page)
    for number, mark in enumerate(page.marks[:MOST_MARKS]):
        blocks += _drafted("home_mark", page, m=mark, many=len(page.teams) > 1)
        fits = len(mark_value(mark.team, mark.cause)) <= MOST_MARK_VALUE
        if fits and not mark.in_file and mark.team in page.decides:
            blocks.append(actions(f"marks:{number}", [*_mark_buttons(mark)]))
    return [*blocks, *_rest(page, len(page.marks) - MOST_MARKS)]


def _mark_buttons(mark: MarkLine) -> Iterable[Block]:
    value, jobs = mark_value(mark.team, mark.cause), "1 job" if mark.jobs == 1 else f"{mark.jobs} jobs"
    if mark.confirm in (Confirm.LEFT, Confirm.OLD):
        text = (
            f"You say that reruns under this cause stay safe for {jobs} of {mark.team}. It is recorded with your name."
        )
        ask = dialog(title="Confirm the safe mark?", text=text, yes="Confirm")
        yield button(ActionId.CONFIRM_MARKS, "Confirm", value=value, ask=ask)
    text = f"This cause is not rerun by itself any more for {jobs} of {mark.team}. What runs already goes on."
    yield button(
        ActionId.REVOKE_MARKS, "Revoke", value=value, ask=dialog(title="Revoke the safe mark?", text=text, yes="Revoke")
    )


def _rest(page: Home, more: int, *, where: str = "") -> list[Block]:
    """How many are not shown, and where they are."""
    return _drafted("home_rest", page, more=more, where=where) if more > 0 else []


def _drafted(template: str, page: Home, **values: Any) -> list[Block]:
    return [*draft(template, {"h": page, **values}, zone=page.zone).blocks]
