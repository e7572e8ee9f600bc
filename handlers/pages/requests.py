"""Reads what a browser sends: names in paths, queries and forms, each within its bounds; anything else is a clear 4xx."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from urllib.parse import parse_qsl

from bot.incidents.model import UNRESOLVED, Status
from bot.pages import RecordsAsked
from bot.render.pages import CHOICES, Wanted
from bot.store.page_reads import RecordPlace, RecordsWanted
from handlers.wire import Call, Refused

MOST_FIELDS = 40
MOST_QUERY = 4096
MOST_JOB, MOST_CAUSE = 300, 120
FORM = "application/x-www-form-urlencoded"
_OCCURRENCE = re.compile(r"([1-9][0-9]{0,14})(?:\.([1-9][0-9]{0,8}))?")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_PLACE = re.compile(r"([0-9T:.+-]{19,32}Z?)_([1-9][0-9]{0,14})\.([1-9][0-9]{0,8})")


def bad(field: str, message: str, fix: str = "go back and try again") -> Refused:
    return Refused(400, reason="malformed", field=field, message=f"{field}: {message}", fix=fix)


def nothing_here() -> Refused:
    return Refused(
        404,
        reason="unknown",
        field="path",
        message="there is no such record, job or team",
        fix="look at the address once more",
    )


def occurrence_of(name: str) -> tuple[int, int | None]:
    """Record and number of `12` or `12.3`. Raises `Refused`."""
    found = _OCCURRENCE.fullmatch(name)
    if found is None:
        raise nothing_here()
    return int(found[1]), int(found[2]) if found[2] else None


def query_of(call: Call) -> Mapping[str, str]:
    """The query's fields. Raises `Refused`."""
    if len(call.query) > MOST_QUERY:
        raise bad("query", "it is too long")
    return _fields(call.query, "query")


def form_of(call: Call) -> Mapping[str, str]:
    """The form's fields. Raises `Refused`."""
    kind = call.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != FORM:
        raise Refused(
            415,
            reason="content_type",
            field="Content-Type",
            message="only a form of ours is taken here",
            fix="open the page and decide there",
        )
    try:
        return _fields(call.body.decode("ascii"), "form")
    except UnicodeDecodeError:
        raise bad("form", "it is not encoded as a form") from None


def records_of(fields: Mapping[str, str], teams: tuple[str, ...]) -> RecordsAsked:
    """The filters of the list. Raises `Refused` naming the one that is wrong."""
    shown = Wanted(
        status=fields.get("status") or "unresolved",
        team=fields.get("team", "").strip(),
        job=fields.get("job", "").strip(),
        cause=fields.get("cause", "").strip(),
        since=fields.get("since", "").strip(),
    )
    if shown.status not in dict(CHOICES):
        raise bad("status", f"expected one of {', '.join(value for value, _ in CHOICES)}")
    if shown.team and shown.team not in teams:
        raise bad("team", "there is no team of that name")
    if len(shown.job) > MOST_JOB or len(shown.cause) > MOST_CAUSE:
        raise bad("job" if len(shown.job) > MOST_JOB else "cause", "it is too long")
    wanted = RecordsWanted(
        statuses=_statuses(shown.status), cause=shown.cause or None, since=_day(shown.since) if shown.since else None
    )
    before = fields.get("before", "")
    place = _place(before) if before else None
    return RecordsAsked(shown=shown, wanted=wanted, team=shown.team, job=shown.job, before=place)


def _fields(text: str, what: str) -> Mapping[str, str]:
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict")
    except ValueError:
        raise bad(what, "it cannot be read") from None
    found = dict(pairs)
    if len(found) != len(pairs):
        raise bad(what, "a field comes twice")
    if any("\0" in value for value in found.values()):
        raise bad(what, "it holds a character that no page sends")
    return found


def _statuses(status: str) -> frozenset[Status]:
    match status:
        case "unresolved":
            return UNRESOLVED
        case "all":
            return frozenset()
        case _:
            return frozenset({Status(status)})


def _day(text: str) -> datetime:
    try:
        if _DAY.fullmatch(text):
            return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        pass
    raise bad("since", "expected a day, as in 2026-11-30")


def _place(text: str) -> RecordPlace:
    found = _PLACE.fullmatch(text)
    try:
        if found is not None:
            at = datetime.fromisoformat(found[1].removesuffix("Z")).replace(tzinfo=UTC)
            return RecordPlace(opened_at=at, record=int(found[2]), number=int(found[3]))
    except ValueError:
        pass
    raise bad("before", "this is no place in the list", "begin at the top of the list")
