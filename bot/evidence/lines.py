"""Reads a line of a cleaned log with its level, taking off the prefixes that loggers and containers add.

It never decides which line matters.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from bot.evidence.masking import mask

LINE_CAP = 4000
RECORD_CAP = 64 * 1024
PARTS_CAP = 500


class Level(IntEnum):
    NONE = 0
    DEBUG = 1
    INFO = 2
    WARN = 3
    ERROR = 4


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line: `text` is what the program said, masked, without its prefixes; `shown` is what the log holds.

    A prefix may be what gives a secret away, so that text is masked before it is taken off.
    """

    number: int
    level: Level
    text: str
    shown: str
    prefixed: bool


_LEVELS = {
    "trace": Level.DEBUG,
    "debug": Level.DEBUG,
    "info": Level.INFO,
    "notice": Level.INFO,
    "warn": Level.WARN,
    "warning": Level.WARN,
    "error": Level.ERROR,
    "err": Level.ERROR,
    "severe": Level.ERROR,
    "critical": Level.ERROR,
    "fatal": Level.ERROR,
    "panic": Level.ERROR,
    "emerg": Level.ERROR,
    "alert": Level.ERROR,
}
_STAMP = (
    r"[\[({]{0,2}(?:"
    r"\d{4}[-./]\d\d[-./]\d\d(?:[T ,]{1,2}\d\d:\d\d(?::\d\d)?(?:[.,]\d{1,9})?)?(?:\s?(?:Z|UTC|[+-]\d\d:?\d\d))?"
    r"|\d\d[/.-](?:\d\d|[A-Z][a-z]{2})[/.-]\d{2,4}[ :T]\d\d:\d\d(?::\d\d)?(?:[.,]\d{1,9})?(?: [AP]M)?"
    r"|(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?[A-Z][a-z]{2}[- ] ?\d{1,2} (?:\d{4} )?\d\d:\d\d:\d\d(?:\.\d{1,9})?(?: \d{4})?"
    r"|\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
    r")[\])}]{0,2}[:|]?(?=\s|$) ?"
)
_PREFIX = re.compile(
    rf"(?:{_STAMP}"
    r"|\[\d{0,3}(?:;\d{1,3}){0,4}m"
    r"|\[(?:task|taskcluster)[^\]\n]{0,60}\] ?"
    r"|\{\{?[\w./-]{1,80}:\d{1,6}\}?\} ?"
    r"|(?:stdout|stderr) [FP] "
    r"|Step #\d{1,4}(?: - \"[^\"\n]{1,60}\")?: "
    r"|#\d{1,4} (?:\d{1,6}\.\d{1,4} )?(?=\S)"
    r"|(?:main|wait|sidecar|wf): (?=\S)"
    r"|Subtask(?: \w{1,80})?: "
    r"|\[pid \d{1,8}\] ?"
    r"|<\d{1,8}> ?"
    r"|\[\s?\d{1,8}\s?\] ?"
    r"|\{[\w-]{0,40}\} (?=[<\[A-Z])"
    r"|[|] "
    r"|- (?=\S))"
)
_LEVEL = re.compile(
    r"(?:[\[<(]\s?(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|SEVERE|CRITICAL|FATAL|PANIC)\s{0,3}[\])>](?:\s?[:|-])?\s?"
    r"|(?-i:(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|SEVERE|CRITICAL|FATAL))(?:\s{0,8}[:|-](?=\s)|(?=\s)|:(?=\w)|$)\s{0,8})",
    re.IGNORECASE,
)
_LOGGER = re.compile(
    r"(?:\[[^\]\n]{1,80}\]\s{1,3}){0,2}(?P<name>[A-Za-z_][\w.$/-]{0,120}(?:\[[^\]\n]{0,60}\])?)(?P<end>:(?=\S)[\w.-]{1,60}:|\s{0,60}[:>](?=\s)|\s{1,60}-(?=\s))\s{1,3}"
)
_THREAD = re.compile(r"\[[\w ./:#-]{1,80}\]\s{1,40}(?=\S)")
_ERROR_NAME = re.compile(r"(?:Error|Exception|Failure|Fault|Timeout|error|fatal|failed)$")
_LOGFMT = re.compile(r"(?<!\S)(\w{1,30})=(?:\"((?:[^\"\\]|\\.){0,3000})\"|([^\s\"]{1,300}))")
_DAGSTER = re.compile(r"[\w-]{1,40} - (DEBUG|INFO|WARNING|ERROR|CRITICAL) - ")
_SAID = ("message", "msg", "reasonForIncompletion", "event", "text", "log", "textPayload")
_WRONG = ("error", "err", "exception", "exc_info", "stack_trace", "stacktrace", "stack", "error_message", "cause")
_BAD_STATUS = frozenset({"FAILED", "TIMED_OUT", "FAILED_WITH_TERMINAL_ERROR", "ERROR", "CRASHED", "ABORTED"})


