"""Every figure of two hundred occurrences equals the one worked out by hand, whatever the scope and the period."""

import re
from collections.abc import Iterator
from dataclasses import fields
from datetime import timedelta

import pytest

from bot.health.query import Query, Versus
from bot.health.reporting import HealthReports, previous_of
from bot.incidents.comparing import ranked
from bot.incidents.health import COMPARED_SHARES, DEFINITIONS, Health, Period, Scope
from bot.incidents.model import DecisionKind
from bot.store.health import RowsOf
from storage.opening import SqlStorage, open_storage
from tests.health import by_hand
from tests.health.company import AWAY, HOUR, MINUTE, NOW, Case, job, write
from tests.house.tree import ROOT
from tests.storage.samples import incident, stored
from tests.storage.test_statements import counted

MONTH = Period(since=NOW - timedelta(days=30), until=NOW, name="30d")
WEEK = Period(since=NOW - timedelta(days=7), until=NOW, name="7d")
ALL = Period(since=NOW - timedelta(days=400), until=NOW, name="400d")
LONG_AGO = Period(since=NOW - timedelta(days=38), until=NOW - timedelta(days=8), name="a month that is over")
EMPTY = Period(since=NOW - timedelta(days=90), until=NOW - timedelta(days=60), name="before all of it")
PERIODS = (MONTH, WEEK, ALL, LONG_AGO, EMPTY)
SCOPES = (
    Scope(),
    Scope(team="finance"),
    Scope(team=""),
    Scope(team="platform"),
    Scope(team="nobody has heard of it"),
    Scope(job=job(3)),
    Scope(job=job(77)),
    Scope(scheduler="airflow"),
    Scope(cause="unknown"),
    Scope(cause="other.cause"),
    Scope(team="growth", scheduler="cron", cause="data.missing"),
)


@pytest.fixture
def storage(database_url: str) -> Iterator[SqlStorage]:
    opened = open_storage(database_url, instance="web")
    yield opened
    opened.close()


@pytest.fixture
def cases(storage: SqlStorage) -> tuple[Case, ...]:
    return write(storage)


def same(found: Health, expected: Health) -> None:
    """Field by field, so that a failure names the measure; which of equal jobs come first is not told."""
    for field in fields(Health):
        if field.name == "repeating":
            counts = sorted((n for _, n in expected.repeating), reverse=True)
            assert [n for _, n in found.repeating] == counts[: len(found.repeating)]
            assert set(found.repeating) <= set(expected.repeating)
            assert len(found.repeating) == min(5, len(counts))
        else:
            assert getattr(found, field.name) == getattr(expected, field.name), field.name


def test_every_figure_equals_the_one_worked_out_by_hand(storage: SqlStorage, cases: tuple[Case, ...]) -> None:
    for period in PERIODS:
        for scope in SCOPES:
            found = storage.reads.picture(scope, period, by=RowsOf.TEAM, now=NOW)

            same(found.health, by_hand.figures(cases, scope, period, now=NOW, away=AWAY))


def test_the_figures_are_about_something(cases: tuple[Case, ...]) -> None:
    month = by_hand.figures(cases, Scope(), MONTH, now=NOW, away=AWAY)
    empty = Health(scope=Scope(), period=MONTH)

    assert [field.name for field in fields(Health) if getattr(month, field.name) == getattr(empty, field.name)] == [
        "scope",
        "period",
    ]
    assert {kind for kind, _ in month.decisions} == set(DecisionKind)
    assert len(month.cases) == 8
    assert month.unattended.under_a_day > 0
    assert month.unresolved.older > 0
    assert len(month.spent) == 2


