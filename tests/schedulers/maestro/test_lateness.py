"""Until when runs should be done by the owner's own configuration, which starts are expected, and what a run waits for."""

from datetime import time, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bot.incidents.target import Target
from bot.schedulers.maestro.expecting import LONGEST_HELD, expected_start, next_start
from bot.schedulers.maestro.lateness import finish_by, target_of
from bot.schedulers.maestro.memory import Held, WorkflowSeen
from bot.schedulers.maestro.shapes import Definition, Instance, Properties
from bot.sources import SourceKind, Standing
from tests.maestro.fake.server import MONDAY, Maestro
from tests.schedulers.maestro.desk import DAILY, Desk

HOUR = timedelta(hours=1)
SEVEN_BERLIN = {"tct": {"completed_by_hour": 7, "tz": "Europe/Berlin"}}


def definition(alerting: Any, **properties: Any) -> Definition:
    told = {
        "properties_snapshot": {"alerting": alerting, **properties},
        "workflow": {"time_triggers": [{"type": "CRON", "cron": "0 6 * * *", "timezone": "Asia/Tokyo"}]},
    }
    return msgspec.convert(told, Definition)


def run(**properties: Any) -> Instance:
    return Instance(workflow_id=DAILY, workflow_instance_id=1, run_properties=properties)


@pytest.mark.parametrize(
    ("alerting", "target"),
    [
        (SEVEN_BERLIN, Target(finish_by=time(7), zone="Europe/Berlin")),
        ({"tct": {"completed_by_hour": 24}}, Target(finish_by=time(0), zone="Asia/Tokyo")),
        ({"tct": {"completed_by_hour": 7, "tz": "No/Where"}}, Target(finish_by=time(7), zone="Asia/Tokyo")),
        ({"tct": {"duration_minutes": 90}}, Target(finish_within=timedelta(minutes=90))),
        ({**SEVEN_BERLIN, "type_configs": {"TCT_VIOLATION": {"disabled": True}}}, Target()),
        ({"tct": {"completed_by_hour": "seven"}}, Target()),
        ({"tct": "none"}, Target()),
        ("some other shape", Target()),
        (None, Target()),
    ],
)
def test_the_target_completion_time_is_read_from_any_shape_that_it_may_have(alerting: Any, target: Target) -> None:
    assert target_of(definition(alerting)) == target


def test_an_owner_who_switched_alerting_off_has_no_target() -> None:
    assert target_of(definition(SEVEN_BERLIN, alerting_disabled=True)) == Target()


def test_the_completion_time_that_maestro_worked_out_for_a_run_counts_for_it() -> None:
    due = MONDAY + HOUR
    alerting = {"tct": {"completed_by_ts": int(due.timestamp() * 1000)}}

    assert finish_by(run(alerting=alerting), good_at=None) == due
    assert finish_by(run(alerting=alerting, alerting_disabled=True), good_at=None) is None
    off = {**alerting, "type_configs": {"TCT_VIOLATION": {"disabled": True}}}
    assert finish_by(run(alerting=off), good_at=None) is None


def test_success_within_counts_from_the_last_good_run() -> None:
    alerting = {"type_configs": {"SUCCESS_WITHIN": {"duration_minutes": 120}}}

    assert finish_by(run(alerting=alerting), good_at=MONDAY) == MONDAY + 2 * HOUR
    assert finish_by(run(alerting=alerting), good_at=None) is None


def test_a_run_carries_its_completion_time(maestro: Maestro, tmp_path: Path) -> None:
    maestro.push(DAILY, steps=("load",), cron="0 6 * * *", alerting={"tct": {"completed_by_hour": 7, "tz": "UTC"}})
    desk = Desk(maestro, tmp_path)
    maestro.scheduled(DAILY, MONDAY)
    (started,) = desk.polls()

    assert started.finish_by == (MONDAY + HOUR).replace(minute=0) - timedelta(seconds=1)


def seen(expected: Any, latest: Any = None) -> WorkflowSeen:
    return WorkflowSeen(name=DAILY, held=Held(expected=expected), latest_due=latest)


def test_a_start_that_maestro_missed_stays_expected() -> None:
    """Maestro itself only tells the next one from now on."""
    tomorrow = MONDAY + timedelta(days=1)

    assert expected_start(seen(MONDAY), tomorrow, MONDAY + HOUR) == MONDAY
    assert expected_start(seen(MONDAY, latest=MONDAY), tomorrow, MONDAY + HOUR) == tomorrow
    assert expected_start(seen(MONDAY), tomorrow, MONDAY + LONGEST_HELD) == tomorrow
    assert expected_start(seen(MONDAY), None, MONDAY + HOUR) is None
    assert expected_start(seen(MONDAY + 2 * HOUR), MONDAY + 3 * HOUR, MONDAY + HOUR) == MONDAY + 3 * HOUR


