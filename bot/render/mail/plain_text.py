"""A letter as plain text: narrow lines, links on lines of their own, no marks of any markup. It must not leave anything out."""

import textwrap
from collections.abc import Iterable

from bot.render.mail.parts import (
    Buttons,
    Commands,
    Facts,
    Heading,
    Items,
    Letter,
    Line,
    Paragraph,
    Part,
    Verbatim,
    words_of,
)

WIDTH = 76


def plain_text(letter: Letter) -> str:
    """The letter as text, its parts an empty line apart."""
    return "\n\n".join([*_wrapped(letter.title), *filter(None, map(_part, letter.parts))]) + "\n"


def _part(part: Part) -> str:
    match part:
        case Heading():
            return "\n".join(_wrapped(f"{part.text}:"))
        case Paragraph():
            return "\n".join(text for line in part.lines for text in _line(line, indent="  " if part.quote else ""))
        case Items():
            return "\n".join(text for line in part.items for text in _line(line, first="- ", indent="  "))
        case Facts():
            return "\n".join(text for name, line in part.rows for text in _line(line, first=f"{name}: ", indent="  "))
        case Verbatim():
            return "\n".join(f"    {line}".rstrip() for line in part.text.split("\n"))
        case Buttons():
            return "\n".join(f"{name}:\n  {url}" for name, url in part.buttons)
        case Commands():
            return "\n".join(text for command in part.commands for text in _command(*command))


def _command(example: str, effect: Line) -> Iterable[str]:
    yield f"    {example}"
    yield from _line(effect, first="        ", indent="        ")


def _line(line: Line, *, first: str = "", indent: str = "") -> Iterable[str]:
    """A line, its links below it."""
    yield from _wrapped(words_of(line), first=first or indent, indent=indent)
    yield from (f"{indent}  {piece.url}" for piece in line if piece.url)


def _wrapped(text: str, *, first: str = "", indent: str = "") -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
