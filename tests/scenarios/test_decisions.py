"""What owners decide: recorded, in force when the scheduler confirms, and taken back again."""

import pytest

from bot.incidents.keys import Action, Capability
from bot.incidents.model import Outcome, Status
from tests.world.people import LOST_COLUMN, STRANGE
from tests.world.seen import buttons
from tests.world.world import World


def pause(world: World, job: str, *, until: str, at_end: str = "resume") -> None:
    world.clicks("ana", "More", job)
    world.presses("ana", "Pause")
    world.submits("ana", until=until, reason="the supplier is down", at_end=at_end)


def retire(world: World, job: str) -> None:
    world.clicks("ana", "More", job)
    world.presses("ana", "Retire")
    world.submits("ana", reason="replaced by the new report")


@pytest.mark.scenario(37)
def test_paused_until_monday_it_resumes_by_itself_and_a_good_run_verifies_it(world: World) -> None:
    world.fails("orders", at="Fri 03:12", log=LOST_COLUMN)
    pause(world, "orders", until="Mon 02:00")
    assert world.incident("orders").status is Status.PAUSED
    assert [request.action for request in world.scheduler.asked] == [Action.PAUSE]
    asked = len(world.mentions())

    world.fails("orders", at="Sat 03:12", log=LOST_COLUMN)
    assert world.incident("orders").noted == 1
    assert len(world.incidents("orders")) == 1
    assert "1 more failure noted" in world.text_of(world.root("orders"))

    world.moves_to("Mon 02:01")
    assert [request.action for request in world.scheduler.asked] == [Action.PAUSE, Action.RESUME]
    assert world.incident("orders").status is Status.VERIFYING
    assert "resumed" in world.replies("orders")[-1].lower()

    world.succeeds("orders", at="Mon 03:10")
    assert world.incident("orders").status is Status.RESOLVED
    assert len(world.mentions()) == asked


@pytest.mark.scenario(37)
def test_paused_until_monday_the_owner_is_asked_where_that_was_chosen(world: World) -> None:
    world.fails("orders", at="Fri 03:12", log=LOST_COLUMN)
    pause(world, "orders", until="Mon 02:00", at_end="ask")
    asked = len(world.mentions())
    world.moves_to("Mon 02:01")

    assert [request.action for request in world.scheduler.asked] == [Action.PAUSE]
    assert world.incident("orders").status is Status.OPEN
    assert len(world.mentions()) == asked + 1


@pytest.mark.scenario(37)
def test_a_pause_that_somebody_ended_in_the_scheduler_counts_as_resumed(world: World) -> None:
    world.fails("orders", at="Fri 03:12", log=LOST_COLUMN)
    pause(world, "orders", until="Mon 12:00")
    world.starts("orders", at="Sun 03:00", nominal="Sun 03:00")

    assert world.incident("orders").status is Status.VERIFYING
    assert "resumed the job in its scheduler" in world.replies("orders")[-1]
    world.succeeds("orders", at="Sun 03:10", nominal="Sun 03:00")
    assert world.incident("orders").status is Status.RESOLVED
    world.moves_to("Mon 13:00")
    assert [request.action for request in world.scheduler.asked] == [Action.PAUSE]


@pytest.mark.scenario(37)
def test_a_retired_job_that_runs_again_is_an_incident(world: World) -> None:
    world.fails("orders", at="Fri 03:12", log=LOST_COLUMN)
    retire(world, "orders")
    assert world.incident("orders").status is Status.RETIRED
    world.starts("orders", at="Sat 03:00")

    incident = world.incident("orders")
    assert incident.status is Status.OPEN
    assert incident.failure.cause == "policy.retired_ran"
    assert "A retired job ran" in world.text_of(world.root("orders"))


@pytest.mark.scenario(39)
def test_fixed_then_the_same_failure_goes_back_to_the_owner(world: World) -> None:
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    fix(world, "orders")
    assert world.incident("orders").status is Status.VERIFYING
    asked = len(world.mentions())

    world.fails("orders", at="Tue 03:12", log=LOST_COLUMN)
    incident = world.incident("orders")
    assert incident.status is Status.OPEN
    assert incident.count == 2
    assert "the fix did not hold" in world.thread("orders").lower()
    assert "mended the view" in world.thread("orders")
    assert {mention.who for mention in world.mentions()[asked:]} == {"ana", "finance-oncall"}


@pytest.mark.scenario(39)
def test_a_fix_that_no_run_confirms_is_asked_about_at_its_timer(world: World) -> None:
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    fix(world, "orders")
    asked = len(world.asks())
    world.skips("orders", at="Tue 03:00", nominal="Tue 03:00")
    assert len(world.asks()) == asked
    world.moves_to("Tue 04:00")

    assert world.incident("orders").unconfirmed
    assert len(world.asks()) == asked + 1
    assert "no good run by Tue 1 Dec 03:25 UTC" in world.asks()[-1].text
    assert "Rerun to verify" in buttons(world.root("orders"))


