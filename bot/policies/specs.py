"""The schedulers that a policies file declares, as frozen values. Whoever connects to them lives elsewhere."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType

from bot.incidents.keys import Capability
from bot.incidents.policy import Schedule
from bot.policies.scheduler_shapes import (
    AirflowShape,
    EventsShape,
    LocalJobShape,
    LocalShape,
    MaestroShape,
    WebhookShape,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalJobSpec:
    """A command that ontrack runs: a text is for `sh -c`. `memory` is in bytes; None: not bounded.

    `rate` says how much of other units one hour of it costs.
    """

    command: tuple[str, ...] | str
    schedule: Schedule
    directory: str | None = None
    timeout: timedelta | None = None
    memory: int | None = None
    inputs: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    rate: tuple[tuple[str, float], ...] = ()
    overlap: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalSpec:
    """The scheduler in ontrack, with its jobs by name."""

    name: str
    jobs: Mapping[str, LocalJobSpec]
    silent_after: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EventsSpec:
    """A source that only reports."""

    name: str
    silent_after: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookSpec:
    """A scheduler that is asked by signed web requests, and what it can be asked."""

    name: str
    url: str
    secret: str = field(repr=False)
    can: frozenset[Capability] = frozenset()
    silent_after: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AirflowSpec:
    """Airflow 3: a token, or a user and a password. `poll` None: the connector's own pace."""

    name: str
    url: str
    token: str | None = field(default=None, repr=False)
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    poll: timedelta | None = None
    silent_after: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MaestroSpec:
    """Maestro: the workflows that are watched, and the queue that brings its events."""

    name: str
    url: str
    user: str
    workflows: tuple[str, ...]
    token: str | None = field(default=None, repr=False)
    queue_url: str | None = field(default=None, repr=False)
    poll: timedelta | None = None
    silent_after: timedelta | None = None


SchedulerSpec = LocalSpec | EventsSpec | WebhookSpec | AirflowSpec | MaestroSpec


def only_pushes(spec: SchedulerSpec | None) -> bool:
    """Whether its runs are known by what it tells alone: no records can be read of a time in which nobody listened."""
    return not isinstance(spec, LocalSpec | AirflowSpec | MaestroSpec)


def scheduler_spec(
    name: str, shape: LocalShape | EventsShape | WebhookShape | AirflowShape | MaestroShape
) -> SchedulerSpec:
    """The scheduler `name` as its map in the file says."""
    quiet = shape.silent_after
    match shape:
        case LocalShape():
            jobs = {each: _local_job(job) for each, job in shape.jobs.items()}
            return LocalSpec(name=name, jobs=MappingProxyType(jobs), silent_after=quiet)
        case EventsShape():
            return EventsSpec(name=name, silent_after=quiet)
        case WebhookShape():
            return WebhookSpec(
                name=name, url=str(shape.url), secret=str(shape.secret), can=frozenset(shape.can), silent_after=quiet
            )
        case AirflowShape():
            return AirflowSpec(
                name=name,
                url=shape.url.rstrip("/"),
                token=shape.token,
                user=shape.user,
                password=shape.password,
                poll=shape.poll,
                silent_after=quiet,
            )
        case MaestroShape():
            return MaestroSpec(
                name=name,
                url=shape.url.rstrip("/"),
                user=shape.user,
                workflows=tuple(shape.workflows),
                token=shape.token,
                queue_url=shape.events.sqs if shape.events else None,
                poll=shape.poll,
                silent_after=quiet,
            )


def _local_job(shape: LocalJobShape) -> LocalJobSpec:
    return LocalJobSpec(
        command=shape.command,
        schedule=Schedule(cron=shape.cron, zone=shape.timezone or "UTC", every=shape.every),
        directory=shape.directory,
        timeout=shape.timeout,
        memory=shape.memory,
        inputs=tuple(shape.inputs),
        env=tuple(shape.env.items()),
        rate=tuple(shape.rate.items()),
        overlap=shape.overlap,
    )
