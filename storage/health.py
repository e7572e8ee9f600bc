"""Baselines as they were set: all of them stay, the newest stands. It judges nothing."""

from sqlalchemy import bindparam, select

from bot.incidents.health import Baseline, Period
from storage.columns import AnyRow
from storage.health_tables import baselines
from storage.part import Part

_ADD = baselines.insert()
_NEWEST = select(baselines).order_by(baselines.c.id.desc()).limit(bindparam("most"))


class Baselines(Part):
    """The part of `bot.store.Storage` that `bot.store.health.BaselineStore` describes."""

    def add_baseline(self, baseline: Baseline) -> None:
        row = {
            "since": baseline.period.since,
            "until": baseline.period.until,
            "name": baseline.period.name,
            "review_since": baseline.review.since,
            "review_until": baseline.review.until,
            "review_name": baseline.review.name,
            "zone": baseline.period.zone,
            "set_by": baseline.set_by,
            "set_at": baseline.set_at,
        }
        with self._database.transaction() as connection:
            connection.execute(_ADD, row)

    def baselines(self, *, limit: int) -> tuple[Baseline, ...]:
        with self._database.read() as connection:
            return tuple(_baseline(row) for row in connection.execute(_NEWEST, {"most": limit}))


def _baseline(row: AnyRow) -> Baseline:
    return Baseline(
        period=Period(since=row.since, until=row.until, name=row.name, zone=row.zone),
        review=Period(since=row.review_since, until=row.review_until, name=row.review_name, zone=row.zone),
        set_by=row.set_by,
        set_at=row.set_at,
    )
