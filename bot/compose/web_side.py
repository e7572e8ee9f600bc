"""Puts together what answers HTTP: the doors for sources, Slack and browsers, and health. It serves none of it."""

from collections.abc import Callable
from dataclasses import dataclass

from prometheus_client import CollectorRegistry
from starlette.applications import Starlette

from bot.compose.checks import Checks
from bot.compose.common import Common
from bot.compose.health_side import HealthSide, health_side
from bot.compose.mail_side import MailSide
from bot.compose.service import utc_now
from bot.compose.slack_side import SlackSide, slack_side
from bot.compose.source_side import SourceSide
from bot.compose.team_side import TeamSide
from bot.pages import Logins, Pages
from bot.render.modal_parts import CauseChoice
from handlers.events import events_door
from handlers.health import Health
from handlers.http import web_app
from handlers.lineage import lineage_door
from handlers.meters import Meters
from handlers.pages import PagesDesk, lost_page, pages_doors
from handlers.pings import ping_doors
from handlers.slack.answers import PrivateAnswers
from handlers.slack.desk import Desk
from handlers.tokens import SourceTokens
from handlers.wire import Door


@dataclass(frozen=True, slots=True, kw_only=True)
class WebParts:
    """What the doors are made of.

    `answers`: this process takes requests; else it tells of its health alone. `at_once`: private answers go out before the
    click is answered. `mail` is None where none is sent; `wake` has the watchdog of the sockets look.
    """

    common: Common
    answers: bool
    at_once: bool
    teams: TeamSide
    mail: MailSide | None
    sources: SourceSide
    wake: Callable[[], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSide:
    """`first` is closed before anything is sent no more, `last` after it."""

    app: Starlette
    slack: SlackSide
    first: tuple[Callable[[], None], ...]
    last: tuple[Callable[[], None], ...]


def web_side(parts: WebParts) -> WebSide:
    meters = Meters(CollectorRegistry())
    slack_chat = parts.common.slack
    private = PrivateAnswers(to=slack_chat, at_once=parts.at_once) if slack_chat is not None else None
    mail_server = parts.mail.server if parts.mail is not None else None
    checks = Checks(
        parts.common.settings, parts.common.policy_file, parts.common.storage, slack_chat, utc_now, mail=mail_server
    )
    figures = health_side(parts.common, teams=parts.teams.teams)
    if parts.answers:
        meters.registry.register(figures.gauges)
    slack = _slack(parts, meters, private, figures)
    mail_checks = parts.mail.checks if parts.mail is not None else {}
    health = Health(checks={**checks.by_name(), **slack.checks, **mail_checks}, clock=parts.common.clock)
    desk = _pages(parts, meters, figures)
    app = web_app(
        doors=_doors(parts, meters, slack, desk) if parts.answers else [],
        health=health,
        meters=meters,
        lost=lost_page(desk) if desk is not None else None,
    )
    of_slack = (private.close, slack_chat.close) if private is not None and slack_chat is not None else ()
    of_slack = of_slack if figures.close is None else (*of_slack, figures.close)
    return WebSide(app=app, slack=slack, first=slack.closing, last=(*of_slack, checks.close))


def _doors(parts: WebParts, meters: Meters, slack: SlackSide, desk: PagesDesk | None) -> list[Door]:
    tokens = SourceTokens(parts.common.settings.source_tokens)
    doors = [events_door(tokens=tokens, take_in=parts.common.take_in, meters=meters)]
    doors.append(lineage_door(tokens=tokens, lineage=parts.sources.lineage, meters=meters))
    if slack.http is not None:
        doors.append(slack.http)
    if parts.sources.pings is not None:
        take_in, clock = parts.common.take_in, parts.common.clock
        doors += ping_doors(
            pings=parts.sources.pings, store=parts.common.storage, take_in=take_in, clock=clock, meters=meters
        )
    return doors if desk is None else [*doors, *pages_doors(desk)]


def _pages(parts: WebParts, meters: Meters, figures: HealthSide) -> PagesDesk | None:
    """Without a key no link could be told from a forger's, so that there are no pages."""
    if parts.common.signer is None or not parts.answers:
        return None
    pages = Pages(
        reads=parts.common.storage.reads,
        page_reads=parts.common.storage.reads,
        teams=parts.teams.teams,
        policies=parts.common.policies,
        people=parts.common.people,
        snapshot_of=parts.common.records.snapshot,
        thread_of=parts.common.records.permalink,
        clock=parts.common.clock,
    )
    return PagesDesk(
        pages=pages,
        links=parts.mail.links if parts.mail is not None else None,
        take_in=parts.common.take_in,
        person_of=Logins(policies=parts.common.policies, people=parts.common.people).person,
        signer=parts.common.signer,
        clock=parts.common.clock,
        meters=meters,
        public_url=parts.common.settings.public_url,
        health=figures.pages,
        user_header=parts.common.settings.pages_user_header,
        proxies=parts.common.settings.pages_proxies,
    )


def _slack(parts: WebParts, meters: Meters, private: PrivateAnswers | None, figures: HealthSide) -> SlackSide:
    if private is None or figures.slack is None or not parts.answers:
        return SlackSide()

    def causes() -> tuple[CauseChoice, ...]:
        return tuple((rule.id, rule.title) for rule in parts.common.policies().every_rule())

    desk = Desk(
        take_in=parts.common.take_in,
        reads=parts.common.records,
        homes=parts.teams.homes,
        answers=private,
        causes=causes,
        clock=parts.common.clock,
        meters=meters,
        health=figures.slack,
    )
    return slack_side(parts.common.settings, desk=desk, ours=lambda: parts.common.thread_url.workspace, wake=parts.wake)