def test_some_figures_as_counted_by_hand(storage: SqlStorage, cases: tuple[Case, ...]) -> None:
    health = storage.reads.picture(Scope(), MONTH, by=RowsOf.TEAM, now=NOW).health

    assert len(cases) == 200
    assert health.occurrences == 144, "every five hours of 30 days"
    assert health.unresolved.n == 15, "numbers 60, 112, 186 and 188 to 199"
    assert health.unresolved.under_a_day == 4, "196 to 199 opened 20, 15, 10 and 5 hours ago"
    assert health.unresolved.oldest == (200 - 60) * 5 * HOUR
    assert health.unattended.n == 6, "60, 186, 189, 192 and 198, which nobody answers, and 199, whose answer is to come"
    assert health.repeats == 21, "of 56 to 199 every seventh"
    assert health.unobserved == 30 * HOUR + 200 * MINUTE + HOUR


def test_each_row_of_the_table_is_the_figures_of_its_team_or_job(storage: SqlStorage, cases: tuple[Case, ...]) -> None:
    by_team = storage.reads.picture(Scope(), MONTH, by=RowsOf.TEAM, now=NOW).rows
    by_job = storage.reads.picture(Scope(team="finance"), MONTH, by=RowsOf.JOB, now=NOW).rows

    assert [one.name for one in by_team] == ["finance", "growth", "", "platform"]
    for one in by_team:
        assert one == by_hand.row(one.name, by_hand.figures(cases, Scope(team=one.name), MONTH, now=NOW, away=AWAY))
    jobs = {str(key): key for key in by_hand.jobs_of(by_hand.of_scope(cases, Scope(team="finance")))}
    assert {one.name for one in by_job} == jobs.keys()
    for one in by_job:
        scope = Scope(team="finance", job=jobs[one.name])
        assert one == by_hand.row(one.name, by_hand.figures(cases, scope, MONTH, now=NOW, away=AWAY))


def test_the_chart_counts_each_occurrence_in_its_day(storage: SqlStorage, cases: tuple[Case, ...]) -> None:
    reports = HealthReports(reads=storage.reads, baselines=storage)
    since, zone = NOW.replace(hour=0) - timedelta(days=10, hours=5, minutes=45), "Asia/Kathmandu"
    period = Period(since=since, until=NOW, name="since then", zone=zone)
    days = reports.report(Query(scope=Scope(), period=period), now=NOW).days

    local = timedelta(hours=5, minutes=45)
    opened = [(case.incident.opened_at + local).date() for case in cases if case.incident.opened_at >= since]
    closed = [
        (case.incident.closed_at + local).date()
        for case in cases
        if case.incident.closed_at and since <= case.incident.closed_at < NOW
    ]
    assert len(days) == 11
    assert [(day.begins, day.opened, day.settled) for day in days] == [
        (day.begins, opened.count(day.begins), closed.count(day.begins)) for day in days
    ]
    assert sum(day.opened for day in days) == len(opened)


def test_a_long_period_is_told_by_weeks(storage: SqlStorage, cases: tuple[Case, ...]) -> None:
    reports = HealthReports(reads=storage.reads, baselines=storage)
    days = reports.report(Query(scope=Scope(), period=ALL), now=NOW).days

    assert len(days) == 59
    assert {day.begins.weekday() for day in days} == {0}
    assert sum(day.opened for day in days) == len(cases)


