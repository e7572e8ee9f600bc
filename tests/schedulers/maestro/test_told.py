"""What incidents make of what is read of Maestro: whom they call, what a lateness says, whose rerun it was."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.incidents.keys import JobKey
from bot.incidents.model import Outcome, Status
from bot.intake import Inbound
from bot.policies.specs import MaestroSpec
from bot.schedulers.maestro.polling import MaestroPoller
from bot.schedulers.maestro.scheduler import MaestroScheduler
from bot.sources import SourceEvent
from bot.store import Which
from tests.maestro.fake.records import Run
from tests.maestro.fake.server import Maestro
from tests.schedulers.maestro.aws import Queued, aws, queue
from tests.world.fixtures import Build
from tests.world.people import POLICIES, RESET
from tests.world.reports import SCHEDULER
from tests.world.world import World

__all__ = ["aws", "queue"]

JOB = "revenue"
WATCHED = POLICIES.replace("start: off, finish: off", "start: off, finish: learned")


class Played:
    """The world and Maestro, whose clocks are one; the job runs at 03:00."""

    def __init__(self, build: Build, maestro: Maestro, path: Path, policies: str = POLICIES, sqs: str = "") -> None:
        spec = MaestroSpec(name=SCHEDULER, url=maestro.url, user="ontrack", workflows=(JOB,), queue_url=sqs or None)
        self.maestro = maestro
        self.scheduler = MaestroScheduler(spec, clock=lambda: maestro.clock.now)
        self.world: World = build(scheduler=self.scheduler, policies=policies)
        maestro.emptied(at=self.world.now)
        self.poller = MaestroPoller(self.scheduler, state=path / "maestro", report=self._take, asked=self._asked)

    def polls(self, **span: float) -> None:
        """For so long, each time when it is due."""
        until = self.world.now + timedelta(**(span or {"seconds": 31}))
        while self.world.now < until:
            self.follows()
            due = min(max(self.poller.step(self.world.now), self.world.now), until)
            self.world.moves_to(due)
        self.follows()

    def follows(self) -> None:
        self.maestro.clock.moves_to(max(self.world.now, self.maestro.clock.now))

    def runs(self) -> Run:
        """The run of 03:00 begins."""
        self.world.moves_to("03:00")
        self.follows()
        return self.maestro.scheduled(JOB, self.world.now.replace(minute=0, second=0, microsecond=0))

    def fails(self) -> Run:
        run = self.runs()
        self.maestro.fails_for_good(run, "load", message=RESET.splitlines()[-1], errors=tuple(RESET.splitlines()))
        self.polls()
        return run

    def _asked(self, job: JobKey) -> Sequence[str]:
        return self.world.service.storage.reads.rerun_keys(job, most=100)

    def _take(self, events: Sequence[SourceEvent]) -> None:
        self.world.service.intake.take_in([Inbound(key=event.key, event=event) for event in events])
        self.world.settles()


def test_the_service_takes_events_from_the_queue_and_knows_its_own_reruns(
    build_world: Build, maestro: Maestro, tmp_path: Path, queue: Queued
) -> None:
    """Driven by the service's own step, twice with every event."""
    played = Played(build_world, maestro, tmp_path, sqs=queue.url)
    world = played.world
    world.has_run(JOB)
    maestro.push(JOB, steps=("load",))
    run = played.runs()
    maestro.fails_for_good(run, "load", message=RESET.splitlines()[-1], errors=tuple(RESET.splitlines()))
    queue.sends(*maestro.events, *maestro.events)

    def hears() -> None:
        for _ in range(4):
            world.service.steps["queues"](world.now)
            world.settles()

    hears()
    world.moves_to(world.now + timedelta(minutes=6))
    played.follows()
    (again,) = maestro.reruns(JOB)
    maestro.succeeds(again)
    queue.sends(*reversed(maestro.events), *maestro.events)
    hears()
    incident = world.incident(JOB)

    assert (incident.status, incident.outcome) == (Status.RESOLVED, Outcome.RECOVERED)
    assert len(maestro.reruns(JOB)) == 1
    assert world.mentions() == []


@pytest.fixture
def played(build_world: Build, maestro: Maestro, tmp_path: Path) -> Played:
    return Played(build_world, maestro, tmp_path)


