"""The same figures worked out in plain Python, one occurrence after the other. It knows nothing of the database.

The words of `docs/job-health.md` are what it goes by.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from bot.incidents.effects import RerunResult
from bot.incidents.health import Ages, Corrections, Health, HealthRow, Period, Scope, Share, Times
from bot.incidents.keys import Cost, JobKey
from bot.incidents.model import DecisionKind, Incident, Outcome
from tests.health.company import Case, Made

Away = Sequence[tuple[datetime, datetime]]
A_MINUTE = timedelta(minutes=1)
ZERO = timedelta()


def of_scope(cases: Iterable[Case], scope: Scope) -> list[Case]:
    return [
        case
        for case in cases
        if (scope.team is None or case.incident.measured.team == scope.team)
        and (scope.job is None or case.incident.job == scope.job)
        and (scope.scheduler is None or case.incident.job.scheduler == scope.scheduler)
        and (scope.cause is None or (case.incident.corrected_cause or case.incident.failure.cause) == scope.cause)
    ]


def figures(cases: Sequence[Case], scope: Scope, period: Period, *, now: datetime, away: Away = ()) -> Health:
    mine = of_scope(cases, scope)
    opened = [case.incident for case in mine if period.since <= case.incident.opened_at < period.until]
    closed = [one.incident for one in mine if _within(one.incident.closed_at, period)]
    made = [rerun for case in mine for rerun in case.reruns if _within(rerun.at, period)]
    end = min(period.until, now)
    still = [case.incident for case in mine if _open_at(case.incident, end)]
    spent = _amounts((rerun.amount, rerun.unit) for rerun in made if rerun.result is not None and not rerun.released)
    would = _amounts(
        (one.measured.estimate.amount, one.measured.estimate.unit) for one in opened if one.measured.estimate
    )
    jobs = Counter(one.job for one in opened if one.number > 1)
    return Health(
        scope=scope,
        period=period,
        occurrences=len(opened),
        completed=len(closed),
        cases=_most_first(Counter(str(one.outcome or one.status) for one in closed)),
        acknowledged=_times(answers(opened, away)),
        unattended=_ages([one for one in still if one.first_word_at is None or one.first_word_at >= end], end),
        alone=sum(_alone(one) for one in opened),
        automatic=_share(rerun for rerun in made if rerun.automatic),
        approved=_share(rerun for rerun in made if not rerun.automatic),
        spent=tuple(Cost(amount=spent[unit], unit=unit) for unit in sorted(spent)),
        saved=tuple(Cost(amount=round(would[unit] - spent.get(unit, 0), 6), unit=unit) for unit in sorted(would)),
        repeats=sum(one.number > 1 for one in opened),
        repeating=tuple(jobs.items()),
        delay=sum((wait.delay or ZERO for one in opened for wait in one.waits), ZERO),
        delayed=sum(bool(wait.delay) for one in opened for wait in one.waits),
        recovery=_times(recoveries(opened)),
        unresolved=_ages(still, end),
        decisions=_decisions(opened),
        corrections=Corrections(
            cause_changed=sum(_cause_changed(one) for one in opened),
            false_alarm=sum(one.decision is not None and one.decision.false_alarm for one in opened),
            wrong_team=sum(bool(one.handed) for one in opened),
        ),
        late=sum(one.measured.late_runs for one in opened),
        rejected=sum(_bad_answer(one) + _bad_recovery(one) for one in opened),
        unobserved=sum((max(ZERO, min(ends, end) - max(began, period.since)) for began, ends in away), ZERO),
        marked=sum(_marked(one, away) for one in opened if not _bad_answer(one)),
    )


def row(name: str, health: Health) -> HealthRow:
    return HealthRow(
        name=name,
        occurrences=health.occurrences,
        unresolved=health.unresolved.n,
        acknowledged=health.acknowledged,
        recovery=health.recovery,
        first_reruns=Share(n=health.automatic.n + health.approved.n, yes=health.automatic.yes + health.approved.yes),
        repeats=health.repeats,
        late=health.late,
    )


def answers(opened: Iterable[Incident], away: Away) -> list[timedelta]:
    return [
        one.first_word_at - one.measured.failed_at
        for one in opened
        if one.first_word_at and one.measured.failed_at and not _bad_answer(one) and not _marked(one, away)
    ]


def recoveries(opened: Iterable[Incident]) -> list[timedelta]:
    return [
        one.measured.good_at - one.measured.failed_at
        for one in opened
        if one.measured.good_at and one.measured.failed_at and not _bad_recovery(one)
    ]


def jobs_of(cases: Iterable[Case]) -> set[JobKey]:
    return {case.incident.job for case in cases}


def _within(at: datetime | None, period: Period) -> bool:
    return at is not None and period.since <= at < period.until


def _open_at(one: Incident, at: datetime) -> bool:
    return one.opened_at < at and (one.closed_at is None or one.closed_at >= at)


def _alone(one: Incident) -> bool:
    return one.outcome in (Outcome.RECOVERED, Outcome.RECOVERED_ALONE) and one.first_word_at is None


def _cause_changed(one: Incident) -> bool:
    return one.corrected_cause is not None and one.corrected_cause != one.failure.cause


def _told_early(one: Incident) -> bool:
    return one.measured.failed_at is not None and one.measured.failed_at > one.opened_at + A_MINUTE


def _bad_answer(one: Incident) -> bool:
    failed_at, answered_at = one.measured.failed_at, one.first_word_at
    return bool(failed_at and answered_at and (answered_at < failed_at or _told_early(one)))


def _bad_recovery(one: Incident) -> bool:
    failed_at, good_at, closed_at = one.measured.failed_at, one.measured.good_at, one.closed_at
    if not (failed_at and good_at and closed_at):
        return False
    return good_at < failed_at or _told_early(one) or good_at > closed_at + A_MINUTE


def _marked(one: Incident, away: Away) -> bool:
    failed_at, answered_at = one.measured.failed_at, one.first_word_at
    return bool(failed_at and answered_at and any(b < answered_at and e > failed_at for b, e in away))


def _times(spans: list[timedelta]) -> Times:
    if not spans:
        return Times()
    ordered = sorted(spans)
    at = [ordered[math.ceil(share * len(ordered)) - 1] for share in (0.5, 0.9)]
    return Times(n=len(ordered), p50=at[0], p90=at[1])


def _share(made: Iterable[Made]) -> Share:
    told = [one for one in made if one.first and not one.released]
    ended = [one.result for one in told if one.result in (RerunResult.SUCCEEDED, RerunResult.FAILED)]
    return Share(n=len(ended), yes=ended.count(RerunResult.SUCCEEDED))


def _ages(still: list[Incident], at: datetime) -> Ages:
    ages = [at - one.opened_at for one in still]
    day, week = timedelta(days=1), timedelta(days=7)
    return Ages(
        n=len(ages),
        under_a_day=sum(age < day for age in ages),
        under_a_week=sum(day <= age < week for age in ages),
        older=sum(age >= week for age in ages),
        oldest=max(ages, default=None),
    )


def _amounts(known: Iterable[tuple[float, str]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for amount, unit in known:
        found[unit] = round(found.get(unit, 0.0) + amount, 6)
    return found


def _decisions(opened: Iterable[Incident]) -> tuple[tuple[DecisionKind, int], ...]:
    told: Counter[DecisionKind] = Counter()
    for one in opened:
        told[DecisionKind.FIXED] += one.fix is not None
        if one.decision is not None:
            told[one.decision.kind] += 1
    return tuple((kind, told[kind]) for kind in DecisionKind if told[kind])


def _most_first(counted: Counter[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(counted.items(), key=lambda one: (-one[1], one[0])))
