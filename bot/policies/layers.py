"""Which entries of the file hold for a job, in what order, and what they come to together. It gives no value a meaning.

Lowest first: what is built in, `defaults`, the owning team, a local job's declaration, each matching entry of `jobs`.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import translate
from typing import Any

from bot.incidents.keys import JobKey
from bot.policies.nodes import Node

OURS = "ontrack"
"""The scheduler of the jobs that are ontrack's own; nobody else's may be called so."""
_NOT_OURS = frozenset(
    {"team", "schedule", "open_after", "recovers_by", "downstream", "runbook", "safe_to_retry", "causes", "late"}
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Layer:
    """Settings that hold for the jobs that `match` (None: for all); `origin` and `node` say where they stand."""

    origin: str
    settings: Mapping[str, Any]
    match: str | None = None
    node: Node | None = field(default=None, repr=False)


class Layers:
    """All layers of a file, found by job. Immutable, safe among threads."""

    def __init__(
        self, *, base: Iterable[Layer], teams: Mapping[str, Layer], declared: Iterable[Layer], jobs: Iterable[Layer]
    ) -> None:
        self._base = tuple(base)
        self._teams = dict(teams)
        self._exact: dict[str, list[tuple[int, Layer]]] = {}
        self._globs: list[tuple[int, re.Pattern[str], Layer]] = []
        declared, jobs = tuple(declared), tuple(jobs)
        self._everything = (*self._base, *declared, *jobs)
        self._ours = tuple(_for_ours(layer) for layer in self._base)
        for layer in declared:
            self._exact.setdefault(layer.match or "", []).append((-1, layer))
        for order, layer in enumerate(jobs):
            match = layer.match or ""
            if any(sign in match for sign in "*?["):
                self._globs.append((order, re.compile(translate(match)), layer))
            else:
                self._exact.setdefault(match, []).append((order, layer))

    def everything(self) -> tuple[Layer, ...]:
        """Every layer of the file but those of teams."""
        return self._everything

    def of(self, job: JobKey) -> tuple[Layer, ...]:
        """The layers that hold for `job`, lowest first.

        A job of ontrack's own takes what `defaults` say of people and messages, and only entries that name `ontrack/`.
        """
        name = str(job)
        found = [*self._exact.get(name, ()), *((order, each) for order, glob, each in self._globs if glob.match(name))]
        matching = [layer for _, layer in sorted(found, key=lambda each: each[0])]
        base = self._base
        if job.scheduler == OURS:
            base, matching = self._ours, [each for each in matching if (each.match or "").startswith(f"{OURS}/")]
        named = [layer.settings["team"] for layer in (*base, *matching) if "team" in layer.settings]
        team = self._teams.get(named[-1]) if named and named[-1] else None
        return (*base, *((team,) if team else ()), *matching)


def _for_ours(layer: Layer) -> Layer:
    settings = {name: value for name, value in layer.settings.items() if name not in _NOT_OURS}
    return Layer(origin=layer.origin, settings=settings, match=layer.match, node=layer.node)


def merged(layers: Iterable[Layer]) -> dict[str, Any]:
    """All settings together: later keys win, maps merge, everything else replaces."""
    together: dict[str, Any] = {}
    for layer in layers:
        together = _over(together, layer.settings)
    return together


def _over(lower: Mapping[str, Any], upper: Mapping[str, Any]) -> dict[str, Any]:
    both = dict(lower)
    for name, value in upper.items():
        below = both.get(name)
        both[name] = _over(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
    return both


def leaves(layers: Iterable[Layer]) -> dict[tuple[str, ...], tuple[Any, Layer]]:
    """Each setting that holds, by its path, with the layer that it comes from."""
    held: dict[tuple[str, ...], tuple[Any, Layer]] = {}
    for layer in layers:
        for path, value in _flat(layer.settings, ()):
            for below in [each for each in held if each[: len(path)] == path or path[: len(each)] == each]:
                del held[below]
            held[path] = (value, layer)
    return held


def _flat(settings: Mapping[str, Any], above: tuple[str, ...]) -> Iterable[tuple[tuple[str, ...], Any]]:
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value, (*above, name))
        else:
            yield (*above, name), value
