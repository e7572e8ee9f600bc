"""What a period is compared with, what a comparison claims and what it must not, and what is said where there is little."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from bot.health.query import Query, Versus
from bot.health.reporting import HealthReports
from bot.incidents.health import Comparison, HealthReport, Period, Scope, Verdict
from bot.incidents.keys import JobKey
from storage.opening import SqlStorage, open_storage
from tests.health.simple import occurrence, put

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
OCTOBER = Period(
    since=datetime(2026, 10, 1, tzinfo=UTC), until=datetime(2026, 11, 1, tzinfo=UTC), name="2026-10-01..2026-10-31"
)
NOVEMBER = Period(
    since=datetime(2026, 11, 1, tzinfo=UTC), until=datetime(2026, 12, 1, tzinfo=UTC), name="2026-11-01..2026-11-30"
)
DAY = timedelta(days=1)
ORDERS, CUBE = JobKey(scheduler="cron", name="orders"), JobKey(scheduler="cron", name="cube")


@pytest.fixture
def storage(database_url: str) -> Iterator[SqlStorage]:
    opened = open_storage(database_url, instance="web")
    yield opened
    opened.close()


@pytest.fixture
def reports(storage: SqlStorage) -> HealthReports:
    return HealthReports(reads=storage.reads, baselines=storage)


def asked(reports: HealthReports, scope: Scope | None = None, *, versus: Versus | None = None) -> HealthReport:
    return reports.report(Query(scope=scope or Scope(), period=NOVEMBER, versus=versus), now=NOW)


def of(report: HealthReport, measure: str) -> Comparison:
    return next(one for one in report.comparisons if one.measure == measure)


def month(
    storage: SqlStorage, period: Period, *, n: int, answered: float, recovered: float, job: str = "orders"
) -> None:
    """So many occurrences, spread over the period, each answered some minutes later than the one before."""
    gap = period.length / n
    put(
        storage,
        [
            occurrence(
                job,
                period.since + number * gap,
                answered_after=answered + number % 7,
                recovered_after=recovered + number % 5,
            )
            for number in range(n)
        ],
    )


def test_a_baseline_is_recorded_with_who_and_when_and_the_newest_stands(reports: HealthReports) -> None:
    assert reports.baseline() is None
    first = reports.set_baseline(OCTOBER, NOVEMBER, by="U0MARIA", now=NOW)
    later = Period(since=OCTOBER.since + DAY, until=OCTOBER.until, name="2026-10-02..2026-10-31", zone="Europe/Berlin")
    second = reports.set_baseline(later, NOVEMBER, by="maria@example.com", now=NOW + DAY)

    assert second.review.zone == "Europe/Berlin"
    assert reports.baseline() == second
    assert reports.baselines() == (second, first)
    assert (first.set_by, first.set_at) == ("U0MARIA", NOW)


def test_without_a_baseline_nothing_is_compared_and_it_is_said(storage: SqlStorage, reports: HealthReports) -> None:
    month(storage, NOVEMBER, n=12, answered=5, recovered=60)
    report = asked(reports, versus=Versus.BASELINE)

    assert report.before is None
    assert report.comparisons == ()
    assert "No baseline is set, so that nothing is compared." in report.notes


def test_a_baseline_before_the_record_is_not_comparable(storage: SqlStorage, reports: HealthReports) -> None:
    month(storage, NOVEMBER, n=12, answered=5, recovered=60)
    reports.set_baseline(OCTOBER, NOVEMBER, by="U0MARIA", now=NOW)
    report = asked(reports, versus=Versus.BASELINE)

    assert report.comparisons == ()
    assert (
        "The baseline (2026-10-01..2026-10-31) lies before the record, which begins on 2026-11-01: nothing is compared."
        in report.notes
    )


def test_a_scope_that_has_nothing_in_the_baseline_is_not_comparable(
    storage: SqlStorage, reports: HealthReports
) -> None:
    month(storage, OCTOBER, n=12, answered=5, recovered=60, job="cube")
    month(storage, NOVEMBER, n=12, answered=5, recovered=60, job="orders")
    reports.set_baseline(OCTOBER, NOVEMBER, by="U0MARIA", now=NOW)

    everything = asked(reports, versus=Versus.BASELINE)
    orders = asked(reports, Scope(job=ORDERS), versus=Versus.BASELINE)
    assert everything.before is not None
    assert orders.before is None
    assert orders.notes[-1].startswith("Nothing of it opened in the baseline")


def test_a_baseline_that_begins_before_the_record_is_cut(storage: SqlStorage, reports: HealthReports) -> None:
    begins = datetime(2026, 10, 16, tzinfo=UTC)
    late = Period(since=begins, until=OCTOBER.until, name="the later half")
    month(storage, late, n=24, answered=5, recovered=60)
    month(storage, NOVEMBER, n=45, answered=5, recovered=60)
    reports.set_baseline(OCTOBER, NOVEMBER, by="U0MARIA", now=NOW)
    report = asked(reports, versus=Versus.BASELINE)

    assert "The record begins on 2026-10-16, within the baseline (2026-10-01..2026-10-31)." in report.notes
    assert report.before is not None
    assert report.before.period.since == begins
    assert of(report, "occurrences").before == pytest.approx(24 / 16 * 7)
    assert of(report, "occurrences").verdict is Verdict.NOISE, "as often as before, in half the time"


def test_a_baseline_that_overlaps_is_said_to(storage: SqlStorage, reports: HealthReports) -> None:
    month(storage, NOVEMBER, n=30, answered=5, recovered=60)
    reports.set_baseline(NOVEMBER, NOVEMBER, by="U0MARIA", now=NOW)
    report = asked(reports, versus=Versus.BASELINE)

    assert any("overlaps the period" in note for note in report.notes)
    assert {one.verdict for one in report.comparisons} <= {Verdict.NOISE, Verdict.TOO_FEW}


def test_a_change_for_the_better_and_one_for_the_worse(storage: SqlStorage, reports: HealthReports) -> None:
    month(storage, OCTOBER, n=31, answered=90, recovered=200)
    month(storage, NOVEMBER, n=90, answered=10, recovered=200)
    reports.set_baseline(OCTOBER, NOVEMBER, by="U0MARIA", now=NOW)
    report = asked(reports, versus=Versus.BASELINE)

    acknowledged = of(report, "acknowledged")
    assert (acknowledged.before, acknowledged.after) == (93 * 60, 13 * 60)
    assert (acknowledged.n_before, acknowledged.n_after) == (31, 90)
    assert acknowledged.verdict is Verdict.BETTER
    assert acknowledged.p is not None
    assert acknowledged.p < 1e-9
    assert of(report, "occurrences").verdict is Verdict.WORSE
    assert of(report, "recovery").verdict is Verdict.NOISE
    assert of(report, "automatic").verdict is Verdict.TOO_FEW, "nothing was rerun"
    assert report.before_name == "baseline (2026-10-01..2026-10-31)"


def test_too_few_claim_nothing(storage: SqlStorage, reports: HealthReports) -> None:
    month(storage, OCTOBER, n=4, answered=500, recovered=900)
    month(storage, NOVEMBER, n=5, answered=1, recovered=2)
    report = asked(reports, versus=Versus.PREVIOUS)

    assert {one.verdict for one in report.comparisons} == {Verdict.TOO_FEW}
    assert {one.p for one in report.comparisons} == {None}
    assert report.before_name == "previous period (2026-10-02..2026-10-31)"
    assert "Few occurrences (n = 5): numbers are told instead of percentages." in report.notes


def test_many_measures_share_one_risk(storage: SqlStorage, reports: HealthReports) -> None:
    """A difference that would count by itself (p about 0.03) does not among the many that are looked at."""
    month(storage, OCTOBER, n=31, answered=10, recovered=60)
    month(storage, NOVEMBER, n=51, answered=10, recovered=60)
    report = asked(reports, versus=Versus.PREVIOUS)

    p = of(report, "occurrences").p
    assert p is not None
    assert 0.01 < p < 0.05
    assert of(report, "occurrences").verdict is Verdict.NOISE


def test_a_job_that_nobody_knows_and_one_without_trouble_have_no_data(
    storage: SqlStorage, reports: HealthReports
) -> None:
    """SCENARIO 40, the figures: no data and n; open ones as age; negatives rejected; a baseline only where comparable."""
    month(storage, OCTOBER, n=12, answered=5, recovered=60, job="cube")
    for scope in (Scope(job=JobKey(scheduler="cron", name="unheard_of")), Scope(job=CUBE), Scope(team="nobody")):
        report = asked(reports, scope, versus=Versus.BASELINE)

        assert report.notes[0] == "No data: nothing of it opened, was settled or was open in this period (n = 0)."
        assert report.health.occurrences == report.health.acknowledged.n == 0
        assert report.health.acknowledged.p50 is None
        assert report.health.automatic.fraction is None
        assert report.rows == ()
        assert "No baseline is set, so that nothing is compared." in report.notes


def test_open_ones_that_nobody_answered_count_as_age(storage: SqlStorage, reports: HealthReports) -> None:
    put(
        storage,
        [
            occurrence("orders", NOVEMBER.until - timedelta(hours=3)),
            occurrence("cube", NOVEMBER.until - 3 * DAY),
            occurrence("pack", NOVEMBER.until - 40 * DAY),
            occurrence("invoices", NOVEMBER.until - 2 * DAY, answered_after=30),
        ],
    )
    health = asked(reports).health

    assert health.acknowledged.n == 1, "an answer that is still to come is no duration"
    assert health.unattended.n == 3
    assert (health.unattended.under_a_day, health.unattended.under_a_week, health.unattended.older) == (1, 1, 1)
    assert health.unattended.oldest == 40 * DAY
    assert health.unresolved.n == 4
    assert health.occurrences == 3, "the oldest opened before the period, and is open in it all the same"


def test_a_clock_that_is_wrong_is_rejected_and_seen(storage: SqlStorage, reports: HealthReports) -> None:
    at = NOVEMBER.since + DAY
    put(
        storage,
        [
            occurrence("orders", at, answered_after=-30, recovered_after=60),
            occurrence("orders", at + DAY, answered_after=10, recovered_after=-60),
            occurrence("orders", at + 2 * DAY, told_after=-20, answered_after=10, recovered_after=60),
            occurrence("orders", at + 3 * DAY, told_after=-0.5, answered_after=10, recovered_after=60),
        ],
    )
    health = asked(reports).health

    assert health.rejected == 4, "one answer, one recovery, and both of a failure that was told before it happened"
    assert (health.acknowledged.n, health.acknowledged.p50) == (2, timedelta(minutes=10))
    assert (health.recovery.n, health.recovery.p90) == (2, timedelta(minutes=60))


def test_what_fell_into_our_own_absence_is_left_out_and_marked(storage: SqlStorage, reports: HealthReports) -> None:
    away = NOVEMBER.since + 5 * DAY
    storage.be_there(now=away, longest=DAY)
    storage.be_there(now=away + timedelta(hours=4), longest=timedelta(minutes=5))
    put(
        storage,
        [
            occurrence("orders", away + timedelta(hours=1), told_after=180, answered_after=200, recovered_after=300),
            occurrence("cube", away - timedelta(minutes=20), answered_after=280, recovered_after=300),
            occurrence("pack", away - timedelta(minutes=20), answered_after=10, recovered_after=300),
            occurrence("pack", away + timedelta(hours=4), answered_after=10, recovered_after=300),
        ],
    )
    health = asked(reports).health

    assert health.unobserved == timedelta(hours=4)
    assert health.marked == 2
    assert (health.acknowledged.n, health.acknowledged.p90) == (2, timedelta(minutes=10))
    assert health.recovery.n == 4, "the time to recover is what it was"


def test_a_period_that_begins_before_the_record_says_so(storage: SqlStorage, reports: HealthReports) -> None:
    put(storage, [occurrence("orders", NOVEMBER.since + 6 * DAY, answered_after=1, recovered_after=2)])

    assert "The record begins on 2026-11-07." in asked(reports).notes
