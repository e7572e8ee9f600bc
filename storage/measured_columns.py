"""The columns of an occurrence by which it is measured, filled from its document with every write. Runs no statement.

They may be empty: a process of the version before wrote none.
"""

from datetime import timedelta
from typing import Any

from sqlalchemy import Boolean, Column, Integer

from bot.incidents.model import Incident, Status
from storage.columns import Amount, Instant, Span, Words

MEASURED_TOGETHER = [
    *(
        "job_id",
        "team",
        "number",
        "outcome",
        "closed_at",
        "failed_at",
        "answered_at",
        "recovered_at",
        "late_runs",
        "fixed",
    ),
    *("decided", "corrected", "false_alarm", "handed", "observed", "estimate", "estimate_unit", "delay", "delayed"),
]
SETTLED_TOGETHER = ["outcome", "status", "team", "job_id", "answered_at"]
"""What a period's figures are read from without its documents (PostgreSQL). No text from strangers: an index has little room."""


def measured_columns() -> tuple[Column[Any], ...]:
    """`corrected`: a reviewer named another cause; `handed`: another team answers it; `delay`: of all its `delayed`
    downstream runs together."""
    return (
        Column("team", Words),
        Column("failed_at", Instant),
        Column("answered_at", Instant),
        Column("recovered_at", Instant),
        Column("late_runs", Integer),
        Column("fixed", Boolean(create_constraint=False)),
        Column("decided", Words),
        Column("corrected", Boolean(create_constraint=False)),
        Column("false_alarm", Boolean(create_constraint=False)),
        Column("handed", Boolean(create_constraint=False)),
        Column("observed", Boolean(create_constraint=False)),
        Column("estimate", Amount),
        Column("estimate_unit", Words),
        Column("delay", Span),
        Column("delayed", Integer),
    )


def measured_values(incident: Incident) -> dict[str, Any]:
    """What stands in these columns."""
    measured, decision = incident.measured, incident.decision
    delays = [wait.delay for wait in incident.waits if wait.delay]
    recovered = incident.status is Status.RESOLVED and incident.closed_by_run is not None
    return {
        "team": measured.team,
        "failed_at": measured.failed_at,
        "answered_at": incident.first_word_at,
        "recovered_at": measured.good_at if recovered else None,
        "late_runs": measured.late_runs,
        "fixed": incident.fix is not None,
        "decided": decision.kind if decision is not None else None,
        "corrected": incident.corrected_cause not in (None, incident.failure.cause),
        "false_alarm": decision is not None and decision.false_alarm,
        "handed": bool(incident.handed),
        "observed": incident.observed,
        "estimate": measured.estimate.amount if measured.estimate else None,
        "estimate_unit": measured.estimate.unit if measured.estimate else None,
        "delay": sum(delays, timedelta()),
        "delayed": len(delays),
    }
