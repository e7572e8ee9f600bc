"""No crash, no outage and no race between two processes loses the end of a run or tells it twice."""

import json
import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from bot.intake import Inbound, Outcome, Result
from bot.schedulers.cloudevents import Rejected
from bot.schedulers.openlineage import Heard, Lineage, decode
from bot.store import StorageDown
from tests.schedulers.openlineage.events import captured, error, failing_dag, run_event
from tests.schedulers.openlineage.road import SOURCE, Road


class Crash(Exception):
    """The process dies here."""


def dies(_: Sequence[Inbound]) -> list[Outcome]:
    raise Crash


def is_down(_: Sequence[Inbound]) -> list[Outcome]:
    raise StorageDown


def heard(*events: dict[str, Any]) -> list[Heard]:
    read = decode(json.dumps(events).encode(), "application/json", source=SOURCE)
    return [one for one in read if not isinstance(one, Rejected)]


def test_a_crash_between_the_commit_and_intake_loses_no_end(road: Road) -> None:
    crashing = Lineage(store=road.storage, take_in=dies, clock=road.clock)
    with pytest.raises(Crash):
        crashing.take(heard(*failing_dag()), source=SOURCE)
    assert road.unresolved() == ()

    road.waits()

    (incident,) = road.unresolved()
    assert 'column "amount" does not exist' in incident.failure.message
    road.waits()
    assert road.unresolved()[0].count == 1


def test_a_crash_while_the_overdue_is_handed_on_loses_nothing_either(road: Road) -> None:
    road.takes(run_event("FAIL", "06:00:00", facets=error("task_failure")))
    crashing = Lineage(store=road.storage, take_in=is_down, clock=road.clock)
    road.waits(9)
    assert crashing.step(road.clock()) is not None
    with pytest.raises(StorageDown):
        crashing.step(road.storage.next_lineage_at() or road.clock())
    assert road.unresolved() == ()

    road.waits()
    assert len(road.unresolved()) == 1


def rejects(inbounds: Sequence[Inbound]) -> list[Outcome]:
    return [Outcome(result=Result.REJECTED, reason="it was logged") for _ in inbounds]


def test_an_end_that_intake_cannot_take_steps_aside_and_is_tried_again(road: Road) -> None:
    poisoned = Lineage(store=road.storage, take_in=rejects, clock=road.clock)
    taken = poisoned.take(heard(*failing_dag()), source=SOURCE)
    assert [one.result for one in taken if one.reason == "it was logged"] == [Result.REJECTED] * 2

    road.clock.move(timedelta(seconds=11))
    poisoned.step(road.clock())
    assert road.storage.next_lineage_at() == road.clock() + timedelta(minutes=5)
    road.waits(301)

    assert [incident.count for incident in road.unresolved()] == [1]
    assert road.storage.next_lineage_at() is None


def test_the_sender_that_sends_again_after_an_outage_is_answered_as_ever(road: Road) -> None:
    down = Lineage(store=road.storage, take_in=is_down, clock=road.clock)
    for event in failing_dag():
        try:
            down.take(heard(event), source=SOURCE)
        except StorageDown:
            continue
    for event in failing_dag():
        road.takes(event)

    assert [incident.count for incident in road.unresolved()] == [1]


@pytest.mark.parametrize("seed", range(3))
def test_events_that_arrive_at_the_same_moment_end_as_in_order(road: Road, seed: int) -> None:
    events = [*captured()[:4], *captured()[:4]]
    random.Random(seed).shuffle(events)
    with ThreadPoolExecutor(max_workers=6) as senders:
        list(senders.map(road.takes, events))
    road.waits()

    (incident,) = road.unresolved()
    assert incident.count == 1
    assert 'column "amount" does not exist' in incident.failure.message


def test_parts_and_their_run_at_the_same_moment(road: Road) -> None:
    names = [f"p{number}" for number in range(12)]
    parts = [
        run_event(word, at, run=name, job=f"load.{name}", parent="root", root="root", facets=error(name))
        for name in names
        for word, at in (("START", "06:00:00"), ("FAIL", f"06:00:{int(name[1:]) + 10}"))
    ]
    events = [*parts, run_event("FAIL", "06:01:00", run="root", facets=error("task_failure"))]
    random.Random(5).shuffle(events)
    with ThreadPoolExecutor(max_workers=6) as senders:
        list(senders.map(road.takes, events))
    road.waits()

    (incident,) = road.unresolved()
    assert incident.failure.message == "p0"
