"""How a declaration becomes a scheduler that is polled and whose queue is read, and what a reload of the policies does to it."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from bot.compose.queue_side import Queues
from bot.compose.schedulers import Schedulers, connected
from bot.incidents.keys import Capability
from bot.policies import PolicyFile
from bot.policies.specs import only_pushes
from bot.sources import SourceEvent
from tests.maestro.fake.server import MONDAY, Maestro
from tests.schedulers.maestro.aws import Queued, aws, queue
from tests.schedulers.maestro.desk import DAILY, NAME, kinds
from tests.world.people import POLICIES

__all__ = ["aws", "queue"]

Declare = Callable[..., None]


@pytest.fixture
def reported() -> list[SourceEvent]:
    return []


@pytest.fixture
def schedulers(maestro: Maestro, tmp_path: Path, reported: list[SourceEvent]) -> Schedulers:
    def report(events: Sequence[SourceEvent]) -> None:
        reported.extend(events)

    maestro.push(DAILY, steps=("load",), cron="0 6 * * *")
    return Schedulers(
        state=tmp_path / "state",
        base=tmp_path,
        clock=lambda: maestro.clock.now,
        report=report,
        woken=lambda: None,
        connect=connected,
    )


@pytest.fixture
def declare(maestro: Maestro, schedulers: Schedulers, tmp_path: Path) -> Declare:
    """Declares Maestro, by a queue where one is named; anything else is another declaration."""

    def declared(*, sqs: str = "", poll: str = "30s") -> None:
        events = f', events: {{sqs: "{sqs}"}}' if sqs else ""
        spec = f'{{type: maestro, url: "{maestro.url}", user: ontrack, workflows: [{DAILY}], poll: {poll}{events}}}'
        path = tmp_path / "policies.yaml"
        path.write_text(POLICIES.replace("teams:", f"  {NAME}: {spec}\nteams:", 1))
        schedulers.follow(PolicyFile(path, env={}).current)

    return declared


def test_a_declared_maestro_can_be_asked_and_is_polled(
    maestro: Maestro, schedulers: Schedulers, reported: list[SourceEvent], declare: Declare
) -> None:
    maestro.fails_for_good(maestro.scheduled(DAILY, MONDAY), "load")
    declare()
    due = schedulers.poll(maestro.clock.now)

    assert due is not None
    assert due > maestro.clock.now
    assert kinds(reported) == ["1.1 run.started", "1.1 run.failed"]
    assert Capability.RERUN in schedulers.all()[NAME].can


def test_what_it_told_while_nobody_was_there_can_be_looked_up(schedulers: Schedulers, declare: Declare) -> None:
    declare()
    (spec,) = [one.spec for one in schedulers.all().values() if one.name == NAME and hasattr(one, "spec")]

    assert not only_pushes(spec)


def test_a_queue_is_read_from_when_it_is_declared_until_it_is_not(
    maestro: Maestro, schedulers: Schedulers, reported: list[SourceEvent], declare: Declare, queue: Queued
) -> None:
    queues = Queues(schedulers, leads=lambda: True, clock=lambda: maestro.clock.now)
    maestro.fails_for_good(maestro.scheduled(DAILY, MONDAY), "load")
    queue.sends(maestro.events[-1])
    declare()
    before = queues.step(maestro.clock.now)
    declare(sqs=queue.url)
    queues.step(maestro.clock.now)
    told, states = kinds(reported), queues.states()
    declare()
    queue.sends(maestro.events[-1])

    assert before is None
    assert told == ["1.1 run.started", "1.1 run.failed"]
    assert states == {NAME: "ok"}
    assert queues.step(maestro.clock.now) is None
    assert (queues.states(), queue.left()) == ({}, 1)


def test_the_end_of_the_process_ends_the_waiting(
    maestro: Maestro, schedulers: Schedulers, declare: Declare, queue: Queued
) -> None:
    queues = Queues(schedulers, leads=lambda: True, clock=lambda: maestro.clock.now)
    declare(sqs=queue.url)
    queues.step(maestro.clock.now)
    queues.close()
    queue.sends({"type": "WORKFLOW_DEFINITION_CHANGE_EVENT", "workflow_id": DAILY})

    assert queues.step(maestro.clock.now) is None
    assert queue.left() == 1


def test_another_leader_reads_on_where_the_first_one_was(
    maestro: Maestro, schedulers: Schedulers, reported: list[SourceEvent], declare: Declare
) -> None:
    maestro.fails_for_good(maestro.scheduled(DAILY, MONDAY), "load")
    declare()
    schedulers.poll(maestro.clock.now)
    told = len(reported)
    schedulers.forget()
    declare()
    maestro.clock.moves(timedelta(minutes=2))
    schedulers.poll(maestro.clock.now)

    assert told > 0
    assert len(reported) == told
