"""Puts a backtest together: the database that was worked with, opened for reading only, and a scratch one for the replay."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.backtest.figures import Measured
from bot.backtest.history import Looks
from bot.backtest.people import PastPeople
from bot.backtest.player import Played, Player, Source
from bot.backtest.report import Limits, Report, report
from bot.compose.schedulers import Connect, connected
from bot.directory import broken_in
from bot.incidents.keys import JobKey
from bot.incidents.policy import Door, Schedule
from bot.policies.model import Policies
from bot.policies.specs import LocalSpec, SchedulerSpec
from bot.schedulers.local.scheduler import LocalScheduler
from bot.settings import Settings
from storage.opening import SqlStorage, open_storage
from storage.scratch import scratch_storage


class NothingRecorded(Exception):
    """No event of that period was recorded, so that there is nothing to play."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """What is played, `[begins, until)`; what is counted begins at `since`. The rest before it warms the replay up."""

    begins: datetime
    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Backtested:
    """A replay that has ended: `happened` and `replayed` measure the two databases while the block is open."""

    stretch: Stretch
    played: Played
    happened: Looks
    replayed: Looks


@contextmanager
def backtested(
    settings: Settings,
    policies: Policies,
    *,
    since: datetime,
    until: datetime,
    warm_up: timedelta,
    connect: Connect = connected,
    doors: frozenset[Door] | None = None,
) -> Iterator[Backtested]:
    """Play the period under these policies. Raises `NothingRecorded`, and what opening the database raises."""
    past = open_storage(settings.database_url, instance="backtest", read_only=True)
    try:
        stretch = _stretch(past, since, until, warm_up)
        with scratch_storage() as scratch:
            past.record.copy_graph(scratch.record)
            player = Player(
                record=past.record,
                scratch=scratch,
                policies=policies,
                people=_people(past, stretch.until),
                sources=[_source(spec, connect) for spec in policies.schedulers.values()],
                doors=doors or _doors(settings),
                since=stretch.begins,
                until=stretch.until,
            )
            played = player.play()
            yield Backtested(stretch=stretch, played=played, happened=past.record, replayed=scratch.record)
    finally:
        past.close()


def report_of(found: Backtested, policies: Policies, limits: Limits) -> Report:
    """Count both sides of a replay that has ended; while its block is open."""
    stretch = found.stretch

    def measured(looks: Looks, unknown: frozenset[str] = frozenset()) -> Measured:
        period = {"since": stretch.since, "until": stretch.until}
        return Measured(
            occurrences=looks.occurrences(**period),
            reruns=looks.reruns(**period),
            asks=looks.asks(**period),
            unknown=unknown,
        )

    return report(
        policies=policies.version,
        period=(stretch.begins, stretch.since, stretch.until),
        happened=measured(found.happened),
        replayed=measured(found.replayed, frozenset(found.played.unknown)),
        played=found.played,
        team_of=lambda job: policies.job(job).team,
        limits=limits,
    )


def _stretch(past: SqlStorage, since: datetime, until: datetime, warm_up: timedelta) -> Stretch:
    first, last = past.record.recorded_from(), past.record.recorded_until()
    if first is None or last is None or first >= until or last < since:
        raise NothingRecorded("no event of that period is recorded: there is nothing to play")
    begins = max(first, since - warm_up)
    return Stretch(begins=begins, since=max(since, begins), until=until)


def _people(past: SqlStorage, until: datetime) -> PastPeople:
    """Everybody as known now; nobody's record is stale at any instant that is played."""
    people, groups = past.load_people()
    return PastPeople(
        people=[replace(one, read_at=until) for one in people],
        groups=[replace(one, read_at=until) for one in groups],
        broken=broken_in(past, until),
    )


def _doors(settings: Settings) -> frozenset[Door]:
    mails = settings.smtp_url is not None and settings.mail_from is not None
    return frozenset({Door.CHANNEL, Door.DM} | ({Door.EMAIL} if mails else set()))


def _source(spec: SchedulerSpec, connect: Connect) -> Source:
    if isinstance(spec, LocalSpec):
        schedules = {name: job.schedule for name, job in spec.jobs.items()}
        return Source(name=spec.name, can=LocalScheduler.can, schedule_of=lambda job: schedules.get(job.name))
    scheduler = connect(spec)
    return Source(name=spec.name, can=scheduler.can, schedule_of=_says_nothing)


def _says_nothing(job: JobKey) -> Schedule | None:
    """What a scheduler says of the next runs now is not what it said then; what sources told is in the record."""
    return None
