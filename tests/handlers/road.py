"""The doors with the real road behind them: intake, core and a SQLite file. Only the workspace is a double."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from prometheus_client import CollectorRegistry
from starlette.applications import Starlette

from bot.delivery.forms import Forms
from bot.home import Homes
from bot.incidents.keys import JobKey
from bot.incidents.model import Incident
from bot.incidents.policy import Door
from bot.intake import Intake
from bot.intake.worlds import Worlds
from bot.people import People
from bot.policies import load
from bot.reads import Records
from bot.store import PersonRow, Which
from bot.teams import Teams
from handlers.events import events_door
from handlers.health import Health
from handlers.http import web_app
from handlers.meters import Meters
from handlers.slack.answers import PrivateAnswers
from handlers.slack.app import slack_door
from handlers.slack.health import HealthDesk
from handlers.tokens import SourceTokens
from storage.migrating import migrate
from storage.opening import SqlStorage, open_storage
from tests.handlers.doubles import NOON, Addresses, Claims, Clock, Figures, Workspace
from tests.handlers.slack_side import SECRET

TOKEN = "token-of-airflow-1"
OURS = "T1"
JOB = JobKey(scheduler="airflow-prod", name="finance.daily_revenue")
POLICIES = """\
version: 1
schedulers:
  airflow-prod: {type: events}
teams:
  finance-data: {slack: {channel: C0FINANCE}, members: [U0ANA, U0BEN]}
jobs:
  - {match: airflow-prod/*, team: finance-data}
fallback: {channel: C0JOBS}
"""
PEOPLE = (("U0ANA", "Ana"), ("U0BEN", "Ben"), ("U0MALLORY", "Mallory"))


@dataclass(frozen=True, kw_only=True)
class Road:
    """The web app, and what came of the requests."""

    app: Starlette
    storage: SqlStorage
    workspace: Workspace

    def unresolved(self) -> tuple[Incident, ...]:
        return self.storage.reads.incidents(which=Which.UNRESOLVED, limit=10)

    def occurrence(self, number: int) -> Incident:
        found = self.storage.reads.incident(record=1, number=number)

        assert found is not None

        return found


def thread_url(channel: str, ts: str) -> str:
    return f"https://team.slack.com/archives/{channel}/p{ts}"


@contextmanager
def road(database: Path, clock: Clock, workspace: Workspace) -> Iterator[Road]:
    url = f"sqlite:///{database}"
    migrate(url)
    storage = open_storage(url, instance="web")
    policies = load(POLICIES, env={})
    rows = [PersonRow(id=id, name=name, email=None, active=True, read_at=NOON) for id, name in PEOPLE]
    people = People(people=rows)

    def everyone() -> People:
        return people

    worlds = Worlds(policies=lambda: policies, people=everyone, schedulers=dict, doors=frozenset({Door.CHANNEL}))
    records = Records(
        reads=storage.reads,
        worlds=worlds,
        people=everyone,
        clock=clock,
        thread_url=thread_url,
    )
    intake = Intake(
        storage=storage,
        reads=storage.reads,
        worlds=worlds,
        clock=clock,
        committed=lambda _: None,
    )
    teams = Teams(reads=storage.reads, policies=lambda: policies, people=everyone, thread_url=thread_url)
    homes = Homes(reads=storage.reads, teams=teams, people=everyone, snapshot_of=records.snapshot, clock=clock)
    meters, answers = Meters(CollectorRegistry()), PrivateAnswers(to=workspace)
    workspace.settle = answers.close
    events = events_door(tokens=SourceTokens(((JOB.scheduler, TOKEN),)), take_in=intake.take_in, meters=meters)
    slack = slack_door(
        signing_secrets=(SECRET,),
        take_in=intake.take_in,
        reads=records,
        homes=homes,
        answers=answers,
        causes=tuple,
        clock=clock,
        meters=meters,
        health=HealthDesk(
            answers=Figures(),
            responses=Addresses(),
            forms=Forms(clock=clock),
            draw=lambda report: False,
            claim=Claims(),
        ),
        ours=lambda: OURS,
    )
    app = web_app(doors=(events, slack), health=Health(checks={}, clock=clock), meters=meters)
    try:
        yield Road(app=app, storage=storage, workspace=workspace)
    finally:
        answers.close()
        storage.close()
