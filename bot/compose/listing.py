"""The rows of `incidents` and `outbox` as commands print them. It changes nothing."""

from collections.abc import Iterator
from typing import Any

import msgspec

from bot.incidents.model import Incident
from bot.store import EffectRow, EffectState, Reads, Which

UNSETTLED = (EffectState.WAITING, EffectState.SENDING, EffectState.BURIED)


def incident_rows(reads: Reads, *, everything: bool, jobs: str, limit: int) -> Iterator[dict[str, Any]]:
    """One JSON-able object an occurrence, the newest first; unresolved ones unless `everything`."""
    which = Which.ALL if everything else Which.UNRESOLVED
    for incident in reads.incidents(which=which, jobs=jobs, limit=limit):
        yield _incident_row(incident, reads)


def outbox_rows(reads: Reads, *, limit: int) -> Iterator[dict[str, Any]]:
    """What is still to be sent, or was given up on, the newest first."""
    for row in reads.outbox(states=UNSETTLED, limit=limit):
        yield _outbox_row(row)


def _incident_row(incident: Incident, reads: Reads) -> dict[str, Any]:
    held, decision = incident.acknowledgement, incident.decision
    thread = reads.conversation_of(record=incident.record, number=incident.number)
    row = {
        "id": incident.id,
        "scheduler": incident.job.scheduler,
        "job": incident.job.name,
        "status": incident.status,
        "occurrence": incident.number,
        "opened_at": incident.opened_at,
        "owed": [owed.nominal_time for owed in incident.owed],
        "cause": incident.corrected_cause or incident.failure.cause,
        "fingerprint": incident.failure.fingerprint,
        "acknowledged_by": held.by.person.id if held else None,
        "reruns": incident.reruns,
        "decision": None
        if decision is None
        else {
            "kind": decision.kind,
            "by": decision.by.person.id,
            "until": decision.until,
            "reason": decision.reason,
            "in_force_at": decision.in_force_at,
            "refused": decision.refused,
        },
        "outcome": incident.outcome,
        "url": f"slack://channel?id={thread[0]}&message={thread[1]}" if thread and thread[1] else None,
    }
    built: dict[str, Any] = msgspec.to_builtins(row)
    return built


def _outbox_row(row: EffectRow) -> dict[str, Any]:
    built: dict[str, Any] = msgspec.to_builtins(
        {
            "id": row.id,
            "key": row.key,
            "kind": row.kind,
            "state": row.state,
            "occurrence": f"{row.record}.{row.number}" if row.record else None,
            "job": str(row.job) if row.record else None,
            "attempt": row.attempt,
            "due_at": row.due_at,
            "uncertain_at": row.uncertain_at,
        }
    )
    return built
