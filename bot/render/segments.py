"""The pieces of a line: plain words, an instant, a link, someone who is called. Each is shown in three ways.

Words from outside live in `Words` only, which no way of showing parses. It must not know templates or blocks.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from bot.incidents.people import Mention, MentionKind
from bot.render.moments import EXACT_FORMAT, FORMAT, clock_time, written
from bot.render.text import escaped, one_line

MOST_WORDS = 300
MOST_URL = 1000
FIRST = datetime(1970, 1, 2, tzinfo=UTC)
LAST = datetime(2200, 1, 1, tzinfo=UTC)
_ID = re.compile(r"[A-Z][A-Z0-9]{1,30}")
_BOLD = re.compile(r"(?!\s)(?:[^*_~`\n]|(?<=[A-Za-z0-9])_(?=[A-Za-z0-9]))+(?<!\s)")
_CODE = re.compile(r"(?!\s)[^`\n]+(?<!\s)")
_URL = re.compile(r"https?://[^\s<>|\"]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Words of any origin, one line, at most `most` characters also after escaping."""

    text: str
    most: int = MOST_WORDS
    bold: bool = False
    code: bool = False

    def __bool__(self) -> bool:
        return bool(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """An instant: each reader sees own time; with `beside` the job's zone stands beside it; `exact`: to the second."""

    at: datetime
    zone: str
    beside: bool = False
    exact: bool = False
    bold: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link to a web page; a dangerous or broken address is shown as words."""

    url: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Someone whom the message notifies."""

    mention: Mention


Segment = Words | Moment | Link | Call


def words(text: object, most: int = MOST_WORDS) -> Words:
    return Words(text=one_line(str(text), most), most=most)


def link(url: str, label: str) -> Segment:
    """A link to `url`, or its words when it is no web address."""
    address = url.strip()
    if not is_web_address(address):
        return words(f"{label}: {address}", 200)
    return Link(url=address, label=one_line(label, 75))


def is_web_address(url: str) -> bool:
    return len(url) <= MOST_URL and _URL.fullmatch(url) is not None


def moment(at: datetime, zone: str, *, beside: bool = False, exact: bool = False) -> Segment:
    """An instant, or its digits when Slack could not show it."""
    if not FIRST <= at <= LAST:
        return words(at.isoformat(), 40)
    return Moment(at=at, zone=one_line(zone, 40), beside=beside, exact=exact)


def call(mention: Mention) -> Segment:
    """A call of `mention`, or the name of someone who cannot be called in Slack."""
    return Call(mention=mention) if _ID.fullmatch(mention.id) else words(mention.name or mention.id, 80)


def styled(segment: Segment, *, bold: bool, code: bool) -> Segment:
    if isinstance(segment, Words):
        return replace(segment, bold=segment.bold or bold, code=segment.code or code)
    return replace(segment, bold=segment.bold or bold) if isinstance(segment, Moment) else segment


def rich(segments: Sequence[Segment]) -> list[dict[str, Any]]:
    """The segments as rich text elements, in which nothing is parsed."""
    elements: list[dict[str, Any]] = []
    for segment in segments:
        for element in _rich(segment):
            last = elements[-1] if elements else None
            if last and element["type"] == last["type"] == "text" and element.get("style") == last.get("style"):
                last["text"] += element["text"]
            else:
                elements.append(element)
    return elements


def rich_line(segments: Sequence[Segment]) -> dict[str, Any]:
    """One line as a block of rich text."""
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": rich(segments)}]}


def _rich(segment: Segment) -> list[dict[str, Any]]:
    match segment:
        case Words():
            return [_styled_text(segment.text, bold=segment.bold, code=segment.code)] if segment.text else []
        case Moment():
            fallback = _fallback(segment)
            instant = int(segment.at.timestamp())
            date = {"type": "date", "timestamp": instant, "format": _format(segment), "fallback": fallback}
            if segment.bold:
                date["style"] = {"bold": True}
            return [date, *([_styled_text(_beside(segment), bold=segment.bold)] if segment.beside else [])]
        case Link():
            return [{"type": "link", "url": segment.url, "text": segment.label}]
        case Call(mention=Mention(kind=MentionKind.GROUP)):
            return [{"type": "usergroup", "usergroup_id": segment.mention.id}]
        case Call():
            return [{"type": "user", "user_id": segment.mention.id}]


def mrkdwn(segments: Sequence[Segment], most: int) -> str:
    """The segments as mrkdwn of at most `most` characters: words escaped, whole segments left out beyond."""
    text = ""
    for segment in segments:
        piece = _mrkdwn(segment)
        if len(text) + len(piece) > most:
            break
        text += piece
    return text


def _mrkdwn(segment: Segment) -> str:
    match segment:
        case Words():
            text = escaped(segment.text, segment.most)
            if segment.code and _CODE.fullmatch(segment.text):
                return f"`{text}`"
            return f"*{text}*" if segment.bold and _BOLD.fullmatch(segment.text) else text
        case Moment():
            fallback = escaped(_fallback(segment), 60).replace("|", "")
            date = f"<!date^{int(segment.at.timestamp())}^{_format(segment)}|{fallback}>"
            return date + (escaped(_beside(segment), 80) if segment.beside else "")
        case Link():
            return f"<{escaped(segment.url, 3000)}|{escaped(segment.label, 75).replace('|', ' ')}>"
        case Call(mention=Mention(kind=MentionKind.GROUP)):
            return f"<!subteam^{segment.mention.id}>"
        case Call():
            return f"<@{segment.mention.id}>"


def literal(segments: Sequence[Segment]) -> str:
    """The segments as bare text, for places that show no dates and no links (headers, buttons, dialogs)."""
    return "".join(_literal(segment) for segment in segments)


def _literal(segment: Segment) -> str:
    match segment:
        case Words():
            return segment.text
        case Moment():
            return _fallback(segment)
        case Link():
            return segment.label
        case Call():
            return segment.mention.name or segment.mention.id


def _fallback(moment: Moment) -> str:
    """What stands there where no dates are shown; the job's time is not said twice."""
    return written(moment.at, "UTC" if moment.beside else moment.zone, exact=moment.exact)


def _format(moment: Moment) -> str:
    return EXACT_FORMAT if moment.exact else FORMAT


def _beside(moment: Moment) -> str:
    return f" ({clock_time(moment.at, moment.zone, exact=moment.exact)})"


def _styled_text(text: str, *, bold: bool = False, code: bool = False) -> dict[str, Any]:
    style = {name: True for name, on in (("bold", bold), ("code", code)) if on}
    return {"type": "text", "text": text, **({"style": style} if style else {})}
