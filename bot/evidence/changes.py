"""Compares the facts of a failed run with the last good run's and ranks what differs.

It expects facts that were masked and capped already, and never says that nothing changed: an empty answer means
that nothing was found among what is known.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from bot.evidence.amounts import number, span
from bot.evidence.facts import capped
from bot.evidence.types import Change, ChangeKind

VALUE_CAP = 200
CHANGES_CAP = 100
VOLUME_STEP = 0.2
TIMING_STEP = 0.5
TELLING_SECONDS = 5.0

_ORDER = ("code", "config", "params", "schema", "volume", "env", "resources", "upstream", "timing")
_LAST = len(_ORDER)
_CHOSEN = frozenset(_ORDER.index(name) for name in ("code", "config", "params", "schema", "env"))
_TIMING = _ORDER.index("timing")
_NOISE_NAME = re.compile(
    r"(?:^|_)(?:run_?id|uuid|guid|pid|ppid|host|hostname|host_?name|pod|pod_?name|node|node_?name|ip|address|attempt|try_number|generation"
    r"|nonce|timestamp|time|now|started|ended|created|modified|updated|tmpdir|temp|cwd_inode|correlation_?id|request_?id|trace_?id"
    r"|container_?id|task_?id|execution_?date|logical_?date|nominal_?time|data_interval)$|_at$|_ts$",
    re.IGNORECASE,
)
_NOISE_VALUE = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)?"
    r"|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
    r"|/(?:tmp|var/tmp|var/folders|dev/shm|run)/\S{1,400}"
    r"|0x[0-9a-fA-F]{1,32}|(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?"
)
_DURATIONS = re.compile(r"duration|elapsed|seconds|_s$|_ms$", re.IGNORECASE)
_MILLIS = re.compile(r"_ms$|millis(?:econds)?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    order: int
    size: float
    change: Change


def changes_between(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Change, ...]:
    """Return what differs, what most plausibly matters first."""
    found: list[_Found] = []
    for name in dict.fromkeys((*before, *after)):
        if name == "inputs":
            found += _inputs(_mapping(before.get(name)), _mapping(after.get(name)))
        else:
            found += _tree(name, before.get(name, _NOTHING), after.get(name, _NOTHING), _order(name))
    found.sort(key=lambda one: (one.order, -one.size, one.change.path))
    return tuple(replace(one.change, rank=rank) for rank, one in enumerate(found[:CHANGES_CAP]))


class _Nothing:
    """Stands for a value that is not there, which None does not."""


_NOTHING = _Nothing()


def _order(name: str) -> int:
    return _ORDER.index(name) if name in _ORDER else _LAST


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _tree(path: str, before: Any, after: Any, order: int) -> Iterator[_Found]:
    if before == after and type(before) is type(after):
        return
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in dict.fromkeys((*before, *after)):
            yield from _tree(f"{path}.{name}", before.get(name, _NOTHING), after.get(name, _NOTHING), order)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _lists(path, before, after, order)
    elif not _is_noise(path, before, after, order):
        yield _found(path, before, after, order)


def _is_noise(path: str, before: Any, after: Any, order: int) -> bool:
    if _NOISE_NAME.search(path.rpartition(".")[2]):
        return True
    if isinstance(before, str) and isinstance(after, str):
        return bool(_NOISE_VALUE.fullmatch(before) and _NOISE_VALUE.fullmatch(after))
    if not (_is_number(before) and _is_number(after)):
        return order == _TIMING and (before is _NOTHING or after is _NOTHING)
    if order in _CHOSEN:
        return False
    share = _share(before, after)
    if order == _TIMING or _DURATIONS.search(path):
        long = abs(_seconds(path, after) - _seconds(path, before)) >= TELLING_SECONDS
        return not long or (share is not None and abs(share) < TIMING_STEP)
    return share is not None and order == _ORDER.index("resources") and abs(share) < VOLUME_STEP


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _seconds(path: str, value: float) -> float:
    return value / 1000 if _MILLIS.search(path) else value


def _share(before: Any, after: Any) -> float | None:
    """Return the relative change of two numbers, None where there is none."""
    if not _is_number(before) or not _is_number(after) or before == 0:
        return None
    return (float(after) - float(before)) / abs(float(before))


def _found(path: str, before: Any, after: Any, order: int, *, note: str | None = None) -> _Found:
    kind = ChangeKind.ADDED if before is _NOTHING else ChangeKind.REMOVED if after is _NOTHING else ChangeKind.CHANGED
    share = _share(before, after)
    return _Found(
        order=order,
        size=abs(share) if share is not None else 1.0,
        change=Change(
            path=capped(path, VALUE_CAP),
            kind=kind,
            before=_shown(before, path, order),
            after=_shown(after, path, order),
            note=note or (_percent(share) if share is not None else None),
            rank=0,
        ),
    )


def _shown(value: Any, path: str, order: int) -> str | None:
    if value is _NOTHING:
        return None
    if isinstance(value, bool) or value is None:
        return str(value).lower() if value is not None else "none"
    if isinstance(value, list):
        return capped(", ".join(str(one) for one in value[:50]), VALUE_CAP)
    if isinstance(value, Mapping):
        return capped(", ".join(f"{name}: {inner}" for name, inner in list(value.items())[:50]), VALUE_CAP)
    if _is_number(value) and order == _TIMING:
        return capped(span(_seconds(path, value)), VALUE_CAP)
    if isinstance(value, float) and order not in _CHOSEN:
        return number(value)
    return capped(str(value), VALUE_CAP)


def _percent(share: float) -> str:
    percent = share * 100
    if percent > 1000:
        return f"{share + 1:,.0f} times as much".replace(",", " ")
    digits = 3 if -100 < percent < -99.9 else 1 if abs(percent) < 10 else 0
    return f"{percent:+.{digits}f} %"


def _lists(path: str, before: list[Any], after: list[Any], order: int) -> Iterator[_Found]:
    old = {str(one) for one in before}
    new = {str(one) for one in after}
    gone = [str(one) for one in before if str(one) not in new]
    come = [str(one) for one in after if str(one) not in old]
    parts = [
        f"{word} {capped(', '.join(some[:10]), VALUE_CAP)}"
        for word, some in (("removed", gone), ("added", come))
        if some
    ]
    yield _found(path, before, after, order, note="; ".join(parts) or "order changed")


def _inputs(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[_Found]:
    for name in dict.fromkeys((*before, *after)):
        path = f"inputs.{name}"
        old, new = before.get(name), after.get(name)
        if old is not None and new is not None:
            yield from _input(path, _mapping(old), _mapping(new))
        elif old is not None:
            yield _found(path, _brief(old), _NOTHING, _order("schema"), note="input missing")
        elif new is not None:
            yield _found(path, _NOTHING, _brief(new), _order("schema"), note="new input")


def _brief(facts: Any) -> str:
    return (
        ", ".join(f"{name} {facts[name]}" for name in ("rows", "bytes") if name in facts)
        if isinstance(facts, Mapping)
        else str(facts)
    )


def _input(path: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[_Found]:
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name, _NOTHING), after.get(name, _NOTHING)
        if name in ("schema", "header", "columns"):
            if not (name != "schema" and "schema" in before and "schema" in after):
                yield from _schema(f"{path}.{name}", old, new)
        elif name in ("rows", "bytes", "size", "files"):
            yield from _volume(f"{path}.{name}", old, new)
        else:
            yield from _tree(f"{path}.{name}", old, new, _order("volume"))


def _schema(path: str, before: Any, after: Any) -> Iterator[_Found]:
    old, new = _columns(before), _columns(after)
    if old is None or new is None:
        if before != after:
            yield _found(path, before, after, _order("schema"))
        return
    notes = [f"column {name} removed" for name in old if name not in new]
    notes += [f"column {name} added" for name in new if name not in old]
    notes += [
        f"column {name} changed type from {old[name]} to {new[name]}"
        for name in old
        if name in new and old[name] and new[name] and old[name] != new[name]
    ]
    if not notes and list(old) != list(new):
        notes.append("columns in another order")
    if notes:
        gone = sum(1 for note in notes if not note.endswith("added"))
        note = capped("; ".join(notes[:20]), VALUE_CAP)
        yield replace(_found(path, list(old), list(new), _order("schema"), note=note), size=1.0 + gone)


def _columns(schema: Any) -> dict[str, str] | None:
    """Return name to type (empty where unknown) of a schema given as names, records, a mapping or a header line."""
    if isinstance(schema, str):
        schema = re.split(r"[,;\t|]", schema)
    if isinstance(schema, Mapping):
        return {str(name): str(kind) for name, kind in schema.items()}
    if not isinstance(schema, list):
        return None
    columns: dict[str, str] = {}
    for column in schema:
        if isinstance(column, Mapping):
            columns[str(column.get("name"))] = str(column.get("type") or "")
        else:
            columns[str(column).strip().strip('"')] = ""
    return columns


def _volume(path: str, before: Any, after: Any) -> Iterator[_Found]:
    share = _share(before, after)
    if before == after or (share is not None and abs(share) < VOLUME_STEP):
        return
    note = "empty now" if after == 0 else "was empty" if before == 0 else None
    yield _found(path, before, after, _order("volume"), note=note)
