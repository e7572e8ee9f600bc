"""Reads a failed run's evidence: root error, cause, fingerprint and what changed since the last good run.

It must not do any I/O nor read a clock, and it must not raise on any text.
"""

import re
import signal as signals
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bot.evidence.changes import changes_between
from bot.evidence.cleaning import clean
from bot.evidence.facts import capped, read_run_facts
from bot.evidence.finding import Finding, Weight
from bot.evidence.findings import find_failures, is_wrapper
from bot.evidence.fingerprint import fingerprint
from bot.evidence.lines import Level, LogLine, read_lines
from bot.evidence.masking import mask
from bot.evidence.roots import Reading, choose_root, evidence_lines, shown_root
from bot.evidence.rules import RuleSet
from bot.evidence.types import ErrorReport, Evidence, RootError
from bot.evidence.verdict import judge

LOG_CAP = 16 * 1024 * 1024
TAIL_CAP = 8 * 1024
MESSAGE_CAP = 1000
SHOWN_WIDTH = 400
NEAR = 25
SPOKEN = 500

_STATEMENT = re.compile(
    r"\s{0,12}[\[(]?(?:SQL|parameters|SELECT|INSERT|UPDATE|DELETE|MERGE|CREATE|WITH|FROM|WHERE|VALUES)\b"
)
_OWN = "ontrack."


def read_failure(
    *, error: ErrorReport, facts: Mapping[str, Any], last_good: Mapping[str, Any] | None, rules: RuleSet
) -> Evidence:
    """Return the evidence of a failed run; `last_good` holds the facts of the last good run, None when there is none."""
    log = clean(error.log[-LOG_CAP:])
    lines = read_lines(log)
    reading = _with_report(choose_root(find_failures(lines), lines), error)
    exit_code, signal = _ending(error)
    near = _near(reading, lines)
    cause = judge(
        reading=reading,
        near="\n".join(line.text for line in near),
        around="\n".join(line.text for line in near if _speaks_up(line)),
        log=log,
        exit_code=exit_code,
        signal=signal,
        rules=rules,
    )
    root = _root_error(reading, lines, exit_code, signal)
    kept = read_run_facts(facts)
    return Evidence(
        root=root,
        cause=cause,
        fingerprint=fingerprint(
            cause_id=cause.id, error_type=root.type, message=root.message, exit_code=exit_code, signal=signal
        ),
        changes=None if last_good is None else changes_between(read_run_facts(last_good), kept),
        facts=kept,
        log_tail=_tail(log),
        log_lines=log.count("\n") + (0 if not log or log.endswith("\n") else 1),
    )


def _with_report(reading: Reading, error: ErrorReport) -> Reading:
    """Put the error that the scheduler named at its place among what the log says."""
    name = clean(error.type or "")[:200].strip() or None
    message = clean(error.message or "")[:4000].strip()
    if name is None and not message:
        return reading
    told = _reported(name, message)
    own = name is not None and name.startswith(_OWN)
    if not own and reading.root is not None and reading.root.weight >= Weight.TOLD:
        known = told.weight is Weight.WRAPPER or _same(told, (reading.root, *reading.chain))
        if known:
            return reading
    rest = (reading.root,) if reading.root is not None else ()
    return Reading(root=told, chain=(), beside=(*rest, *reading.chain, *reading.beside), earlier=reading.earlier)


def _reported(name: str | None, message: str) -> Finding:
    found = choose_root(find_failures(read_lines(message)), read_lines(message)).root if "\n" in message else None
    if found is not None and found.weight is Weight.TYPED:
        return replace(found, first=-1, last=-1)
    wrapper = is_wrapper(message or name or "") and not (name or "").startswith(_OWN)
    weight = Weight.WRAPPER if wrapper else Weight.TYPED
    text = message or (name or "")
    return Finding(type=name, message=text, text=text, first=-1, last=-1, weight=weight)


def _same(told: Finding, chain: Sequence[Finding]) -> bool:
    name = re.split(r"[.:$]", told.type)[-1] if told.type else None
    for finding in chain:
        if name is not None and finding.type is not None and re.split(r"[.:$]", finding.type)[-1] == name:
            return True
        if told.message and told.message[:120] in finding.text:
            return True
    return False


def _ending(error: ErrorReport) -> tuple[int | None, str | None]:
    """Return exit code and signal by one convention: a death by signal has the signal's name."""
    code = error.exit_code
    number = None
    if error.signal:
        name = clean(error.signal).strip().upper()
        if name.lstrip("-").isdecimal():
            number = abs(int(name[:6]))
        else:
            return code, name if name.startswith("SIG") else f"SIG{name}"[:20]
    elif code is not None and (-64 <= code < 0 or 128 < code <= 192):
        number = -code if code < 0 else code - 128
    if number is None:
        return code, None
    try:
        return code, signals.Signals(number).name
    except ValueError:
        return code, None


def _near(reading: Reading, lines: Sequence[LogLine]) -> Sequence[LogLine]:
    root = shown_root(reading)
    if root is None:
        return lines[-NEAR:]
    return lines[max(root.first - NEAR, 0) : root.last + NEAR]


def _speaks_up(line: LogLine) -> bool:
    """Whether a line may say something against the root; statements and values printed along with it may not."""
    return line.level not in (Level.DEBUG, Level.INFO) and len(line.text) <= SPOKEN and not _STATEMENT.match(line.text)


def _root_error(reading: Reading, lines: Sequence[LogLine], exit_code: int | None, signal: str | None) -> RootError:
    masked = _masked(lines)
    shown = tuple(
        replace(line, text=capped(mask(line.text) if masked is None else line.text, SHOWN_WIDTH))
        for line in evidence_lines(reading, lines if masked is None else masked)
    )
    if reading.root is not None:
        message = capped(mask(reading.root.message), MESSAGE_CAP)
        return RootError(type=mask(reading.root.type) if reading.root.type else None, message=message, lines=shown)
    last = next((line.text.strip() for line in reversed(lines) if line.text.strip()), "")
    return RootError(type=None, message=capped(mask(last), MESSAGE_CAP) or _ended(exit_code, signal), lines=shown)


def _ended(exit_code: int | None, signal: str | None) -> str:
    if signal is not None:
        return f"killed by {signal}, the log is empty"
    return "the log is empty" if exit_code is None else f"exit code {exit_code}, the log is empty"


def _masked(lines: Sequence[LogLine]) -> list[LogLine] | None:
    """Return the lines masked together when a secret may span several of them, else None."""
    if not any("PRIVATE KEY" in line.shown or "Private-MAC" in line.shown for line in lines):
        return None
    texts = mask("\n".join(line.shown for line in lines)).split("\n")
    return [replace(line, shown=text) for line, text in zip(lines, texts, strict=True)]


def _tail(log: str) -> str:
    """Return the end of the log, masked before it is cut so that no half of a secret stands alone."""
    text = mask(log[-2 * TAIL_CAP :]).rstrip()
    data = text.encode("utf-8", "replace")
    if len(data) <= TAIL_CAP:
        return text
    tail = data[-TAIL_CAP:].decode("utf-8", "ignore")
    return tail.partition("\n")[2] if "\n" in tail else tail
