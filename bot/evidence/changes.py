"""Compares the facts of a failed run with the last good runs' and ranks what differs by how plausibly it matters.

It expects facts that were masked and capped already, and never says that nothing changed: an empty answer means
that nothing was found among what is known.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bot.evidence import inputs
from bot.evidence.amounts import share
from bot.evidence.differences import NOTHING, Difference, Path, differences
from bot.evidence.facts import capped
from bot.evidence.found import CHOSEN, FITTING, ORDER, Aspect, Found, aspect_of, part, seconds
from bot.evidence.named import Spoken, spoken
from bot.evidence.reasons import label_of, says, says_code, says_number
from bot.evidence.text_diffs import text_diff
from bot.evidence.types import Change
from bot.evidence.usual import Usual, is_number, usual

CHANGES_CAP = 100
DIFFS_CAP = 5
VOLUME_STEP = 0.2
TIMING_STEP = 0.5
TELLING_SECONDS = 5.0
LISTED = 10

_DURATIONS = re.compile(r"duration|elapsed|seconds|_s$|_ms$", re.IGNORECASE)
_BOUNDS = re.compile(r"limit|timeout|quota|request|cores|cpus|workers|executors|instance|spot", re.IGNORECASE)
_LINE = re.compile(r"\n")


def changes_between(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    *,
    earlier: Sequence[Mapping[str, Any]] = (),
    error: str = "",
    cause: str = "",
) -> tuple[Change, ...]:
    """Return what differs from the last good run `before`, what most plausibly matters first.

    `earlier` are the facts of good runs before it, by which numbers are judged; `error` is what the root error says,
    `cause` the id of its class: what they speak of comes first.
    """
    judge = _Judge(past=(before, *earlier), before=before, after=after)
    told, fitting = spoken(error), FITTING.get(cause.partition(".")[0], frozenset())
    pairs = ((_named(one, told), one) for one in judge.found())
    ranked = sorted(pairs, key=lambda pair: _rank(pair[0], pair[1], fitting))
    return tuple(
        one.change(rank=rank, named=name, with_diff=rank < DIFFS_CAP)
        for rank, (name, one) in enumerate(ranked[:CHANGES_CAP])
    )


def _named(one: Found, told: Spoken) -> str | None:
    if one.aspect in (Aspect.USAGE, Aspect.TIMING):
        return None
    if one.diff is not None and told.quotes_of(one.diff.changed):
        return one.path[-1]
    return told.names(one.names, alone=one.alone)


def _rank(name: str | None, one: Found, fitting: frozenset[Aspect]) -> tuple[bool, bool, int, float, Path]:
    return name is None, one.aspect not in fitting, ORDER[one.aspect], -one.weight, one.path


@dataclass(slots=True)
class _Judge:
    """Which differences count, given what was usual."""

    past: Sequence[Mapping[str, Any]]
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    diffs: int = 0

    def found(self) -> Iterator[Found]:
        """Yield what counts in the namespaces that both runs tell of; what one does not record has not changed."""
        for name in self.before:
            if name not in self.after:
                continue
            old, new = self.before[name], self.after[name]
            if name == "inputs":
                for one in inputs.compared(old, new):
                    yield from (one,) if isinstance(one, Found) else self._input(one)
            elif name == "code":
                for difference in differences((name,), _without_commits(old), _without_commits(new)):
                    yield from self._other(difference, Aspect.CODE)
            else:
                for difference in differences((name,), old, new):
                    yield from self._other(difference, aspect_of(name))

    def _input(self, difference: Difference) -> Iterator[Found]:
        name, leaf = difference.path[1], difference.path[-1]
        names, alone = inputs.names_of(name), inputs.stems_of(name)
        if leaf == "digest":
            if not self._has_diff(name):
                said = f"{inputs.file_name(name)} was edited"
                yield _plain(difference, Aspect.CONFIG, said, names=names, alone=alone)
        elif leaf == "text" and isinstance(difference.before, str) and isinstance(difference.after, str):
            yield self._text(difference, Aspect.CONFIG, inputs.file_name(name))
        elif is_number(difference.before) and is_number(difference.after):
            of = f" of {inputs.file_name(name)}"
            for one in self._number(difference, Aspect.VOLUME, of=of):
                yield replace(one, names=names, alone=alone)
        else:
            said = f"input {inputs.file_name(name)}: {says(difference, Aspect.OTHER).removeprefix(f'inputs.{name}.')}"
            yield _plain(difference, Aspect.VOLUME, said, names=names, alone=alone)

    def _other(self, difference: Difference, aspect: Aspect) -> Iterator[Found]:
        before, after = difference.before, difference.after
        both = is_number(before) and is_number(after)
        if both and aspect not in CHOSEN and self._measured(difference, aspect):
            yield from self._number(difference, Aspect.USAGE if aspect is Aspect.RESOURCES else aspect)
        elif aspect is Aspect.TIMING and (before is NOTHING or after is NOTHING):
            return
        elif isinstance(before, str) and isinstance(after, str) and ("\n" in before or "\n" in after):
            yield self._text(difference, aspect, label_of(difference, aspect))
        elif isinstance(before, list) and isinstance(after, list):
            yield _list(difference, aspect)
        elif aspect is Aspect.CODE:
            told = says_code(
                difference, inputs.mapping(self.before.get("code")), inputs.mapping(self.after.get("code"))
            )
            yield _plain(difference, aspect, told, names=_names(difference))
        else:
            yield _plain(difference, aspect, says(difference, aspect), names=_names(difference))

    def _measured(self, difference: Difference, aspect: Aspect) -> bool:
        """Whether a number was measured, so that it may differ a little from run to run."""
        if aspect is Aspect.RESOURCES:
            return not _BOUNDS.search(difference.path[-1])
        return aspect in (Aspect.VOLUME, Aspect.TIMING) or bool(_DURATIONS.search(difference.path[-1]))

    def _number(self, difference: Difference, aspect: Aspect, *, of: str = "") -> Iterator[Found]:
        before, after, leaf = difference.before, difference.after, difference.path[-1]
        known = usual([_at(run, difference.path) for run in self.past])
        timing = aspect is Aspect.TIMING or _DURATIONS.search(leaf) is not None
        if not _unlike(before, after, known, step=TIMING_STEP if timing else VOLUME_STEP):
            return
        normal = known.middle if known else before
        if timing and abs(seconds(leaf, after) - seconds(leaf, normal)) < TELLING_SECONDS:
            return
        note = "empty now" if after == 0 else "was empty" if before == 0 else share(normal, after)
        yield Found(
            aspect=aspect,
            path=difference.path,
            before=before,
            after=after,
            says=says_number(difference, aspect, of, known),
            note=note,
            names=_names(difference),
            weight=abs(float(after) - float(normal)) / abs(normal) if normal else 1.0,
        )

    def _has_diff(self, name: str) -> bool:
        """Whether the words of an input differ in both runs, which says more than its digest does."""
        old, new = (inputs.mapping(inputs.mapping(run.get("inputs")).get(name)) for run in (self.before, self.after))
        texts = (old.get("text"), new.get("text"))
        return all(isinstance(text, str) for text in texts) and texts[0] != texts[1]

    def _text(self, difference: Difference, aspect: Aspect, label: str) -> Found:
        self.diffs += 1
        if self.diffs > DIFFS_CAP:
            return _plain(difference, aspect, f"{label} was edited", names=_names(difference))
        diff = text_diff(difference.before, difference.after)
        note = f"{diff.added} lines added, {diff.removed} removed".replace("1 lines", "1 line")
        return _plain(difference, aspect, f"{label}: {note}", names=_names(difference), note=note, diff=diff)


def _without_commits(code: Any) -> Any:
    """The facts of the code without its history, by which commits are counted only."""
    return {name: value for name, value in code.items() if name != "commits"} if isinstance(code, Mapping) else code


def _plain(difference: Difference, aspect: Aspect, told: str, **more: Any) -> Found:
    path, before, after = difference.path, difference.before, difference.after
    return Found(
        aspect=aspect, path=path, before=before, after=after, says=told, **{"note": part(before, after), **more}
    )


def _names(difference: Difference) -> tuple[str, ...]:
    """What an error may call it: its own name, the value that it has now, the one that it had."""
    values = [value for value in (difference.after, difference.before) if isinstance(value, str) and len(value) <= 200]
    return (difference.path[-1], *(value for value in values if not _LINE.search(value)))


def _list(difference: Difference, aspect: Aspect) -> Found:
    old, new = [str(one) for one in difference.before], [str(one) for one in difference.after]
    known, there = set(old), set(new)
    gone, come = [one for one in old if one not in there], [one for one in new if one not in known]
    parts = [
        f"{word} {capped(', '.join(some[:LISTED]), 200)}" for word, some in (("removed", gone), ("added", come)) if some
    ]
    note = "; ".join(parts) or "order changed"
    label = label_of(difference, aspect)
    return _plain(difference, aspect, f"{label}: {note}", note=note, names=(*gone, *come, difference.path[-1]))


def _unlike(before: float, after: float, known: Usual | None, *, step: float) -> bool:
    """Whether a number tells something: far from the last good run's, and from all of them where they are enough."""
    far = before == 0 or abs(after - before) >= step * abs(before)
    return far if known is None else far and known.unlike(after, step=step)


def _at(run: Mapping[str, Any], path: Path) -> Any:
    value: Any = run
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
