"""What is polled, how often Maestro is asked for it, and what a restart or its troubles do to that."""

from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

from bot.incidents.keys import Trigger
from bot.incidents.strategy import RunStrategy
from bot.schedulers.maestro.polling import POLL
from bot.schedulers.maestro.requests import request_id_of
from bot.sources import SourceKind
from tests.maestro.fake.server import MONDAY, Maestro
from tests.schedulers.maestro.desk import DAILY, NAME, Desk, NotTaken, kinds

KEY = "maestro-prod/sales.daily@20261130T060000000000Z.0badcafe#1"


@pytest.fixture
def desk(maestro: Maestro, tmp_path: Path) -> Desk:
    maestro.push(DAILY, steps=("load", "publish"), cron="0 6 * * *", timezone="Europe/Berlin")
    return Desk(maestro, tmp_path)


def test_a_run_of_the_schedule_is_told_from_its_start_to_its_failure(desk: Desk, maestro: Maestro) -> None:
    run = maestro.scheduled(DAILY, MONDAY)
    (started,) = desk.polls()
    maestro.fails_for_good(run, "load", message="could not load", errors=("java.lang.IllegalStateException: no rows",))
    (failed,) = desk.polls()

    assert started.kind is SourceKind.RUN_STARTED
    assert failed.key == "maestro-prod/sales.daily|2026-11-30T06:00:00+00:00|1|1|run.failed"
    assert failed.run is not None
    assert (failed.run.nominal_time, failed.run.trigger) == (MONDAY, Trigger.SCHEDULE)
    assert failed.error is not None
    assert failed.error.message == "could not load"


def test_nothing_is_told_twice(desk: Desk, maestro: Maestro) -> None:
    run = maestro.scheduled(DAILY, MONDAY)
    maestro.fails_for_good(run, "load")
    desk.polls()

    assert desk.polls(10) == []
    assert len(desk.changes()) == 1


def test_a_workflow_of_which_nothing_changes_costs_its_overview_and_no_more(desk: Desk, maestro: Maestro) -> None:
    maestro.succeeds(maestro.scheduled(DAILY, MONDAY))
    desk.polls()
    desk.calls()
    desk.polls(8)

    assert Counter(desk.calls()) == {f"GET /api/v3/workflows/{DAILY}/overview": 8}


def test_hundreds_of_workflows_are_read_in_turn_and_never_in_a_burst(maestro: Maestro, tmp_path: Path) -> None:
    names = [f"flow.{number:03}" for number in range(300)]
    for name in names:
        maestro.push(name, steps=("load",))
    desk = Desk(maestro, tmp_path, *names)
    asked_at = []
    at = until = desk.clock()
    until += POLL
    while at < until:
        before = len(maestro.calls("GET", "/overview$"))
        due = desk.poller.step(at)
        asked_at += [at] * (len(maestro.calls("GET", "/overview$")) - before)
        at = max(due, at + timedelta(milliseconds=1))

    assert len(asked_at) == 300
    assert max(Counter(int(at.timestamp()) for at in asked_at).values()) <= 12


def test_a_restart_of_ours_is_known_by_its_uuid(desk: Desk, maestro: Maestro) -> None:
    run = maestro.scheduled(DAILY, MONDAY)
    maestro.fails_for_good(run, "load")
    desk.polls()
    desk.asked = ["another key", KEY]
    body = {"restart_policy": "RESTART_FROM_INCOMPLETE", "request_id": str(request_id_of(KEY))}
    desk.scheduler.client.restart(DAILY, 1, body, by="Ana")
    (started,) = desk.polls()

    assert (started.rerun_key, started.by) == (KEY, None)
    assert started.run is not None
    assert (started.run.run_id, started.run.generation, started.run.trigger) == ("1", 2, Trigger.RERUN)
    assert started.run.nominal_time == MONDAY


def test_a_fresh_start_of_ours_stands_for_the_time_that_it_was_asked_for(desk: Desk, maestro: Maestro) -> None:
    desk.asked = [KEY]
    desk.polls()
    due = int(MONDAY.timestamp() * 1000)
    body = {
        "initiator": {"type": "manual"},
        "request_id": str(request_id_of(KEY)),
        "run_params": {"RUN_TS": {"type": "LONG", "value": due}},
    }
    desk.scheduler.client.start(DAILY, body, by="Ana")
    (started,) = desk.polls()

    assert started.rerun_key == KEY
    assert started.run is not None
    assert (started.run.nominal_time, started.run.trigger) == (MONDAY, Trigger.RERUN)


def test_a_restart_by_a_person_is_told_by_name_and_keeps_the_nominal_time(desk: Desk, maestro: Maestro) -> None:
    run = maestro.scheduled(DAILY, MONDAY)
    maestro.fails_for_good(run, "load")
    desk.polls()
    maestro.restarts(run, user="maria")
    (started,) = desk.polls()

    assert (started.by, started.rerun_key) == ("maria", None)
    assert started.run is not None
    assert (started.run.generation, started.run.trigger, started.run.nominal_time) == (2, Trigger.RERUN, MONDAY)


def test_a_run_by_hand_has_no_nominal_time_of_its_own(desk: Desk, maestro: Maestro) -> None:
    maestro.started(DAILY, user="ann")
    (started,) = desk.polls()

    assert started.run is not None
    assert (started.run.nominal_time, started.run.trigger, started.by) == (None, Trigger.MANUAL, "ann")


