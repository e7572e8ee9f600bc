"""Which end of a run is which event: a failure, a person's doing, the run strategy's, or no trouble at all."""

from pathlib import Path

import pytest

from bot.sources import SourceEvent, SourceKind
from tests.maestro.fake.playing import foreach, subworkflow
from tests.maestro.fake.server import MONDAY, Maestro
from tests.schedulers.maestro.desk import DAILY, Desk, kinds

IGNORED = {"step": {"id": "extra", "type": "Kubernetes", "failure_mode": "IGNORE_FAILURE", "transition": {}}}


@pytest.fixture
def desk(maestro: Maestro, tmp_path: Path) -> Desk:
    maestro.push(DAILY, steps=("load", "publish"), cron="0 6 * * *")
    return Desk(maestro, tmp_path)


def last(desk: Desk) -> SourceEvent:
    return desk.polls(2)[-1]


def test_attempts_that_the_engine_tries_again_are_no_failure(desk: Desk, maestro: Maestro) -> None:
    run = maestro.scheduled(DAILY, MONDAY)
    for kind in ("user", "platform"):
        maestro.fails(run, "load", kind=kind)
        assert SourceKind.RUN_FAILED not in {event.kind for event in desk.polls()}
        maestro.tries_again(run, "load")
    maestro.succeeds(run)

    assert last(desk).kind is SourceKind.RUN_SUCCEEDED


def test_a_failure_that_is_to_be_ignored_is_no_incident(maestro: Maestro, tmp_path: Path) -> None:
    maestro.push(DAILY, steps=(IGNORED,))
    desk = Desk(maestro, tmp_path)
    run = maestro.scheduled(DAILY, MONDAY)
    maestro.fails_for_good(run, "extra")

    assert kinds(desk.polls(2)) == ["1.1 run.started", "1.1 run.succeeded"]


def test_a_run_that_somebody_killed_was_cancelled_and_by_whom(desk: Desk, maestro: Maestro) -> None:
    maestro.kills(maestro.scheduled(DAILY, MONDAY), user="ann")
    end = last(desk)

    assert (maestro.run(DAILY, 1).status, end.kind, end.by) == ("FAILED", SourceKind.RUN_CANCELLED, "ann")
    assert end.error is None


def test_a_run_that_failed_by_itself_before_somebody_killed_the_rest_is_a_failure(
    maestro: Maestro, tmp_path: Path
) -> None:
    beside = {"step": {"id": "beside", "type": "Kubernetes", "transition": {}}}
    first = {"step": {"id": "first", "type": "Kubernetes", "transition": {}}}
    maestro.push(DAILY, steps=(first, beside))
    desk = Desk(maestro, tmp_path)
    run = maestro.scheduled(DAILY, MONDAY)
    maestro.fails_for_good(run, "first", message="no rows")
    maestro.kills(run, user="ann")
    end = last(desk)

    assert end.kind is SourceKind.RUN_FAILED
    assert end.error is not None
    assert end.error.message == "no rows"


def test_a_run_that_somebody_stopped_was_cancelled_and_by_whom(desk: Desk, maestro: Maestro) -> None:
    maestro.stops(maestro.scheduled(DAILY, MONDAY), user="ben")
    end = last(desk)

    assert (maestro.run(DAILY, 1).status, end.kind, end.by) == ("STOPPED", SourceKind.RUN_CANCELLED, "ben")


def test_a_run_that_a_newer_one_took_the_place_of_was_stopped_by_no_person(maestro: Maestro, tmp_path: Path) -> None:
    maestro.push(DAILY, steps=("load",), strategy="LAST_ONLY")
    desk = Desk(maestro, tmp_path)
    maestro.scheduled(DAILY, MONDAY)
    desk.polls()
    maestro.scheduled(DAILY, MONDAY.replace(hour=7))
    told = {event.run.run_id: event for event in desk.polls(2) if event.run is not None}

    assert told["1"].kind is SourceKind.RUN_CANCELLED
    assert told["1"].by == "Maestro, by the run strategy LAST_ONLY"


def test_a_run_that_its_strategy_did_not_let_begin_was_left_out(maestro: Maestro, tmp_path: Path) -> None:
    maestro.push(DAILY, steps=("load",), strategy="FIRST_ONLY")
    desk = Desk(maestro, tmp_path)
    maestro.scheduled(DAILY, MONDAY)
    maestro.scheduled(DAILY, MONDAY.replace(hour=7))
    told = desk.polls(2)

    assert kinds(told) == ["1.1 run.started", "2.1 run.skipped"]
    assert told[1].error is not None
    assert told[1].error.message


