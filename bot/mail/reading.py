"""What the writer of a mail says: the first own line of its text, as plain text and as HTML show it. It checks no sender."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from bot.mail.commands import Command, NoCommand, command_of
from bot.mail.decoding import Unreadable, decoded
from bot.mail.letters import plain
from bot.mail.markup import lines_of_html
from bot.mail.parts import Part, Parts
from bot.mail.quoting import Own, lines_of_text, own_lines

ENCRYPTED = ("multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime")

_LINK = re.compile(r"\s*<((?:https?://|mailto:)[^\s<>]{1,2000})>")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Version:
    """One version of the text: its own lines, whether anything else stands in it, and where the mail ends in it."""

    own: Own
    blank: bool
    cut: bool


def said_in(parts: Parts, *, bot: str, zone: str, now: datetime) -> Command:
    """The one command that the writer gives. Raises NoCommand or Unreadable with the reason."""
    text, markup = _speaking(parts)
    versions = [_of_text(text, bot)] if text is not None else []
    if markup is not None:
        version = _of_html(markup, bot)
        if versions and versions[0].blank:
            versions = []
        versions.append(version)
    first = _agreed([version.own.lines for version in versions])
    if any(version.own.capped for version in versions):
        raise Unreadable("the mail is too long to be read whole")
    if any(version.cut and version.own.last and len(version.own.lines) == 1 for version in versions):
        raise Unreadable("the mail ends inside of its first line")
    command = command_of(first, zone=zone, now=now)
    if any(_is_second(line, zone, now) for version in versions for line in _rest(version.own.lines, first)):
        raise NoCommand("the mail holds more than one command")
    return command


def _speaking(parts: Parts) -> tuple[Part | None, Part | None]:
    """The part that speaks: the first text, with its HTML version where it has one."""
    texts = [part for part in parts.leaves if part.kind in ("text/plain", "text/html") and not part.attached]
    if not texts:
        if not set(ENCRYPTED).isdisjoint(parts.kinds):
            raise Unreadable("the text of the mail is encrypted or sealed and cannot be read here")
        if not parts.whole:
            raise Unreadable("the mail is nested too deep or has too many parts")
        raise Unreadable("the mail holds no text")
    first = texts[0]
    if first.kind == "text/html":
        return _other(texts, first, "text/plain"), first
    return first, _other(texts, first, "text/html")


def _other(texts: list[Part], first: Part, kind: str) -> Part | None:
    if first.alternative is None:
        return None
    return next((part for part in texts if part.kind == kind and part.alternative == first.alternative), None)


def _of_text(part: Part, bot: str) -> _Version:
    text = decoded(part.entity, cut=part.cut)
    lines = lines_of_text(text.text.removesuffix("\n"))
    return _Version(
        own=own_lines(lines, bot=bot), blank=not any(plain(line.text[:500]) for line in lines), cut=text.cut
    )


def _of_html(part: Part, bot: str) -> _Version:
    lines, whole = lines_of_html(decoded(part.entity).text)
    own = own_lines(lines, bot=bot)
    if not whole:
        own = Own(lines=own.lines, capped=True)
    return _Version(own=own, blank=False, cut=False)


def _agreed(versions: list[tuple[str, ...]]) -> str:
    """The first own line; where plain text wrapped it, as HTML shows it whole. Raises NoCommand where they disagree."""
    firsts = [lines[0] if lines else "" for lines in versions]
    if len(firsts) == 1 or not _forms(firsts[0]).isdisjoint(_forms(firsts[1])):
        first = firsts[0]
    elif firsts[0] and f"{_same(firsts[1])} ".startswith(f"{_same(firsts[0])} "):
        first = firsts[1]
    else:
        raise NoCommand("the plain text and the HTML of the mail say different things")
    if not first:
        raise NoCommand("nothing in the mail is surely written by its sender")
    return first


def _same(line: str) -> str:
    return plain(line).strip("*_")


def _forms(line: str) -> frozenset[str]:
    """The line as the other version may show it: with its links, or without those that only plain text spells out."""
    return frozenset({_same(line), _same(_LINK.sub(r" \1", line)), _same(_LINK.sub("", line))})


def _rest(lines: Iterable[str], first: str) -> list[str]:
    """The own lines below the first, without the piece of it that plain text wrapped onto the next."""
    own = list(lines)
    wrapped = bool(own) and _same(own[0]) != _same(first)
    return [line for line in own[1:] if not (wrapped and _same(line) in _same(first))]


def _is_second(line: str, zone: str, now: datetime) -> bool:
    try:
        command_of(line, zone=zone, now=now)
    except NoCommand:
        return False
    return True
