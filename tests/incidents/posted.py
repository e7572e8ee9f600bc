"""Small builders for tests about mail: Pia, whom no chat knows, and what a decision mails."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from bot.incidents.effects import Reply, ReplyKind
from bot.incidents.events import DeliveryBuried, DeliveryLate
from bot.incidents.people import Directory, Person
from bot.incidents.policy import Audience, ChasePolicy, Door, Step
from bot.incidents.situation import Decision
from tests.incidents.worlds import (
    MINUTE,
    POLICY,
    UNSAFE,
    Play,
    World,
    directory,
    effects,
    failed,
    own_address,
)

PIA = Person(id="pia@example.com")
LIST, OLGA, FALLBACK = "finance-data@example.com", "olga@example.com", "data-oncall@example.com"
LADDER = (
    Step(after=15 * MINUTE, ask=Audience.TEAM, by=(Door.EMAIL,)),
    Step(after=30 * MINUTE, ask=Audience.ONCALL, by=(Door.CHANNEL,)),
)


def mails(decision: Decision) -> list[tuple[ReplyKind, str]]:
    """Everything that a decision mails, in order."""
    return [
        (reply.kind, one.address)
        for reply in effects(Reply, [decision])
        for one in reply.elsewhere
        if one.door is Door.EMAIL
    ]


def all_mails(play: Play) -> list[tuple[ReplyKind, str]]:
    return [mail for _, decision in play.decisions for mail in mails(decision)]


def by_mail_only(now: datetime, **changes: Any) -> Directory:
    """Pia owns the jobs and is on call; the workspace does not know her."""
    pia = own_address(PIA)
    return directory(
        now,
        owners=frozenset({PIA.id}),
        oncall=frozenset({PIA.id}),
        literal=frozenset({PIA.id}),
        oncall_mentions=(),
        team_mentions=(),
        oncall_mail=(pia,),
        team_mail=(pia,),
        manager_mail=(),
        mail_alone=frozenset({PIA.id}),
        **changes,
    )


def pias(**policy: Any) -> Play:
    """The jobs are Pia's."""
    play = Play(World(policy=replace(POLICY, **policy)))
    play.world.changes = {"directory": by_mail_only(play.now)}
    return play


def asked_by_mail(**changes: Any) -> Play:
    """The team's list was asked a moment ago, by mail alone."""
    play = Play(World(policy=replace(POLICY, chase=ChasePolicy(ladder=LADDER)), changes=changes))
    play.tell(failed(cause=UNSAFE))
    play.after(16 * MINUTE)
    return play


def bounce(play: Play, address: str = LIST, what: str = "ask") -> DeliveryBuried:
    return DeliveryBuried(destination=address, what=what, code="5.1.1", at=play.now, door=Door.EMAIL)


def late(play: Play, since: timedelta = 10 * MINUTE, what: str = "ask", code: str = "fatal_error") -> DeliveryLate:
    return DeliveryLate(destination="C0FINANCE", what=what, code=code, since=play.now - since, at=play.now)