def test_a_licensed_rerun_is_known_as_ours_by_its_uuid_and_resolves_the_incident(played: Played) -> None:
    played.world.has_run(JOB)
    played.maestro.push(JOB, steps=("load",))
    played.fails()
    played.polls(minutes=6)
    (again,) = played.maestro.reruns(JOB)
    played.maestro.succeeds(again)
    played.polls()
    incident = played.world.incident(JOB)

    assert (incident.status, incident.outcome) == (Status.RESOLVED, Outcome.RECOVERED)
    assert played.world.mentions() == []


def test_a_person_who_restarts_it_first_is_told_by_name(played: Played) -> None:
    played.maestro.push(JOB, steps=("load",))
    run = played.fails()
    again = played.maestro.restarts(run, user="maria")
    played.polls()
    played.maestro.succeeds(again)
    played.polls()
    incident = played.world.incident(JOB)

    assert (incident.status, incident.outcome) == (Status.RESOLVED, Outcome.RECOVERED_BY_HAND)
    assert "maria" in played.world.thread(JOB)
    assert len(played.maestro.reruns(JOB)) == 1


def test_an_owner_who_switched_alerting_off_is_not_called(played: Played) -> None:
    played.maestro.push(JOB, steps=("load",), alerting_disabled=True)
    played.polls()
    played.fails()
    played.polls(minutes=10)
    incident = played.world.incident(JOB)

    assert incident.observed
    assert played.world.mentions() == []
    assert played.maestro.reruns(JOB) == []


def waits_for(signal: str) -> dict[str, Any]:
    dependencies = [{"name": signal, "match_params": {}}]
    return {"step": {"id": "load", "type": "Kubernetes", "signal_dependencies": dependencies}}


def test_a_late_run_says_whose_deadline_it_missed_and_what_it_waits_for(
    build_world: Build, maestro: Maestro, tmp_path: Path
) -> None:
    played = Played(build_world, maestro, tmp_path, WATCHED)
    maestro.push(JOB, steps=(waits_for("db/x"),), alerting={"tct": {"duration_minutes": 30}})
    played.polls()
    played.runs()
    played.polls(minutes=50)

    assert played.world.incident(JOB).failure.title == (
        "Not finished by 03:45 UTC (shop's own target for this run and 15m grace); it waits for the signal db/x (step load)"
    )


APART: Any = tuple({"step": {"id": name, "type": "Kubernetes", "transition": {}}} for name in ("first", "beside"))


def test_a_step_that_failed_for_good_is_warned_of_once_and_opens_nothing_before_the_run_has_failed(
    played: Played,
) -> None:
    played.maestro.push(JOB, steps=APART)
    run = played.runs()
    played.maestro.fails_for_good(run, "first")
    played.polls(minutes=5)
    world = played.world
    assert world.service.storage.reads.incidents(which=Which.UNRESOLVED, limit=9) == ()
    (warned,) = world.channel("finance")
    assert "shop/revenue will fail: its step first failed for good." in warned
    assert world.mentions() == []

    played.maestro.succeeds(run, "beside")
    played.polls()
    assert world.incident(JOB).status.unresolved
    assert len([text for text in world.channel("finance") if "will fail" in text]) == 1


@pytest.mark.parametrize("quiet", ["alerting", "observe"])
def test_who_is_only_watched_is_warned_of_nothing(
    build_world: Build, maestro: Maestro, tmp_path: Path, quiet: str
) -> None:
    policies = POLICIES.replace("defaults:", "defaults:\n  mode: observe") if quiet == "observe" else POLICIES
    played = Played(build_world, maestro, tmp_path, policies)
    played.maestro.push(JOB, steps=APART, alerting_disabled=quiet == "alerting")
    run = played.runs()
    played.maestro.fails_for_good(run, "first")
    played.polls(minutes=5)

    assert played.world.channel("finance") == []


def test_the_thread_of_an_open_incident_says_that_the_rerun_will_fail(played: Played) -> None:
    played.maestro.push(JOB, steps=APART)
    run = played.runs()
    played.maestro.fails_for_good(run, "first")
    played.maestro.succeeds(run, "beside")
    played.polls()
    again = played.maestro.restarts(run, user="maria", beginning=True)
    played.polls()
    played.maestro.fails_for_good(again, "first")
    played.polls(minutes=3)

    assert "A run of it will fail: its step first failed for good." in played.world.replies(JOB)[-1]