def test_two_periods_are_ranked_as_by_hand(storage: SqlStorage, cases: tuple[Case, ...]) -> None:
    before, after = previous_of(MONTH), MONTH
    for scope in SCOPES:
        found = storage.reads.compared(scope, before=before, after=after)
        mine = [case.incident for case in by_hand.of_scope(cases, scope)]
        early, late = (
            [one for one in mine if period.since <= one.opened_at < period.until] for period in (before, after)
        )

        def seconds(spans: list[timedelta]) -> list[float]:
            return [span // timedelta(seconds=1) for span in spans]

        assert found.acknowledged == ranked(seconds(by_hand.answers(early, AWAY)), seconds(by_hand.answers(late, AWAY)))
        assert found.recovery == ranked(seconds(by_hand.recoveries(early)), seconds(by_hand.recoveries(late)))
        assert found.delay == ranked(
            *(
                [sum((wait.delay or timedelta() for wait in one.waits), timedelta()).total_seconds() for one in part]
                for part in (early, late)
            )
        )


def test_the_rows_of_the_file_add_up_to_the_figures(storage: SqlStorage, cases: tuple[Case, ...]) -> None:
    reports = HealthReports(reads=storage.reads, baselines=storage)
    query = Query(scope=Scope(team="growth"), period=MONTH)
    rows, health = reports.rows(query, now=NOW), reports.report(query, now=NOW).health

    assert len(rows) == health.occurrences > 40
    assert [row.opened_at for row in rows] == sorted((row.opened_at for row in rows), reverse=True)
    assert {row.team for row in rows} == {"growth"}
    assert sum(row.to_answer is not None for row in rows) == health.acknowledged.n
    assert sum(row.to_recover is not None for row in rows) == health.recovery.n
    assert sorted(filter(None, (row.to_answer for row in rows)))[(health.acknowledged.n + 1) // 2 - 1] == (
        health.acknowledged.p50
    )
    assert sum(row.repeat for row in rows) == health.repeats
    assert sum(row.late_runs for row in rows) == health.late
    assert sum(row.marked for row in rows) == health.marked
    assert sum((row.delay for row in rows), timedelta()) == health.delay
    assert "U0ANA" not in repr(rows)
    assert reports.rows(query, now=NOW, limit=3) == rows[:3]


def test_what_was_written_before_it_was_measured_counts_and_has_no_times(storage: SqlStorage) -> None:
    bare, _ = stored(storage, incident(opened_at=NOW, first_word_at=NOW + MINUTE))
    health = storage.reads.picture(Scope(), ALL, by=RowsOf.TEAM, now=NOW + HOUR).health

    assert bare.measured.failed_at is None
    assert health.occurrences == 0, "it opened at the end of the period, which is half open"
    period = Period(since=NOW, until=NOW + HOUR, name="an hour")
    health = storage.reads.picture(Scope(), period, by=RowsOf.TEAM, now=NOW + HOUR).health
    assert (health.occurrences, health.unresolved.n, health.unattended.n) == (1, 1, 0)
    assert health.acknowledged.n == health.rejected == 0


def test_a_comparison_asks_a_bounded_number_of_statements(storage: SqlStorage, cases: tuple[Case, ...]) -> None:
    reports = HealthReports(reads=storage.reads, baselines=storage)
    with counted() as plain:
        reports.report(Query(scope=Scope(), period=MONTH), now=NOW)
    with counted() as compared:
        reports.report(Query(scope=Scope(), period=MONTH, versus=Versus.PREVIOUS), now=NOW)

    assert len(plain) <= 12
    assert len(compared) <= 27


def test_the_page_of_the_docs_defines_every_measure_in_the_same_words() -> None:
    page = (ROOT / "docs/job-health.md").read_text(encoding="utf-8")
    measures = page[page.index("\n## Measures\n") :]
    told = dict(re.findall(r"^\| (\w+) \| ([^|]+) \|$", measures, flags=re.MULTILINE))

    assert told.pop("figure") == "what it is"
    assert told == {**DEFINITIONS, **COMPARED_SHARES}


def test_every_figure_is_defined_and_every_comparison_too(storage: SqlStorage, cases: tuple[Case, ...]) -> None:
    figures = {field.name for field in fields(Health)} - {"scope", "period", "cases", "repeating", "delayed"}
    reports = HealthReports(reads=storage.reads, baselines=storage)
    report = reports.report(Query(scope=Scope(), period=MONTH, versus=Versus.PREVIOUS), now=NOW)

    assert figures == DEFINITIONS.keys()
    assert len(report.comparisons) == 12
    assert {one.measure for one in report.comparisons} <= DEFINITIONS.keys() | COMPARED_SHARES.keys()
