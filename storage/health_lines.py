"""The occurrences of a scope and period one by one, for a file: what is measured of each, and nobody's name. Changes nothing."""

from datetime import timedelta
from functools import cache

from sqlalchemy import and_, bindparam, or_, select

from bot.incidents.keys import JobKey
from bot.incidents.model import Outcome, Status
from bot.store.health import OccurrenceRow
from storage.columns import AnyRow
from storage.health_parts import (
    Shape,
    answer_marked,
    answer_rejected,
    during,
    recovery_rejected,
    repeat,
    team,
    to_answer,
    to_recover,
)
from storage.health_statements import Statement
from storage.tables import jobs, occurrences


@cache
def occurrence_rows(shape: Shape) -> Statement:
    """Those that opened in the period, the newest first."""
    row = occurrences.c
    told = (row.record, row.number, row.cause, row.status, row.outcome, row.opened_at, row.failed_at, row.answered_at)
    more = (row.recovered_at, row.closed_at, row.late_runs, row.fixed, row.decided, row.corrected, row.false_alarm)
    return (
        select(
            *told,
            *more,
            *(row.handed, row.observed, row.delay, row.delayed),
            jobs.c.scheduler,
            jobs.c.name,
            team().label("team"),
            to_answer(shape).label("to_answer"),
            to_recover().label("to_recover"),
            repeat().label("repeat"),
            or_(answer_rejected(), recovery_rejected()).label("rejected"),
            and_(answer_marked(shape), ~answer_rejected()).label("marked"),
        )
        .join(jobs, jobs.c.id == row.job_id)
        .where(during(row.opened_at), *shape.occurrences())
        .order_by(row.opened_at.desc(), row.record.desc(), row.number.desc())
        .limit(bindparam("most"))
    )


def occurrence_row(row: AnyRow) -> OccurrenceRow:
    return OccurrenceRow(
        record=row.record,
        number=row.number,
        job=JobKey(scheduler=row.scheduler, name=row.name),
        team=row.team,
        cause=row.cause,
        status=Status(row.status),
        outcome=Outcome(row.outcome) if row.outcome else None,
        opened_at=row.opened_at,
        failed_at=row.failed_at,
        answered_at=row.answered_at,
        recovered_at=row.recovered_at,
        closed_at=row.closed_at,
        to_answer=row.to_answer,
        to_recover=row.to_recover,
        late_runs=row.late_runs or 0,
        repeat=bool(row.repeat),
        fixed=bool(row.fixed),
        decided=row.decided,
        corrected=bool(row.corrected),
        false_alarm=bool(row.false_alarm),
        handed=bool(row.handed),
        observed=bool(row.observed),
        delay=row.delay or timedelta(),
        delayed=row.delayed or 0,
        rejected=bool(row.rejected),
        marked=bool(row.marked),
    )