def test_a_rerun_that_failed_between_two_polls_is_told_all_the_same(desk: Desk, maestro: Maestro) -> None:
    """The overview is then the same in sum as before."""
    run = maestro.scheduled(DAILY, MONDAY)
    maestro.fails_for_good(run, "load")
    desk.polls()
    maestro.fails_for_good(maestro.restarts(run, user="maria"), "load")
    told = desk.polls(3)

    assert kinds(told) == ["1.2 run.started", "1.2 run.failed"]


def test_every_rerun_between_two_polls_is_told_in_its_order(desk: Desk, maestro: Maestro) -> None:
    run = maestro.scheduled(DAILY, MONDAY)
    maestro.fails_for_good(run, "load")
    desk.polls()
    for _ in range(3):
        run = maestro.restarts(run, user="maria")
        maestro.fails_for_good(run, "load")
    told = desk.polls(3)

    assert kinds(told) == [f"1.{run} run.{what}" for run in (2, 3, 4) for what in ("started", "failed")]


def test_an_old_instance_that_is_restarted_is_found_below_the_newest(desk: Desk, maestro: Maestro) -> None:
    old = maestro.scheduled(DAILY, MONDAY - timedelta(days=40))
    maestro.fails_for_good(old, "load")
    for day in range(30, 0, -1):
        maestro.succeeds(maestro.scheduled(DAILY, MONDAY - timedelta(days=day)))
    maestro.clock.moves(timedelta(hours=5))
    desk.polls()
    maestro.restarts(old, user="maria")
    told = desk.polls(2)

    assert kinds(told) == ["1.2 run.started"]


def test_an_old_instance_that_failed_again_between_two_polls_is_told(desk: Desk, maestro: Maestro) -> None:
    """It is on no page that is read, and the overview is the same in sum."""
    old = maestro.scheduled(DAILY, MONDAY)
    maestro.fails_for_good(old, "load")
    for hour in range(1, 31):
        maestro.succeeds(maestro.scheduled(DAILY, MONDAY + timedelta(hours=hour)))
    desk.polls()
    maestro.fails_for_good(maestro.restarts(old, user="maria"), "load")

    assert kinds(desk.polls(4)) == ["1.2 run.started", "1.2 run.failed"]


def test_after_a_restart_of_ours_it_goes_on_where_it_was(desk: Desk, maestro: Maestro) -> None:
    maestro.fails_for_good(maestro.scheduled(DAILY, MONDAY), "load")
    desk.polls()
    for hour in range(1, 40):
        maestro.succeeds(maestro.scheduled(DAILY, MONDAY + timedelta(hours=hour)))
    maestro.clock.moves(timedelta(days=2))
    desk.restarted()
    told = desk.polls()

    assert kinds(told) == [f"{number}.1 run.{what}" for number in range(2, 41) for what in ("started", "succeeded")]


def test_what_was_not_taken_is_told_again(desk: Desk, maestro: Maestro) -> None:
    maestro.fails_for_good(maestro.scheduled(DAILY, MONDAY), "load")
    desk.refuses = True
    with pytest.raises(NotTaken):
        desk.polls()
    desk.refuses = False

    assert kinds(desk.polls()) == ["1.1 run.started", "1.1 run.failed"]


def test_what_ended_long_before_the_first_look_is_the_past(desk: Desk, maestro: Maestro) -> None:
    maestro.fails_for_good(maestro.scheduled(DAILY, MONDAY), "load")
    maestro.clock.moves(timedelta(hours=3))
    lives = maestro.scheduled(DAILY, MONDAY + timedelta(hours=3))

    assert kinds(desk.polls()) == [f"{lives.instance_id}.1 run.started"]


def test_a_workflow_says_when_it_starts_next_who_owns_it_and_how_its_runs_are_treated(
    maestro: Maestro, tmp_path: Path
) -> None:
    alerting = {"slack": {"channels": ["#sales-data"]}, "emails": ["sales@example.com"]}
    maestro.push(
        DAILY, steps=("load",), cron="0 6 * * *", timezone="Europe/Berlin", strategy="LAST_ONLY",
        owner={"name": "data-sales", "kind": "team"}, alerting=alerting,
    )  # fmt: skip
    desk = Desk(maestro, tmp_path)
    desk.polls()
    (event,) = desk.changes()
    change = event.change

    assert change is not None
    assert change.schedule is not None
    assert change.schedule.next_run_at == MONDAY.replace(day=1, month=12, hour=5)
    assert change.owner == "data-sales (#sales-data, sales@example.com)"
    assert change.run_strategy is RunStrategy.LAST_ONLY
    assert change.quiet is False
    assert desk.scheduler.schedule_of(event.job) == change.schedule


def test_a_change_of_the_properties_is_told_soon(desk: Desk, maestro: Maestro) -> None:
    desk.polls()
    maestro.changes(DAILY, user="ann", time_trigger_disabled=True)
    desk.polls()
    last = desk.changes()[-1].change

    assert len(desk.changes()) == 2
    assert last is not None
    assert last.schedule is not None
    assert last.schedule.next_run_at is None


def test_a_workflow_that_leaves_is_gone_after_a_second_look(desk: Desk, maestro: Maestro) -> None:
    desk.polls()
    del maestro.engine.workflows[DAILY]
    desk.polls(1)
    once = len(desk.changes())
    desk.polls(12)
    last = desk.changes()[-1].change

    assert once == 1
    assert last is not None
    assert last.deleted


def test_two_pollers_tell_the_same_under_the_same_keys(desk: Desk, maestro: Maestro, tmp_path: Path) -> None:
    maestro.fails_for_good(maestro.scheduled(DAILY, MONDAY), "load")
    other = Desk(maestro, tmp_path / "other")
    first, second = desk.polls(), other.polls()

    assert [event.key for event in first] == [event.key for event in second]
    assert all(event.job.scheduler == NAME for event in first)
