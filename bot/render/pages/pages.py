"""One function a page: its values, and what of them is worked out for its template. It must not look anything up."""

from typing import Any
from urllib.parse import urlencode

from bot.incidents.model import UNRESOLVED, Status
from bot.mail import CommandWord
from bot.render.beside import beside
from bot.render.pages import wording
from bot.render.pages.history import drawn
from bot.render.pages.html import rendered
from bot.render.pages.model import (
    ConfirmPage,
    Deciding,
    Frame,
    JobPage,
    NoticePage,
    RecordPage,
    RecordsPage,
    Said,
    TeamPage,
    Wanted,
)
from bot.render.root import values_of
from bot.render.segments import literal
from bot.render.snapshot import Snapshot

MOST_CHANGES = 100
CHOICES: tuple[tuple[str, str], ...] = (
    ("unresolved", "Open, of any kind"),
    *((status.value, wording.STATES[status]) for status in Status if status in UNRESOLVED),
    *((status.value, wording.STATES[status]) for status in Status if status not in UNRESOLVED),
    ("all", "All"),
)
"""What the list can be asked for by state: the value and its label."""


def record_html(page: RecordPage, frame: Frame, *, deciding: Deciding | None = None, said: Said | None = None) -> str:
    """The page of one occurrence; `deciding` None: the reader may only read."""
    snapshot = page.snapshot
    found = snapshot.evidence
    ranked = None if found is None or found.changes is None else sorted(found.changes, key=lambda each: each.rank)
    why = found.cause.reason if found and snapshot.cause_known and snapshot.cause == found.cause.id else ""
    return rendered(
        "record",
        now=frame.now,
        frame=frame,
        page=page,
        deciding=deciding,
        said=said,
        order=tuple(_order(snapshot)),
        cause_why=why,
        changes=ranked if ranked is None else ranked[:MOST_CHANGES],
        more_changes=max(0, len(ranked or ()) - MOST_CHANGES),
        width=max((len(str(line.number)) for line in found.root.lines), default=1) if found else 1,
        closed_for=values_of(snapshot)["closed_for"],
        **_about(snapshot),
    )


def records_html(page: RecordsPage, frame: Frame) -> str:
    """The list."""
    return rendered("records", now=frame.now, frame=frame, page=page, choices=CHOICES, asked=_query(page.wanted))


def job_html(page: JobPage, frame: Frame) -> str:
    return rendered("job", now=frame.now, frame=frame, page=page, drawing=drawn(page.runs))


def team_html(page: TeamPage, frame: Frame) -> str:
    return rendered("team", now=frame.now, frame=frame, page=page)


def confirm_html(page: ConfirmPage, frame: Frame) -> str:
    """What a link would do, with the button that does it."""
    return rendered("confirm", now=frame.now, frame=frame, page=page, **_about(page.snapshot))


def notice_html(page: NoticePage, frame: Frame) -> str:
    return rendered("notice", now=frame.now, frame=frame, page=page)


def _about(snapshot: Snapshot) -> dict[str, Any]:
    values = values_of(snapshot)
    cause_title = literal([values["cause_title"]])
    return {"error": values["error"], "cause_title": cause_title, "beside": beside(snapshot)}


def _order(snapshot: Snapshot) -> tuple[CommandWord, ...]:
    """Decisions in the order in which they are likely: a yes or no that waits comes first."""
    waits = snapshot.incident.status is Status.AWAITING_APPROVAL
    asked = (CommandWord.APPROVE, CommandWord.DECLINE)
    rest = (CommandWord.ACK, *(word for word in CommandWord if word not in (*asked, CommandWord.ACK)))
    return (*asked, *rest) if waits else (*rest, *asked)


def _query(wanted: Wanted) -> str:
    """The filters as a query; those that are as they are by themselves are left out."""
    pairs = (("status", wanted.status), ("team", wanted.team), ("job", wanted.job), ("cause", wanted.cause))
    return urlencode([(name, value) for name, value in (*pairs, ("since", wanted.since)) if value], errors="replace")