def test_a_run_that_failed_before_its_first_step_is_a_failure(desk: Desk, maestro: Maestro) -> None:
    maestro.breaks(DAILY)
    maestro.scheduled(DAILY, MONDAY)
    end = last(desk)

    assert end.kind is SourceKind.RUN_FAILED
    assert end.error is not None
    assert end.error.message


def test_a_run_that_took_too_long_is_a_failure(desk: Desk, maestro: Maestro) -> None:
    maestro.times_out(maestro.scheduled(DAILY, MONDAY))
    end = last(desk)

    assert (maestro.run(DAILY, 1).status, end.kind) == ("TIMED_OUT", SourceKind.RUN_FAILED)


def test_success_is_what_the_whole_instance_calls_success(desk: Desk, maestro: Maestro) -> None:
    """A run may go well while a step of an earlier run has not."""
    run = maestro.scheduled(DAILY, MONDAY)
    maestro.succeeds(run, "load")
    maestro.fails_for_good(run, "publish", message="no partition")
    desk.polls()
    again = maestro.runs_only(run, "load")
    maestro.succeeds(again)
    end = last(desk)

    assert (kinds([end]), maestro.run(DAILY, 1).run_status) == (["1.2 run.failed"], "SUCCEEDED")
    assert end.error is not None
    assert end.error.message == "no partition"


def test_a_failed_part_is_told_with_the_run_that_it_is_a_part_of(maestro: Maestro, tmp_path: Path) -> None:
    maestro.push("sales.publish", steps=("write",))
    maestro.push(DAILY, steps=("load", subworkflow("pub", "sales.publish")), cron="0 6 * * *")
    desk = Desk(maestro, tmp_path, DAILY, "sales.publish")
    run = maestro.scheduled(DAILY, MONDAY)
    maestro.succeeds(run, "load")
    maestro.fails_for_good(maestro.child(run, "pub", 1), "write", message="disk full")
    told = desk.polls(3)

    assert [(event.job.name, event.kind.value) for event in told] == [
        (DAILY, "run.started"),
        (DAILY, "run.failed"),
    ]
    assert told[1].error is not None
    assert told[1].error.message == "disk full"
    assert told[1].error.log.startswith("Parts of sales.daily: sales.publish/write (attempt ")


def test_a_part_of_what_nobody_watches_is_told_by_itself(maestro: Maestro, tmp_path: Path) -> None:
    maestro.push("sales.publish", steps=("write",))
    maestro.push(DAILY, steps=("load", subworkflow("pub", "sales.publish")))
    desk = Desk(maestro, tmp_path, "sales.publish")
    run = maestro.scheduled(DAILY, MONDAY)
    maestro.succeeds(run, "load")
    maestro.fails_for_good(maestro.child(run, "pub", 1), "write")

    assert kinds(desk.polls(3)) == ["1.1 run.started", "1.1 run.failed"]


def test_a_step_that_timed_out_in_a_part_is_found_below_it(maestro: Maestro, tmp_path: Path) -> None:
    """The run's overview points to no step that timed out."""
    maestro.push("sales.publish", steps=({"step": {"id": "write", "type": "Kubernetes", "transition": {}}},))
    maestro.push(DAILY, steps=(subworkflow("pub", "sales.publish"),))
    desk = Desk(maestro, tmp_path)
    run = maestro.scheduled(DAILY, MONDAY)
    maestro.fails(maestro.child(run, "pub", 1), "write", kind="timeout", message="10 days are over")
    end = last(desk)

    assert end.kind is SourceKind.RUN_FAILED
    assert end.error is not None
    assert end.error.log.startswith("Parts of sales.daily: sales.publish/write (attempt 1)")


def test_a_failed_round_of_a_loop_is_named(maestro: Maestro, tmp_path: Path) -> None:
    maestro.push(DAILY, steps=(foreach("each", 3, "e1"),))
    desk = Desk(maestro, tmp_path)
    run = maestro.scheduled(DAILY, MONDAY)
    maestro.fails_for_good(maestro.child(run, "each", 2), "e1", message="country XX is unknown")
    for other in (1, 3):
        maestro.succeeds(maestro.child(run, "each", other))
    end = last(desk)

    assert end.kind is SourceKind.RUN_FAILED
    assert end.error is not None
    assert end.error.message == "country XX is unknown"
    assert end.facts["failed_part"]["name"].endswith("/e1")
