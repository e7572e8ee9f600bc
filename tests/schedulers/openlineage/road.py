"""The lineage door with the real road behind it: the use case, intake, core and a database. Nothing is a double."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from prometheus_client import CollectorRegistry
from sqlalchemy import func, select
from starlette.applications import Starlette

from bot.incidents.model import Incident
from bot.incidents.policy import Door
from bot.intake import Intake
from bot.intake.worlds import Worlds
from bot.people import People
from bot.policies import load
from bot.schedulers.cloudevents import Rejected
from bot.schedulers.openlineage import Lineage, Taken, decode
from bot.store import Which
from handlers.health import Health
from handlers.http import web_app
from handlers.lineage import lineage_door
from handlers.meters import Meters
from handlers.tokens import SourceTokens
from storage import tables
from storage.database import Database
from storage.leases import SoleHolder
from storage.opening import SqlStorage
from tests.handlers.doubles import Clock

SOURCE, TOKEN = "airflow-prod", "token-of-airflow-1"
OTHER, OTHER_TOKEN = "dbt", "token-of-dbt-1"
POLICIES = """\
version: 1
schedulers:
  airflow-prod: {type: events}
  dbt: {type: events}
teams:
  finance-data: {slack: {channel: C0FINANCE}, members: [U0ANA, U0BEN]}
jobs:
  - {match: "*/*", team: finance-data, watch_manual: true}
fallback: {channel: C0JOBS}
"""


class LineageStorage(SqlStorage):
    """The storage, whose tables a test may look into."""

    @property
    def database(self) -> Database:
        return self._database


@dataclass(frozen=True, kw_only=True)
class Road:
    """The web app and the use case, and what came of the events."""

    app: Starlette
    lineage: Lineage
    intake: Intake
    storage: LineageStorage
    clock: Clock

    def takes(self, *events: dict[str, Any], source: str = SOURCE) -> list[Taken]:
        """Take the events in as one request; all must be understood."""
        read = decode(json.dumps(events).encode(), "application/json", source=source)
        heard = [event for event in read if not isinstance(event, Rejected)]

        assert len(heard) == len(events), read

        return self.lineage.take(heard, source=source)

    def waits(self, seconds: int = 11) -> None:
        self.clock.move(timedelta(seconds=seconds))
        self.lineage.step(self.clock())

    def unresolved(self) -> tuple[Incident, ...]:
        return self.storage.reads.incidents(which=Which.UNRESOLVED, limit=100)

    def runs(self) -> set[tuple[str, str, int, str, str]]:
        """Every run that intake was told of: job, run, generation, state and cause."""
        statement = select(
            tables.jobs.c.name,
            tables.runs.c.run_id,
            tables.runs.c.generation,
            tables.runs.c.state,
            func.coalesce(tables.runs.c.cause, ""),
        ).join(tables.jobs, tables.jobs.c.id == tables.runs.c.job_id)
        with self.storage.database.read() as connection:
            return {(row[0], row[1], row[2], row[3], row[4]) for row in connection.execute(statement)}


@contextmanager
def lineage_road(
    url: str, clock: Clock, *, polled: Callable[[str], timedelta | None] = lambda _: None
) -> Iterator[Road]:
    storage = LineageStorage(Database(url), SoleHolder(instance="web", lock=None))
    policies, people = load(POLICIES, env={}), People(people=[])
    worlds = Worlds(policies=lambda: policies, people=lambda: people, schedulers=dict, doors=frozenset({Door.CHANNEL}))
    intake = Intake(
        storage=storage, reads=storage.reads, worlds=worlds, clock=clock, committed=lambda _: None, born_leased=False
    )
    lineage = Lineage(store=storage, take_in=intake.take_in, clock=clock, polled=polled)
    tokens, meters = SourceTokens(((SOURCE, TOKEN), (OTHER, OTHER_TOKEN))), Meters(CollectorRegistry())
    door = lineage_door(tokens=tokens, lineage=lineage, meters=meters)
    app = web_app(doors=(door,), health=Health(checks={}, clock=clock), meters=meters)
    try:
        yield Road(app=app, lineage=lineage, intake=intake, storage=storage, clock=clock)
    finally:
        storage.close()
