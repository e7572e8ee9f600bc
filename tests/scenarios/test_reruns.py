"""Reruns: licensed, looked up, refused, and never one too many."""

from datetime import timedelta

import pytest

from bot.incidents.keys import Action
from bot.incidents.model import Outcome, RerunPhase, Status
from tests.world.fixtures import Build
from tests.world.people import LOST_COLUMN, POLICIES, RESET
from tests.world.reports import Report
from tests.world.world import World

SCHEMA_ERROR = """Traceback (most recent call last):
  File "/srv/jobs/load.py", line 52, in check
pandera.errors.SchemaError: column 'note' failed; failure cases: 'Connection reset by peer'
"""
TWO_CAUSES = """Traceback (most recent call last):
  File "/srv/jobs/load.py", line 41, in pull
ConnectionResetError: [Errno 104] Connection reset by peer

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/srv/jobs/load.py", line 52, in check
psycopg.errors.UndefinedColumn: column "amount" does not exist
"""


@pytest.mark.scenario(42)
def test_a_licensed_rerun_at_three_in_the_morning_wakes_nobody(world: World) -> None:
    world.has_run("revenue")
    world.fails("revenue", at="03:12")

    assert "ConnectionResetError: [Errno 104] Connection reset by peer" in world.thread("revenue")
    assert world.incident("revenue").status is Status.RERUNNING

    world.moves_to("03:17")
    world.rerun_starts("revenue")
    world.moves_to("03:27")
    world.rerun_succeeds("revenue")
    world.moves_to("12:00")

    assert world.incident("revenue").outcome is Outcome.RECOVERED
    assert "Nothing to do: the run of " in world.text_of(world.root("revenue"))
    assert len(world.reruns()) == 1
    assert world.mentions() == []


@pytest.mark.scenario(42)
def test_when_the_licensed_rerun_fails_the_on_call_is_asked_at_once(world: World) -> None:
    world.has_run("revenue")
    world.fails("revenue", at="03:12")
    world.moves_to("03:17")
    world.rerun_starts("revenue")
    world.moves_to("03:25")
    world.rerun_fails("revenue", log=LOST_COLUMN)

    (mention,) = world.mentions()
    assert mention.who == "finance-oncall"
    assert mention.at == world.now
    assert "the rerun failed" in mention.text


@pytest.mark.scenario(11)
def test_a_rerun_whose_request_timed_out_is_looked_up_before_any_second_try(world: World) -> None:
    world.has_run("revenue")
    world.scheduler.times_out(Action.RERUN, after_taking=True)
    world.fails("revenue", at="03:12")
    world.moves_to("03:25")

    (request,) = world.reruns()
    assert world.scheduler.looked_for == [request.key]
    assert world.incident("revenue").status is Status.RERUNNING
    assert world.incident("revenue").rerun is not None

    world.rerun_succeeds("revenue")
    world.moves_to("06:00")
    assert world.incident("revenue").outcome is Outcome.RECOVERED
    assert len(world.reruns()) == 1
    assert world.mentions() == []


@pytest.mark.scenario(11)
def test_a_rerun_that_surely_did_not_start_is_asked_for_again_under_the_same_key(world: World) -> None:
    world.has_run("revenue")
    world.scheduler.times_out(Action.RERUN, after_taking=False)
    world.fails("revenue", at="03:12")
    world.moves_to("03:17")
    world.scheduler.is_well_again()
    world.passes(minutes=1)

    first, second = world.reruns()
    assert first == second
    assert world.scheduler.looked_for == [first.key]
    assert len(world.scheduler.taken) == 1


@pytest.mark.scenario(11)
def test_a_rerun_of_which_nobody_can_tell_is_never_asked_for_again(world: World) -> None:
    world.has_run("revenue")
    world.scheduler.times_out(Action.RERUN, after_taking=True)
    world.scheduler.blind = True
    world.fails("revenue", at="03:12")
    world.moves_to("03:30")

    incident = world.incident("revenue")
    assert len(world.reruns()) == 1
    assert incident.status is Status.OPEN
    assert incident.rerun is not None
    assert incident.rerun.phase is RerunPhase.LOST
    assert world.used("revenue") == pytest.approx(1 / 6, abs=0.001)
    assert [mention.who for mention in world.mentions()] == ["finance-oncall"]
    assert "cannot be seen" in world.thread("revenue")


@pytest.mark.scenario(12)
def test_a_safe_phrase_inside_a_value_makes_a_schema_error_no_safer(world: World) -> None:
    world.has_run("revenue")
    world.fails("revenue", at="03:12", log=SCHEMA_ERROR)
    world.moves_to("04:00")

    assert world.incident("revenue").failure.cause == "data.schema_changed"
    assert world.reruns() == []
    assert world.mentions()[0].who == "finance-oncall"


@pytest.mark.scenario(13)
def test_two_causes_of_which_one_is_not_safe_are_not_safe(world: World) -> None:
    world.has_run("revenue")
    world.fails("revenue", at="03:12", log=TWO_CAUSES)
    world.moves_to("04:00")

    thread = world.thread("revenue")
    assert world.reruns() == []
    assert "data.schema_changed" in thread
    assert "network.connection_reset" in thread


@pytest.mark.scenario(14)
def test_a_mark_by_an_outsider_counts_for_nothing_and_says_so(build_world: Build) -> None:
    world = build_world(policies=POLICIES.replace("by: ana@example.com", "by: sam@example.com"))
    world.has_run("revenue")
    world.fails("revenue", at="03:12")
    world.moves_to("04:00")

    assert world.reruns() == []
    assert "does not count: marked by sam@example.com, who is not a member of finance" in world.thread("revenue")


