"""Answers about job health as people meet them, each a value to render; nothing here checks anything."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from bot.incidents.health import (
    Ages,
    Baseline,
    Comparison,
    Corrections,
    Day,
    Health,
    HealthReport,
    HealthRow,
    Period,
    Scope,
    Share,
    Times,
    Unit,
    Verdict,
)
from bot.incidents.keys import Cost, JobKey
from bot.incidents.model import DecisionKind, Status
from bot.render.health import HealthAnswer, OpenOne

NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
REVENUE = JobKey(scheduler="airflow-prod", name="finance.daily_revenue")
STOCK = JobKey(scheduler="cron", name="stock_count")
MONTH = Period(since=NOW - timedelta(days=30), until=NOW, name="30d")
HOSTILE = "<!channel> <@U0ANA> `*_~ & \u202eevil\u202c <script>alert(1)</script> =cmd|' /C calc'!A0 " + "x" * 400


def minutes(count: float) -> timedelta:
    return timedelta(minutes=count)


def days(opened: list[int], *, begins: date = date(2026, 11, 1)) -> tuple[Day, ...]:
    return tuple(
        Day(begins=begins + timedelta(days=index), opened=count, settled=max(0, count - index % 2))
        for index, count in enumerate(opened)
    )


FINANCE = Health(
    scope=Scope(team="finance"),
    period=MONTH,
    occurrences=12,
    completed=9,
    cases=(("recovered", 5), ("fixed", 3), ("paused", 1)),
    acknowledged=Times(n=11, p50=minutes(14), p90=minutes(130)),
    unattended=Ages(n=1, under_a_day=1, oldest=minutes(190)),
    alone=2,
    automatic=Share(n=14, yes=12),
    approved=Share(n=3, yes=2),
    spent=(Cost(amount=3.2),),
    saved=(Cost(amount=5.5),),
    repeats=3,
    repeating=((REVENUE, 2), (STOCK, 1)),
    delay=timedelta(hours=7, minutes=30),
    delayed=3,
    recovery=Times(n=9, p50=minutes(55), p90=timedelta(hours=9)),
    unresolved=Ages(n=3, under_a_day=1, under_a_week=2, older=0, oldest=timedelta(days=5)),
    decisions=((DecisionKind.FIXED, 3), (DecisionKind.PAUSED, 1)),
    corrections=Corrections(cause_changed=1, wrong_team=1),
    late=2,
)
ROWS = (
    HealthRow(
        name="airflow-prod/finance.daily_revenue",
        occurrences=7,
        unresolved=2,
        acknowledged=Times(n=6, p50=minutes(12), p90=minutes(40)),
        recovery=Times(n=5, p50=minutes(50), p90=timedelta(hours=3)),
        first_reruns=Share(n=12, yes=11),
        repeats=2,
        late=0,
    ),
    HealthRow(
        name="cron/stock_count",
        occurrences=5,
        unresolved=1,
        acknowledged=Times(n=5, p50=minutes(31), p90=minutes(130)),
        recovery=Times(),
        first_reruns=Share(n=2, yes=1),
        repeats=1,
        late=2,
    ),
)
OPEN = (
    OpenOne(
        job=REVENUE,
        team="finance",
        status=Status.OPEN,
        opened_at=NOW - timedelta(days=5),
        on_it="Ana",
        url="https://team.slack.com/archives/C1/p1",
    ),
    OpenOne(job=STOCK, team="finance", status=Status.AWAITING_APPROVAL, opened_at=NOW - minutes(190)),
)
USUAL = HealthAnswer(
    report=HealthReport(
        health=FINANCE,
        rows_of="job",
        rows=ROWS,
        days=days([0, 1, 0, 0, 2, 1, 0, 3, 0, 0, 1, 0, 0, 2, 0, 0, 1, 0, 0, 1]),
    ),
    at=NOW,
    zone="Europe/Berlin",
    ask="team:finance 30d",
    open=OPEN,
    open_count=3,
    unattended=2,
    page_url="https://ontrack.example.com/job-health?of=team%3Afinance&period=30d&k=1-a",
    csv_url="https://ontrack.example.com/job-health.csv?of=team%3Afinance&period=30d&k=1-a",
    share='{"of":"team:finance"}',
)


def comparison(measure: str, unit: Unit, before: float | None, after: float | None, verdict: Verdict) -> Comparison:
    few = verdict is Verdict.TOO_FEW
    counted = (6, 4) if few else (40, 31)
    p = {Verdict.BETTER: 0.004, Verdict.WORSE: 0.0002, Verdict.NOISE: 0.41, Verdict.TOO_FEW: None}[verdict]
    return Comparison(
        measure=measure,
        unit=unit,
        before=before,
        after=after,
        n_before=counted[0],
        n_after=counted[1],
        verdict=verdict,
        p=p,
    )


def compared(*comparisons: Comparison) -> HealthAnswer:
    report = replace(
        USUAL.report,
        before=FINANCE,
        before_name="previous period (2026-10-02..2026-11-01)",
        comparisons=comparisons,
        days=days([2] * 31),
    )
    return replace(USUAL, report=report, ask="team:finance 30d vs previous")


def of_report(**changes: object) -> HealthAnswer:
    return replace(USUAL, report=replace(USUAL.report, **changes))  # type: ignore[arg-type]


def of_figures(**changes: object) -> HealthAnswer:
    return of_report(health=replace(FINANCE, **changes))  # type: ignore[arg-type]


def many_teams(count: int, name: str = "team-{}") -> HealthAnswer:
    rows = tuple(
        replace(ROWS[0], name=name.format(number), occurrences=200 - number, unresolved=number % 5)
        for number in range(count)
    )
    health = replace(FINANCE, scope=Scope(), occurrences=4_000, completed=3_800)
    return replace(
        USUAL,
        report=HealthReport(health=health, rows_of="team", rows=rows, days=days([40 + n % 17 for n in range(31)])),
        ask="30d",
        zone="UTC",
        open_count=143,
    )


EMPTY = Health(scope=Scope(), period=MONTH)
ANSWERS: dict[str, HealthAnswer] = {
    "usual": USUAL,
    "nothing": HealthAnswer(
        report=HealthReport(
            health=EMPTY, notes=("No data: nothing of it opened, was settled or was open in this period (n = 0).",)
        ),
        at=NOW,
        ask="30d",
    ),
    "quiet but open": HealthAnswer(report=HealthReport(health=EMPTY), at=NOW, ask="30d", open=OPEN, open_count=2),
    "one": of_report(
        health=replace(
            EMPTY,
            scope=Scope(job=REVENUE),
            occurrences=1,
            completed=1,
            acknowledged=Times(n=1, p50=minutes(3), p90=minutes(3)),
            automatic=Share(n=1, yes=1),
        ),
        rows=(),
        days=days([1]),
    ),
    "no baseline": of_report(notes=("No baseline is set, so that nothing is compared.",), before_name=""),
    "compared": compared(
        comparison("acknowledged", Unit.SECONDS, 1860, 840, Verdict.BETTER),
        comparison("recovery", Unit.SECONDS, 2400, 5400, Verdict.WORSE),
        comparison("occurrences", Unit.A_WEEK, 3.1, 2.8, Verdict.NOISE),
        comparison("automatic", Unit.SHARE, 0.6, 0.9, Verdict.BETTER),
        comparison("approved", Unit.SHARE, 0.5, 0.75, Verdict.TOO_FEW),
        comparison("late", Unit.A_WEEK, 0, 1.2, Verdict.NOISE),
        comparison("corrected", Unit.SHARE, None, None, Verdict.TOO_FEW),
    ),
    "downtime": of_figures(unobserved=timedelta(hours=3), marked=2, rejected=1),
    "sixty teams": many_teams(60),
    "shared": replace(USUAL, share=None, shared_by="Maria"),
    "cause": of_figures(scope=Scope(team="finance", cause="disk.full"), period=replace(MONTH, name="since 2026-11-01")),
}
BASELINE = Baseline(
    period=Period(
        since=datetime(2026, 10, 1, tzinfo=UTC), until=datetime(2026, 11, 1, tzinfo=UTC), name="2026-10-01..2026-10-31"
    ),
    review=Period(
        since=datetime(2026, 11, 1, tzinfo=UTC), until=datetime(2026, 12, 1, tzinfo=UTC), name="2026-11-01..2026-11-30"
    ),
    set_by="Maria",
    set_at=NOW,
)


def hostile(text: str = HOSTILE) -> HealthAnswer:
    """An answer in which everything that comes from outside is `text`, and much of it."""
    job = JobKey(scheduler=text, name=text)
    rows = tuple(replace(ROWS[0], name=f"{text}{number}") for number in range(120))
    health = replace(FINANCE, scope=Scope(team=text, cause=text), repeating=((job, 2),) * 5, cases=((text, 2),))
    address = f"https://x/{text.encode('utf-8', 'replace').decode()}"
    one = replace(OPEN[0], job=job, on_it=text, url=address)
    return replace(
        compared(*(comparison(text, Unit.COUNT, 3, 4, Verdict.WORSE) for _ in range(14))),
        report=replace(
            USUAL.report, health=health, rows=rows, notes=(text,) * 4, before_name=text, days=days([5] * 140)
        ),
        open=(one,) * 6,
        open_count=9,
        shared_by=text,
        ask=text,
        zone=text,
        page_url=address,
    )
