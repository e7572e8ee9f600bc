"""Finds the places in a log where something says that it failed, and how they hang together.

It does not choose among them, and it knows no causes.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from bot.evidence.finding import Finding, Link, Weight
from bot.evidence.lines import Level, LogLine
from bot.evidence.log import Log
from bot.evidence.shapes import (
    ABRUPT,
    AFTERWARDS,
    CAUSED,
    CONTINUES,
    DBT,
    DIRECT,
    DURING,
    EVENT,
    EXCEPTION,
    FRAME,
    GO,
    HEAD,
    LOST_TASK,
    OPEN_END,
    PANIC,
    PLAIN_TYPE,
    POINTS,
    QUIET,
    RETRYING,
    RUBY_CLASS,
    RUBY_FRAME,
    RUBY_RAISE,
    STATUS,
    TRACEBACK,
    WITHIN,
    WRAPPER,
)

MESSAGE_CAP = 2000
CONTINUATION = 8


def find_failures(lines: Log, *, loud: Iterable[int] | None = None) -> tuple[Finding, ...]:
    """Return the findings in order, each with the number of its chain; `loud` takes the place of the log's own."""
    found: list[Finding] = []
    link = Link.NONE
    after = 0
    for index in lines.loud if loud is None else loud:
        if index < after:
            continue
        text = lines[index].text
        if DIRECT in text or DURING in text:
            link = Link.WRAPPER if DIRECT in text else Link.CONTEXT
            continue
        finding = _traceback(lines, index) if TRACEBACK.match(text) else _at(lines, index)
        if finding is None:
            continue
        finding = _linked(finding, found, link)
        link = Link.NONE
        found.append(finding)
        after = finding.last + 1
    return tuple(_without_titles(found, lines))


def _without_titles(found: Sequence[Finding], lines: Sequence[LogLine]) -> list[Finding]:
    """Weigh a line that only announces the exception printed right below it as the wrapper that it is."""
    weighed = list(found)
    for at, (title, following) in enumerate(pairwise(found)):
        near = following.start <= title.last + 3 and not lines[following.start].prefixed
        if title.type is None and following.type is not None and near:
            weighed[at] = replace(title, weight=Weight.WRAPPER)
    return weighed


def _linked(finding: Finding, found: Sequence[Finding], link: Link) -> Finding:
    previous = found[-1] if found else None
    if previous is None:
        return replace(finding, link=Link.NONE, chain=0)
    if finding.link is Link.CAUSE and finding.first - previous.last < 400:
        return replace(finding, chain=previous.chain)
    if link is not Link.NONE and previous.weight is Weight.TYPED:
        return replace(finding, link=link, chain=previous.chain)
    return replace(finding, link=Link.NONE, chain=previous.chain + 1)


def _traceback(lines: Sequence[LogLine], start: int) -> Finding | None:
    """Read a Python traceback; its exception is the first line after the frames that is not indented."""
    for index in range(start + 1, min(start + 400, len(lines))):
        text = lines[index].text
        if TRACEBACK.match(text) or DIRECT in text or DURING in text:
            return None
        if text.startswith((" ", "\t")) or FRAME.match(text) or not text.strip():
            continue
        found = EXCEPTION.match(text) or PLAIN_TYPE.match(text)
        if found is None or (lines[index].level is not Level.NONE and not EXCEPTION.match(text)):
            return None if lines[index].level is Level.NONE else _at(lines, index)
        return replace(_typed(lines, index, found["type"], found["message"] or "", Weight.TYPED), opens=start)
    return None