@pytest.mark.scenario(39)
def test_another_failure_while_verifying_is_the_same_occurrence_that_failed_differently(world: World) -> None:
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    fix(world, "orders")
    world.fails("orders", at="Tue 03:12", log=STRANGE)

    incident = world.incident("orders")
    assert (incident.record, incident.number, incident.status) == (1, 1, Status.OPEN)
    assert "differently" in world.thread("orders")


@pytest.mark.scenario(39)
def test_another_failure_after_it_was_resolved_is_a_new_record_linked_to_it(world: World) -> None:
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    fix(world, "orders")
    world.succeeds("orders", at="Tue 03:10")
    assert world.incident("orders").outcome is Outcome.FIXED
    world.fails("orders", at="Wed 03:12", log=STRANGE)

    incident = world.incident("orders")
    assert (incident.record, incident.number) == (2, 1)
    assert incident.linked_record == 1


@pytest.mark.scenario(39)
def test_the_same_failure_after_the_fix_was_confirmed_reopens_its_record(world: World) -> None:
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    fix(world, "orders")
    world.succeeds("orders", at="Tue 03:10")
    world.fails("orders", at="Wed 03:12", log=LOST_COLUMN)

    incident = world.incident("orders")
    assert (incident.record, incident.number) == (1, 2)
    thread = world.thread("orders").lower()
    assert "the fix did not hold" in thread
    assert "mended the view" in thread
    assert world.place("orders") != world.place("orders", number=1), "the old root is older than a day"


@pytest.mark.scenario(41)
def test_tuesdays_success_does_not_bring_mondays_partition(world: World) -> None:
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.succeeds("orders", at="Tue 03:10")

    incident = world.incident("orders")
    assert incident.status is Status.OPEN
    assert [owed.nominal_time for owed in incident.owed] == [incident.failure.run.nominal_time]
    assert "still owed" in world.replies("orders")[-1].lower()

    world.clicks("ana", "Rerun", "orders")
    world.rerun_succeeds("orders")
    assert world.incident("orders").status is Status.RESOLVED


@pytest.mark.scenario(41)
def test_mondays_partition_may_be_declared_not_needed(world: World) -> None:
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.succeeds("orders", at="Tue 03:10")
    world.clicks("ana", "More", "orders")
    world.presses("ana", "Not needed")
    world.submits("ana", reason="Tuesday holds it as well")

    assert world.incident("orders").outcome is Outcome.NOT_NEEDED


@pytest.mark.scenario(41)
def test_where_any_later_run_pays_the_next_success_resolves_it(world: World) -> None:
    world.fails("stock", at="03:12", log=LOST_COLUMN)
    world.succeeds("stock", at="04:05")

    assert world.incident("stock").outcome is Outcome.RECOVERED_ALONE
    assert "Nothing to do: the run of " in world.text_of(world.root("stock"))


@pytest.mark.scenario(46)
def test_a_pause_that_the_scheduler_refuses_is_recorded_but_not_in_force(world: World) -> None:
    world.scheduler.refuses(Action.PAUSE, "403: ontrack may not pause DAGs")
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    pause(world, "orders", until="Tue 12:00")

    incident = world.incident("orders")
    assert incident.status is Status.OPEN
    assert incident.decision is not None
    assert incident.decision.in_force_at is None
    assert "403: ontrack may not pause DAGs" in world.thread("orders")
    assert "ana" in {mention.who for mention in world.mentions()}
    before = len(world.mentions())
    world.passes(minutes=20)
    assert len(world.mentions()) > before, "the chase goes on"


@pytest.mark.scenario(47)
def test_where_the_scheduler_cannot_pause_the_button_says_that_it_only_silences(world: World) -> None:
    world.scheduler.cannot(Capability.PAUSE, Capability.RESUME)
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.clicks("ana", "More", "orders")
    assert "Silence" in world.screen("ana")
    told = world.presses("ana", "Silence")
    assert "cannot" in told.text
    world.submits("ana", until="Tue 12:00", reason="known")

    assert world.scheduler.asked == []
    assert world.incident("orders").status is Status.PAUSED
    assert "silenced" in world.text_of(world.root("orders"))


@pytest.mark.scenario(48)
def test_a_wrong_retire_is_taken_back_on_the_settled_message(world: World) -> None:
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    retire(world, "orders")
    assert "Un-retire" in buttons(world.root("orders"))
    world.clicks("olga", "Un-retire", "orders")

    assert world.incident("orders").status.unresolved
    assert [request.action for request in world.scheduler.asked] == [Action.RETIRE, Action.RESUME]
    kinds = [row.kind for row in world.timeline("orders")]
    assert kinds.index("in_force") < kinds.index("undone")


def fix(world: World, job: str) -> None:
    """Ana says that it is fixed, and that the next run brings what is owed."""
    world.clicks("ana", "Fixed", job)
    view = world.stage.slack.view_of("U0ANA")
    assert view is not None
    owed = [block["block_id"] for block in view["blocks"] if block["block_id"].startswith("owed:")]
    world.submits("ana", **{"what": "mended the view", **dict.fromkeys(owed, "next_run")})
