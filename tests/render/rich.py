"""A failure with everything that evidence can tell: several changes, a statement that was edited, a past. Values only."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from bot.evidence.changes import changes_between
from bot.evidence.types import EvidenceLine, RootError
from bot.incidents.keys import JobKey
from bot.incidents.model import DecisionKind, Fix, Incident, Outcome, OwnerDecision, Status
from bot.render.snapshot import Snapshot
from tests.render import cases
from tests.render.cases import ANA, BEN, NOW

QUERY = "SELECT day,\n       sum(amount) AS revenue\nFROM   core.orders\nWHERE  day = :day\nGROUP BY day\n"
ERROR = 'psycopg.errors.UndefinedColumn: column "currency" does not exist'


def facts(*, rows: int, columns: tuple[str, ...], version: str, query: str, took: float) -> dict[str, Any]:
    commits = ["81be07d Revenue by currency", "77a10ce Tidy the tests", "4f2a9c1 Load orders nightly"]
    return {
        "code": {"version": version, "commits": commits if version == "81be07d" else commits[2:]},
        "config": {"revenue.sql": query},
        "inputs": {"data/orders.csv": {"schema": list(columns), "rows": rows}},
        "env": {
            "python": "3.11.7",
            "packages": [f"pandas=={'2.2' if version == '81be07d' else '1.5'}", "psycopg==3.2"],
        },
        "timing": {"duration_seconds": took},
    }


GOOD = [
    facts(
        rows=1_200_000 + 3_000 * back,
        columns=("id", "amount", "currency"),
        version="4f2a9c1",
        query=QUERY,
        took=720 + back,
    )
    for back in range(14)
]
FAILED = facts(
    rows=31,
    columns=("id", "amount"),
    version="81be07d",
    query=QUERY.replace("SELECT day,", "SELECT day, currency,").replace("BY day", "BY day, currency"),
    took=15_000,
)


def past(number: int, outcome: Outcome | None, **changes: Any) -> Incident:
    closed = NOW - timedelta(days=7 * number)
    known: dict[str, Any] = {"number": number, "outcome": outcome, "closed_at": closed, **changes}
    return replace(cases.incident(Status.RESOLVED if outcome else Status.LEFT), **known)


def snapshot() -> Snapshot:
    root = RootError(
        type="psycopg.errors.UndefinedColumn",
        message='column "currency" does not exist',
        lines=(
            EvidenceLine(number=118, text="loading 31 rows of orders.csv"),
            EvidenceLine(number=119, text=ERROR, decisive=True),
            EvidenceLine(number=120, text="LINE 1: SELECT day, currency,"),
        ),
    )
    changes = changes_between(
        GOOD[0], FAILED, earlier=GOOD[1:], error=f"{ERROR}\nSELECT day, currency,", cause="data.schema"
    )
    decision = OwnerDecision(kind=DecisionKind.LEFT, by=BEN, reason="the shop is closed that week")
    fix = Fix(by=ANA, what="asked the shop for the column", link="https://git.example.com/etl/pull/12")
    return replace(
        cases.snapshot(),
        evidence=cases.evidence(root=root, changes=changes),
        past_times=5,
        past=(past(1, Outcome.RECOVERED), past(2, Outcome.FIXED, fix=fix), past(3, None, decision=decision)),
        same_cause=tuple(JobKey(scheduler="airflow-prod", name=f"finance.report_{n}") for n in range(7)),
    )
