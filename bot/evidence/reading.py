"""Reads a failed run's evidence: root error, cause, fingerprint and what changed since the last good run.

It must not do any I/O nor read a clock, and it must not raise on any text.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from bot.evidence.amounts import readable_sizes
from bot.evidence.changes import changes_between
from bot.evidence.cleaning import cleaned
from bot.evidence.facts import capped, read_run_facts
from bot.evidence.findings import find_failures
from bot.evidence.fingerprint import fingerprint
from bot.evidence.lines import Level, LogLine
from bot.evidence.log import Log
from bot.evidence.masking import hide_keys, mask
from bot.evidence.reported import Ending, ending_of, with_report
from bot.evidence.roots import Reading, choose_root, shown_root
from bot.evidence.rules import RuleSet
from bot.evidence.shown import shown_lines
from bot.evidence.types import ErrorReport, Evidence, RootError
from bot.evidence.verdict import Failure, judge

LOG_CAP = 16 * 1024 * 1024
TAIL_CAP = 8 * 1024
MESSAGE_CAP = 1000
NEAR = 25
SPOKEN = 500

_STATEMENT = re.compile(
    r"\s{0,12}[\[(]?(?:SQL|parameters|SELECT|INSERT|UPDATE|DELETE|MERGE|CREATE|WITH|FROM|WHERE|VALUES)\b"
)


def read_failure(
    *,
    error: ErrorReport,
    facts: Mapping[str, Any],
    last_good: Mapping[str, Any] | None,
    rules: RuleSet,
    earlier: Sequence[Mapping[str, Any]] = (),
) -> Evidence:
    """Return the evidence of a failed run.

    `last_good` holds the facts of the last good run, None when there is none; `earlier` those of good runs before it.
    """
    failure = failure_of(error)
    reading, log, ending = failure.reading, failure.log, failure.ending
    verdict = judge(failure, around=lambda: around(failure), rules=rules)
    kind, message = _root_of(reading, log, ending)
    lines = shown_lines(reading, log, verdict, ending)
    kept = read_run_facts(facts)
    told = "\n".join((kind or "", message, *(line.text for line in lines if line.decisive)))
    return Evidence(
        root=RootError(type=kind, message=readable_sizes(message), lines=lines),
        cause=verdict.cause,
        fingerprint=fingerprint(
            cause_id=verdict.cause.id,
            error_type=kind,
            message=message,
            exit_code=ending.exit_code,
            signal=ending.signal,
        ),
        changes=None
        if last_good is None
        else changes_between(read_run_facts(last_good), kept, earlier=earlier, error=told, cause=verdict.cause.id),
        facts=kept,
        log_tail=_tail(log.data),
        log_lines=log.newlines + (0 if not log.data or log.data.endswith(b"\n") else 1),
    )


def failure_of(error: ErrorReport) -> Failure:
    """Return what is to be judged of a failure: what log and scheduler say, and how the process ended."""
    log = Log(cleaned(error.log[-LOG_CAP:]))
    if log.keys:
        log = Log(hide_keys(log.data.decode()).encode())
    reading = with_report(choose_root(find_failures(log), log), error)
    return Failure(reading=reading, log=log, near=_near(reading, log), ending=ending_of(error))


def around(failure: Failure) -> str:
    """Return what the lines near the root say that may say something against it."""
    return "\n".join(line.text for line in map(failure.log.__getitem__, failure.near) if _speaks_up(line))


def _near(reading: Reading, log: Log) -> range:
    root = shown_root(reading)
    if root is None:
        return range(max(len(log) - NEAR, 0), len(log))
    return range(max(root.first - NEAR, 0), min(root.last + NEAR, len(log)))


def _speaks_up(line: LogLine) -> bool:
    """Whether a line may say something against the root; statements and values printed along with it may not."""
    return line.level not in (Level.DEBUG, Level.INFO) and len(line.text) <= SPOKEN and not _STATEMENT.match(line.text)


def _root_of(reading: Reading, log: Log, ending: Ending) -> tuple[str | None, str]:
    """Return type and message of the root error; of a log without one, its last words."""
    if reading.root is not None:
        kind = mask(reading.root.type) if reading.root.type else None
        return kind, capped(mask(reading.root.message), MESSAGE_CAP)
    last = next((line.text.strip() for line in reversed(log) if line.text.strip()), "")
    return None, capped(mask(last), MESSAGE_CAP) or ending.of_an_empty_log


def _tail(data: bytes) -> str:
    """Return the end of the log, masked before it is cut so that no half of a secret stands alone."""
    start = max(len(data) - 2 * TAIL_CAP, 0)
    start = data.find(b"\n", start) + 1 if start and b"\n" in data[start:] else start
    end = mask(data[start:].decode("utf-8", "ignore")).rstrip().encode("utf-8", "replace")
    if len(end) <= TAIL_CAP:
        return end.decode()
    tail = end[-TAIL_CAP:].decode("utf-8", "ignore")
    return tail.partition("\n")[2] if "\n" in tail else tail
