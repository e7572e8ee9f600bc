"""Tells a team's channel, once and without calling anybody, that a run must fail although it still goes on.

It opens nothing: what the failure itself may come to (a licensed rerun, an ask) is decided when it is there.
"""

from datetime import datetime, timedelta

from bot.incidents.memory import JobMemory
from bot.incidents.policy import Mode
from bot.intake.surroundings import Read, World
from bot.render.digest import NoticeKind, Warned, content_of
from bot.sources import SourceEvent
from bot.store import NewNotice, UnitOfWork

WORTH_KNOWING = timedelta(hours=1)


def warn(uow: UnitOfWork, read: Read, world: World, source: SourceEvent, before: JobMemory, now: datetime) -> None:
    """Of a job of which nothing is open, paused or retired; the thread of one that is open says it itself."""
    standing = source.change.standing if source.change is not None else None
    if standing is None or not standing.will_fail or standing.words == before.standing:
        return
    policy = world.policy
    channel = (policy.team.channel if policy.team is not None else None) or policy.fallback.channel
    silent = read.memory.quiet or policy.mode is Mode.OBSERVE or read.incidents.in_force
    if channel is None or silent:
        return
    content = content_of(
        NoticeKind.WARNING, Warned(job=read.key, words=standing.words, at=source.at), until=now + WORTH_KNOWING
    )
    uow.add_notice(NewNotice(key=f"warning:{source.key}", channel=channel, content=content, due_at=now))
