"""The shape of `schedulers:` in policies.yaml: which keys each type of scheduler takes. It connects to nothing."""

from typing import Annotated, Literal

from pydantic import Discriminator, Field

from bot.policies.kinds import AskableWord, Command, Duration, Flag, Path, Rate, Size, Text, Url, Variable, Zone
from bot.policies.strict import Shape


class LocalJobShape(Shape):
    """A command that ontrack itself runs."""

    command: Command
    cron: Text | None = None
    timezone: Zone | None = None
    every: Duration | None = None
    directory: Path | None = None
    timeout: Duration | None = None
    memory: Size | None = None
    inputs: list[Path] = Field(default=[])
    env: dict[str, Variable] = Field(default={})
    rate: dict[str, Rate] = Field(default={})
    overlap: Flag = False


class LocalShape(Shape):
    """The scheduler in ontrack."""

    type: Literal["local"]
    silent_after: Duration | None = None
    jobs: dict[str, LocalJobShape] = Field(default={})


class EventsShape(Shape):
    """A source that only reports."""

    type: Literal["events"]
    silent_after: Duration | None = None


class WebhookShape(Shape):
    """A scheduler that is asked by signed web requests."""

    type: Literal["webhook"]
    silent_after: Duration | None = None
    url: Url
    secret: Text
    can: list[AskableWord] = Field(default=[])


class AirflowShape(Shape):
    """Airflow 3, by its REST API."""

    type: Literal["airflow"]
    silent_after: Duration | None = None
    url: Url
    token: Text | None = None
    user: Text | None = None
    password: Text | None = None
    poll: Duration | None = None


class QueueShape(Shape):
    """The queue that brings a scheduler's events."""

    sqs: Url


class MaestroShape(Shape):
    """Maestro, by its REST API and its event queue."""

    type: Literal["maestro"]
    silent_after: Duration | None = None
    url: Url
    user: Text
    token: Text | None = None
    workflows: Annotated[list[Text], Field(min_length=1)]
    events: QueueShape | None = None
    poll: Duration | None = None


SCHEDULER_TYPES = ("local", "webhook", "events", "airflow", "maestro")

SchedulerShape = Annotated[
    LocalShape | WebhookShape | EventsShape | AirflowShape | MaestroShape,
    Discriminator("type"),
]
