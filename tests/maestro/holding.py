"""Holds what a Maestro said against the field tables, and says where it differs."""

from typing import Any

from tests.maestro.fields import PRIMITIVES, TABLES, WORDS


def breaches(kind: str, value: Any, where: str = "", *, strict: bool = True) -> list[str]:
    """What of `value` is not as the table says; not `strict`: a newer server may have fields that are not here."""
    where = where or kind
    kind = kind.removesuffix("?")
    if value is None:
        return [f"{where} is null"]
    if kind.startswith("["):
        if not isinstance(value, list):
            return [f"{where} is no list"]
        found = [breaches(kind[1:-1], one, f"{where}[{n}]", strict=strict) for n, one in enumerate(value)]
        return [breach for one in found for breach in one]
    if kind.startswith("{"):
        if not isinstance(value, dict):
            return [f"{where} is no map"]
        found = [breaches(kind[1:-1], one, f"{where}.{name}", strict=strict) for name, one in value.items()]
        return [breach for one in found for breach in one]
    if kind in PRIMITIVES:
        return _primitive(kind, value, where)
    if kind in WORDS:
        return [] if value in WORDS[kind] else [f"{where} is {value!r}, which is no {kind}"]
    return _table(kind, value, where, strict=strict)


def _primitive(kind: str, value: Any, where: str) -> list[str]:
    fits = isinstance(value, PRIMITIVES[kind]) and (kind in ("bool", "any") or not isinstance(value, bool))
    return [] if fits else [f"{where} is {value!r}, which is no {kind}"]


def _table(kind: str, value: Any, where: str, *, strict: bool) -> list[str]:
    if not isinstance(value, dict):
        return [f"{where} is {value!r}, which is no {kind}"]
    table = TABLES[kind]
    found = [f"{where} lacks {name}" for name, of in table.items() if not of.endswith("?") and name not in value]
    found += [f"{where} has {name}, which {kind} has not" for name in value if strict and name not in table]
    for name, of in table.items():
        if name in value:
            found += breaches(of, value[name], f"{where}.{name}", strict=strict)
    return found
