"""Answers a question about job health: figures, table, chart, and the comparison that was asked for. Reads only.

It must not know how an answer looks, nor understand what somebody typed.
"""

from dataclasses import replace
from datetime import datetime, timedelta

from bot.health.baselines import Baselines
from bot.health.comparisons import comparisons
from bot.health.days import days_of
from bot.health.query import Query, Versus
from bot.incidents.health import SMALL, Baseline, Health, HealthReport, Period, Scope
from bot.render.moments import zone_of
from bot.store.health import BaselineStore, HealthReads, OccurrenceRow, Picture, RowsOf

MOST_ROWS = 200
MOST_LINES = 100_000


class HealthReports:
    """Handed to the command, its page, the command line and the metrics; safe among threads."""

    def __init__(self, *, reads: HealthReads, baselines: BaselineStore) -> None:
        self._reads = reads
        self._baselines = Baselines(baselines)

    def report(self, query: Query, *, now: datetime) -> HealthReport:
        """The whole answer as of now."""
        by = rows_of(query.scope)
        with self._reads.at_once():
            after = self._reads.picture(query.scope, query.period, by=by, now=now)
            first = self._reads.first_occurrence_at()
            before, name, why_not = self._before(query, first, by, now)
            compared = (
                self._reads.compared(query.scope, before=before.health.period, after=query.period)
                if before is not None
                else None
            )
        return HealthReport(
            health=after.health,
            rows_of=by,
            rows=after.rows[:MOST_ROWS],
            days=days_of(query.period, after.opened, after.settled),
            before=before.health if before is not None else None,
            before_name=name,
            comparisons=comparisons(before, after, compared) if before is not None and compared is not None else (),
            notes=(*_notes(after, first), *why_not, *_cut(after)),
        )

    def rows(self, query: Query, *, now: datetime, limit: int = MOST_LINES) -> tuple[OccurrenceRow, ...]:
        """The occurrences behind the answer, the newest first, at most so many."""
        del now
        return self._reads.occurrence_rows(query.scope, query.period, limit=limit)

    def baseline(self) -> Baseline | None:
        """The one that stands; None: nobody has set any."""
        return self._baselines.newest()

    def baselines(self) -> tuple[Baseline, ...]:
        """Those that were set lately, the newest first."""
        return self._baselines.history()

    def set_baseline(self, period: Period, review: Period, *, by: str, now: datetime) -> Baseline:
        """Record that `by` set it; the baseline stands from now on, and those before it stay."""
        return self._baselines.set(period, review, by=by, now=now)

    def _before(
        self, query: Query, first: datetime | None, by: RowsOf, now: datetime
    ) -> tuple[Picture | None, str, tuple[str, ...]]:
        """The period to compare with and its name, or why there is none."""
        period, name = self._earlier(query)
        if query.versus is None or (period is None and query.versus is not Versus.BASELINE):
            return None, "", ()
        if period is None:
            return None, "", ("No baseline is set, so that nothing is compared.",)
        if first is None or period.until <= first:
            since = f", which begins on {_day(first, query.period)}" if first is not None else ""
            return None, "", (f"The {name} lies before the record{since}: nothing is compared.",)
        notes = []
        if period.since < first:
            notes.append(f"The record begins on {_day(first, query.period)}, within the {name}.")
            period = replace(period, since=first)
        picture = self._reads.picture(query.scope, period, by=by, now=now)
        if picture.health.occurrences == 0:
            return None, "", (f"Nothing of it opened in the {name}: nothing is compared.",)
        if period.until > query.period.since and period.since < query.period.until:
            notes.append(f"The {name} overlaps the period: what lies in both is counted in both.")
        return picture, name, tuple(notes)

    def _earlier(self, query: Query) -> tuple[Period | None, str]:
        match query.versus:
            case Versus.PREVIOUS:
                period = previous_of(query.period)
                return period, f"previous period ({period.name})"
            case Versus.BASELINE:
                baseline = self._baselines.newest()
                return (baseline.period, f"baseline ({baseline.period.name})") if baseline is not None else (None, "")
        return None, ""


def rows_of(scope: Scope) -> RowsOf:
    """A team's table is by job, any other by team."""
    return RowsOf.JOB if scope.team is not None or scope.job is not None else RowsOf.TEAM


def previous_of(period: Period) -> Period:
    """The period of the same length just before it."""
    since = period.since - period.length
    last = period.since - timedelta(microseconds=1)
    name = f"{_day(since, period)}..{_day(last, period)}"
    return Period(since=since, until=period.since, name=name, zone=period.zone)


def _notes(picture: Picture, first: datetime | None) -> tuple[str, ...]:
    health, found = picture.health, []
    if nothing_in(health):
        found.append("No data: nothing of it opened, was settled or was open in this period (n = 0).")
    elif 0 < health.occurrences < SMALL:
        found.append(f"Few occurrences (n = {health.occurrences}): numbers are told instead of percentages.")
    if first is not None and health.period.since < first and not nothing_in(health):
        found.append(f"The record begins on {_day(first, health.period)}.")
    if picture.cohort.observed:
        n, m = picture.cohort.observed, health.occurrences
        found.append(f"{n} of {m} occurrences were only observed: nobody was asked and nothing was rerun.")
    return tuple(found)


def _cut(picture: Picture) -> tuple[str, ...]:
    beyond = len(picture.rows) - MOST_ROWS
    return (f"The table shows the first {MOST_ROWS} rows; {beyond} more are counted above.",) if beyond > 0 else ()


def nothing_in(health: Health) -> bool:
    """Nothing of the scope is known in the period."""
    counted = (health.occurrences, health.completed, health.unresolved.n, health.automatic.n, health.approved.n)
    return not any(counted)


def _day(at: datetime, period: Period) -> str:
    return at.astimezone(zone_of(period.zone)).date().isoformat()
