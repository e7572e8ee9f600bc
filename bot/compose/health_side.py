"""Puts together what answers about job health: the use case, its links and pictures, and what the doors need of it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from bot.adapters.slack_responses import SlackResponses
from bot.compose.common import Common
from bot.delivery.forms import Forms
from bot.directory import loaded
from bot.health.answering import HealthAnswers
from bot.health.links import Linked
from bot.health.names import KnownNames
from bot.health.periods import last_days
from bot.health.pictures import Pictures
from bot.health.query import Query
from bot.health.reporting import HealthReports
from bot.health.sharing import Shares
from bot.incidents.health import HealthReport, Scope
from bot.people import People
from bot.policies import Policies
from bot.render.health import picture_of
from bot.signed import Signer
from bot.teams import Teams
from handlers.health_gauges import HealthGauges
from handlers.pages.desk import HealthPages
from handlers.slack.health import HealthDesk
from storage.opening import SqlStorage, open_storage

GAUGES_DAYS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthSide:
    """`slack` is None without a workspace; `close` lets its connections go."""

    pages: HealthPages
    gauges: HealthGauges
    slack: HealthDesk | None = None
    close: Callable[[], None] | None = None


def health_side(common: Common, *, teams: Teams) -> HealthSide:
    reports = HealthReports(reads=common.storage.reads, baselines=common.storage)
    answers = health_answers(
        storage=common.storage,
        teams=teams,
        people=common.people,
        policies=common.policies,
        signer=common.signer,
        public_url=common.settings.public_url,
    )
    pictures = Pictures()

    def report(now: datetime) -> HealthReport:
        query = Query(scope=Scope(), period=last_days(GAUGES_DAYS, zone="UTC", now=now))
        return reports.report(query, now=now)

    side = HealthSide(
        pages=HealthPages(reading=answers, drawing=pictures), gauges=HealthGauges(report=report, clock=common.clock)
    )
    if common.slack is None:
        return side
    responses = SlackResponses(base_url=common.settings.slack_api_url, clock=common.clock)
    shares = Shares(common.storage)
    desk = HealthDesk(
        answers=answers,
        responses=responses,
        forms=Forms(clock=common.clock),
        draw=lambda found: pictures.png(picture_of(found)) is not None,
        claim=lambda name, now: shares.claim(name, now=now),
    )
    return HealthSide(pages=side.pages, gauges=side.gauges, slack=desk, close=responses.close)


def health_answers(
    *,
    storage: SqlStorage,
    teams: Teams,
    people: Callable[[], People],
    policies: Callable[[], Policies],
    signer: Signer | None,
    public_url: str | None,
) -> HealthAnswers:
    """The use case over a database, for the service as for the command line."""
    links = Linked(signer=signer, public_url=public_url)
    return HealthAnswers(
        reports=HealthReports(reads=storage.reads, baselines=storage),
        names=KnownNames(policies=policies, job_keys=storage.reads.job_keys),
        reads=storage.reads,
        team_of=lambda line: teams.of(line.job),
        url_of=teams.url_of,
        people=people,
        policies=policies,
        links=lambda query, now: links.of(query, now=now),
    )


@contextmanager
def opened_health(url: str, policies: Policies, *, public_url: str | None, now: datetime) -> Iterator[HealthAnswers]:
    """The use case beside a running service: it reads alone. Raises what opening the database raises."""
    storage = open_storage(url, instance="cli", read_only=True)
    try:
        people = loaded(storage, now)
        teams = Teams(
            reads=storage.reads, policies=lambda: policies, people=lambda: people, thread_url=lambda channel, ts: None
        )
        yield health_answers(
            storage=storage,
            teams=teams,
            people=lambda: people,
            policies=lambda: policies,
            signer=None,
            public_url=public_url,
        )
    finally:
        storage.close()
