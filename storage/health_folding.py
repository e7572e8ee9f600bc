"""Puts what the statements of health found together: the figures of the whole, and the rows of its table. Runs no statement."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from bot.incidents.absence import Absence
from bot.incidents.health import Ages, Corrections, Health, HealthRow, Period, Scope, Share, Times
from bot.incidents.keys import Cost, JobKey
from bot.incidents.model import DecisionKind
from bot.store.health import Cohort, RowsOf
from storage.columns import AnyRow
from storage.health_statements import ANSWER, RECOVERY
from storage.health_times import FoundTimes

_NOTHING: Counter[str] = Counter()


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """What each statement found; `at` is the instant of the ages."""

    period: Period
    at: datetime
    opened: Sequence[AnyRow]
    times: FoundTimes
    cases: Sequence[AnyRow]
    ages: Sequence[AnyRow]
    reruns: Sequence[AnyRow]
    repeating: Sequence[AnyRow]

    def jobs(self, by: RowsOf) -> set[int]:
        """The ids of the jobs whose names are needed."""
        found = {row.job_id for row in self.repeating}
        if by is RowsOf.JOB:
            found |= {row.dim for rows in (self.opened, self.ages, self.reruns) for row in rows}
        return found


def folded(
    found: Folded, *, scope: Scope, by: RowsOf, names: Mapping[int, JobKey], away: Sequence[Absence]
) -> tuple[Health, Cohort, tuple[HealthRow, ...]]:
    """The figures, what comparisons need beside them, and the rows, those with most occurrences first."""
    counted = _sum(found.opened)
    booked = _sum(found.reruns)
    spent, estimated = _by_unit(found.reruns, "spent"), _by_unit(found.opened, "estimate")
    health = Health(
        scope=scope,
        period=found.period,
        occurrences=counted["occurrences"],
        completed=sum(row.n for row in found.cases),
        cases=tuple(sorted(((str(row.ended), row.n) for row in found.cases), key=lambda one: (-one[1], one[0]))),
        acknowledged=found.times.whole.get(ANSWER, Times()),
        unattended=_ages(found.ages, "unanswered", found.at),
        alone=counted["alone"],
        automatic=Share(n=booked["automatic"], yes=booked["automatic_worked"]),
        approved=Share(n=booked["approved"], yes=booked["approved_worked"]),
        spent=tuple(Cost(amount=amount, unit=unit) for unit, amount in sorted(spent.items())),
        saved=tuple(
            Cost(amount=amount - spent.get(unit, 0.0), unit=unit) for unit, amount in sorted(estimated.items())
        ),
        repeats=counted["repeats"],
        repeating=tuple((names[row.job_id], row.n) for row in found.repeating),
        delay=sum((row.delay for row in found.opened), timedelta()),
        delayed=counted["delayed"],
        recovery=found.times.whole.get(RECOVERY, Times()),
        unresolved=_ages(found.ages, "all", found.at),
        decisions=tuple((kind, counted[kind]) for kind in DecisionKind if counted[kind]),
        corrections=Corrections(
            cause_changed=counted["cause_changed"],
            false_alarm=counted["false_alarm"],
            wrong_team=counted["wrong_team"],
        ),
        late=counted["late"],
        rejected=counted["rejected"],
        unobserved=_unobserved(away, found.period.since, found.at),
        marked=counted["marked"],
    )
    cohort = Cohort(
        needed=counted["occurrences"] - counted["alone"],
        answered=counted["answered"],
        settled=counted["settled"],
        corrected=counted["corrected"],
        observed=counted["observed"],
    )
    return health, cohort, _rows(found, by, names)


def _rows(found: Folded, by: RowsOf, names: Mapping[int, JobKey]) -> tuple[HealthRow, ...]:
    counted, booked = _by_dim(found.opened), _by_dim(found.reruns)
    open_ones = {row.dim: row.all for row in found.ages}
    times = found.times.rows
    rows = [
        HealthRow(
            name=str(names[dim]) if by is RowsOf.JOB else dim,
            occurrences=counted.get(dim, _NOTHING)["occurrences"],
            unresolved=open_ones.get(dim, 0),
            acknowledged=times.get((dim, ANSWER), Times()),
            recovery=times.get((dim, RECOVERY), Times()),
            first_reruns=_first_reruns(booked.get(dim, _NOTHING)),
            repeats=counted.get(dim, _NOTHING)["repeats"],
            late=counted.get(dim, _NOTHING)["late"],
        )
        for dim in {*counted, *booked, *open_ones}
    ]
    return tuple(sorted(rows, key=lambda row: (-row.occurrences, -row.unresolved, row.name)))


def _first_reruns(booked: Mapping[str, int]) -> Share:
    return Share(n=booked["automatic"] + booked["approved"], yes=booked["automatic_worked"] + booked["approved_worked"])


def _sum(rows: Iterable[AnyRow]) -> Counter[str]:
    """What can be added up of these rows."""
    total: Counter[str] = Counter()
    for row in rows:
        total.update({name: int(value) for name, value in row._mapping.items() if name not in _NO_COUNTS})
    return total


_NO_COUNTS = frozenset({"dim", "unit", "estimate", "spent", "delay"})


def _by_dim(rows: Iterable[AnyRow]) -> dict[Any, Counter[str]]:
    grouped: defaultdict[Any, list[AnyRow]] = defaultdict(list)
    for row in rows:
        grouped[row.dim].append(row)
    return {dim: _sum(group) for dim, group in grouped.items()}


def _by_unit(rows: Iterable[AnyRow], name: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for row in rows:
        amount = row._mapping[name]
        if row.unit is not None and amount is not None:
            found[row.unit] = found.get(row.unit, 0.0) + float(amount)
    return {unit: round(amount, 6) for unit, amount in found.items()}


def _ages(rows: Iterable[AnyRow], label: str, at: datetime) -> Ages:
    known = [row._mapping for row in rows]
    n, day, week = (int(sum(row[f"{label}{part}"] for row in known)) for part in ("", "_day", "_week"))
    oldest = min((row[f"{label}_oldest"] for row in known if row[f"{label}_oldest"] is not None), default=None)
    return Ages(
        n=n,
        under_a_day=day,
        under_a_week=week - day,
        older=n - week,
        oldest=at - oldest if oldest is not None else None,
    )


def _unobserved(away: Iterable[Absence], since: datetime, until: datetime) -> timedelta:
    spans = (min(one.ended_at, until) - max(one.began_at, since) for one in away)
    return sum((span for span in spans if span > timedelta()), timedelta())
