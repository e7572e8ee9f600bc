"""The doors served over HTTP, each with its double behind it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta

import pytest
from prometheus_client import CollectorRegistry

from bot.delivery.forms import Forms
from handlers.events import events_door
from handlers.health import Health
from handlers.http import Limits, web_app
from handlers.meters import Meters
from handlers.slack.answers import PrivateAnswers
from handlers.slack.app import slack_door
from handlers.slack.health import HealthDesk
from handlers.tokens import SourceTokens
from handlers.wire import Door
from tests.handlers.doubles import Addresses, Claims, Clock, Figures, Reading, Recorder, Workspace
from tests.handlers.server import Host, Served, hosting
from tests.handlers.slack_side import OLD_SECRET, SECRET, occurrence

TOKENS = (("airflow-prod", "token-of-airflow-1"), ("airflow-prod", "token-of-airflow-2"), ("cron", "token-of-cron-1"))

USUAL = Limits()

Serve = Callable[..., Served]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def intake() -> Recorder:
    return Recorder()


@pytest.fixture
def meters() -> Meters:
    return Meters(CollectorRegistry())


@pytest.fixture(scope="session")
def host() -> Iterator[Host]:
    with hosting() as made:
        yield made


@pytest.fixture
def serve(host: Host, clock: Clock, meters: Meters) -> Iterator[Serve]:
    """Serves doors on a port of the loopback until the test ends."""
    with ExitStack() as clients:

        def start(*doors: Door, limits: Limits = USUAL, health: Health | None = None) -> Served:
            health = health or Health(checks={}, clock=clock, deadline=timedelta(seconds=2))
            app = web_app(doors=doors, health=health, meters=meters, limits=limits)
            return clients.enter_context(host.serve(app))

        yield start


@pytest.fixture
def events(serve: Serve, intake: Recorder, meters: Meters) -> Served:
    """The events door with the usual limits."""
    return serve(events_door(tokens=SourceTokens(TOKENS), take_in=intake.take_in, meters=meters))


@pytest.fixture
def reads() -> Reading:
    """Record 7 has one open occurrence."""
    return Reading(snapshots={(7, 1): occurrence()})


@pytest.fixture
def workspace() -> Workspace:
    return Workspace()


@pytest.fixture
def figures() -> Figures:
    return Figures()


@pytest.fixture
def addresses() -> Addresses:
    return Addresses()


@pytest.fixture
def health(figures: Figures, addresses: Addresses, clock: Clock) -> HealthDesk:
    """Job health behind the Slack door; every picture can be drawn."""
    return HealthDesk(
        answers=figures, responses=addresses, forms=Forms(clock=clock), draw=lambda report: True, claim=Claims()
    )


@pytest.fixture
def slack(
    serve: Serve,
    intake: Recorder,
    reads: Reading,
    workspace: Workspace,
    clock: Clock,
    meters: Meters,
    health: HealthDesk,
) -> Iterator[Served]:
    """The Slack door; private answers have arrived when the test reads them through `workspace.heard()`."""
    answers = PrivateAnswers(to=workspace)
    workspace.settle = answers.close
    door = slack_door(
        signing_secrets=(SECRET, OLD_SECRET),
        take_in=intake.take_in,
        reads=reads,
        homes=reads,
        answers=answers,
        causes=lambda: (("network.reset", "Connection reset"),),
        clock=clock,
        meters=meters,
        health=health,
    )
    yield serve(door)
    answers.close()
