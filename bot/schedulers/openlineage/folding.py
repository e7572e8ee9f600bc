"""Puts what an event says to what was known of its run. Pure; whatever the order of the events, the end is the same.

It must not decide what becomes of a run.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from bot.schedulers.openlineage.heard import RunHeard, Word
from bot.store.lineage import Known, LineageRun, Told

HEARD_KEPT = 50
MOST_INPUTS = 300
MOST_NAMES = 1000

STATES = {
    Word.START: Told.STARTED,
    Word.RUNNING: Told.STARTED,
    Word.COMPLETE: Told.SUCCEEDED,
    Word.FAIL: Told.FAILED,
    Word.ABORT: Told.CANCELLED,
}
ENDS = frozenset({Told.SUCCEEDED, Told.FAILED, Told.CANCELLED})
_ORDER = {Told.HEARD: 0, Told.STARTED: 1, Told.CANCELLED: 2, Told.FAILED: 3, Told.SUCCEEDED: 4}


def folded(run: LineageRun, heard: RunHeard, *, root: str, now: datetime) -> LineageRun:
    """The run after this event; `root` is what it belongs to as far as is known now."""
    state, state_at = run.state, run.state_at
    told = STATES.get(heard.word)
    if told is not None and (
        not run.is_known or state is Told.HEARD or (heard.at, _ORDER[told]) >= (state_at, _ORDER[state])
    ):
        state, state_at = told, heard.at
    elif not run.is_known:
        state_at = heard.at
    own = run.own or heard.own
    return replace(
        run,
        job=run.job or heard.job,
        parent=run.parent or heard.parent,
        root=run.run_id if own else root,
        own=own,
        state=state,
        state_at=state_at,
        attempt=max(run.attempt, heard.attempt),
        known=_together(run.known, heard, newer=heard.at >= run.state_at or not run.is_known),
        seen_at=now,
    )


def _together(known: Known, heard: RunHeard, *, newer: bool) -> Known:
    new = heard.known
    first, second = (known, new) if newer else (new, known)
    kept = known if known.told else None
    return Known(
        heard=(*known.heard, heard.key)[-HEARD_KEPT:],
        told=known.told,
        name=kept.name if kept else second.name or first.name,
        generation=kept.generation if kept else max(known.generation, new.generation),
        nominal_time=kept.nominal_time if kept else second.nominal_time or first.nominal_time,
        trigger=kept.trigger if kept else second.trigger if second.name else first.trigger,
        by=second.by or first.by,
        url=second.url or first.url,
        started_at=_either(min, known.started_at, new.started_at),
        ended_at=_either(max, known.ended_at, new.ended_at),
        error=second.error or first.error,
        part=known.part or new.part,
        tries=second.tries if second.tries is not None else first.tries,
        failing=second.failing or first.failing,
        inner=known.inner or new.inner,
        silent=known.silent or new.silent,
        streaming=known.streaming or new.streaming,
        facts=_merged(first.facts, second.facts),
        inputs=_inputs(first.inputs, second.inputs),
        reads=tuple(dict.fromkeys((*known.reads, *new.reads)))[:MOST_NAMES],
        writes=tuple(dict.fromkeys((*known.writes, *new.writes)))[:MOST_NAMES],
        kept={**first.kept, **second.kept},
    )


def _either(choose: Any, one: datetime | None, other: datetime | None) -> datetime | None:
    there = [at for at in (one, other) if at is not None]
    return choose(there) if there else None


def _merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Facts of both, space by space."""
    return {
        space: {**one, **other} if isinstance(one, Mapping) and isinstance(other, Mapping) else other or one
        for space in dict.fromkeys((*first, *second))
        for one, other in ((first.get(space, {}), second.get(space, {})),)
    }


def _inputs(
    first: Mapping[str, Mapping[str, Any]], second: Mapping[str, Mapping[str, Any]]
) -> dict[str, Mapping[str, Any]]:
    names = list(dict.fromkeys((*first, *second)))[:MOST_INPUTS]
    return {name: {**first.get(name, {}), **second.get(name, {})} for name in names}
