"""Maestro's events by a real SQS API on loopback: taken once, in any order, and given up only when they were taken in."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.schedulers.maestro.heard import Heard, Unreadable, heard_in
from bot.schedulers.maestro.queue import QueueDown, SqsQueue
from bot.store import StorageDown
from handlers.maestro_events import MaestroEvents
from tests.maestro.fake.server import MONDAY, Maestro
from tests.schedulers.maestro.aws import Queued, aws, queue
from tests.schedulers.maestro.desk import DAILY, NAME, POLL, Desk, kinds

__all__ = ["aws", "queue"]

AT_ONCE = POLL * 0


class Door:
    """The door with its reader behind it. `leads` and `down` are the test's to set."""

    def __init__(self, desk: Desk, url: str) -> None:
        self.desk = desk
        self.leads = True
        self.down = False
        self.door = MaestroEvents(
            queue=SqsQueue(url),
            name=NAME,
            look_at=self._look_at,
            leads=lambda: self.leads,
            clock=desk.clock,
            waited=AT_ONCE,
        )

    def steps(self, times: int = 1) -> list[str]:
        """What was reported of runs meanwhile."""
        before = len(self.desk.taken)
        for _ in range(times):
            self.door.step(self.desk.clock())
        return kinds(self.desk.taken[before:])

    def _look_at(self, told: Any, now: Any) -> None:
        if self.down:
            raise StorageDown("no database")
        self.desk.poller.look_at(told, now)


@pytest.fixture
def desk(maestro: Maestro, tmp_path: Path) -> Desk:
    maestro.push(DAILY, steps=("load", "publish"), cron="0 6 * * *")
    return Desk(maestro, tmp_path)


@pytest.fixture
def door(desk: Desk, queue: Queued) -> Iterator[Door]:
    door = Door(desk, queue.url)
    yield door
    door.door.close()
    door.door.step(desk.clock())


def test_an_event_brings_what_maestro_knows_of_the_run(door: Door, queue: Queued, maestro: Maestro) -> None:
    run = maestro.scheduled(DAILY, MONDAY)
    maestro.fails_for_good(run, "load", message="no rows")
    queue.sends(maestro.events[-1])
    told = door.steps()

    assert told == ["1.1 run.started", "1.1 run.failed"]
    assert door.desk.taken[-1].error is not None
    assert door.desk.taken[-1].error.message == "no rows"
    assert queue.left() == 0
    assert door.door.state() == "ok"


def test_events_twice_late_and_out_of_order_tell_everything_once(door: Door, queue: Queued, maestro: Maestro) -> None:
    door.desk.polls()
    run = maestro.scheduled(DAILY, MONDAY)
    maestro.fails_for_good(run, "load")
    maestro.succeeds(maestro.restarts(run, user="maria"))
    queue.sends(*reversed(maestro.events), *maestro.events)
    told = door.steps(12)

    assert told == ["1.1 run.started", "1.1 run.failed", "1.2 run.started", "1.2 run.succeeded"]
    assert queue.left() == 0


def test_what_comes_both_ways_has_one_key(door: Door, queue: Queued, maestro: Maestro, tmp_path: Path) -> None:
    maestro.fails_for_good(maestro.scheduled(DAILY, MONDAY), "load")
    queue.sends(maestro.events[-1])
    door.steps()
    other = Desk(maestro, tmp_path / "other")
    polled = other.polls()

    assert [event.key for event in door.desk.taken] == [event.key for event in polled]
    assert door.desk.polls() == []


def test_nothing_is_given_up_before_it_was_taken_in(door: Door, queue: Queued, maestro: Maestro) -> None:
    maestro.fails_for_good(maestro.scheduled(DAILY, MONDAY), "load")
    queue.sends(maestro.events[-1])
    door.down = True
    door.steps()
    left = queue.left()
    door.down = False
    door.desk.maestro.clock.moves(POLL)
    told = door.steps()

    assert left == 1
    assert told == ["1.1 run.started", "1.1 run.failed"]
    assert queue.left() == 0


def test_while_maestro_is_unwell_events_stay_where_they_are(door: Door, queue: Queued, maestro: Maestro) -> None:
    maestro.fails_for_good(maestro.scheduled(DAILY, MONDAY), "load")
    queue.sends(maestro.events[-1])
    maestro.fails_to_answer(500, "", times=10_000)
    door.steps(3)

    assert queue.left() == 1
    assert "Maestro is not read" in door.door.state()

    maestro.faults.clear()
    maestro.clock.moves(POLL)

    assert door.steps() == ["1.1 run.started", "1.1 run.failed"]


