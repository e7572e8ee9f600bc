"""Single occurrences with little said about them, and how they are stored. They know nothing of figures."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.incidents.keys import JobKey, RunRef
from bot.incidents.measured import Measured
from bot.incidents.model import Failure, Incident, Outcome, Status
from storage.opening import SqlStorage

MINUTE = timedelta(minutes=1)


def occurrence(
    job: str,
    failed_at: datetime,
    *,
    answered_after: float | None = None,
    recovered_after: float | None = None,
    told_after: float = 0,
    team: str = "finance",
    late_runs: int = 0,
) -> Incident:
    """It failed then, was told, answered and well again so many minutes after; open where it was never well again."""
    opened_at = failed_at + told_after * MINUTE
    good_at = failed_at + recovered_after * MINUTE if recovered_after is not None else None
    return Incident(
        record=0,
        number=1,
        job=JobKey(scheduler="cron", name=job),
        status=Status.OPEN if good_at is None else Status.RESOLVED,
        version=1,
        opened_at=opened_at,
        fingerprint="f1",
        failure=Failure(
            run=RunRef(run_id=f"run-{failed_at.isoformat()}"), at=failed_at, fingerprint="f1", cause="unknown", title=""
        ),
        first_word_at=failed_at + answered_after * MINUTE if answered_after is not None else None,
        outcome=None if good_at is None else Outcome.RECOVERED_BY_HAND,
        closed_at=None if good_at is None else max(good_at, opened_at),
        closed_by_run=None if good_at is None else "run-2",
        measured=Measured(team=team, failed_at=failed_at, good_at=good_at, late_runs=late_runs),
    )


def put(storage: SqlStorage, occurrences: Sequence[Incident]) -> tuple[Incident, ...]:
    """Store them; the record of one that is numbered above 1 is that of the one before it in the row."""
    if not occurrences:
        return ()
    with storage.begin_write(born_leased=False, now=occurrences[0].opened_at) as uow:
        uow.lock_jobs(keys={one.job for one in occurrences}, now=occurrences[0].opened_at)
        stored: list[Incident] = []
        for one in occurrences:
            known = replace(one, record=stored[-1].record) if one.number > 1 else one
            stored.append(uow.save_incident(known, expected=None))
        uow.commit()
    return tuple(stored)
