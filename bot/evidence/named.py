"""Says whether an error names a thing: a column, a table, a path, a package. It judges no cause."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

SHORTEST = 4
_RUN = re.compile(r"[\w./:@-]{1,400}")
_PIECE = re.compile(r"[^\W_](?:[\w-]*\w)?|\w+")
_QUOTED = re.compile(r"[\"'`\u2018\u201c\[]([^\"'`\u2019\u201d\]\n]{1,120})[\"'`\u2019\u201d\]]")
_COMMON = frozenset(
    (
        *(
            "code",
            "config",
            "data",
            "date",
            "error",
            "failed",
            "failure",
            "file",
            "from",
            "host",
            "image",
            "input",
            "line",
        ),
        *("message", "mode", "name", "null", "none", "path", "port", "python", "retries", "rows", "schema", "source"),
        *("status", "table", "target", "time", "timeout", "true", "false", "type", "user", "value", "version", "with"),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """The words of an error: all of them, those that it puts in quotes, and what it quotes whole."""

    words: frozenset[str]
    quoted: frozenset[str]
    alone: frozenset[str]

    def names(self, things: Iterable[str], *, alone: Iterable[str] = ()) -> str | None:
        """Return the first of these that the error speaks of; short and common words must stand in quotes.

        Those of `alone` count only where the error quotes just them, not as a piece of something longer.
        """
        for thing in things:
            word = thing.lower()
            plain = len(word) >= SHORTEST and word not in _COMMON and not word.isdigit()
            if word in self.quoted or (plain and word in self.words):
                return thing
        return next((thing for thing in alone if thing.lower() in self.alone), None)

    def quotes_of(self, text: str) -> bool:
        """Whether a word of `text` is one that the error puts in quotes."""
        return not self.quoted.isdisjoint(_words(text))


def spoken(text: str) -> Spoken:
    """Return what an error says, by words."""
    quotes = [found[1] for found in _QUOTED.finditer(text)]
    quoted = frozenset(word for quote in quotes for word in _words(quote) if not word.isdigit())
    alone = frozenset(quote.strip().lower() for quote in quotes)
    return Spoken(words=frozenset(_words(text)), quoted=quoted, alone=alone)


def _words(text: str) -> set[str]:
    """Words, dotted names and paths in small letters, each whole and in its pieces."""
    found: set[str] = set()
    for run in _RUN.findall(text.lower()):
        whole = run.strip("./:@-")
        found.add(whole)
        found.update(part.strip(".-") for part in re.split(r"[/:@]", whole))
        found.update(_PIECE.findall(whole))
        found.update(re.split(r"[./:@-]", whole))
    found.discard("")
    return found
