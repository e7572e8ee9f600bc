"""Compares the inputs of two runs: which are there, their columns, how much they hold. It ranks nothing."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from bot.evidence.differences import NOTHING, Difference, differences
from bot.evidence.facts import capped
from bot.evidence.found import Aspect, Found

COLUMNS = ("schema", "header", "columns")
AMOUNTS = ("rows", "bytes", "size", "files")
NAMED = 3
MOST_NOTES = 20


def compared(before: Any, after: Any) -> Iterator[Found | Difference]:
    """Yield what differs; an amount or another value as a bare difference, for the caller to weigh."""
    olds, news = mapping(before), mapping(after)
    for name in dict.fromkeys((*olds, *news)):
        old, new = olds.get(name, NOTHING), news.get(name, NOTHING)
        if old is NOTHING:
            yield _whole(name, NOTHING, _brief(new), "is new", "new input")
        elif new is NOTHING or (mapping(new).get("missing") is True and mapping(old).get("missing") is not True):
            yield _whole(name, _brief(old), NOTHING, "is missing", "input missing")
        else:
            yield from _inner(name, mapping(old), mapping(new))


def file_name(name: str) -> str:
    """Return the last part of a path, which is how people call a file."""
    return name.rstrip("/").rpartition("/")[2] or name


def names_of(name: str) -> tuple[str, ...]:
    """Return what an error may call an input: its path, its file, its table."""
    return tuple(dict.fromkeys((name, file_name(name))))


def stems_of(name: str) -> tuple[str, ...]:
    """Return what an error may call an input for short: its file without the ending, its table without the schema."""
    stem, dot, ending = file_name(name).rpartition(".")
    return tuple(filter(None, (stem, ending if len(ending) > 4 else ""))) if dot else ()


def mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _whole(name: str, before: Any, after: Any, word: str, note: str) -> Found:
    return Found(
        aspect=Aspect.SCHEMA,
        path=("inputs", name),
        before=before,
        after=after,
        says=f"input {file_name(name)} {word}",
        note=note,
        names=names_of(name),
        alone=stems_of(name),
        weight=3.0 if after is NOTHING else 1.0,
    )


def _brief(facts: Any) -> str:
    if not isinstance(facts, Mapping):
        return str(facts)
    return ", ".join(f"{name} {facts[name]}" for name in ("rows", "bytes") if name in facts)


def _inner(name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Found | Difference]:
    typed = "schema" in before and "schema" in after
    for inner in dict.fromkeys((*before, *after)):
        old, new = before.get(inner, NOTHING), after.get(inner, NOTHING)
        if inner in COLUMNS:
            if inner == "schema" or not typed:
                yield from _columns(("inputs", name, inner), old, new)
        else:
            yield from differences(("inputs", name, inner), old, new)


def _columns(path: tuple[str, ...], before: Any, after: Any) -> Iterator[Found | Difference]:
    old, new = columns_of(before), columns_of(after)
    if old is None or new is None:
        if before != after:
            yield Difference(path=path, before=before, after=after)
        return
    lost = [name for name in old if name not in new]
    gained = [name for name in new if name not in old]
    retyped = [name for name in old if name in new and old[name] and new[name] and old[name] != new[name]]
    moved = not (lost or gained) and list(old) != list(new)
    if not (lost or gained or retyped or moved):
        return
    notes = [f"column {name} removed" for name in lost] + [f"column {name} added" for name in gained]
    notes += [f"column {name} changed type from {old[name]} to {new[name]}" for name in retyped]
    notes += ["columns in another order"] if moved and not notes else []
    file = file_name(path[1])
    parts = [f"lost {_columns_named(lost)}"] if lost else []
    parts += [f"has {_columns_named(gained)} that it had not"] if gained else []
    parts += [f"has `{name}` as {new[name]}, it was {old[name]}" for name in retyped[:NAMED]]
    parts += ["has its columns in another order"] if moved and not parts else []
    yield Found(
        aspect=Aspect.SCHEMA,
        path=path,
        before=list(old),
        after=list(new),
        says=f"input {file} {' and '.join(parts)}",
        note="; ".join(notes[:MOST_NOTES]),
        names=(*lost, *retyped, *gained),
        weight=2.0 + len(lost) + len(retyped) if lost or retyped else 1.0,
    )


def _columns_named(names: list[str]) -> str:
    shown = ", ".join(f"`{capped(name, 60)}`" for name in names[:NAMED])
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"column{'' if len(names) == 1 else 's'} {shown}{more}"


def columns_of(schema: Any) -> dict[str, str] | None:
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
