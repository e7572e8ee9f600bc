"""Job health on the web: the page, its rows as CSV, its figures as JSON, its chart as a picture. It must not change anything.

Whoever is logged in may ask anything; whoever holds a link of an answer reads that one question's answer.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import msgspec

from bot.health.answering import Answered
from bot.health.links import Words, signed
from bot.render.health import (
    BaselineShown,
    HealthHelp,
    HealthPage,
    csv_text,
    health_html,
    picture_of,
)
from bot.render.health.cells import COLUMNS
from handlers.pages.answers import page, safe_headers
from handlers.pages.desk import HealthPages, PagesDesk
from handlers.pages.guard import Reader, count_guess, logged_in, person_of
from handlers.pages.requests import bad, nothing_here, query_of
from handlers.wire import Answer, Call, Refused

MOST_WORDS = 450
SORTS = frozenset({"", "name", *(column.key for column in COLUMNS)})
KEPT = timedelta(hours=1)
IN_THE_CHAT = HealthHelp(
    problem="The baseline is told and set in the chat, by /job-health baseline.", examples=("30d",)
)


def on_health(desk: PagesDesk, call: Call) -> Answer:
    """`/job-health`: the page; words that are not understood are its own kind of page."""
    health, fields, words = _asked(desk, call)
    reader = _reader(desk, call, words, fields.get("k"))
    sort, down = fields.get("sort", ""), fields.get("down") == "1"
    if sort not in SORTS:
        raise bad("sort", "there is no such column")
    now = desk.clock()
    told = health.reading.tell(words.text, by=None, now=now)
    shown = HealthPage(
        answer=told.answer if isinstance(told, Answered) else None,
        help=told if isinstance(told, HealthHelp) else IN_THE_CHAT if isinstance(told, BaselineShown) else None,
        baseline=BaselineShown(baseline=health.reading.baseline()),
        of=words.of,
        period=words.period,
        versus=words.versus,
        sort=sort,
        down=down,
        teams=health.reading.teams() if reader.person is not None else (),
    )
    return page(desk, health_html(shown, desk.frame(reader=reader.person, key=reader.key)))


def on_csv(desk: PagesDesk, call: Call) -> Answer:
    """`/job-health.csv`: one line an occurrence."""
    health, fields, words = _asked(desk, call)
    _reader(desk, call, words, fields.get("k"))
    found = health.reading.rows(words.text, now=desk.clock())
    if isinstance(found, HealthHelp):
        raise _not_understood(found)
    name = f"job-health-{desk.clock():%Y-%m-%d}.csv"
    headers = {**safe_headers(desk), "Content-Disposition": f'attachment; filename="{name}"'}
    return Answer(
        body=csv_text(found).encode("utf-8", "replace"), content_type="text/csv; charset=utf-8", headers=headers
    )


def on_json(desk: PagesDesk, call: Call) -> Answer:
    """`/job-health.json`: the figures; durations as ISO 8601, every instant in UTC."""
    health, fields, words = _asked(desk, call)
    _reader(desk, call, words, fields.get("k"))
    found = health.reading.report(words.text, now=desk.clock())
    if isinstance(found, HealthHelp):
        raise _not_understood(found)
    return Answer(body=msgspec.json.encode(found), headers=safe_headers(desk))


def on_picture(desk: PagesDesk, call: Call) -> Answer:
    """`/job-health.png`: the chart, for where the workspace does not draw it itself."""
    health, fields, words = _asked(desk, call)
    _reader(desk, call, words, fields.get("k"))
    found = health.reading.report(words.text, now=desk.clock())
    if isinstance(found, HealthHelp):
        raise _not_understood(found)
    drawn = health.drawing.png(picture_of(found))
    if drawn is None:
        raise Refused(
            503, reason="not_drawn", field="request", message="the picture could not be drawn", fix="look at the page"
        )
    headers = {**safe_headers(desk), "Cache-Control": f"private, max-age={KEPT.total_seconds():.0f}"}
    return Answer(body=drawn, content_type="image/png", headers=headers)


def _asked(desk: PagesDesk, call: Call) -> tuple[HealthPages, Mapping[str, Any], Words]:
    if desk.health is None:
        raise nothing_here()
    fields = query_of(call)
    words = Words(of=fields.get("of", "").strip(), period=fields.get("period", "").strip(), versus=fields.get("vs", ""))
    for name, value in (("of", words.of), ("period", words.period), ("vs", words.versus)):
        if len(value) > MOST_WORDS:
            raise bad(name, "it is too long")
    return desk.health, fields, words


def _reader(desk: PagesDesk, call: Call, words: Words, key: str | None) -> Reader:
    """Who may read the answer to these words. Raises `Refused`."""
    person = logged_in(desk, call)
    if person is not None or not key:
        return Reader(person=person if person is not None else person_of(desk, call))
    if not desk.signer.may_read(key, signed(words.query), now=desk.clock()):
        count_guess(desk, call)
        raise Refused(
            403,
            reason="link",
            field="access",
            message="this link is not whole, for another question, or older than 30 days",
            fix="ask anew with /job-health in the chat",
        )
    return Reader(key=key)


def _not_understood(asked: HealthHelp) -> Refused:
    near = f"; did you mean {', '.join(asked.near)}?" if asked.near else ""
    return Refused(
        422,
        reason="not_understood",
        field="of",
        message=f"{asked.problem.rstrip('.') or 'help'}{near}",
        fix="look at the page",
    )