def read_line(number: int, raw: bytes) -> Iterator[LogLine]:
    """Read one line of a cleaned log; a record, or a line that holds several, gives several of one number."""
    if len(raw) > RECORD_CAP:
        text = f"{raw[: 2 * LINE_CAP].decode(errors='ignore')} ... {raw[-2 * LINE_CAP :].decode(errors='ignore')}"
    else:
        text = raw.decode(errors="replace")
    for part in text.split("#012")[:PARTS_CAP]:
        yield from _parsed(number, part.rstrip())


def may_hold_several(raw: bytes) -> bool:
    """Whether a line may give more than one."""
    return b"#012" in raw or ((b"\\n" in raw or b"\\u000" in raw) and raw.lstrip().startswith(b"{"))


def _middle_cut(raw: str) -> str:
    return raw if len(raw) <= LINE_CAP else f"{raw[: LINE_CAP // 2]} ... {raw[-LINE_CAP // 2 :]}"


def _parsed(number: int, raw: str) -> Iterator[LogLine]:
    shown = _middle_cut(raw)
    body = raw.lstrip()
    record = _record(raw) if body.startswith("{") and body.endswith("}") else None
    if record is None:
        yield _split(number, mask(shown), shown, Level.NONE)
        return
    level, text = record
    for part in text.split("\n")[:PARTS_CAP]:
        yield _split(number, mask(part[: 2 * LINE_CAP])[:LINE_CAP], shown, level)


def _record(raw: str) -> tuple[Level, str] | None:
    try:
        record = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    name = _first(record, ("level", "severity", "lvl", "levelname", "log.level")).lower()
    level = _LEVELS.get(name, Level.NONE)
    if record.get("status") in _BAD_STATUS and isinstance(record.get("reasonForIncompletion"), str):
        level = Level.ERROR
    said = _first(record, _SAID)
    wrong = _first(record, _WRONG)
    if level is Level.NONE and not said:
        return None
    if wrong and said and level in (Level.ERROR, Level.NONE):
        return level, f"{said}: {wrong}"
    return level, wrong if wrong and not said else said


def _first(record: dict[str, Any], names: tuple[str, ...]) -> str:
    for name in names:
        value = record.get(name)
        if isinstance(value, dict):
            value = value.get("message") or value.get("msg")
        if isinstance(value, str) and value:
            return value
    return ""


def _split(number: int, text: str, shown: str, level: Level) -> LogLine:
    rest = text
    prefixed = level is not Level.NONE
    for _ in range(8):
        found = _PREFIX.match(rest)
        if found is not None and found.end() > 0:
            rest = rest[found.end() :]
            prefixed = True
            continue
        marked = _LEVEL.match(rest) or (_DAGSTER.match(rest) if prefixed else None)
        if marked is None:
            if prefixed and (thread := _THREAD.match(rest)) is not None:
                rest = rest[thread.end() :]
                continue
            break
        word = next(group for group in marked.groups() if group)
        level = max(level, _LEVELS[word.lower()])
        rest = rest[marked.end() :]
        prefixed = True
    if "level=" in rest[:400] or "msg=" in rest[:400]:
        level, rest = _logfmt(level, rest)
    if level is not Level.NONE:
        rest = _without_logger(rest)
    return LogLine(number, level, rest, shown, prefixed)


def _logfmt(level: Level, text: str) -> tuple[Level, str]:
    fields = {found[1].lower(): found[2] if found[2] is not None else found[3] for found in _LOGFMT.finditer(text)}
    told = _LEVELS.get(fields.get("level", "").lower())
    said = fields.get("msg") or fields.get("message")
    if told is None or said is None:
        return level, text
    wrong = next((fields[name] for name in _WRONG if name in fields), None)
    text = f"{said}: {wrong}" if wrong and wrong != "<nil>" else said
    return max(level, told), text.replace('\\"', '"').replace("\\n", "\n")


def _without_logger(text: str) -> str:
    found = _LOGGER.match(text)
    if found is None or _ERROR_NAME.search(found["name"]):
        return text
    return text[found.end() :]
