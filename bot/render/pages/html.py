"""Makes HTML of templates and values: everything from outside is cleaned, then escaped. It must not know what a page says.

Templates call functions only, no filters, and hold no inline style and no script: the policy of the pages forbids both.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from bot.evidence.cleaning import clean
from bot.evidence.types import REPORTED
from bot.incidents.keys import JobKey
from bot.render.moments import needs_seconds, span, written, zone_of
from bot.render.pages import wording
from bot.render.readings import amount
from bot.render.root import values_of
from bot.render.segments import Call, Link, Moment, Segment, Words, is_web_address
from bot.render.snapshot import Snapshot
from bot.render.templates import phrase
from bot.render.text import one_line, shortened_middle

MOST_VERBATIM = 64 * 1024
MOST_DIFF = 20_000


def rendered(name: str, *, now: datetime, **values: Any) -> str:
    """The page that the template writes with these values."""
    moments = _Moments(now)
    return (
        _environment()
        .get_template(f"{name}.j2")
        .render(**values, now=now, when=moments.when, due=moments.due, say=moments.say, shown=moments.shown)
    )


def compile_pages() -> None:
    """Compile every template now, so that the first page is rendered as fast as the next."""
    for name in _environment().list_templates():
        _environment().get_template(name)


class _Moments:
    """Instants as the page shows them: in the zone of their job, with the year where it is not this one."""

    def __init__(self, now: datetime) -> None:
        self._now = now

    def due(self, at: datetime | None, zone: str) -> Markup:
        """A nominal time, to the second where minutes would not tell it from its neighbours."""
        return self.when(at, zone, exact=at is not None and needs_seconds(at))

    def when(self, at: datetime | None, zone: str, *, exact: bool = False) -> Markup:
        if at is None:
            return Markup("")
        local = at.astimezone(zone_of(zone))
        text = written(at, zone, exact=exact)
        if local.year != self._now.astimezone(zone_of(zone)).year:
            text = f"{text} {local.year}"
        return Markup('<time datetime="{}">{}</time>').format(at.astimezone(UTC).isoformat(timespec="seconds"), text)

    def say(self, name: str, snapshot: Snapshot, **values: Any) -> Markup:
        """The line of the messages' template of that name."""
        return self.shown(phrase(name, {**values_of(snapshot), **values}, zone=snapshot.zone))

    def shown(self, segments: Sequence[Segment]) -> Markup:
        return Markup("").join(self._piece(segment) for segment in segments)

    def _piece(self, segment: Segment) -> Markup:
        match segment:
            case Words(code=True):
                return Markup("<code>{}</code>").format(segment.text)
            case Words(bold=True):
                return Markup("<strong>{}</strong>").format(segment.text)
            case Words():
                return escape(segment.text)
            case Moment():
                return self.when(segment.at, segment.zone, exact=segment.exact)
            case Link():
                return outside(segment.url, segment.label)
            case Call():
                return escape(one_line(segment.mention.name or segment.mention.id, 80))


def outside(url: str | None, label: str) -> Markup:
    """A link that leaves the site; the bare label when the address is none of the web."""
    if url is None or not is_web_address(url) or clean(url) != url:
        return escape(one_line(label, 200))
    return Markup('<a href="{}" rel="noopener noreferrer nofollow">{}</a>').format(url, one_line(label, 200))


def short(text: object, most: int = 300) -> str:
    return one_line(str(text), most)


def job_name(job: JobKey | str, most: int = 120) -> str:
    return shortened_middle(one_line(str(job), 1000), most)


def job_path(job: JobKey) -> str:
    return f"/jobs/{quoted(job.scheduler)}/{quoted(job.name, safe='/')}"


def team_path(team: str) -> str:
    return f"/teams/{quoted(team)}"


def quoted(text: str, *, safe: str = "") -> str:
    """The text as a part of an address."""
    return quote(text, safe=safe, errors="replace")


def verbatim(text: str, most: int = MOST_VERBATIM) -> str:
    """Lines as they were found, without what cannot be seen; of too many the last ones."""
    cleaned = clean(text[-4 * most :]).replace("\t", "    ")
    return cleaned if len(cleaned) <= most else "…" + cleaned[-most:].partition("\n")[2]


def diff_lines(diff: str) -> list[tuple[str, str]]:
    """The lines of a unified diff, each with what it is: added, removed, place or same."""
    kinds = {"+": "added", "-": "removed", "@": "place"}
    lines = clean(diff[:MOST_DIFF]).rstrip("\n").split("\n")
    cut = [("place", "… the rest is left out here")] if len(diff) > MOST_DIFF else []
    return [(kinds.get(line[:1], "same"), line) for line in lines] + cut


def numbered(number: int, width: int) -> str:
    """The number under which the log holds a line; none for what the scheduler said itself."""
    return (str(number) if number != REPORTED else "-").rjust(width)


def coded(says: str) -> Markup:
    """One line in which what stands between backticks is shown as code."""
    pieces = one_line(says, 600).split("`")
    if len(pieces) % 2 == 0:
        return escape("`".join(pieces))
    shown = (Markup("<code>{}</code>" if index % 2 else "{}").format(piece) for index, piece in enumerate(pieces))
    return Markup("").join(shown)


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "amount": amount,
    "coded": coded,
    "diff_lines": diff_lines,
    "happened": wording.happened,
    "job_name": job_name,
    "job_path": job_path,
    "numbered": numbered,
    "outside": outside,
    "quoted": quoted,
    "reason": wording.reason,
    "short": short,
    "span": span,
    "team_path": team_path,
    "verbatim": verbatim,
}


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("bot.render", "templates/pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        finalize=_cleaned,
    )
    environment.globals.update(FUNCTIONS)
    environment.globals.update(
        doors=wording.DOORS,
        meanings=wording.MEANINGS,
        outcomes=wording.OUTCOMES,
        results=wording.RESULTS,
        run_words=wording.RUNS,
        states=wording.STATES,
        words=wording.WORDS,
    )
    return environment


def _cleaned(value: Any) -> Any:
    """What a template sets in, without controls and marks that turn the direction of reading."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return clean(value)
    return "" if value is None else value
