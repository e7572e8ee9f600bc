"""What is changed about a workflow, not run: its schedule paused, the workflow retired, a failed run let go."""

from datetime import timedelta

from bot.incidents.keys import Action
from bot.ports import Looked, Taken
from tests.maestro.fake.server import MONDAY
from tests.schedulers.maestro.asker import FLOW, LATE, Asker, refused

TUESDAY = MONDAY + timedelta(days=1)


def test_a_run_that_holds_up_later_ones_is_let_go(asker: Asker) -> None:
    failed = asker.fails(strategy="STRICT_SEQUENTIAL")
    waiting = asker.maestro.scheduled(FLOW, TUESDAY)

    assert asker.ask(failed, Action.UNBLOCK).taken is Taken.TAKEN
    asker.maestro.works()
    assert waiting.status == "IN_PROGRESS"
    assert asker.ask(failed, Action.UNBLOCK).taken is Taken.TAKEN
    assert asker.look(failed, Action.UNBLOCK) is Looked.CANNOT_TELL
    assert asker.changed() == [(f"{FLOW}/instances/1/actions/unblock", "Ana")] * 2


def test_only_a_failed_run_that_nobody_started_again_is_let_go(asker: Asker) -> None:
    failed = asker.fails(strategy="STRICT_SEQUENTIAL")
    asker.maestro.restarts(failed, user="maria")
    again = asker.maestro.run(FLOW)

    assert "somebody started it again" in refused(asker.ask(failed, Action.UNBLOCK))
    assert "holds up no later one" in refused(asker.ask(again, Action.UNBLOCK))
    assert "no run of Maestro's" in refused(asker.ask(LATE, Action.UNBLOCK))
    assert asker.changed() == []


def test_a_pause_stops_the_schedule_alone_and_a_resumption_takes_it_up(asker: Asker) -> None:
    asker.fails()

    assert asker.look(action=Action.PAUSE) is Looked.NOT_STARTED
    assert asker.ask(action=Action.PAUSE).taken is Taken.TAKEN
    assert asker.look(action=Action.PAUSE) is Looked.STARTED
    assert "ontrack resumes only what it paused" in refused(asker.ask(action=Action.PAUSE))
    assert asker.ask(action=Action.RESUME).taken is Taken.TAKEN
    assert asker.look(action=Action.RESUME) is Looked.STARTED
    bodies = [one.body for one in asker.maestro.calls("POST", "/properties$")]
    assert bodies == [{"time_trigger_disabled": True}, {"time_trigger_disabled": False}]


def test_what_no_schedule_starts_has_none_to_pause(asker: Asker) -> None:
    asker.maestro.push(FLOW, steps=("load",))

    assert "no schedule of Maestro starts it" in refused(asker.ask(action=Action.PAUSE))


def test_a_retirement_deactivates_the_workflow(asker: Asker) -> None:
    asker.fails()

    assert asker.look(action=Action.RETIRE) is Looked.NOT_STARTED
    assert asker.ask(action=Action.RETIRE).taken is Taken.TAKEN
    assert asker.look(action=Action.RETIRE) is Looked.STARTED
    assert asker.ask(action=Action.RETIRE).taken is Taken.ALREADY


def test_a_retirement_is_taken_back_by_activating_the_version_that_was_active(asker: Asker) -> None:
    asker.fails()
    asker.maestro.push(FLOW, steps=("load",))
    asker.maestro.workflow(FLOW).active = 1
    asker.ask(action=Action.RETIRE)

    assert asker.look(action=Action.RESUME) is Looked.NOT_STARTED
    assert asker.ask(action=Action.RESUME).taken is Taken.TAKEN
    assert asker.look(action=Action.RESUME) is Looked.STARTED
    assert asker.maestro.workflow(FLOW).active == 1
    assert asker.changed()[-1] == (f"{FLOW}/versions/1/actions/activate", "Ana")


def test_what_no_history_tells_to_have_been_active_is_not_guessed(asker: Asker) -> None:
    asker.fails()
    asker.maestro.workflow(FLOW).active = None

    assert "activate one there" in refused(asker.ask(action=Action.RESUME))
    assert asker.changed() == []
