"""What an import leaves: runs, what they usually take and cost, and occurrences that ended before anybody listened."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from bot.incidents.keys import RunRef, Trigger
from bot.incidents.memory import JobMemory
from bot.incidents.model import Outcome, Status
from bot.intake.past_job import GIVEN_UP_AFTER
from bot.store import JobRow
from tests.importing.telling import DAY, Telling, imports
from tests.kills.picture import Watch
from tests.world.people import LOST_COLUMN, STRANGE
from tests.world.reporting import key_of
from tests.world.world import World

MINUTE = timedelta(minutes=1)


@pytest.fixture
def telling(world: World) -> Telling:
    return Telling(now=world.now)


def job(world: World, name: str) -> JobRow:
    found = world.service.storage.reads.job(key=key_of(name))
    assert found is not None, f"{name} is not known"
    return found


def memory(world: World, name: str) -> JobMemory:
    return job(world, name).memory


@contextmanager
def pictured(world: World) -> Iterator[Watch]:
    watch = Watch(world.database_url)
    yield watch
    watch.close()


def kept(world: World) -> dict[str, Any]:
    """Everything that an import may write, without numbers that count up."""
    with pictured(world) as watch:
        picture = watch.picture()
    names = {one.job.name for one in picture.incidents} | {row.name for row in picture.runs}
    return {
        "incidents": sorted(repr(one) for one in picture.incidents),
        "runs": sorted((row.name, row.run_id, row.generation, row.state, row.started_at) for row in picture.runs),
        "memories": {name: memory(world, name) for name in names},
        "timelines": sorted(
            (row.version, row.kind, row.reason, row.at.isoformat())
            for one in picture.incidents
            for row in world.service.storage.reads.timeline(record=one.record, number=one.number)
        ),
    }


def test_usual_duration_cost_and_the_last_good_run_are_known_afterwards(world: World, telling: Telling) -> None:
    for days_ago, took in ((4, 10), (3, 12), (2, 30)):
        telling.good("orders", days_ago, took=took)
    done = imports(world, telling)

    known = memory(world, "orders")
    assert (done.jobs, done.tally.runs, done.tally.failures, done.tally.occurrences) == (1, 3, 0, 0)
    assert known.usual_duration == 12 * MINUTE
    assert known.usual_cost("run_hours") == pytest.approx(0.2)
    assert known.last_good is not None
    assert known.last_good.run.nominal_time == telling.due(2)
    assert known.latest_started == telling.due(2)
    assert known.watched_from is None, "nobody listens to it yet"


def test_a_failure_that_was_run_again_by_hand_is_an_occurrence_that_ended(world: World, telling: Telling) -> None:
    telling.good("orders", 6)
    telling.failed("orders", 5)
    telling.cleared("orders", 5, after=90, by="maria")
    done = imports(world, telling)

    incident = world.incident("orders")
    assert done.tally.occurrences == 1
    assert (incident.status, incident.outcome, incident.observed) == (Status.RESOLVED, Outcome.RECOVERED_BY_HAND, True)
    assert incident.opened_at == telling.due(5) + 5 * MINUTE
    assert incident.closed_at == telling.due(5) + 100 * MINUTE
    assert incident.failure.cause != "unknown"
    assert (incident.measured.team, incident.measured.failed_at) == ("finance", incident.opened_at)
    assert incident.measured.good_at == incident.closed_at
    assert "maria started a run of what is owed" in world.reasons("orders")
    assert [row.at for row in world.timeline("orders")] == sorted(row.at for row in world.timeline("orders"))


def test_nobody_is_told_asked_or_watched(world: World, telling: Telling) -> None:
    telling.failed("revenue", 5)
    telling.cleared("revenue", 5)
    telling.failed("orders", 2)
    imports(world, telling)
    with pictured(world) as watch:
        picture = watch.picture()

    assert (picture.outbox, picture.views, picture.timers, picture.reruns) == ((), (), (), ())
    assert picture.lost_evidence == 0
    assert world.channel("finance") == []
    assert world.scheduler.taken == {}


def test_what_ended_yesterday_is_no_news_in_todays_digest(world: World, telling: Telling) -> None:
    telling.failed("orders", 1)
    telling.cleared("orders", 1)
    imports(world, telling)
    reads = world.service.storage.reads

    assert world.incident("orders").status is Status.RESOLVED
    assert reads.settled_since([key_of("orders")], since=world.now - 2 * DAY) == ()


def test_importing_again_changes_nothing(world: World, telling: Telling) -> None:
    for days_ago in range(20, 2, -1):
        telling.good("orders", days_ago)
    telling.failed("revenue", 6)
    telling.cleared("revenue", 6)
    telling.failed("revenue", 4)
    imports(world, telling)
    before = kept(world)
    again = imports(world, telling)

    assert kept(world) == before
    assert (again.tally.runs, again.tally.occurrences, again.tally.known) == (0, 0, 21)


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_however_the_past_is_cut_into_pages_it_is_the_same(world: World, telling: Telling, size: int) -> None:
    for days_ago in range(12, 2, -1):
        telling.failed("orders", days_ago, log=LOST_COLUMN if days_ago % 2 else STRANGE)
        telling.cleared("orders", days_ago, after=30)
        telling.good("stock", days_ago)
    telling.size = size
    done = imports(world, telling)
    incidents = world.incidents("orders")

    assert done.tally.occurrences == len(incidents) == 10
    assert {incident.count for incident in incidents} == {1}
    assert sorted((one.fingerprint, one.number) for one in incidents) == sorted(
        (fingerprint, number) for fingerprint in {one.fingerprint for one in incidents} for number in range(1, 6)
    )


def test_one_that_broke_off_is_finished_by_the_next(world: World, telling: Telling) -> None:
    telling.good("orders", 9)
    telling.failed("orders", 8)
    telling.cleared("orders", 8)
    telling.good("orders", 7)
    telling.size, telling.ends = 1, 2
    broken = imports(world, telling)
    assert (broken.trouble, broken.tally.runs, world.incidents("orders")) == ("it went away", 2, ())
    assert memory(world, "orders").usual_duration == 10 * MINUTE

    telling.ends = None
    done = imports(world, telling)
    assert (done.trouble, done.tally.runs, done.tally.known, done.tally.occurrences) == ("", 2, 2, 1)
    assert world.incident("orders").outcome is Outcome.RECOVERED_BY_HAND


def test_a_longer_past_adds_what_was_before_and_doubles_nothing(world: World, telling: Telling) -> None:
    for days_ago in (20, 15, 5):
        telling.failed("orders", days_ago)
        telling.cleared("orders", days_ago)
    imports(world, telling, days=10)
    assert [one.opened_at for one in world.incidents("orders")] == [telling.due(5) + 5 * MINUTE]
    imports(world, telling, days=30)

    assert [one.opened_at for one in world.incidents("orders")] == [
        telling.due(days_ago) + 5 * MINUTE for days_ago in (5, 15, 20)
    ]


def test_what_has_not_ended_is_not_kept(world: World, telling: Telling) -> None:
    telling.good("orders", 6)
    telling.failed("orders", 2)
    done = imports(world, telling)

    assert (done.tally.failures, done.tally.occurrences, done.tally.unpaid) == (1, 0, 1)
    assert world.incidents("orders") == ()


def test_one_that_nobody_ever_ran_again_does_not_hide_those_that_come_after_it(world: World, telling: Telling) -> None:
    telling.failed("orders", 9)
    telling.good("orders", 8)
    telling.failed("orders", 5)
    telling.cleared("orders", 5)
    done = imports(world, telling)

    assert GIVEN_UP_AFTER <= 2 * DAY
    assert (done.tally.occurrences, done.tally.unpaid) == (1, 1)
    assert world.incident("orders").opened_at == telling.due(5) + 5 * MINUTE


def test_where_any_later_run_pays_the_next_good_run_ends_it(world: World, telling: Telling) -> None:
    telling.failed("stock", 5)
    telling.good("stock", 4)
    imports(world, telling)

    incident = world.incident("stock")
    assert (incident.outcome, incident.closed_at) == (Outcome.RECOVERED_ALONE, telling.due(4) + 10 * MINUTE)


def test_what_ontrack_heard_itself_stands(world: World, telling: Telling) -> None:
    world.has_run("orders", times=3)
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    live, known = world.incident("orders"), memory(world, "orders")
    for days_ago in range(9, -1, -1):
        telling.failed("orders", days_ago, log=STRANGE)
        telling.cleared("orders", days_ago, after=6)
    done = imports(world, telling, until=world.now + DAY)

    first, *older = world.incidents("orders")
    assert first == live
    assert [one.opened_at for one in older] == [telling.due(days) + 5 * MINUTE for days in range(4, 10)]
    after = memory(world, "orders")
    assert (after.last_good, after.watched_from, after.streak) == (known.last_good, known.watched_from, known.streak)
    assert (done.tally.runs, done.tally.listened) == (12, 8)


def test_a_job_that_is_listened_to_is_left_alone_from_then_on(world: World, telling: Telling) -> None:
    telling.failed("orders", 0)
    telling.cleared("orders", 0)
    world.changes("orders", owner="ana")
    done = imports(world, telling, until=world.now + DAY)

    assert (done.tally.runs, done.tally.listened, world.incidents("orders")) == (0, 2, ())


def test_an_older_run_fills_the_usual_duration_but_is_not_the_last_good_one(world: World, telling: Telling) -> None:
    world.moves_to("03:12")
    world.succeeds("orders", took=20 * MINUTE)
    last = memory(world, "orders").last_good
    for days_ago in (9, 8, 7):
        telling.good("orders", days_ago, took=40)
    imports(world, telling)

    known = memory(world, "orders")
    assert known.last_good == last
    assert known.usual_duration == 40 * MINUTE
    assert [sample.duration for sample in known.samples] == [40 * MINUTE, 40 * MINUTE, 40 * MINUTE, 20 * MINUTE]


def test_a_backfill_says_nothing_of_the_usual_duration(world: World, telling: Telling) -> None:
    telling.good("orders", 9, took=10)
    telling.good("orders", 8, took=300, trigger=Trigger.BACKFILL)
    imports(world, telling)

    assert memory(world, "orders").usual_duration == 10 * MINUTE


def test_the_next_failure_knows_what_came_before_it(world: World, telling: Telling) -> None:
    telling.good("orders", 6, facts={"code": {"version": "4f2a9c1"}})
    telling.failed("orders", 5)
    telling.cleared("orders", 5, facts={"code": {"version": "4f2a9c1"}})
    imports(world, telling)
    world.moves_to("03:12")
    world.fails("orders", log=LOST_COLUMN, facts={"code": {"version": "77aa001"}})

    incident = world.incident("orders")
    assert (incident.number, incident.status) == (2, Status.OPEN)
    assert incident.returned is not None
    assert incident.returned.last_outcome == Outcome.RECOVERED_BY_HAND
    assert "4f2a9c1" in world.thread("orders")
    assert "77aa001" in world.thread("orders")


def test_a_job_that_failed_again_and_again_up_to_now_is_known_to(world: World, telling: Telling) -> None:
    telling.good("orders", 5)
    for days_ago in (4, 3, 2):
        telling.failed("orders", days_ago)
    imports(world, telling)

    assert memory(world, "orders").failures_in_a_row == 3


def test_a_job_that_has_another_name_by_now_is_known_under_it(world: World, telling: Telling) -> None:
    world.moves_to("03:12")
    world.succeeds("orders")
    world.changes("orders", renamed_to="orders_v2")
    telling.good("orders", 9, took=30)
    telling.good("orders", 8, took=30)
    done = imports(world, telling)

    assert done.tally.runs == 2
    assert len(memory(world, "orders_v2").samples) == 3


def test_what_cannot_be_taken_in_costs_nothing_beside_it(
    world: World, telling: Telling, caplog: pytest.LogCaptureFixture
) -> None:
    telling.good("orders", 9)
    poison = telling.good("orders", 8)
    telling.good("orders", 7)
    telling.told[1] = type(poison)(
        id=poison.id,
        kind=poison.kind,
        at=poison.at,
        job=poison.job,
        run=RunRef(run_id="x", nominal_time=poison.at, generation=2**70),
        started_at=poison.started_at,
        ended_at=poison.ended_at,
    )
    done = imports(world, telling)

    assert (done.tally.runs, done.tally.rejected) == (2, 1)
    assert "a past run could not be taken in" in caplog.text
