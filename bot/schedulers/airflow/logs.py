"""Airflow's structured log of a task as the text that its author would read, and the exception that ended it. Pure."""

from collections.abc import Iterable, Sequence
from typing import Any

LONGEST_LOG = 64 * 1024
MOST_FRAMES = 60


def text_of(content: Iterable[Any]) -> str:
    """The end of the log, a line for each message and a traceback where there is one."""
    lines = [line for one in content for line in _lines(one)]
    return "\n".join(lines)[-LONGEST_LOG:]


def exception_in(content: Sequence[Any]) -> tuple[str | None, str | None]:
    """Type and message of the last exception that the log tells of; the one that was raised, not what caused it."""
    for one in reversed(content):
        told = _raised(one)
        if told:
            last = told[-1]
            return _text(last.get("exc_type")) or None, _text(last.get("exc_value")) or None
    return None, None


def _lines(one: Any) -> list[str]:
    if not isinstance(one, dict):
        return [str(one)]
    at, level, event = (_text(one.get(name)) for name in ("timestamp", "level", "event"))
    line = " ".join(part for part in (f"[{at}]" if at else "", level.upper(), event) if part)
    return [line, *(row for raised in _raised(one) for row in _traceback(raised))]


def _raised(one: Any) -> list[dict[str, Any]]:
    """The exceptions of a message as Python tells them: the cause first."""
    found = one.get("error_detail") if isinstance(one, dict) else None
    return [raised for raised in reversed(found) if isinstance(raised, dict)] if isinstance(found, list) else []


def _traceback(raised: dict[str, Any]) -> list[str]:
    frames = raised.get("frames")
    told = [one for one in frames if isinstance(one, dict)][-MOST_FRAMES:] if isinstance(frames, list) else []
    rows = [f'  File "{one.get("filename")}", line {one.get("lineno")}, in {one.get("name")}' for one in told]
    name, value = _text(raised.get("exc_type")) or "Exception", _text(raised.get("exc_value"))
    return ["Traceback (most recent call last):", *rows, f"{name}: {value}" if value else name]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)
