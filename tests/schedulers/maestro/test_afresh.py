"""Starts: of a run that never began, and in place of a failed one, where a newer definition is active than its own."""

from datetime import timedelta

from bot.incidents.keys import Action
from bot.ports import BY_ITSELF, Looked, Taken
from tests.maestro.fake.server import MONDAY
from tests.schedulers.maestro.asker import FLOW, KEY, LATE, OUR_ID, Asker, refused

TUESDAY = MONDAY + timedelta(days=1)


def test_a_fresh_start_with_the_same_definition_begins_the_run_anew(asker: Asker) -> None:
    failed = asker.fails()

    answer = asker.ask(failed, fresh=True)

    again = asker.maestro.run(FLOW)
    assert answer.taken is Taken.TAKEN
    assert (again.instance_id, again.run_id, again.policy) == (1, 2, "RESTART_FROM_BEGINNING")


def test_a_fresh_start_with_a_newer_definition_stands_for_the_same_time(asker: Asker) -> None:
    failed = asker.fails()
    asker.maestro.push(FLOW, steps=("load", "publish", "check"))

    answer = asker.ask(failed, fresh=True)

    fresh = asker.maestro.run(FLOW, 2)
    assert answer.taken is Taken.TAKEN
    assert (fresh.run_id, fresh.uuid, fresh.version.number) == (1, OUR_ID, 2)
    assert fresh.params["RUN_TS"]["evaluated_result"] == MONDAY.timestamp() * 1000
    assert asker.ask(failed, fresh=True).taken is Taken.ALREADY
    assert asker.look(failed) is Looked.STARTED


def test_a_fresh_start_of_a_failed_fresh_start_is_a_request_of_its_own(asker: Asker) -> None:
    failed = asker.fails()
    asker.maestro.push(FLOW, steps=("load", "publish", "check"))
    asker.ask(failed, fresh=True)
    asker.maestro.fails_for_good(asker.maestro.run(FLOW, 2), "load")

    again = asker.ask(asker.maestro.run(FLOW, 2), fresh=True, key=f"{KEY}2")

    assert again.taken is Taken.TAKEN
    assert [run.run_id for run in asker.maestro.workflow(FLOW).instances[2]] == [1, 2]


def test_a_fresh_start_lets_the_failed_run_go_that_holds_up_all_later_ones(asker: Asker) -> None:
    failed = asker.fails(strategy="STRICT_SEQUENTIAL")
    waiting = asker.maestro.scheduled(FLOW, TUESDAY)
    asker.maestro.push(FLOW, steps=("load", "publish", "check"))

    assert waiting.status == "CREATED"
    assert asker.ask(failed, fresh=True).taken is Taken.TAKEN
    asker.maestro.works()
    assert asker.maestro.run(FLOW, 2).status == "IN_PROGRESS"
    asker.maestro.succeeds(asker.maestro.run(FLOW, 2))
    assert asker.maestro.run(FLOW, 3).status == "IN_PROGRESS"
    assert [path for path, _ in asker.changed()] == [
        f"{FLOW}/instances/1/actions/unblock",
        f"{FLOW}/versions/active/actions/start",
    ]


def test_a_fresh_start_cannot_stand_for_a_run_with_parameters_of_its_own(asker: Asker) -> None:
    asker.maestro.push(FLOW, steps=("load", "publish"))
    run = asker.maestro.started(FLOW, run_params={"region": {"type": "STRING", "value": "eu"}})
    asker.maestro.fails_for_good(run, "load")
    asker.maestro.push(FLOW, steps=("load",))

    assert "(region)" in refused(asker.ask(run, fresh=True))
    assert asker.ask(run).taken is Taken.TAKEN


def test_a_fresh_start_needs_an_active_version(asker: Asker) -> None:
    failed = asker.fails()
    asker.ask(action=Action.RETIRE)

    assert "no version of it is active" in refused(asker.ask(failed, fresh=True))


def test_what_its_owner_has_fixed_runs_by_the_newer_definition(asker: Asker) -> None:
    failed = asker.fails()
    asker.maestro.push(FLOW, steps=("load", "publish", "check"))

    answer = asker.ask(failed, fixed=True)

    assert answer.taken is Taken.TAKEN
    assert answer.message == "run 1 of the instance 2 in Maestro, by version 2"
    assert asker.maestro.run(FLOW, 2).uuid == OUR_ID
    assert asker.ask(failed, fixed=True).taken is Taken.ALREADY


def test_what_its_owner_has_fixed_elsewhere_goes_on_where_it_failed(asker: Asker) -> None:
    failed = asker.fails()

    answer = asker.ask(failed, fixed=True)

    assert answer.message == "run 2 of the instance 1 in Maestro, by version 1"
    assert "load" not in asker.maestro.run(FLOW).attempts


def test_what_no_start_can_stand_for_goes_on_where_it_failed_though_it_is_fixed(asker: Asker) -> None:
    asker.maestro.push(FLOW, steps=("load", "publish"))
    run = asker.maestro.started(FLOW, run_params={"region": {"type": "STRING", "value": "eu"}})
    asker.maestro.fails_for_good(run, "load")
    asker.maestro.push(FLOW, steps=("load",))

    assert asker.ask(run, fixed=True).taken is Taken.TAKEN
    assert asker.maestro.run(FLOW).run_id == 2


def test_a_rerun_that_nobody_fixed_takes_the_old_definition(asker: Asker) -> None:
    failed = asker.fails()
    asker.maestro.push(FLOW, steps=("load", "publish", "check"))

    assert asker.ask(failed, requested_by=BY_ITSELF).taken is Taken.TAKEN
    assert asker.maestro.run(FLOW).version.number == 1


def test_a_late_run_is_started_for_its_time(asker: Asker) -> None:
    asker.maestro.push(FLOW, cron="0 6 * * *")

    answer = asker.ask(action=Action.START, run=LATE)

    run = asker.maestro.run(FLOW)
    assert answer.taken is Taken.TAKEN
    assert (run.uuid, run.initiator["type"]) == (OUR_ID, "MANUAL")
    assert run.params["RUN_TS"]["evaluated_result"] == MONDAY.timestamp() * 1000
    assert asker.look(action=Action.START, run=LATE) is Looked.STARTED
    assert asker.ask(action=Action.START, run=LATE).taken is Taken.ALREADY


def test_a_late_run_that_began_meanwhile_is_not_started(asker: Asker) -> None:
    asker.maestro.push(FLOW, cron="0 6 * * *")
    asker.maestro.scheduled(FLOW, MONDAY)

    assert "has begun in Maestro meanwhile" in refused(asker.ask(action=Action.START))
    assert asker.look(action=Action.START) is Looked.NOT_STARTED


def test_a_start_of_ours_is_stopped(asker: Asker) -> None:
    asker.maestro.push(FLOW, cron="0 6 * * *")
    asker.ask(action=Action.START, run=LATE)

    assert asker.ask(action=Action.STOP, run=LATE, key=f"{KEY}:stop").taken is Taken.TAKEN
    assert asker.maestro.run(FLOW).status == "STOPPED"
