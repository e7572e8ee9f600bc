"""What is asked of Maestro: reruns, starts, stops and pauses, each in the name of who decided it."""

from datetime import timedelta
from typing import Any

import pytest

from bot.incidents.keys import Action, RunRef
from bot.ports import BY_ITSELF, Looked, Taken
from tests.maestro.fake.faults import Asked
from tests.maestro.fake.playing import subworkflow
from tests.maestro.fake.server import MONDAY, Maestro
from tests.schedulers.maestro.asker import FLOW, KEY, OUR_ID, Asker, refused

TUESDAY = MONDAY + timedelta(days=1)


def test_a_rerun_goes_on_where_the_run_failed(asker: Asker) -> None:
    failed = asker.fails()

    answer = asker.ask(failed)

    again = asker.maestro.run(FLOW)
    assert answer.taken is Taken.TAKEN
    assert (again.run_id, again.uuid) == (2, OUR_ID)
    assert "load" not in again.attempts
    assert asker.changed() == [(f"{FLOW}/instances/1/actions/restart", "Ana")]


def test_a_rerun_that_nobody_decided_bears_the_name_of_the_connection(asker: Asker) -> None:
    asker.ask(asker.fails(), requested_by=BY_ITSELF)

    assert [user for _, user in asker.changed()] == ["ontrack"]


@pytest.mark.parametrize(
    ("name", "header"), [("Jürgen", "Jurgen"), ("Юля", "%D0%AE%D0%BB%D1%8F"), ("Ana\r\nx: y", "Ana x: y")]
)
def test_a_name_is_told_as_a_header_can_hold_it(asker: Asker, name: str, header: str) -> None:
    asker.ask(asker.fails(), requested_by=name)

    assert [user for _, user in asker.changed()] == [header]


def test_a_rerun_that_runs_already_is_not_asked_for_twice(asker: Asker) -> None:
    failed = asker.fails()
    asker.ask(failed)

    answer = asker.ask(failed)

    assert answer.taken is Taken.ALREADY
    assert len(asker.changed("restart")) == 1


def test_a_rerun_that_has_failed_meanwhile_is_not_asked_for_twice(asker: Asker) -> None:
    failed = asker.fails()
    asker.ask(failed)
    asker.maestro.fails_for_good(asker.maestro.run(FLOW), "publish")

    answer = asker.ask(failed)

    assert answer.taken is Taken.ALREADY
    assert len(asker.ours()) == 1


def test_a_refusal_of_our_own_request_that_runs_is_no_refusal(asker: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = asker.fails()
    once = asker.maestro.answered

    def twice(asked: Asked) -> tuple[int, Any]:
        if asked.path.endswith("/restart"):
            once(asked)
        return once(asked)

    monkeypatch.setattr(asker.maestro, "answered", twice)

    assert asker.ask(failed).taken is Taken.ALREADY
    assert len(asker.ours()) == 1


def test_a_run_that_a_person_has_restarted_is_left_alone(asker: Asker) -> None:
    failed = asker.fails()
    asker.maestro.restarts(failed, user="maria")

    assert "somebody started it again" in refused(asker.ask(failed))
    assert asker.changed() == []


def test_a_run_that_a_person_has_restarted_and_that_failed_again_is_another_question(asker: Asker) -> None:
    failed = asker.fails()
    asker.maestro.restarts(failed, user="maria")
    asker.maestro.fails_for_good(asker.maestro.run(FLOW), "publish")

    assert "its run 2 is FAILED" in refused(asker.ask(failed))
    assert asker.ask(asker.maestro.run(FLOW)).taken is Taken.TAKEN


def test_a_run_that_went_well_meanwhile_is_not_run_again(asker: Asker) -> None:
    failed = asker.fails()
    asker.maestro.restarts(failed, user="maria")
    asker.maestro.succeeds(asker.maestro.run(FLOW))

    assert "succeeded" in refused(asker.ask(failed))


def test_a_good_run_beside_a_failed_step_is_run_again(asker: Asker) -> None:
    failed = asker.fails()
    partly = asker.maestro.runs_only(failed, "load")
    asker.maestro.succeeds(partly)

    assert asker.ask(partly).taken is Taken.TAKEN


def test_a_part_of_another_workflow_is_not_restarted_by_itself(asker: Asker) -> None:
    maestro = asker.maestro
    maestro.push("sales.publish", steps=("send",))
    maestro.push(FLOW, steps=("load", subworkflow("pub", "sales.publish")))
    root = maestro.scheduled(FLOW, MONDAY)
    maestro.succeeds(root, "load")
    child = maestro.child(root, "pub", 1)
    maestro.fails_for_good(child, "send")

    assert f"a part of the instance 1 of {FLOW}" in refused(asker.ask(child))
    assert asker.changed("restart") == []


def test_a_run_that_maestro_does_not_know_is_not_asked_for(asker: Asker) -> None:
    asker.fails()

    assert "no run of Maestro's" in refused(asker.ask(RunRef(run_id="scheduled__2026-11-30")))


def test_only_a_rerun_of_ours_is_stopped(asker: Asker) -> None:
    failed = asker.fails()
    asker.maestro.restarts(failed, user="maria")

    assert "not started by ontrack" in refused(asker.ask(failed, Action.STOP, key=f"{KEY}:stop"))
    assert asker.maestro.run(FLOW).alive


def test_a_rerun_of_ours_is_stopped(asker: Asker) -> None:
    failed = asker.fails()
    asker.ask(failed)

    answer = asker.ask(failed, Action.STOP, key=f"{KEY}:stop")

    assert answer.taken is Taken.TAKEN
    assert asker.maestro.run(FLOW).status == "STOPPED"
    assert asker.look(failed, Action.STOP, key=f"{KEY}:stop") is Looked.STARTED
    assert "ended in Maestro meanwhile: STOPPED" in refused(asker.ask(failed, Action.STOP, key=f"{KEY}:stop"))


def test_a_token_is_sent_where_one_is_given(maestro: Maestro) -> None:
    maestro.token = "let-me-in"
    with_it, without = Asker(maestro, token="let-me-in"), Asker(maestro)
    failed = with_it.fails()

    assert "401" in refused(without.ask(failed))
    assert with_it.ask(failed).taken is Taken.TAKEN


def test_a_look_tells_of_a_rerun_that_others_ran_over(asker: Asker) -> None:
    failed = asker.fails()
    asker.ask(failed)
    for _ in range(3):
        asker.maestro.fails_for_good(asker.maestro.run(FLOW), "publish")
        asker.maestro.restarts(asker.maestro.run(FLOW), user="maria")

    assert asker.look(failed) is Looked.STARTED


def test_a_look_tells_that_nothing_was_started(asker: Asker) -> None:
    failed = asker.fails()

    assert asker.look(failed) is Looked.NOT_STARTED


def test_a_look_without_an_answer_cannot_tell(asker: Asker) -> None:
    failed = asker.fails()
    asker.maestro.fails_to_answer(500, "/runs$")

    assert asker.look(failed) is Looked.CANNOT_TELL
