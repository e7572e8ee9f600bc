"""Turns what a source reported into the core's event, with its evidence read and its secrets masked.

Runs before the transaction begins; it looks at nothing but what it is given.
"""

import hashlib
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from bot.evidence import Evidence, RuleSet, clean, hide_addresses, mask, read_failure, read_run_facts
from bot.evidence.types import UNKNOWN, Cause, ErrorReport, RetryHint, RootError
from bot.incidents.events import RunCancelled, RunEvent, RunFailed, RunSkipped, RunStarted, RunSucceeded
from bot.incidents.keys import Cost, JobKey, RunRef
from bot.incidents.model import Failure
from bot.sources import SourceEvent, SourceKind
from bot.store import GoodRunFacts, RunState

log = logging.getLogger(__name__)

STATES = {
    SourceKind.RUN_STARTED: RunState.STARTED,
    SourceKind.RUN_SUCCEEDED: RunState.SUCCEEDED,
    SourceKind.RUN_FAILED: RunState.FAILED,
    SourceKind.RUN_CANCELLED: RunState.CANCELLED,
    SourceKind.RUN_SKIPPED: RunState.SKIPPED,
}
TITLE_LENGTH = 300
TIMED = "duration_seconds"
_TAKEN = re.compile(r"duration|elapsed|run_?time", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadEvent:
    """A source event as the transaction needs it; `event` is None for what only updates the job or the run."""

    source: SourceEvent
    event: RunEvent | None
    state: RunState | None
    evidence: Evidence | None = None
    facts: Mapping[str, Any]
    cost: Cost | None = None


def read_source(
    source: SourceEvent,
    *,
    rules: RuleSet,
    good_runs: Callable[[JobKey], Sequence[GoodRunFacts]],
    no_addresses: bool = False,
) -> ReadEvent:
    """Read one source event; `good_runs` gives what is known of the job's last good runs, the newest first.

    `no_addresses`: the job's company wants no e-mail address in what is stored and shown.
    """
    source = _masked(source)
    if no_addresses:
        source = _without_addresses(source)
    run = source.run
    if run is None or source.kind is SourceKind.RUN_SCHEDULED:
        return ReadEvent(source=source, event=None, state=None, facts={})
    if source.kind is SourceKind.RUN_FAILED:
        known = tuple(_timed(one.facts, one.took) for one in good_runs(source.job))
        return _failed(source, run, rules, known, no_addresses=no_addresses)
    cost = source.cost or _wall_clock(source)
    facts = read_run_facts(source.facts) if source.kind is SourceKind.RUN_SUCCEEDED else {}
    return ReadEvent(
        source=source,
        event=_event(source, run, cost),
        state=STATES[source.kind],
        facts=hide_addresses(facts) if no_addresses else facts,
        cost=cost,
    )


def _timed(facts: Mapping[str, Any], took: timedelta | None) -> Mapping[str, Any]:
    """The facts with how long the run took, where its source did not put it into them."""
    timing = facts.get("timing", {})
    if took is None or not isinstance(timing, Mapping) or any(_TAKEN.match(str(name)) for name in timing):
        return facts
    return {**facts, "timing": {**timing, TIMED: round(took.total_seconds(), 3)}}


def _masked(source: SourceEvent) -> SourceEvent:
    """The event without the secrets in its names and addresses; its error and facts are masked where they are read."""
    run, change = source.run, source.change
    return replace(
        source,
        run=replace(run, url=mask(run.url) if run.url else None) if run else None,
        by=_plain(source.by),
        change=replace(change, owner=_plain(change.owner)) if change else None,
    )


def _without_addresses(source: SourceEvent) -> SourceEvent:
    """The event without e-mail addresses beside its error and its facts, which lose theirs when they are read."""
    run, change, error = source.run, source.change, source.error
    skipped = error is not None and source.kind is not SourceKind.RUN_FAILED
    return replace(
        source,
        run=replace(run, url=hide_addresses(run.url)) if run else None,
        by=hide_addresses(source.by),
        change=replace(change, owner=hide_addresses(change.owner)) if change else None,
        error=replace(error, message=hide_addresses(_plain(error.message))) if error and skipped else error,
    )


def evidence_key(source: SourceEvent) -> str:
    """The key under which a failure's evidence is stored: short, and the same for the same run."""
    return hashlib.sha256(source.key.encode()).hexdigest()[:24]


def _failed(
    source: SourceEvent, run: RunRef, rules: RuleSet, known: Sequence[Mapping[str, Any]], *, no_addresses: bool
) -> ReadEvent:
    evidence = _evidence(source, rules, known)
    return failed_with(source, run, hide_addresses(evidence) if no_addresses else evidence)


def failed_with(source: SourceEvent, run: RunRef, evidence: Evidence) -> ReadEvent:
    """The failure of which this evidence was read, now or before."""
    cost = source.cost or _wall_clock(source)
    failure = Failure(
        run=run,
        at=source.ended_at or source.at,
        fingerprint=evidence.fingerprint,
        cause=evidence.cause.id,
        title=evidence.cause.title,
        message=evidence.root.message[:TITLE_LENGTH],
        evidence=evidence_key(source),
        also=evidence.cause.also,
        ruled_out_by=evidence.cause.ruled_out_by,
        never_safe=evidence.cause.never_safe,
        cost=cost,
    )
    event = RunFailed(failure=failure, at=failure.at, will_retry=source.will_retry, rerun_key=source.rerun_key)
    state = RunState.RETRYING if source.will_retry else RunState.FAILED
    return ReadEvent(source=source, event=event, state=state, evidence=evidence, facts=evidence.facts, cost=cost)


def _evidence(source: SourceEvent, rules: RuleSet, known: Sequence[Mapping[str, Any]]) -> Evidence:
    """What the reader makes of the failure. A reader that fails must not cost the incident: its cause is then unknown."""
    error = source.error or ErrorReport()
    try:
        return read_failure(
            error=error,
            facts=_timed(source.facts, duration_of(source)),
            last_good=known[0] if known else None,
            earlier=known[1:],
            rules=rules,
        )
    except Exception:
        log.exception("a failure could not be read; its cause is unknown", extra={"key": source.key})
    cause = Cause(
        id=UNKNOWN,
        title="The failure could not be read",
        group=UNKNOWN,
        retry_hint=RetryHint.DEPENDS,
        never_safe=True,
        reason="ontrack's own reader failed on it; the log of ontrack says how",
        ruled_out_by=("sign.unread",),
    )
    root = RootError(type=None, message="ontrack could not read this failure: please look at the run itself")
    return Evidence(root=root, cause=cause, fingerprint="unread", changes=None, facts={}, log_tail="", log_lines=0)


def _event(source: SourceEvent, run: RunRef, cost: Cost | None) -> RunEvent:
    by = _plain(source.by)
    ended_at = source.ended_at or source.at
    match source.kind:
        case SourceKind.RUN_STARTED:
            return RunStarted(run=run, at=source.started_at or source.at, rerun_key=source.rerun_key, by=by)
        case SourceKind.RUN_SUCCEEDED:
            return RunSucceeded(run=run, at=ended_at, cost=cost, rerun_key=source.rerun_key, by=by)
        case SourceKind.RUN_CANCELLED:
            return RunCancelled(run=run, at=ended_at, by=by, rerun_key=source.rerun_key)
        case _:
            reason = _plain(source.error.message) if source.error else None
            return RunSkipped(run=run, at=source.at, reason=reason or "")


def _plain(text: str | None) -> str | None:
    return mask(clean(text))[:TITLE_LENGTH] if text else None


def _wall_clock(source: SourceEvent) -> Cost | None:
    duration = duration_of(source)
    return Cost(amount=duration.total_seconds() / 3600) if duration is not None else None


def duration_of(source: SourceEvent) -> timedelta | None:
    """How long the run took, where its source told both ends; never negative."""
    if source.started_at is None or source.ended_at is None:
        return None
    return max(source.ended_at - source.started_at, timedelta())
