"""Pages as people meet them, as values to render; nothing here checks anything."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from bot.evidence.types import Change, ChangeKind
from bot.incidents.keys import JobKey
from bot.incidents.memory import GoodRun
from bot.incidents.model import Outcome, Status
from bot.incidents.people import By, Person
from bot.incidents.policy import JobPolicy, Schedule, Team
from bot.mail import CommandWord
from bot.render.lines import Confirm, MarkLine
from bot.render.pages import (
    ConfirmPage,
    Deciding,
    Frame,
    Happened,
    JobPage,
    NoticePage,
    RecordPage,
    RecordsPage,
    RerunRow,
    Row,
    RunRow,
    Said,
    TeamPage,
    Wanted,
)
from tests.render import cases

NOW = cases.NOW
JOB = JobKey(scheduler="airflow-prod", name="finance.daily_revenue")
FRAME = Frame(now=NOW, style="0123456789ab", reader="Ana", base="", key="")
LINK = Frame(now=NOW, style="0123456789ab", base="/ontrack", key="?k=20800-aaaaaaaaaaaaaaaaaaaa")


def row(**changes: Any) -> Row:
    plain = Row(
        record=11,
        number=1,
        job=JOB,
        team="finance-data",
        zone="Europe/Berlin",
        status=Status.RESOLVED,
        cause="network.connection_reset",
        title="Connection reset by the other side",
        opened_at=NOW - timedelta(days=400),
        closed_at=NOW - timedelta(days=3),
        outcome=Outcome.FIXED,
    )
    return replace(plain, **changes)


OPEN_ROW = row(record=12, status=Status.OPEN, closed_at=None, outcome=None, opened_at=NOW)
HELD_ROW = replace(OPEN_ROW, record=13, on_it="Ben", until=NOW + timedelta(hours=4))


def record_page(**changes: Any) -> RecordPage:
    diff = Change(
        path="code.query.sql",
        kind=ChangeKind.CHANGED,
        before=None,
        after=None,
        note=None,
        rank=0,
        says="the error names `amount_eur`, which the query reads since",
        diff="@@ -1,2 +1,2 @@\n-select amount\n+select amount_eur\n from orders",
    )
    found = cases.evidence(changes=(diff, *(cases.evidence().changes or ())))
    at = NOW + timedelta(minutes=5)
    plain = RecordPage(
        snapshot=cases.snapshot(
            cases.incident(number=2, returned=cases.returned("fixed")), evidence=found, occurrences=2
        ),
        timeline=(
            Happened(at=NOW, kind="opened", reason="Connection reset by the other side"),
            Happened(at=at, kind="acknowledged", reason="taken", by=By(person=Person(id="U0ANA", name="Ana"), at=at)),
            Happened(
                at=at, kind="declined", reason="no", by=By(person=Person(id="b@example.com"), at=at, door="email")
            ),
            Happened(at=at, kind="something_newer", reason="", by=By(person=Person(id="U0B"), at=at, door="web")),
        ),
        happened_before=3,
        reruns=(
            RerunRow(
                at=NOW,
                nominal_times=(cases.DUE, None),
                cause="network.connection_reset",
                automatic=True,
                amount=0.4,
                unit="run_hours",
                result="failed",
            ),
            RerunRow(
                at=at, nominal_times=(cases.DUE,), cause="x", automatic=False, amount=None, unit="run_hours", by="Ana"
            ),
        ),
        occurrences=(replace(OPEN_ROW, number=2), row(record=12)),
        earlier=(row(),),
        similar=(replace(OPEN_ROW, record=9, job=JobKey(scheduler="cron", name="ads/spend"), why="the same cause"),),
        thread_url="https://team.slack.com/archives/C1/p1",
    )
    return replace(plain, **changes)


DECIDING = Deciding(
    zone="Europe/Berlin",
    words=frozenset({CommandWord.ACK, CommandWord.RERUN, CommandWord.FIXED, CommandWord.PAUSE}),
    version=3,
    seal="abcdefghijklmnopqrst",
    nonce="nonce-1",
)
APPROVING = replace(DECIDING, words=frozenset({CommandWord.APPROVE, CommandWord.DECLINE, CommandWord.ACK}), proposal=2)
SAID = Said(text="It is yours (until Tue 1 Dec 03:12 CET).", done=True)


def records_page(**changes: Any) -> RecordsPage:
    plain = RecordsPage(
        wanted=Wanted(status="all", team="growth", job="airflow-prod/*", since="2026-11-01"),
        rows=(HELD_ROW, OPEN_ROW, row()),
        teams=("finance-data", "growth"),
        older="2026-11-30T02:12:30Z_11.1",
        looked_at=3,
    )
    return replace(plain, **changes)


def runs() -> tuple[RunRow, ...]:
    states = ("started", "failed", "succeeded", "skipped", "cancelled", "retrying", "succeeded")
    return tuple(
        RunRow(
            run_id=f"r{day}",
            nominal_time=cases.DUE - timedelta(days=day),
            generation=day % 2,
            state=state,
            trigger="rerun" if day % 2 else "schedule",
            at=cases.DUE - timedelta(days=day),
            took=timedelta(minutes=20 + day) if state in ("succeeded", "failed") else None,
            cause="network.connection_reset" if state == "failed" else "",
            url="https://airflow.example.com/runs/1",
        )
        for day, state in enumerate(states)
    )


def job_page(**changes: Any) -> JobPage:
    plain = JobPage(
        job=JOB,
        policy=JobPolicy(
            team=Team(name="finance-data"),
            runbook="https://wiki.example.com/r",
            downstream=("airflow-prod/board",),
        ),
        zone="Europe/Berlin",
        runs=runs(),
        rows=(HELD_ROW, row()),
        schedule=Schedule(cron="0 3 * * *", zone="Europe/Berlin"),
        last_good=GoodRun(run=cases.RUN, ended_at=NOW),
        usual_duration=timedelta(minutes=24),
        marks=(("Connection reset", None), ("No space", "Eve is not of the owning team")),
    )
    return replace(plain, **changes)


def team_page(**changes: Any) -> TeamPage:
    mark = MarkLine(
        team="finance-data",
        cause="network.connection_reset",
        title="Connection reset",
        by=("Ana",),
        since=NOW - timedelta(days=100),
        jobs=3,
        worked=4,
        ended=5,
        confirm=Confirm.OLD,
    )
    plain = TeamPage(
        team="finance-data",
        zone="Europe/Berlin",
        rows=(HELD_ROW, OPEN_ROW),
        more=True,
        marks=(mark, replace(mark, title="No space", void="marked by growth", in_file=True, ended=0, suspended=1)),
        on_call=("Ben",),
        owners=("Ana", "Ben"),
        manager="Maria",
        jobs=(JOB, JobKey(scheduler="cron", name="a job/with a slash")),
        jobs_count=5,
    )
    return replace(plain, **changes)


def confirm_page(**changes: Any) -> ConfirmPage:
    plain = ConfirmPage(
        word=CommandWord.PAUSE,
        snapshot=cases.snapshot(),
        who="Ana",
        name="17-abcdefghijklmnopqrst",
        zone="Europe/Berlin",
        wants_words=True,
        wants_day=True,
    )
    return replace(plain, **changes)


NOTICE = NoticePage(
    title="Done: finance.daily_revenue",
    lines=("It is yours.", "A link works once."),
    done=True,
    links=(("/i/12.1?k=20800-aaaaaaaaaaaaaaaaaaaa", "Open the record"),),
)