def _at(lines: Sequence[LogLine], index: int) -> Finding | None:
    line = lines[index]
    text = line.text
    if not text.strip() or FRAME.match(text):
        return None
    quiet = line.level in (Level.DEBUG, Level.INFO)
    if quiet:
        return _quiet(lines, index)
    if text[1:9] == "aused by" and CAUSED.match(text) and not EXCEPTION.match(text):
        return _bare_cause(lines, index)
    if (found := EXCEPTION.match(text)) is not None:
        return _exception(lines, index, found)
    if (found := DBT.match(text)) is not None:
        return _dbt(lines, index, found)
    if (found := EVENT.match(text)) is not None or (found := STATUS.match(text)) is not None:
        return _event(lines, index, found)
    if (found := RUBY_RAISE.match(text) or RUBY_CLASS.match(text)) is not None and line.level is not Level.WARN:
        return _typed(lines, index, found["type"], found["message"], Weight.TYPED)
    if RUBY_FRAME.match(text):
        return None
    if line.level is Level.ERROR:
        return _told(lines, index)
    if line.level is Level.WARN:
        return _warned(lines, index)
    if HEAD.match(text) or ABRUPT.match(text) or GO.match(text):
        return _told(lines, index)
    if not line.prefixed and (found := WITHIN.search(text[:600])) is not None and found.start() < 160:
        return _typed(lines, index, found["type"], _after(text, found), Weight.TYPED)
    if (found := WITHIN.search(text[:600])) is not None and _names_error(found["type"]):
        return _typed(lines, index, found["type"], _after(text, found), Weight.TYPED)
    return None


def _after(text: str, found: re.Match[str]) -> str:
    return text[found.start("message") :]


def _names_error(name: str) -> bool:
    return re.search(r"(?:Error|Exception|Failure|Fault|Timeout)\d{0,2}$", name) is not None


def _exception(lines: Sequence[LogLine], index: int, found: re.Match[str]) -> Finding:
    line = lines[index]
    weight = Weight.WARNING if line.level is Level.WARN else Weight.TYPED
    message = found["message"] or ""
    inner = found["inner"]
    if "." not in found["type"] and found["type"] in ("Failed", "Error", "Exception", "Failure", "Exit", "Killed"):
        return _told(lines, index)
    if (lost := LOST_TASK.search(message)) is not None:
        inner, message = lost["type"], lost["message"]
    finding = _typed(lines, index, inner or found["type"], message, weight)
    return replace(finding, link=Link.CAUSE) if CAUSED.match(line.text) else finding


def _typed(lines: Sequence[LogLine], index: int, name: str, message: str, weight: Weight) -> Finding:
    message, last = _continued(lines, index, message)
    if not message.strip() and "." not in name and name.endswith("Failed"):
        weight = min(weight, Weight.TOLD)
    if message and WRAPPER.match(message):
        weight = min(weight, Weight.WRAPPER)
    return Finding(type=name, message=message, text=lines[index].text, first=index, last=last, weight=weight)


def _told(lines: Sequence[LogLine], index: int) -> Finding:
    text = lines[index].text
    within = WITHIN.search(text[:600])
    if within is not None and (_names_error(within["type"]) or "Exception" in within["type"]):
        finding = _typed(lines, index, within["type"], _after(text, within), Weight.TYPED)
        return replace(finding, first=index)
    if (panic := PANIC.match(text)) is not None:
        return _typed(
            lines, index, "go.panic" if text.startswith("panic") else "rust.panic", text[panic.end() :], Weight.TYPED
        )
    message, last = _continued(lines, index, text)
    wrapper = WRAPPER.match(text) or QUIET.search(text[:400])
    return Finding(
        type=None, message=message, text=text, first=index, last=last, weight=Weight.WRAPPER if wrapper else Weight.TOLD
    )


def _warned(lines: Sequence[LogLine], index: int) -> Finding | None:
    text = lines[index].text
    within = WITHIN.search(text[:800])
    if within is None and not ABRUPT.match(text) and "ExecutorLostFailure" not in text:
        return None
    if RETRYING.search(text[:800]):
        return None
    name = within["type"] if within is not None else None
    message = _after(text, within) if within is not None else text
    message, last = _continued(lines, index, message)
    return Finding(type=name, message=message, text=text, first=index, last=last, weight=Weight.WARNING)