@pytest.mark.scenario(14)
def test_a_mark_of_another_team_counts_for_nothing_and_says_so(build_world: Build) -> None:
    moved = "  - {match: shop/revenue, team: growth}\nfallback:"
    world = build_world(policies=POLICIES.replace("fallback:", moved))
    world.has_run("revenue")
    world.fails("revenue", at="03:12")
    world.moves_to("04:00")

    assert world.reruns() == []
    assert "marked by finance" in world.thread("revenue")
    assert world.mentions()[0].who == "growth-oncall"
    assert "finance-oncall" not in {mention.who for mention in world.mentions()}


@pytest.mark.scenario(20)
def test_a_rerun_that_would_reach_the_next_run_is_not_made_where_they_must_not_overlap(build_world: Build) -> None:
    world = build_world(policies=POLICIES.replace("rerun: {max: 2,", "rerun: {forbid_overlap: true, max: 2,"))
    world.has_run("revenue")
    world.fails("revenue", at="Tue 02:50")
    world.moves_to("02:59")

    assert world.reruns() == []
    assert "must not overlap" in world.reasons("revenue")


@pytest.mark.scenario(20)
def test_neither_the_rerun_nor_the_next_run_counts_as_the_success_of_the_other(world: World) -> None:
    world.has_run("revenue")
    world.fails("revenue", at="Tue 02:40", nominal="Mon 03:00")
    world.moves_to("Tue 02:45")
    world.rerun_starts("revenue")
    world.moves_to("Tue 03:00")
    world.starts("revenue", nominal="Tue 03:00")
    world.succeeds("revenue", at="Tue 03:08", nominal="Tue 03:00")

    incident = world.incident("revenue")
    assert incident.status is Status.RERUNNING
    assert [owed.nominal_time.isoformat()[:10] for owed in incident.owed if owed.nominal_time] == ["2026-11-30"]

    world.rerun_succeeds("revenue")
    assert world.incident("revenue").outcome is Outcome.RECOVERED


@pytest.mark.scenario(21)
def test_a_rerun_that_fails_with_another_error_gets_no_second_licence(world: World) -> None:
    world.has_run("revenue")
    world.fails("revenue", at="03:12", log=RESET)
    world.moves_to("03:17")
    world.rerun_starts("revenue")
    world.moves_to("03:20")
    world.rerun_fails("revenue", log="requests.exceptions.ConnectTimeout: timed out\n")
    world.moves_to("04:30")

    incident = world.incident("revenue")
    assert (incident.number, incident.count) == (1, 2)
    assert len(world.incidents()) == 1
    assert len(world.reruns()) == 1
    assert incident.status is Status.OPEN
    assert world.mentions()[0].who == "finance-oncall"


@pytest.mark.scenario(22)
def test_downstream_jobs_that_wait_are_listed_and_released_when_the_run_is_there(world: World) -> None:
    world.has_run("revenue")
    world.has_run("board_pack")
    world.fails("revenue", at="06:30", nominal="03:00", log=LOST_COLUMN)

    assert "shop/board_pack" in world.thread("revenue")
    world.clicks("ana", "Rerun", "revenue")
    world.rerun_starts("revenue")
    world.moves_to("06:50")
    world.rerun_succeeds("revenue")

    assert "Downstream can go on: shop/board_pack" in world.replies("revenue")[-1]


@pytest.mark.scenario(49)
def test_a_rerun_that_never_started_is_looked_up_then_the_owner_is_asked(world: World) -> None:
    world.has_run("revenue")
    world.fails("revenue", at="03:12")
    world.moves_to("03:17")
    assert len(world.reruns()) == 1
    world.scheduler.taken.clear()
    world.moves_to("03:46")
    assert world.mentions() == []
    assert world.used("revenue") > 0

    world.moves_to("03:48")

    assert len(world.scheduler.looked_for) == 1
    assert len(world.reruns()) == 1
    assert world.used("revenue") == 0
    assert [mention.who for mention in world.mentions()] == ["finance-oncall"]
    assert world.incident("revenue").status is Status.OPEN


@pytest.mark.scenario(49)
def test_a_rerun_of_which_the_look_can_tell_nothing_keeps_its_reservation(world: World) -> None:
    world.has_run("revenue")
    world.fails("revenue", at="03:12")
    world.moves_to("03:17")
    world.scheduler.blind = True
    world.moves_to("03:50")

    assert world.used("revenue") > 0
    assert [mention.who for mention in world.mentions()] == ["finance-oncall"]
    world.rerun_succeeds("revenue")
    assert world.incident("revenue").outcome is Outcome.RECOVERED


def test_two_incidents_of_one_job_that_one_batch_brings_have_a_rerun_each(world: World) -> None:
    world.moves_to("02:00")
    world.has_run("revenue")
    monday, tuesday = world.now + timedelta(hours=1), world.now + timedelta(hours=25)
    world.clock.now = tuesday + timedelta(minutes=20)
    error = {"log": RESET, "exit_code": 1}
    world.reports(
        Report(kind="failed", job="revenue", at=monday + timedelta(minutes=12), nominal=monday, error=error),
        Report(kind="succeeded", job="revenue", at=monday + timedelta(minutes=40), nominal=monday, run_id="by hand"),
        Report(kind="failed", job="revenue", at=tuesday + timedelta(minutes=12), nominal=tuesday, error=error),
    )

    assert [incident.status for incident in world.incidents("revenue")] == ["rerunning", "resolved"]
