"""Every word can be taken back where it was said: a mark, "not needed", a fix, a correction."""

from bot.incidents.model import Status
from tests.world.people import LOST_COLUMN, RESET, STRANGE
from tests.world.world import World


def more(world: World, person: str, label: str, job: str) -> str:
    """Press a button of the More form; what the person sees then."""
    world.clicks(person, "More", job)
    return world.presses(person, label).text


def test_a_mark_of_the_policies_file_that_an_owner_revokes_licenses_no_rerun_any_more(world: World) -> None:
    world.has_run("revenue")
    world.fails("revenue", at="Mon 03:12", log=RESET)
    assert world.incident("revenue").status is Status.RERUNNING

    more(world, "ana", "Revoke mark", "revenue")
    world.moves_to("Mon 03:20")

    assert world.reruns() == []
    assert "the safe mark on network.connection_reset does not count: it was revoked since" in world.reasons("revenue")
    assert [mention.who for mention in world.mentions()] == ["finance-oncall"]


def test_of_two_owed_runs_one_is_given_up_and_needed_after_all(world: World) -> None:
    world.fails("orders", at="Mon 03:12", log=LOST_COLUMN)
    world.fails("orders", at="Tue 03:12", log=LOST_COLUMN)
    monday, tuesday = (one.nominal_time for one in world.incident("orders").owed)
    assert monday is not None

    more(world, "ana", "Not needed", "orders")
    world.submits("ana", nominal_times=[monday.isoformat()], reason="Tuesday brings it")
    assert [one.nominal_time for one in world.incident("orders").owed] == [tuesday]

    modal = more(world, "ana", "Needed after all", "orders")
    assert "is owed again" in modal
    world.submits("ana", nominal_times=[monday.isoformat()])

    assert [one.nominal_time for one in world.incident("orders").owed] == [monday, tuesday]
    assert "needed after all" in world.replies("orders")[-1]


def test_one_of_several_owed_runs_is_rerun_alone(world: World) -> None:
    world.has_run("orders")
    world.fails("orders", at="Mon 03:12", log=LOST_COLUMN)
    world.fails("orders", at="Tue 03:12", log=LOST_COLUMN)
    _, tuesday = (one.nominal_time for one in world.incident("orders").owed)
    assert tuesday is not None

    modal = more(world, "ana", "Choose runs", "orders")
    assert "A rerun of one costs about 10 min of run time" in modal
    world.submits("ana", nominal_times=[tuesday.isoformat()])

    assert [request.nominal_times for request in world.reruns()] == [(tuesday,)]


def test_a_fix_is_taken_back_while_its_rerun_runs(world: World) -> None:
    world.has_run("orders")
    world.fails("orders", at="Mon 03:12", log=LOST_COLUMN)
    world.clicks("ana", "Fixed", "orders")
    owed = {
        f"owed:{one.nominal_time.isoformat()}": "rerun_now" for one in world.incident("orders").owed if one.nominal_time
    }
    world.submits("ana", what="put the column back", **owed)
    assert world.incident("orders").status is Status.RERUNNING

    more(world, "ana", "Not fixed", "orders")

    assert world.incident("orders").fix is None
    world.rerun_succeeds("orders")
    assert world.incident("orders").outcome == "recovered"


def test_a_correction_of_an_unknown_cause_is_taken_back(world: World) -> None:
    world.fails("orders", at="Mon 03:12", log=STRANGE)
    more(world, "ana", "Correct cause", "orders")
    world.submits("ana", cause="other", cause_other="the gizmo's firmware", note="")
    assert "the gizmo's firmware" in world.text_of(world.root("orders"))

    more(world, "ana", "Correct cause", "orders")
    world.submits("ana", cause="unknown", cause_other="", note="")

    assert world.incident("orders").corrected_cause is None
    assert "takes the correction back: the cause is not known again" in world.replies("orders")[-1]