def _quiet(lines: Sequence[LogLine], index: int) -> Finding | None:
    """Read a line that its program did not call an error: a death, or an exception told by a child."""
    text = lines[index].text
    found = EXCEPTION.match(text)
    if found is not None and "." in found["type"] and not RETRYING.search(text[:800]):
        return _typed(lines, index, found["type"], found["message"] or "", Weight.WARNING)
    if not ABRUPT.match(text):
        return None
    return Finding(type=None, message=text, text=text, first=index, last=index, weight=Weight.WARNING)


def _event(lines: Sequence[LogLine], index: int, found: re.Match[str]) -> Finding:
    text = lines[index].text
    message = found.groupdict().get("message") or ""
    if not message and index + 1 < len(lines):
        following = re.match(r"\s{0,8}[Mm]essage:\s{1,12}(.*)", lines[index + 1].text)
        message = following[1] if following else ""
    wrapper = WRAPPER.match(found["type"]) or found["type"] in ("Error", "BackOff", "Unhealthy")
    weight = Weight.WRAPPER if wrapper else Weight.TOLD
    return Finding(
        type=found["type"], message=message or found["type"], text=text, first=index, last=index, weight=weight
    )


def _bare_cause(lines: Sequence[LogLine], index: int) -> Finding | None:
    """Read `Caused by:` whose words follow, on its line or on the next one that is not blank."""
    rest = lines[index].text.partition("aused by:")[2].strip()
    at = index
    while not rest and at + 1 < len(lines) and at < index + 3:
        at += 1
        rest = lines[at].text.strip()
    if not rest:
        return None
    rest = re.sub(r"^(?:\d{1,3}: |\[\d{1,3}\] )", "", rest)
    found = WITHIN.match(rest)
    name, message = (found["type"], found["message"]) if found and _names_error(found["type"]) else (None, rest)
    return Finding(
        type=name,
        message=message,
        text=rest,
        first=index,
        last=at,
        weight=Weight.TYPED if name else Weight.TOLD,
        link=Link.CAUSE,
    )


def _dbt(lines: Sequence[LogLine], index: int, found: re.Match[str]) -> Finding | None:
    """Read a dbt error, whose words are the lines below its title."""
    body: list[str] = []
    last = index
    for at in range(index + 1, min(index + 12, len(lines))):
        text = lines[at].text
        nested = DBT.match(text)
        if nested is not None and not body:
            return None
        if not text.strip():
            if body:
                break
            continue
        if re.match(
            r"Done\. PASS|\d{1,5} of \d|compiled [Cc]ode at|\s{0,4}> |Resource report|Connection |\+ ", text.strip()
        ):
            break
        body.append(text.strip())
        last = at
    if not body:
        return None
    kind = found["kind"] or ("Compilation" if found["own"] else None)
    name = f"dbt.{kind}Error" if kind else None
    message = "\n".join(body)[:MESSAGE_CAP]
    return Finding(
        type=name, message=message, text=message, first=index, last=last, weight=Weight.TYPED if kind else Weight.TOLD
    )


def _continued(lines: Sequence[LogLine], index: int, message: str) -> tuple[str, int]:
    """Return the message with the lines below that go on saying it, and the index of the last; `POINTS` say nothing."""
    parts = [message]
    last = index
    for at in range(index + 1, min(index + 1 + CONTINUATION, len(lines))):
        line = lines[at]
        record = line.number == lines[index].number
        if POINTS.match(line.text) and not line.prefixed:
            last = at
            continue
        if not line.text.strip() or _begins_anew(line.text) or (line.prefixed and not record):
            break
        if not record and parts[-1].strip() and not CONTINUES.match(line.text) and not OPEN_END.search(parts[-1]):
            break
        parts.append(line.text.strip())
        last = at
    return "\n".join(parts)[:MESSAGE_CAP], last


def _begins_anew(text: str) -> bool:
    shapes = (FRAME, EXCEPTION, HEAD, TRACEBACK, CAUSED, AFTERWARDS)
    return DIRECT in text or DURING in text or any(shape.match(text) for shape in shapes)


def is_wrapper(text: str) -> bool:
    """Whether a text only says that something failed."""
    return WRAPPER.match(text) is not None
