"""The parts that a mail is made of, in the order in which they are read. Values only; it must not know how one is shown."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, timedelta
from enum import StrEnum

from bot.render.moments import clock_time, written, zone_of
from bot.render.segments import Call, Link, Moment, Segment, Words


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Words in one style; with `url` they are a link."""

    text: str
    bold: bool = False
    code: bool = False
    url: str = ""


Line = tuple[Piece, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """`lead`: what matters most; `small`: what may be skipped; `quote`: somebody's or something's own words."""

    lines: tuple[Line, ...]
    lead: bool = False
    small: bool = False
    quote: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    items: tuple[Line, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Names and what stands behind them, a row each."""

    rows: tuple[tuple[str, Line], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verbatim:
    """Lines as they were found; the first part to be left out of a mail that is too large."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Buttons:
    """Links that stand out, the first of them most."""

    buttons: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Commands:
    """What can be written back: a whole line, and what it does."""

    commands: tuple[tuple[str, Line], ...]


Part = Heading | Paragraph | Items | Facts | Verbatim | Buttons | Commands


class Tone(StrEnum):
    """What a mail wants of its reader."""

    ASKS = "asks"
    TELLS = "tells"
    SETTLED = "settled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """A whole mail before it is shown: `preview` is what a list of mails shows beside the subject."""

    subject: str
    title: str
    preview: str
    parts: tuple[Part, ...]
    tone: Tone = Tone.TELLS


def plain(text: str) -> Line:
    return (Piece(text=text),)


def line(segments: Sequence[Segment]) -> Line:
    """The segments as a mail shows them: instants in the zone of the team, nobody called but by name."""
    found: list[Piece] = []
    for segment in segments:
        piece = _piece(segment)
        last = found[-1] if found else None
        if last and not (piece.url or last.url) and (last.bold, last.code) == (piece.bold, piece.code):
            found[-1] = Piece(text=last.text + piece.text, bold=last.bold, code=last.code)
        elif piece.text:
            found.append(piece)
    return tuple(found)


def words_of(line: Line) -> str:
    return "".join(piece.text for piece in line)


def _piece(segment: Segment) -> Piece:
    match segment:
        case Words():
            return Piece(text=segment.text, bold=segment.bold, code=segment.code)
        case Moment():
            return Piece(text=_instant(segment), bold=segment.bold)
        case Link():
            return Piece(text=segment.label, url=segment.url)
        case Call():
            return Piece(text=segment.mention.name or segment.mention.id)


def _instant(moment: Moment) -> str:
    """The instant in the zone, and in UTC beside it where it stands for a run that the scheduler names so."""
    text = written(moment.at, moment.zone, exact=moment.exact)
    local = moment.at.astimezone(zone_of(moment.zone))
    if not moment.beside or local.utcoffset() == timedelta(0):
        return text
    utc = moment.at.astimezone(UTC)
    same_day = utc.date() == local.date()
    return f"{text} ({clock_time(utc, 'UTC', exact=moment.exact) if same_day else written(utc, 'UTC')})"
