"""The same story told by Maestro's events from a real SQS API: each event twice, out of order, late; nothing counts twice."""

import random
from collections.abc import Iterator
from uuid import uuid4

import pytest

from bot.incidents.model import Outcome, Status
from tests.maestro.fake.server import Maestro
from tests.maestro.played import JOB, Played, play
from tests.maestro.sqs import REGION, Sqs, queue_at, served
from tests.world.fixtures import Build
from tests.world.people import LOST_COLUMN, RESET


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with served() as address:
        yield address


@pytest.fixture
def queue(address: str, monkeypatch: pytest.MonkeyPatch) -> Sqs:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    return queue_at(address, f"maestro-{uuid4().hex[:8]}", shown_again_after=0)


@pytest.fixture
def heard(build_world: Build, maestro: Maestro, queue: Sqs) -> Played:
    return play(build_world, maestro, queue=queue)


def test_an_incident_is_opened_rerun_and_resolved_by_events_alone(heard: Played, queue: Sqs) -> None:
    heard.has_run()
    run = heard.fails(log=RESET)
    heard.hears()
    heard.moves_to("03:20")
    heard.maestro.succeeds(heard.maestro.run(JOB, run.instance_id))
    heard.hears()

    incident = heard.world.incident(JOB)
    assert (incident.status, incident.outcome) == (Status.RESOLVED, Outcome.RECOVERED)
    assert [one.run_id for one in heard.maestro.reruns(JOB)] == [2]
    assert heard.world.mentions() == []
    assert (queue.waiting(), queue.waiting(queue.dead)) == (0, 0)


def test_events_that_come_twice_and_out_of_order_change_nothing(heard: Played, queue: Sqs) -> None:
    heard.has_run()
    run = heard.fails(log=RESET)
    heard.hears(times=2)
    heard.moves_to("03:20")
    heard.maestro.succeeds(heard.maestro.run(JOB, run.instance_id))
    every = [event for event in heard.maestro.events if event["workflow_id"] == JOB] * 2
    random.Random(7).shuffle(every)
    heard.hears(every)
    heard.polls(2)

    assert [one.number for one in heard.world.incidents(JOB)] == [1]
    assert heard.world.incident(JOB).outcome is Outcome.RECOVERED
    assert len(heard.maestro.reruns(JOB)) == 1
    assert queue.waiting() == 0


def test_what_was_polled_first_is_heard_without_being_told_again(heard: Played, queue: Sqs) -> None:
    heard.has_run()
    heard.fails(log=LOST_COLUMN)
    heard.polls()
    before = heard.world.thread(JOB)
    heard.hears(times=3)

    assert heard.world.thread(JOB) == before
    assert heard.world.incident(JOB).status is Status.OPEN


def test_an_early_fatal_step_opens_nothing_before_its_run_has_failed(heard: Played, queue: Sqs) -> None:
    beside = {"step": {"id": "beside", "type": "Kubernetes", "transition": {}}}
    heard.maestro.push(JOB, steps=({"step": {"id": "load", "type": "Kubernetes", "transition": {}}}, beside))
    heard.moves_to("03:00")
    run = heard.maestro.scheduled(JOB, heard.world.now.replace(minute=0, second=0, microsecond=0))
    heard.maestro.fails_for_good(run, "load", message="lost")
    heard.hears()

    assert (run.status, heard.world.incidents(JOB)) == ("IN_PROGRESS", ())

    heard.maestro.succeeds(run, "beside")
    heard.hears()

    assert heard.world.incident(JOB).status is Status.OPEN


@pytest.mark.parametrize("text", ["", "no json", "[]", '{"type": "SOMETHING_ELSE"}', '{"workflow_id": 7}'])
def test_what_is_no_event_is_given_up_and_the_next_one_is_read(heard: Played, queue: Sqs, text: str) -> None:
    heard.has_run()
    heard.fails(log=LOST_COLUMN)
    if text:
        queue.sends(text)
    heard.hears()

    assert heard.world.incident(JOB).status is Status.OPEN
    assert queue.waiting() == 0


def test_while_maestro_is_down_no_event_is_lost(heard: Played, queue: Sqs) -> None:
    heard.has_run()
    heard.fails(log=LOST_COLUMN)
    heard.maestro.fails_to_answer(500, times=50)
    heard.hears()

    assert heard.world.incidents(JOB) == ()
    assert queue.waiting() > 0

    heard.maestro.faults.clear()
    heard.moves_to("03:20")
    heard.listens()

    assert heard.world.incident(JOB).status is Status.OPEN
    assert queue.waiting() == 0


def test_a_kill_of_ontrack_between_hearing_and_giving_up_tells_nothing_twice(heard: Played, queue: Sqs) -> None:
    heard.has_run()
    heard.fails(log=LOST_COLUMN)
    heard.world.dies_when(lambda: bool(heard.world.incidents(JOB)))
    heard.hears()

    assert [one.number for one in heard.world.incidents(JOB)] == [1]
    assert [mention.who for mention in heard.world.mentions()] == ["finance-oncall"]
    assert queue.waiting() == 0
