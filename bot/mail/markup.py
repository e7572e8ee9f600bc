"""HTML as the lines that a person sees, each with what it is: own, quoted, signature. It reads in one pass and runs nothing."""

import html
import re
from collections import Counter
from dataclasses import dataclass, replace

from bot.mail.looks import (
    WHITE,
    colour_of,
    ground_of,
    hardly_differ,
    hides,
    hiding_classes,
    named_colour,
    strikes,
    tidy,
    turns,
)
from bot.mail.quoting import DIVIDER, Line

MOST_DEPTH = 3_000
MOST_TAGS = 50_000
MOST_SHEETS = 10

_TAG = re.compile(r"""</?+([a-zA-Z][^\s/>]*+)((?:[^>="']++|=\s*+(?:"[^"]*+"|'[^']*+'|(?!["']))|["'])*+)>""")
_ATTRIBUTE = re.compile(r"""(?<![^\s"'/])([^\s=/"'>]{1,80})\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_BIG_REFERENCE = re.compile(r"&#[xX]?[0-9a-fA-F]{9,};?")
_BLANKS = re.compile(r"[ \t\n\r\f\xa0\u3000]+")
_OUTERMOST = frozenset({"", "html", "head"})
_RAW = frozenset({"style", "script", "title", "textarea", "template", "noscript", "xmp", "iframe", "object", "select"})
_VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"}
)
_INLINE = frozenset(
    {"a", "abbr", "acronym", "b", "bdo", "bdi", "big", "cite", "code", "del", "em", "font", "i", "ins", "kbd", "label"}
    | {"mark", "nobr", "o:p", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "tt", "u", "var"}
)
_STRUCK = frozenset({"del", "s", "strike", "bdo"})
_TELLING = _STRUCK | {"head", "blockquote", "pre"}
_QUOTES = re.compile(
    r"gmail_quote|gmail_extra|gmail_attr|yahoo_quoted|protonmail_quote|tutanota_quote|zmail_extra|moz-cite-prefix"
    r"|moz-forward-container|isreplycontent|isforwardcontent|quoted-content|quoted-text|quotedtext|reply-intro|replyintro"
    r"|olk_src_body_section|mail-editor-reference-message|ms-outlook-mobile-reference|front-blockquote|sh-quoted|airmail_on"
    r"|mailquote|mail_quote|outlookmessageheader|original-message|bloop_original_html|reply-quote|gmx_quote|history_container"
)
_CUTS = re.compile(r"divrplyfwdmsg|appendonsend|stopspelling|replyseparator|reply-separator|begin_quote")
_SIGNATURES = re.compile(
    r"gmail_signature|moz-signature|mobile-signature|mobile_signature|applemailsignature|protonmail_signature"
    r"|yahoo-signature|(?:^|[\s_])signature(?:$|[\s_])"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """How text looks at a place of the document."""

    hidden: bool = False
    faint: bool = False
    quoted: bool = False
    signature: bool = False
    struck: bool = False
    pre: bool = False
    colour: str = "000000"
    ground: str = WHITE


class _Page:
    """The lines as they grow."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self._pieces: list[str] = []
        self._as = _Seen()

    def text(self, text: str, seen: _Seen) -> None:
        if seen.hidden or seen.faint or not text:
            return
        if (seen.quoted, seen.signature) != (self._as.quoted, self._as.signature):
            self.end()
        self._as = seen
        if seen.struck and text.strip():
            text = f"~{text}~"
        if not seen.pre:
            self._pieces.append(_BLANKS.sub(" ", text))
            return
        first, *rest = text.split("\n")
        self._pieces.append(first)
        for line in rest:
            self.end(blank=True)
            self._pieces.append(line)

    def end(self, *, blank: bool = False) -> None:
        """End the line; an empty one counts only where it is meant."""
        text = "".join(self._pieces)
        if text.strip() or blank:
            self.lines.append(Line(text=text, quoted=self._as.quoted, signature=self._as.signature))
        self._pieces = []

    def divide(self) -> None:
        self.end()
        self.lines.append(Line(text=DIVIDER))


def lines_of_html(document: str) -> tuple[tuple[Line, ...], bool]:
    """The visible lines and whether all was read; markup that never ends takes the rest with it, as in a browser."""
    page = _Page()
    stack = [("", _Seen())]
    opened: Counter[str] = Counter()
    classes: frozenset[str] = frozenset()
    at, tags, sheets = 0, 0, 0
    while at < len(document):
        tags += 1
        if tags > MOST_TAGS or len(stack) > MOST_DEPTH:
            page.end()
            return tuple(page.lines), False
        begins = document.find("<", at)
        if begins < 0:
            begins = len(document)
        page.text(_characters(document[at:begins]), stack[-1][1])
        if begins == len(document):
            break
        if (after := _after_declaration(document, begins)) is not None:
            at = after
            continue
        if not document[begins + 1 : begins + 3].lstrip("/")[:1].isalpha():
            page.text("<", stack[-1][1])
            at = begins + 1
            continue
        tag = _TAG.match(document, begins)
        if tag is None:
            break
        at = tag.end()
        name = tag[1].lower()
        if document[begins + 1] == "/":
            _close(name, stack, opened, page)
        elif name in _RAW:
            end = _end_of_raw(document, at, name)
            sheets += name == "style"
            if name == "style" and sheets <= MOST_SHEETS:
                classes |= hiding_classes(document[at:end])
            at = end
        else:
            _open(name, tag[2], stack, opened, page, classes)
    page.end()
    return tuple(page.lines), True


def _open(
    name: str, given: str, stack: list[tuple[str, _Seen]], opened: Counter[str], page: _Page, classes: frozenset[str]
) -> None:
    if name == "br":
        page.end(blank=True)
        return
    asked = _attributes(given)
    marks = f"{asked.get('class', '')} {asked.get('id', '')}".lower()
    if name == "hr" or _CUTS.search(marks):
        page.divide()
    if name in _VOID:
        return
    if name not in _INLINE:
        page.end()
    if name == "p" and stack[-1][0] == "p":
        _close("p", stack, opened, page)
    if name == "body" and all(tag in _OUTERMOST for tag, _ in stack):
        del stack[1:]
        opened.clear()
    outer = stack[-1][1]
    bare = not given.strip() and name not in _TELLING
    stack.append((name, outer if bare else _seen(name, asked, given, marks, outer, classes)))
    opened[name] += 1
    if name == "li":
        page.text("- ", stack[-1][1])


def _seen(name: str, asked: dict[str, str], given: str, marks: str, outer: _Seen, classes: frozenset[str]) -> _Seen:
    style = tidy(asked.get("style", ""))
    ground = ground_of(style) or named_colour(asked.get("bgcolor", "")) or outer.ground
    colour = colour_of(style)
    if colour is None:
        colour = named_colour(asked.get("color", ""))
    if colour is None:
        colour = outer.colour
    unseen = name == "head" or hides(style) or _is_hidden(given, asked)
    return replace(
        outer,
        hidden=outer.hidden or unseen or not classes.isdisjoint(marks.split()),
        faint=hardly_differ(colour, ground),
        quoted=outer.quoted or name == "blockquote" or asked.get("name") == "quote" or bool(_QUOTES.search(marks)),
        signature=outer.signature or bool(_SIGNATURES.search(marks)),
        struck=outer.struck or name in _STRUCK or strikes(style) or turns(style),
        pre=outer.pre or name == "pre" or "white-space:pre" in style,
        colour=colour,
        ground=ground,
    )


def _is_hidden(given: str, asked: dict[str, str]) -> bool:
    """Whether the attribute `hidden` stands there, with a value or without."""
    return "hidden" in asked or "hidden" in _ATTRIBUTE.sub(" ", given[:10_000]).lower().split()


def _close(name: str, stack: list[tuple[str, _Seen]], opened: Counter[str], page: _Page) -> None:
    """Close the innermost element of that name; an inline one is not closed across a block."""
    if name not in _INLINE:
        page.end()
    if not opened[name] or name in ("html", "body"):
        return
    if name in _INLINE:
        for back in range(1, min(len(stack), 20)):
            if stack[-back][0] == name:
                break
            if stack[-back][0] not in _INLINE:
                return
        else:
            return
    while len(stack) > 1:
        gone = stack.pop()[0]
        opened[gone] -= 1
        if gone == name:
            return


def _attributes(given: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in _ATTRIBUTE.finditer(given[:10_000]):
        found.setdefault(one[1].lower(), _characters(one[2] or one[3] or one[4] or ""))
    return found


def _after_declaration(document: str, at: int) -> int | None:
    """Where a comment, doctype or the like ends that begins here; None where none does."""
    if document.startswith("<!--", at):
        ends = document.find("-->", at + 2)
        return ends + 3 if ends >= 0 else len(document)
    if document.startswith(("<!", "<?"), at):
        ends = document.find(">", at)
        return ends + 1 if ends >= 0 else len(document)
    return None


def _end_of_raw(document: str, at: int, name: str) -> int:
    """Where the end tag of an element begins whose content is no text."""
    ends = re.compile(rf"</{name}", re.IGNORECASE).search(document, at)
    return ends.start() if ends else len(document)


def _characters(text: str) -> str:
    if "&" not in text:
        return text
    return html.unescape(_BIG_REFERENCE.sub("\ufffd", text))