def test_what_is_no_event_is_given_up_and_said(
    door: Door, queue: Queued, maestro: Maestro, caplog: pytest.LogCaptureFixture
) -> None:
    maestro.fails_for_good(maestro.scheduled(DAILY, MONDAY), "load")
    queue.sends(
        "{not json", '{"type": "WORKFLOW_INSTANCE_STATUS_CHANGE_EVENT", "workflow_id": "x"}', maestro.events[-1]
    )
    told = door.steps(3)

    assert told == ["1.1 run.started", "1.1 run.failed"]
    assert queue.left() == 0
    assert len([record for record in caplog.records if record.message == "no event of maestro's"]) == 2


def test_an_event_of_a_run_that_maestro_does_not_show_comes_again_a_few_times(door: Door, queue: Queued) -> None:
    event = {"type": "WORKFLOW_INSTANCE_STATUS_CHANGE_EVENT", "workflow_id": DAILY, "workflow_instance_id": 99}
    queue.sends(event)
    door.steps(2)
    twice = queue.left()
    door.steps(2)

    assert (twice, queue.left()) == (1, 0)


def test_events_of_workflows_that_nobody_watches_are_given_up(door: Door, queue: Queued, maestro: Maestro) -> None:
    maestro.push("other", steps=("load",))
    maestro.fails_for_good(maestro.scheduled("other", MONDAY), "load")
    queue.sends(*maestro.events)
    told = door.steps(3)

    assert told == []
    assert queue.left() == 0


def test_a_change_of_a_workflow_is_read_at_once(door: Door, queue: Queued, maestro: Maestro) -> None:
    door.desk.polls()
    maestro.changes(DAILY, user="ann", time_trigger_disabled=True)
    queue.sends(maestro.events[-1])
    door.steps()
    change = door.desk.changes()[-1].change

    assert change is not None
    assert change.schedule is not None
    assert change.schedule.next_run_at is None


def test_only_who_leads_takes_events(door: Door, queue: Queued, maestro: Maestro) -> None:
    maestro.fails_for_good(maestro.scheduled(DAILY, MONDAY), "load")
    queue.sends(maestro.events[-1])
    door.leads = False

    assert door.steps() == []
    assert queue.left() == 1


def test_a_queue_that_is_not_there_is_said_and_asked_less_and_less(desk: Desk, aws: str) -> None:
    door = Door(desk, f"{aws}/123456789012/none")
    dues = []
    for _ in range(4):
        due = door.door.step(desk.clock())
        assert due is not None
        dues.append(due - desk.clock())
        desk.maestro.clock.moves_to(due)

    assert dues == sorted(dues)
    assert dues[-1] > dues[0]
    assert "the queue is not read" in door.door.state()


def test_a_queue_says_in_words_what_is_wrong_with_it() -> None:
    with pytest.raises(QueueDown, match="EndpointConnectionError"):
        SqsQueue("http://127.0.0.1:9/1/none").receive(wait=AT_ONCE)


def test_an_envelope_around_the_event_is_taken_off() -> None:
    event = {"type": "WORKFLOW_INSTANCE_STATUS_CHANGE_EVENT", "workflow_id": DAILY, "workflow_instance_id": 4}

    assert heard_in(json.dumps({"Type": "Notification", "Message": json.dumps(event)})) == Heard(
        workflow=DAILY, instance=4
    )


@pytest.mark.parametrize(
    ("statuses", "heard"),
    [(["RUNNING"], None), (["USER_FAILED"], None), (["RUNNING", "FATALLY_FAILED"], Heard(workflow="w", instance=1))],
)
def test_a_step_that_goes_its_way_is_not_looked_at(statuses: list[str], heard: Heard | None) -> None:
    records = [{"old_status": "CREATED", "new_status": status, "event_time": 1} for status in statuses]
    event = {
        "type": "STEP_INSTANCE_STATUS_CHANGE_EVENT",
        "workflow_id": "w",
        "workflow_instance_id": 1,
        "status_change_records": records,
    }

    assert heard_in(json.dumps(event)) == heard


@pytest.mark.parametrize("body", ["", "[]", "null", "{}", '{"type": 3}', "[" * 100_000, "x" * 2_000_000])
def test_anything_else_is_unreadable(body: str) -> None:
    with pytest.raises(Unreadable):
        heard_in(body)
