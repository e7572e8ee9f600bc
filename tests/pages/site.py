"""The pages with everything behind them that is real: intake, core, storage, policies; only the browser is a test client."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import IPv4Network, IPv6Network, ip_network
from itertools import count
from typing import Any

from prometheus_client import CollectorRegistry
from starlette.applications import Starlette

from bot.compose.health_side import health_answers
from bot.health.pictures import Pictures
from bot.incidents.keys import JobKey
from bot.incidents.model import Incident
from bot.incidents.people import By, Person
from bot.incidents.policy import Door
from bot.intake import Inbound, Intake
from bot.intake.worlds import Worlds
from bot.mail import CommandWord
from bot.pages import Logins, Pages
from bot.people import People
from bot.policies import load
from bot.ports import Scheduler
from bot.reads import Records
from bot.replies.links import Links
from bot.signed import ActingLink, Signer
from bot.store import NewMail, PersonRow
from bot.teams import Teams
from handlers.events import events_door
from handlers.health import Health
from handlers.http import web_app
from handlers.meters import Meters
from handlers.pages import PagesDesk, lost_page, pages_doors
from handlers.pages.desk import HealthPages
from handlers.tokens import SourceTokens
from storage.opening import SqlStorage, open_storage
from tests.handlers.doubles import NOON, Clock
from tests.handlers.events import failed
from tests.pages.browser import Browser

TOKEN = "token-of-airflow-1"
KEY = "a secret key of thirty-two letters"
HEADER = "x-forwarded-email"
PUBLIC = "https://ontrack.example.com"
PROXY = "10.0.0.7"
JOB = JobKey(scheduler="airflow-prod", name="finance.daily_revenue")
POLICIES = """\
version: 1
schedulers:
  airflow-prod: {type: events}
teams:
  finance-data:
    slack: {channel: C0FINANCE}
    members: [ana@example.com, U0BEN, zoe@example.com]
    manager: maria@example.com
    hours: {days: mon-fri, from: "08:00", to: "18:00", timezone: Europe/Berlin}
  growth: {slack: {channel: C0GROWTH}, members: [U0GIL]}
jobs:
  - match: airflow-prod/finance.*
    team: finance-data
    schedule: {cron: "0 6 * * *", timezone: UTC}
    safe_to_retry: {causes: [network.timeout], by: ana@example.com, since: 2026-11-02}
  - {match: airflow-prod/ads.*, team: growth}
