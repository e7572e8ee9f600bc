"""What waits downstream: who waits since when, who hangs under whom, how late it made them, and who is alone with it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.incidents.model import Incident, Status
from bot.incidents.waits import Hung, Wait
from bot.intake.following import Following
from tests.world.clock import last_at
from tests.world.fixtures import Build
from tests.world.people import LOST_COLUMN, POLICIES
from tests.world.reporting import key_of
from tests.world.reports import Report
from tests.world.world import World

CHAIN = POLICIES.replace(
    'match: shop/board_pack, schedule: {cron: "0 6 * * *"}}',
    'match: shop/board_pack, schedule: {cron: "0 6 * * *"}, late: {start: 0s}, downstream: [shop/mailing]}\n'
    '  - {match: shop/mailing, schedule: {cron: "0 8 * * *"}, late: {start: 0s}, downstream: [shop/revenue]}',
)
UPSTREAM_FAILED = "airflow.exceptions.AirflowException: The external task revenue in DAG shop failed.\n"


def follows(world: World) -> None:
    """The step that follows waits looks once, and what it told settles."""
    service = world.service
    following = Following(
        waits=service.storage,
        reads=service.storage.reads,
        policy_of=service.policies.current.job,
        take_in=service.intake.take_in,
    )
    following.step(world.now)
    world.settles()


def wait_of(world: World, job: str, upstream: str = "revenue") -> Wait:
    (found,) = [wait for wait in world.incident(upstream).waits if wait.job == f"shop/{job}"]
    return found


def jobs_of(incidents: Sequence[Incident]) -> list[str]:
    return sorted(incident.job.name for incident in incidents)


@pytest.fixture
def chain(build_world: Build) -> World:
    world: World = build_world(policies=CHAIN)
    for job in ("revenue", "board_pack", "mailing"):
        world.has_run(job)
    return world


@pytest.mark.scenario(22)
def test_the_delay_runs_until_downstream_is_done_although_the_rerun_was_good_long_before(world: World) -> None:
    world.has_run("revenue")
    world.has_run("board_pack")
    world.fails("revenue", at="06:30", nominal="03:00", log=LOST_COLUMN)
    assert "Downstream waiting: shop/board_pack since" in world.text_of(world.root("revenue"))
    world.skips("board_pack", at="06:40", nominal="06:00")
    follows(world)
    world.clicks("ana", "Rerun", "revenue")
    world.rerun_starts("revenue")
    world.moves_to("06:50")
    world.rerun_succeeds("revenue")
    assert world.incident("revenue").status is Status.RESOLVED
    assert wait_of(world, "board_pack").hung is Hung.SKIPPED

    world.moves_to("12:00")
    follows(world)
    assert "Downstream waiting: shop/board_pack since" in world.text_of(world.root("revenue")), "still listed"
    assert world.incidents("board_pack") == (), "a run that was skipped is no incident"

    world.succeeds("board_pack", at="13:10", nominal="06:00", generation=1, trigger="rerun")
    follows(world)

    wait = wait_of(world, "board_pack")
    assert wait.delay == timedelta(hours=7), "it usually ends at 06:10"
    assert (wait.lag, wait.learned_from, wait.without) == (timedelta(minutes=10), 6, False)
    assert "Downstream waiting" not in world.text_of(world.root("revenue"))
    assert "All that waited downstream is done: shop/board_pack" in world.replies("revenue")[-1]
    assert "(7 h late)" in world.replies("revenue")[-1]
    assert len(world.mentions()) == 2, "the opening, and the first job that it holds up; nobody since"


def test_without_three_runs_to_learn_from_the_delay_counts_from_when_it_was_due(world: World) -> None:
    world.has_run("board_pack", times=2)
    world.fails("revenue", at="03:30", log=LOST_COLUMN)
    world.succeeds("revenue", at="07:00", nominal="03:00", trigger="manual")
    world.succeeds("board_pack", at="07:30", nominal="06:00")
    follows(world)

    wait = wait_of(world, "board_pack")
    assert (wait.delay, wait.lag, wait.learned_from) == (timedelta(hours=1, minutes=30), None, 2)


def test_a_job_that_ran_without_the_owed_run_waits_no_more_and_was_not_delayed(world: World) -> None:
    world.has_run("board_pack")
    world.fails("revenue", at="03:30", log=LOST_COLUMN)
    assert "Downstream waiting" not in world.text_of(world.root("revenue")), "it is due at six"
    world.moves_to("06:10")
    world.succeeds("board_pack", nominal="06:00")
    follows(world)

    wait = wait_of(world, "board_pack")
    assert wait.without
    assert wait.delay == timedelta()
    assert "board_pack ran without it" in world.reasons("revenue")
    assert not any("All that waited" in reply for reply in world.replies("revenue"))


def test_a_downstream_job_that_is_late_because_of_it_hangs_under_it_and_asks_nobody(chain: World) -> None:
    chain.fails("revenue", at="03:30", log=LOST_COLUMN)
    chain.moves_to("06:14")
    before = len(chain.mentions())
    chain.moves_to("06:16")
    follows(chain)

    assert jobs_of(chain.incidents()) == ["revenue"]
    assert wait_of(chain, "board_pack").hung is Hung.LATE
    assert "board_pack is late because of this; it has no incident of its own" in chain.replies("revenue")[-1]
    assert len(chain.mentions()) == before + 1, "the first job that it blocks is told to who is on it"
    assert "(late because of this)" in chain.text_of(chain.root("revenue"))


def test_a_chain_hangs_under_its_root_and_each_is_told_once(chain: World) -> None:
    chain.fails("revenue", at="03:30", log=LOST_COLUMN)
    chain.moves_to("09:00")
    follows(chain)
    follows(chain)

    assert jobs_of(chain.incidents()) == ["revenue"], "the circle back to revenue is harmless"
    assert [(wait.job, wait.depth, wait.hung) for wait in chain.incident("revenue").waits] == [
        ("shop/board_pack", 1, Hung.LATE),
        ("shop/mailing", 2, Hung.LATE),
    ]
    told = [
        reply for reply in chain.replies("revenue") if "because of this" in reply and "no incident of its own" in reply
    ]
    assert len(told) == 2


def test_a_failure_because_of_what_it_waits_for_hangs_and_one_of_its_own_does_not(chain: World) -> None:
    chain.fails("revenue", at="03:30", log=LOST_COLUMN)
    chain.fails("board_pack", at="06:05", nominal="06:00", log=UPSTREAM_FAILED)
    follows(chain)
    assert jobs_of(chain.incidents()) == ["revenue"]
    assert wait_of(chain, "board_pack").hung is Hung.FAILED

    chain.fails("mailing", at="08:05", nominal="08:00", log=LOST_COLUMN)

    assert jobs_of(chain.incidents()) == ["mailing", "revenue"]
    own = chain.incident("mailing")
    assert own.upstream == f"shop/revenue ({chain.incident('revenue').id})"
    assert "Upstream: waits for shop/revenue" in chain.text_of(chain.root("mailing"))


def test_what_is_still_not_done_when_its_upstream_is_settled_opens_its_own_and_says_so(chain: World) -> None:
    chain.fails("revenue", at="03:30", log=LOST_COLUMN)
    chain.moves_to("06:16")
    follows(chain)
    chain.succeeds("revenue", at="07:00", nominal="03:00", trigger="manual")
    assert chain.incident("revenue").status is Status.RESOLVED
    chain.moves_to("07:24")
    follows(chain)
    assert jobs_of(chain.incidents()) == ["revenue"], "it has its usual ten minutes and fifteen of grace"

    chain.moves_to("07:26")
    follows(chain)
    follows(chain)

    own = chain.incident("board_pack")
    assert own.status is Status.OPEN
    assert f"Still not done, although shop/revenue ({chain.incident('revenue').id}) is settled" in own.failure.title
    assert wait_of(chain, "board_pack").alone
    assert "it has an incident of its own now" in chain.reasons("revenue")
    chain.succeeds("board_pack", at="07:50", nominal="06:00")
    follows(chain)
    assert chain.incident("board_pack").status is Status.RESOLVED
    assert wait_of(chain, "board_pack").delay == timedelta(hours=1, minutes=40)


def test_what_was_late_below_goes_on_its_own_when_the_owner_gives_its_upstream_up(chain: World) -> None:
    chain.fails("revenue", at="03:30", log=LOST_COLUMN)
    chain.moves_to("06:16")
    follows(chain)
    chain.clicks("ana", "More", "revenue")
    chain.presses("ana", "Not needed")
    chain.submits("ana", reason="the month is closed")
    assert chain.incident("revenue").status is Status.RESOLVED
    assert chain.incidents("board_pack") == (), "a word on the upstream does not touch it"

    chain.moves_to("06:45")
    follows(chain)

    assert chain.incident("board_pack").status is Status.OPEN


def test_a_backfill_of_old_dates_keeps_nobody_waiting(chain: World) -> None:
    chain.fails("revenue", at="03:30", nominal=chain.now - timedelta(days=30), trigger="backfill")

    assert chain.incident("revenue").waits == ()


def test_a_job_without_schedule_waits_from_the_start_until_a_run_after_what_it_needs(build_world: Build) -> None:
    world: World = build_world(policies=POLICIES.replace("[shop/board_pack]", "[shop/adhoc]"))
    world.fails("revenue", at="03:30", log=LOST_COLUMN)
    assert "Downstream waiting: shop/adhoc" in world.text_of(world.root("revenue"))
    world.succeeds("adhoc", at="03:40", nominal="03:40")
    follows(world)
    assert wait_of(world, "adhoc").open, "what it needs was not there"
    world.succeeds("revenue", at="04:00", nominal="03:00", trigger="manual")
    world.succeeds("adhoc", at="04:20", nominal="04:20")
    follows(world)

    assert wait_of(world, "adhoc").delay == timedelta(hours=1, minutes=20)


def test_the_table_keeps_what_the_measures_need(world: World) -> None:
    world.fails("revenue", at="03:30", log=LOST_COLUMN)
    world.succeeds("revenue", at="07:00", nominal="03:00", trigger="manual")
    world.succeeds("board_pack", at="07:30", nominal="06:00")
    (ended,) = world.service.storage.ended_waits(since=world.now - timedelta(days=1), limit=10)
    assert (ended.wait.job, ended.wait.upstream) == (key_of("board_pack"), key_of("revenue"))
    follows(world)

    assert world.service.storage.ended_waits(since=world.now - timedelta(days=1), limit=10) == ()


def test_a_run_that_ended_before_we_heard_of_the_upstream_has_waited_for_it(build_world: Build) -> None:
    world: World = build_world(policies=POLICIES.replace('board_pack, schedule: {cron: "0 6 * * *"}}', "board_pack}"))
    world.has_run("revenue")
    world.fails("revenue", at="03:30", nominal="03:00", log=LOST_COLUMN)
    world.clicks("ana", "Rerun", "revenue")
    world.rerun_starts("revenue")
    world.moves_to("05:00")
    (asked,) = world.scheduler.taken.values()
    ended = world.now - timedelta(minutes=8)
    again = Report(kind="succeeded", job="revenue", at=ended, nominal=asked.nominal_times[0], trigger="rerun")
    run_id = asked.run.run_id if asked.run else ""
    world.reports(replace(again, run_id=run_id, generation=1, rerun_key=asked.key))
    world.reports(Report(kind="succeeded", job="board_pack", at=ended + timedelta(minutes=3), nominal=None))
    follows(world)

    wait = wait_of(world, "board_pack")
    assert wait.delay is not None
    assert not wait.without


def test_whose_scheduler_tells_the_next_run_alone_waits_with_the_run_that_is_due_already(build_world: Build) -> None:
    world: World = build_world(policies=POLICIES.replace('board_pack, schedule: {cron: "0 6 * * *"}}', "board_pack}"))
    world.has_run("revenue")
    world.moves_to("06:05")
    world.changes("board_pack", schedule={"next_run": (world.now + timedelta(hours=24)).isoformat()})
    world.starts("board_pack", nominal="06:00")
    world.fails("revenue", nominal="03:00", log=LOST_COLUMN)

    assert wait_of(world, "board_pack").nominal_time == last_at("06:00", world.now)
