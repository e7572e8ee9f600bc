"""The parts of a mail from a message's blocks, so that a mail says what the message says. It must not choose what is said."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from bot.render.mail.parts import Facts, Heading, Items, Line, Paragraph, Part, Verbatim, line
from bot.render.moments import EXACT_FORMAT, clock_time
from bot.render.segments import Link, Moment, Segment, Words, is_web_address
from bot.render.text import one_line, unescaped

MOST_TEXT = 3000
_TOKEN = re.compile(r"<!date\^(\d+)\^([^|>]*)\|[^>]*>|<([^|>!@]+)\|([^>]*)>|<[!@](?:subteam\^)?([A-Z0-9]+)>")
_CODE = re.compile(r"`([^`\n]+)`")
_STRONG = re.compile(r"(?<![\w*])\*([^*\n]+)\*(?![\w*])")


def parts_of(blocks: Iterable[Mapping[str, Any]], *, zone: str) -> tuple[Part, ...]:
    """The blocks as parts; buttons are left out, since a mail has its own."""
    return tuple(part for block in blocks for part in _parts(block, zone))


def line_of(mrkdwn: str, *, zone: str) -> Line:
    """A line of mrkdwn, which our own templates wrote, without its marks."""
    return line(_parsed(mrkdwn, zone))


def _parts(block: Mapping[str, Any], zone: str) -> Iterable[Part]:
    match block["type"]:
        case "header":
            yield Heading(text=str(block["text"]["text"]))
        case "section" if "text" in block:
            yield Paragraph(lines=(line_of(block["text"]["text"], zone=zone),))
        case "context":
            texts = [each["text"] for each in block["elements"] if "text" in each]
            yield Paragraph(
                lines=tuple(line_of(one, zone=zone) for text in texts for one in text.split("\n")), small=True
            )
        case "rich_text":
            for element in block["elements"]:
                yield _rich_part(element, zone)
        case "table":
            rows = [[str(cell.get("text", "")) for cell in row] for row in block["rows"]]
            yield Facts(rows=tuple((row[0], line([Words(text=" → ".join(row[1:]))])) for row in rows))


def _rich_part(element: Mapping[str, Any], zone: str) -> Part:
    match element["type"]:
        case "rich_text_list":
            return Items(items=tuple(line(_segments(each["elements"], zone)) for each in element["elements"]))
        case "rich_text_preformatted":
            return Verbatim(text="".join(str(each.get("text", "")) for each in element["elements"]))
        case _:
            quote = element["type"] == "rich_text_quote"
            return Paragraph(lines=_lines(_segments(element["elements"], zone)), quote=quote)


def _lines(segments: Iterable[Segment]) -> tuple[Line, ...]:
    """The segments, parted where their words break the line."""
    lines: list[list[Segment]] = [[]]
    for segment in segments:
        if not isinstance(segment, Words) or "\n" not in segment.text:
            lines[-1].append(segment)
            continue
        first, *rest = segment.text.split("\n")
        lines[-1].append(Words(text=first, most=MOST_TEXT, bold=segment.bold, code=segment.code))
        lines += [[Words(text=text, most=MOST_TEXT, bold=segment.bold, code=segment.code)] for text in rest]
    return tuple(made for each in lines if (made := line(each)))


def _segments(elements: Sequence[Mapping[str, Any]], zone: str) -> list[Segment]:
    return _folded(_segment(element, zone) for element in elements)


def _segment(element: Mapping[str, Any], zone: str) -> Segment:
    style = element.get("style", {})
    match element["type"]:
        case "date":
            exact = element["format"] == EXACT_FORMAT
            return _moment(element["timestamp"], zone, exact=exact, bold=bool(style.get("bold")))
        case "link":
            return _link(str(element["url"]), str(element.get("text", "")))
        case "user" | "usergroup":
            return Words(text=f"@{element.get('user_id') or element.get('usergroup_id')}")
        case _:
            text = str(element.get("text", ""))
            return Words(text=text, most=MOST_TEXT, bold=bool(style.get("bold")), code=bool(style.get("code")))


def _parsed(mrkdwn: str, zone: str) -> list[Segment]:
    """The line's segments; words from outside hold no `<`, so that a token is always ours."""
    found: list[Segment] = []
    end = 0
    for token in _TOKEN.finditer(mrkdwn):
        found += [*_words(mrkdwn[end : token.start()]), _token(token, zone)]
        end = token.end()
    return _folded([*found, *_words(mrkdwn[end:])])


def _token(token: re.Match[str], zone: str) -> Segment:
    instant, form, url, label, called = token.groups()
    if instant:
        return _moment(instant, zone, exact=form == EXACT_FORMAT)
    return _link(unescaped(url), unescaped(label)) if url else Words(text=f"@{called}")


def _words(mrkdwn: str) -> Iterable[Words]:
    """Words with their marks taken away; what stands between backticks is code."""
    pieces = _CODE.split(_STRONG.sub(r"\1", mrkdwn))
    return (Words(text=unescaped(text), most=MOST_TEXT, code=index % 2 == 1) for index, text in enumerate(pieces))


def _moment(seconds: str | int, zone: str, *, exact: bool, bold: bool = False) -> Moment:
    at = datetime.fromtimestamp(int(seconds), tz=UTC)
    return Moment(at=at, zone=one_line(zone, 40), exact=exact, bold=bold)


def _link(url: str, label: str) -> Segment:
    return Link(url=url, label=label or url) if is_web_address(url) else Words(text=label or url)


def _folded(segments: Iterable[Segment]) -> list[Segment]:
    """The segments; an instant takes the job's own time, which stands behind it in words, into itself."""
    found: list[Segment] = []
    for segment in segments:
        before = found[-1] if found else None
        if isinstance(before, Moment) and isinstance(segment, Words):
            beside = f" ({clock_time(before.at, before.zone, exact=before.exact)})"
            if segment.text.startswith(beside):
                found[-1] = replace(before, beside=True)
                segment = replace(segment, text=segment.text.removeprefix(beside))
        found.append(segment)
    return found
