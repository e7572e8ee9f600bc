"""How soon job health is answered over a year's record: the whole company's, a team's and a job's, alone and compared.

    python -m bench health [--runs 10000000] [--occurrences 1000000] [--db postgresql]

On SQLite a tenth of both. The figure is the median of `LOOKS` answers of `HealthReports.report`, each read anew from the
database by a process that has answered once before.
"""

import argparse
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from statistics import median

from bench.databases import HOW, POSTGRESQL, SQLITE, Databases, databases
from bench.figures import emit, say
from bench.health_data import NOW, Size, fill, job_of, team_of
from bot.health.query import Query, Versus
from bot.health.reporting import HealthReports
from bot.incidents.health import Period, Scope
from storage.database import Database
from storage.migrating import migrate
from storage.opening import open_storage

LOOKS = 11
TENTH = 10
MONTH = Period(since=NOW - timedelta(days=30), until=NOW, name="30d")
ASKED = (
    ("company", Scope(), None),
    ("company_compared", Scope(), Versus.PREVIOUS),
    ("team", Scope(team=team_of(0)), None),
    ("job", Scope(job=job_of(0)), None),
    ("job_compared", Scope(job=job_of(0)), Versus.PREVIOUS),
    ("usual_job", Scope(job=job_of(400)), None),
)
GOALS = {"company": 500, "job": 50}


def measure(arguments: Sequence[str] = ()) -> None:
    """Make the record of a year, then ask."""
    wanted = _wanted(arguments)
    with tempfile.TemporaryDirectory() as place, databases(Path(place)) as pool:
        for db in wanted.db:
            part = TENTH if db == SQLITE else 1
            size = Size(runs=wanted.runs // part, occurrences=wanted.occurrences // part, jobs=wanted.jobs // part)
            _measure(pool, Path(place), db, size)


def _wanted(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench health")
    parser.add_argument("--runs", type=int, default=10_000_000)
    parser.add_argument("--occurrences", type=int, default=1_000_000)
    parser.add_argument("--jobs", type=int, default=5000)
    parser.add_argument("--db", nargs="+", choices=[SQLITE, POSTGRESQL], default=[SQLITE, POSTGRESQL])
    return parser.parse_args(list(arguments))


def _measure(pool: Databases, place: Path, db: str, size: Size) -> None:
    url = pool.new(db, place)
    migrate(url)
    say(f"making {size.runs:,} runs and {size.occurrences:,} occurrences, {db}")
    how = {**HOW[db], "runs": size.runs, "occurrences": size.occurrences}
    database = Database(url, limited=False)
    began = time.perf_counter()
    fill(database, size)
    database.close()
    emit("health_record_made", time.perf_counter() - began, "s", **how)
    with ExitStack() as stack:
        storage = open_storage(url, instance="bench")
        stack.callback(storage.close)
        reports = HealthReports(reads=storage.reads, baselines=storage)
        for name, scope, versus in ASKED:
            query = Query(scope=scope, period=MONTH, versus=versus)
            n = reports.report(query, now=NOW).health.occurrences
            took = median(_seconds(reports, query) for _ in range(LOOKS)) * 1000
            goal = {"goal": GOALS[name]} if name in GOALS else {}
            emit(f"health_{name}", took, "ms", n=n, looks=LOOKS, **how, **goal)


def _seconds(reports: HealthReports, query: Query) -> float:
    began = time.perf_counter()
    reports.report(query, now=NOW)
    return time.perf_counter() - began
