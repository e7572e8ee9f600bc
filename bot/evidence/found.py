"""A difference that counts, with what ranks it: where it lies, what an error would call it, how much it differs.

It must not know how differences are found.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from bot.evidence.amounts import number, share, size, span
from bot.evidence.differences import NOTHING, Path
from bot.evidence.facts import capped
from bot.evidence.text_diffs import TextDiff
from bot.evidence.types import Change, ChangeKind
from bot.evidence.usual import is_number

VALUE_CAP = 200
SAID_CAP = 60
SAYS_CAP = 300
LISTED = 50


class Aspect(StrEnum):
    """What a difference is about, the likeliest reason of a failure first; what a run used and took tells its effect."""

    CODE = "code"
    CONFIG = "config"
    PARAMS = "params"
    SCHEMA = "schema"
    VOLUME = "volume"
    ENV = "env"
    RESOURCES = "resources"
    UPSTREAM = "upstream"
    OTHER = "other"
    USAGE = "usage"
    TIMING = "timing"


ORDER = {aspect: place for place, aspect in enumerate(Aspect)}
_ASPECTS = {str(aspect): aspect for aspect in Aspect}
CHOSEN = frozenset({Aspect.CODE, Aspect.CONFIG, Aspect.PARAMS, Aspect.SCHEMA, Aspect.ENV})
FITTING = {
    "resource": frozenset({Aspect.RESOURCES, Aspect.VOLUME}),
    "data": frozenset({Aspect.SCHEMA, Aspect.VOLUME}),
    "upstream": frozenset({Aspect.SCHEMA, Aspect.VOLUME, Aspect.UPSTREAM}),
    "config": frozenset({Aspect.CONFIG, Aspect.PARAMS, Aspect.ENV}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One difference; `names` are the words by which an error would speak of it, `weight` is its size in its aspect.

    `alone` are words by which it would, but only where it quotes just them.
    """

    aspect: Aspect
    path: Path
    before: Any
    after: Any
    says: str
    note: str | None = None
    names: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()
    weight: float = 1.0
    diff: TextDiff | None = field(default=None)

    def change(self, *, rank: int, named: str | None, with_diff: bool) -> Change:
        """Return it as it is told; `named` is the word by which the error speaks of it."""
        return Change(
            path=capped(".".join(self.path), VALUE_CAP),
            kind=kind_of(self.before, self.after),
            before=shown(self.before, self.path, self.aspect),
            after=shown(self.after, self.path, self.aspect),
            note=capped(self.note, VALUE_CAP) if self.note else None,
            rank=rank,
            says=capped(self.says, SAYS_CAP) + (", which the error names" if named else ""),
            diff=self.diff.text if self.diff and with_diff else None,
        )


def aspect_of(name: str) -> Aspect:
    """Return the aspect of a namespace of facts."""
    return _ASPECTS.get(name, Aspect.OTHER)


def kind_of(before: Any, after: Any) -> ChangeKind:
    if before is NOTHING:
        return ChangeKind.ADDED
    return ChangeKind.REMOVED if after is NOTHING else ChangeKind.CHANGED


def shown(value: Any, path: Path, aspect: Aspect) -> str | None:
    """Return a value as a cell of the table shows it; None where there is none."""
    if value is NOTHING:
        return None
    if isinstance(value, bool) or value is None:
        return str(value).lower() if value is not None else "none"
    if isinstance(value, list):
        return capped(", ".join(str(one) for one in value[:LISTED]), VALUE_CAP)
    if isinstance(value, dict):
        return capped(", ".join(f"{name}: {inner}" for name, inner in list(value.items())[:LISTED]), VALUE_CAP)
    if is_number(value):
        return capped(_number(value, path, aspect), VALUE_CAP)
    text = str(value)
    return f"{text.count(chr(10)) + 1} lines" if "\n" in text else capped(text, VALUE_CAP)


def said(value: Any, path: Path, aspect: Aspect) -> str:
    """Return a value as a sentence says it."""
    return capped(shown(value, path, aspect) or "nothing", SAID_CAP)


def part(before: Any, after: Any) -> str | None:
    """Return the relative change of two values; None where there is none."""
    return share(before, after) if is_number(before) and is_number(after) else None


def _number(value: float, path: Path, aspect: Aspect) -> str:
    leaf = path[-1]
    if aspect is Aspect.TIMING:
        return span(seconds(leaf, value))
    if aspect in CHOSEN:
        return str(value)
    if leaf == "bytes" or leaf.endswith("_bytes"):
        return size(value)
    return f"{value:,}" if isinstance(value, int) and aspect is Aspect.VOLUME else number(value)


def seconds(leaf: str, value: float) -> float:
    """Return a duration in seconds, told in the unit that its name says."""
    return value / 1000 if leaf.endswith(("_ms", "millis", "milliseconds")) else value