def test_a_start_that_maestro_does_not_tell_is_worked_out() -> None:
    told = definition(None)
    active = msgspec.structs.replace(told, is_active=True)
    off = msgspec.structs.replace(active, properties_snapshot=Properties(time_trigger_disabled=True))

    assert next_start(active, MONDAY) == MONDAY.replace(hour=21)
    assert next_start(off, MONDAY) is None
    assert next_start(told, MONDAY) is None


def test_a_tick_that_never_came_is_still_told_as_the_next_run(maestro: Maestro, tmp_path: Path) -> None:
    maestro.push(DAILY, steps=("load",), cron="0 8 * * *")
    desk = Desk(maestro, tmp_path)
    desk.polls()
    maestro.clock.moves_to(MONDAY + 3 * HOUR)
    desk.polls()
    held = desk.changes()[-1].change
    maestro.scheduled(DAILY, MONDAY + 2 * HOUR)
    maestro.clock.moves(timedelta(minutes=5))
    desk.polls(3)
    after = desk.changes()[-1].change

    assert held is not None
    assert held.schedule is not None
    assert held.schedule.next_run_at == MONDAY + 2 * HOUR
    assert after is not None
    assert after.schedule is not None
    assert after.schedule.next_run_at == MONDAY + timedelta(days=1, hours=2)


def standings(desk: Desk) -> list[Standing]:
    return [event.change.standing for event in desk.changes() if event.change and event.change.standing is not None]


def test_a_run_that_waits_for_a_signal_says_for_which_and_when_it_does_no_more(
    maestro: Maestro, tmp_path: Path
) -> None:
    waits = {
        "step": {"id": "load", "type": "Kubernetes", "signal_dependencies": [{"name": "db/x", "match_params": {}}]}
    }
    maestro.push(DAILY, steps=(waits,))
    desk = Desk(maestro, tmp_path)
    maestro.scheduled(DAILY, MONDAY)
    desk.polls(6)
    waiting = standings(desk)
    maestro.announces("db/x", {})
    desk.polls(3)

    assert waiting == [Standing(words="waits for the signal db/x (step load)")]
    assert standings(desk)[1:] == [Standing()]


def test_a_run_that_is_queued_says_so(maestro: Maestro, tmp_path: Path) -> None:
    maestro.push(DAILY, steps=("load",), strategy="STRICT_SEQUENTIAL")
    desk = Desk(maestro, tmp_path)
    maestro.fails_for_good(maestro.scheduled(DAILY, MONDAY), "load")
    maestro.scheduled(DAILY, MONDAY + timedelta(minutes=1))
    desk.polls(6)

    assert [one.words for one in standings(desk)] == [
        "is queued in Maestro, by its run strategy or behind a failed run"
    ]


def test_a_run_that_is_queued_has_its_completion_time_already(maestro: Maestro, tmp_path: Path) -> None:
    target = {"tct": {"duration_minutes": 90}}
    maestro.push(DAILY, steps=("load",), strategy="STRICT_SEQUENTIAL", alerting=target)
    desk = Desk(maestro, tmp_path)
    maestro.fails_for_good(maestro.scheduled(DAILY, MONDAY), "load")
    maestro.scheduled(DAILY, MONDAY + timedelta(minutes=1))
    queued = desk.polls(2)[-1]

    assert (queued.kind, queued.finish_by) == (SourceKind.RUN_SCHEDULED, MONDAY + timedelta(minutes=91))


def test_a_step_that_failed_for_good_warns_before_the_run_has_failed(maestro: Maestro, tmp_path: Path) -> None:
    apart: Any = [{"step": {"id": name, "type": "Kubernetes", "transition": {}}} for name in ("first", "beside")]
    maestro.push(DAILY, steps=tuple(apart))
    desk = Desk(maestro, tmp_path)
    run = maestro.scheduled(DAILY, MONDAY)
    maestro.fails_for_good(run, "first")
    told = desk.polls(6)
    maestro.succeeds(run, "beside")
    end = desk.polls(3)

    assert [event.kind for event in told] == [SourceKind.RUN_STARTED]
    assert standings(desk)[0] == Standing(words="will fail: its step first failed for good", will_fail=True)
    assert [event.kind for event in end] == [SourceKind.RUN_FAILED]


def test_a_step_that_the_engine_tries_again_warns_of_nothing(maestro: Maestro, tmp_path: Path) -> None:
    maestro.push(DAILY, steps=("load",))
    desk = Desk(maestro, tmp_path)
    maestro.fails(maestro.scheduled(DAILY, MONDAY), "load")
    desk.polls(4)

    assert standings(desk) == []


def test_a_workflow_whose_owner_switched_alerting_off_is_quiet(maestro: Maestro, tmp_path: Path) -> None:
    maestro.push(DAILY, steps=("load",), alerting=SEVEN_BERLIN, alerting_disabled=True)
    desk = Desk(maestro, tmp_path)
    desk.polls()
    change = desk.changes()[0].change

    assert change is not None
    assert (change.quiet, change.target) == (True, Target())