fallback: {channel: C0JOBS}
"""
PEOPLE = (
    ("U0ANA", "Ana", "ana@example.com", True),
    ("U0BEN", "Ben", "ben@example.com", True),
    ("U0GIL", "Gil", "gil@example.com", True),
    ("U0SAM", "Sam", "sam@example.com", True),
    ("U0EVE", "Eve", "eve@example.com", False),
)


@dataclass(kw_only=True)
class Site:
    """The web app and what stands behind it."""

    app: Starlette
    storage: SqlStorage
    intake: Intake
    signer: Signer
    clock: Clock

    def browser(self, *, login: str | None = None, peer: str = PROXY, **headers: str) -> Browser:
        """A browser at that address; with `login` a proxy has written it into its header."""
        sent = {"accept": "text/html", **{name.replace("_", "-"): value for name, value in headers.items()}}
        if login is not None:
            sent[HEADER] = login
        return Browser(app=self.app, base_url=PUBLIC, headers=sent, peer=peer)

    def fails(self, *, job: str = JOB.name, id: str = "e1", **changes: Any) -> Incident:
        """A run of the job fails; returns the newest occurrence."""
        told = failed(id=id)
        told["data"]["job"] = job
        told["data"]["error"] |= changes
        token = {"authorization": f"Bearer {TOKEN}"}
        answer = self.browser().request("POST", "/api/v1/events", json=told, headers=token)

        assert answer.json()["results"][0]["result"] == "accepted", answer.text

        return self.newest(JobKey(scheduler="airflow-prod", name=job))

    def newest(self, job: JobKey = JOB) -> Incident:
        record, number = self.storage.reads.newest_of([job])[job]
        return self.occurrence(record, number)

    def occurrence(self, record: int = 1, number: int = 1) -> Incident:
        found = self.storage.reads.incident(record=record, number=number)

        assert found is not None

        return found

    def says(self, make: Any, *, key: str = "said", who: str = "U0ANA", record: int = 1, number: int = 1) -> None:
        """Somebody of the team says something in Slack."""
        by = By(person=Person(id=who, name={row[0]: row[1] for row in PEOPLE}[who]), at=self.clock())
        self.intake.take_in([Inbound(key=key, event=make(by), occurrence=(record, number))])

    def link(self, word: CommandWord | str, *, address: str = "ana@example.com", **content: Any) -> str:
        """The path of a link of a mail about the first occurrence that was sent to that address."""
        known = {"kind": "ask", "door": "email", "address": address, "shared": False, "facts": {}}
        mail = NewMail(
            key=f"mail-{word}-{address}-{len(content)}",
            address=address,
            content=known | content,
            due_at=self.clock(),
            occurrence=(1, 1),
        )
        self.storage.put_mail(mail, now=self.clock())
        row = max(self.storage.reads.outbox(states=["waiting"], limit=200), key=lambda one: one.id)  # type: ignore[list-item]

        return f"/d/{self.signer.link(ActingLink(mail=row.id, word=str(word)))}/{word}"

    def key(self, record: int = 1, *, lasts: timedelta = timedelta(days=30)) -> str:
        return self.signer.page(f"/i/{record}", now=self.clock(), lasts=lasts)

    def state(self) -> tuple[object, ...]:
        """Everything that a request could have changed."""
        records = self.storage.reads.newest_of(self.storage.reads.job_keys()).values()
        return tuple(
            (self.occurrence(*name), self.storage.reads.timeline(record=name[0], number=name[1])) for name in records
        )


def networks(*written: str) -> tuple[IPv4Network | IPv6Network, ...]:
    return tuple(ip_network(each) for each in written)


@contextmanager
def site(
    url: str,
    clock: Clock,
    *,
    proxies: Sequence[str] = (f"{PROXY}/32",),
    policies: str = POLICIES,
    public_url: str = PUBLIC,
    schedulers: Mapping[str, Scheduler] | None = None,
) -> Iterator[Site]:
    storage = open_storage(url, instance="web")
    loaded = load(policies, env={})
    rows = [PersonRow(id=id, name=name, email=email, active=active, read_at=NOON) for id, name, email, active in PEOPLE]
    people = People(people=rows)

    def everyone() -> People:
        return people

    def thread_url(channel: str, ts: str) -> str:
        return f"https://team.slack.com/archives/{channel}/p{ts}"

    worlds = Worlds(
        policies=lambda: loaded, people=everyone, schedulers=lambda: schedulers or {}, doors=frozenset({Door.CHANNEL})
    )
    records = Records(reads=storage.reads, worlds=worlds, people=everyone, clock=clock, thread_url=thread_url)
    intake = Intake(storage=storage, reads=storage.reads, worlds=worlds, clock=clock, committed=lambda _: None)
    teams = Teams(reads=storage.reads, policies=lambda: loaded, people=everyone, thread_url=thread_url)
    signer, meters, numbers = Signer(KEY), Meters(CollectorRegistry()), count(1)
    desk = PagesDesk(
        pages=Pages(
            reads=storage.reads,
            page_reads=storage.reads,
            teams=teams,
            policies=lambda: loaded,
            people=everyone,
            snapshot_of=records.snapshot,
            thread_of=records.permalink,
            clock=clock,
        ),
        links=Links(
            storage=storage,
            take_in=intake.take_in,
            snapshot_of=records.snapshot,
            policies=lambda: loaded,
            people=everyone,
            signer=signer,
        ),
        take_in=intake.take_in,
        person_of=Logins(policies=lambda: loaded, people=everyone).person,
        signer=signer,
        clock=clock,
        meters=meters,
        public_url=public_url,
        health=HealthPages(
            reading=health_answers(
                storage=storage,
                teams=teams,
                people=everyone,
                policies=lambda: loaded,
                signer=signer,
                public_url=public_url,
            ),
            drawing=Pictures(),
        ),
        user_header=HEADER,
        proxies=networks(*proxies),
        nonce=lambda: f"nonce-{next(numbers):08}",
    )
    events = events_door(tokens=SourceTokens(((JOB.scheduler, TOKEN),)), take_in=intake.take_in, meters=meters)
    app = web_app(
        doors=(events, *pages_doors(desk)),
        health=Health(checks={}, clock=clock),
        meters=meters,
        lost=lost_page(desk),
    )
    try:
        yield Site(app=app, storage=storage, intake=intake, signer=signer, clock=clock)
    finally:
        storage.close()
