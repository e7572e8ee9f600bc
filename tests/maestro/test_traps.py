"""The fourteen facts of Maestro by which a connector goes wrong, each a test named after it, through the connector."""

from datetime import timedelta
from pathlib import Path

import pytest

from bot.incidents.keys import Action, Trigger
from bot.ports import Looked, Taken
from bot.schedulers.maestro.requests import request_id_of
from bot.sources import SourceKind
from tests.maestro.fake.changing import RESTART, START
from tests.maestro.fake.playing import foreach, subworkflow
from tests.maestro.fake.records import Json, millis
from tests.maestro.fake.server import MONDAY, Maestro
from tests.maestro.reader import JOB, KEY, NAME, Reader, kinds, msg

DAY = timedelta(days=1)
FAILED = SourceKind.RUN_FAILED


@pytest.fixture
def reader(maestro: Maestro, tmp_path: Path) -> Reader:
    return Reader(maestro, tmp_path)


def test_trap_01_no_events_come_by_default_so_it_is_polled_and_what_comes_both_ways_counts_once(
    maestro: Maestro, reader: Reader
) -> None:
    maestro.push(JOB)
    reader.polls()
    run = maestro.scheduled(JOB, MONDAY)
    maestro.fails_for_good(run)
    heard = [one for event in maestro.events for one in reader.hears(event)]
    polled = reader.polls()

    assert kinds(heard) == ["1.1 run.started", "1.1 run.failed"]
    assert polled == []

    again = Reader(maestro, reader._path / "polled alone")
    again.polls()

    assert {one.key for one in again.taken.values() if one.run} == {one.key for one in heard}


def test_trap_02_nothing_but_a_queue_pushes_and_it_may_wrap_what_it_brings(maestro: Maestro, reader: Reader) -> None:
    maestro.push(JOB)
    reader.polls()
    maestro.fails_for_good(maestro.scheduled(JOB, MONDAY))
    last = maestro.events[-1]

    assert kinds(reader.hears({"Type": "Notification", "Message": msg(last)})) == [
        "1.1 run.started",
        "1.1 run.failed",
    ]


def test_trap_03_nobody_tells_of_lateness_so_the_target_is_read_from_the_run(maestro: Maestro, reader: Reader) -> None:
    maestro.push(JOB, alerting={"tct": {"completed_by_hour": 7, "tz": "UTC"}})
    reader.polls()
    maestro.scheduled(JOB, MONDAY)
    begun = reader.polls()
    maestro.moves(timedelta(hours=5))

    assert begun[0].finish_by == MONDAY.replace(hour=6, minute=59, second=59)
    assert not any("TCT" in event["type"] or "LATE" in event["type"] for event in maestro.events)


def test_trap_04_workflows_cannot_be_listed_so_those_are_read_that_are_named(maestro: Maestro, tmp_path: Path) -> None:
    reader = Reader(maestro, tmp_path, JOB, "sales.mistyped")
    maestro.push(JOB)
    maestro.push("sales.unnamed")
    maestro.scheduled("sales.unnamed", MONDAY)
    maestro.scheduled(JOB, MONDAY)

    assert [event.job.name for event in reader.polls()] == [JOB]
    assert list(reader.poller.troubles) == ["sales.mistyped"]
    assert not [one for one in maestro.asked if "sales.unnamed" in one.path]


def test_trap_05_attempts_that_the_engine_tries_again_open_nothing(maestro: Maestro, reader: Reader) -> None:
    maestro.push(JOB)
    reader.polls()
    run = maestro.scheduled(JOB, MONDAY)
    maestro.fails(run)
    told = reader.polls() + [one for event in maestro.events for one in reader.hears(event)]
    maestro.fails_for_good(maestro.tries_again(run).run)

    assert kinds(told) == ["1.1 run.started"]
    assert kinds(reader.polls()) == ["1.1 run.failed"]


def test_trap_06_a_restart_takes_the_old_definition_so_a_fix_in_a_new_one_is_started_afresh(
    maestro: Maestro, reader: Reader
) -> None:
    maestro.push(JOB)
    run = maestro.scheduled(JOB, MONDAY)
    maestro.fails_for_good(run)
    maestro.push(JOB, steps=("load", "check", "publish"), author="ann")
    asked = reader.ask(run, requested_by="ann", fresh=True)
    fresh = maestro.run(JOB, 2)

    assert asked.taken is Taken.TAKEN
    assert (fresh.version.number, list(fresh.steps)) == (2, ["load", "check", "publish"])
    assert fresh.params["RUN_TS"]["evaluated_result"] == millis(MONDAY)
    assert maestro.reruns(JOB) == []

    maestro.succeeds(fresh)
    end = reader.polls()[-1]

    assert (end.kind, end.run and end.run.nominal_time, end.rerun_key) == (SourceKind.RUN_SUCCEEDED, MONDAY, KEY)


def test_trap_06_a_restart_that_is_no_fresh_start_keeps_the_definition_that_failed(
    maestro: Maestro, reader: Reader
) -> None:
    maestro.push(JOB)
    run = maestro.scheduled(JOB, MONDAY)
    maestro.fails_for_good(run)
    maestro.push(JOB, steps=("load", "check", "publish"))
    reader.ask(run)

    assert [(one.run_id, one.version.number) for one in maestro.reruns(JOB)] == [(2, 1)]


@pytest.mark.parametrize("ended", [False, True])
def test_trap_07_the_same_request_is_refused_while_it_runs_and_a_duplicate_afterwards(
    maestro: Maestro, reader: Reader, ended: bool
) -> None:
    maestro.push(JOB)
    run = maestro.scheduled(JOB, MONDAY)
    maestro.fails_for_good(run)
    maestro.fails_to_answer("lose", "/restart$")
    first = reader.ask(run)
    if ended:
        maestro.fails_for_good(maestro.run(JOB))
    looked = reader.scheduler.look(reader.request(run))
    second = reader.ask(run)

    assert (first.taken, looked, second.taken) == (Taken.UNCERTAIN, Looked.STARTED, Taken.ALREADY)
    assert [one.uuid for one in maestro.reruns(JOB)] == [str(request_id_of(KEY))]


@pytest.mark.parametrize("rule", ["LAST_ONLY", "SERIAL_LATEST_ONLY", "FIRST_ONLY"])
def test_trap_08_an_automatic_rerun_that_would_be_at_the_cost_of_another_run_is_not_asked_for(
    maestro: Maestro, reader: Reader, rule: str
) -> None:
    maestro.push(JOB, strategy=rule)
    run = maestro.scheduled(JOB, MONDAY)
    maestro.fails_for_good(run)
    newer = maestro.scheduled(JOB, MONDAY + DAY)
    answer = reader.ask(run)

    assert answer.taken is Taken.REFUSED
    assert rule in answer.message
    assert (newer.status, maestro.reruns(JOB)) == ("IN_PROGRESS", [])


def test_trap_08_a_person_who_was_told_may_stop_the_newer_run(maestro: Maestro, reader: Reader) -> None:
    maestro.push(JOB, strategy="LAST_ONLY")
    run = maestro.scheduled(JOB, MONDAY)
    maestro.fails_for_good(run)
    newer = maestro.scheduled(JOB, MONDAY + DAY)
    answer = reader.ask(run, requested_by="ana")

    assert answer.taken is Taken.TAKEN
    assert (newer.status, maestro.run(JOB, 1).status) == ("STOPPED", "IN_PROGRESS")


def test_trap_08_what_a_failure_blocks_goes_on_once_it_runs_again(maestro: Maestro, reader: Reader) -> None:
    maestro.push(JOB, strategy="STRICT_SEQUENTIAL")
    run = maestro.scheduled(JOB, MONDAY)
    maestro.fails_for_good(run)
    newer = maestro.scheduled(JOB, MONDAY + DAY)
    answer = reader.ask(run)
    maestro.succeeds(maestro.run(JOB, 1))

    assert answer.taken is Taken.TAKEN
    assert newer.status == "IN_PROGRESS"


def test_trap_09_what_is_a_part_of_a_watched_run_is_told_as_its_root(maestro: Maestro, tmp_path: Path) -> None:
    reader = Reader(maestro, tmp_path, JOB, "sales.publish")
    maestro.push("sales.publish", steps=("write", "check"))
    maestro.push(JOB, steps=("load", subworkflow("publish", "sales.publish"), foreach("each", 2, "one")))
    reader.polls()
    run = maestro.scheduled(JOB, MONDAY)
    maestro.succeeds(run, "load")
    part = maestro.child(run, "publish")
    maestro.fails_for_good(part, "write", message="the table is locked", errors=("db.Locked: sales",))
    failed = [event for event in reader.polls() if event.kind is FAILED]

    assert [(event.job.name, event.error and event.error.message) for event in failed] == [(JOB, "the table is locked")]
    assert failed[0].error is not None
    assert "sales.publish/write" in (failed[0].error.log or "")
    assert part.correlation_id == run.correlation_id


def test_trap_10_a_rerun_is_of_the_time_for_which_its_first_run_was_due(maestro: Maestro, reader: Reader) -> None:
    maestro.push(JOB)
    run = maestro.scheduled(JOB, MONDAY)
    maestro.fails_for_good(run)
    reader.polls()
    again = maestro.restarts(run, user="maria")
    maestro.succeeds(again)
    told = reader.polls()

    assert again.initiator == {"type": "MANUAL", "depth": 0, "user": "maria"}
    assert [(one.run and one.run.nominal_time, one.run and one.run.trigger, one.by) for one in told] == [
        (MONDAY, Trigger.RERUN, "maria"),
        (MONDAY, Trigger.RERUN, "maria"),
    ]


def test_trap_11_a_run_that_failed_before_it_began_is_told_although_its_status_did_not_change(
    maestro: Maestro, reader: Reader
) -> None:
    maestro.push(JOB)
    reader.polls()
    maestro.breaks(JOB, "param [region] cannot be evaluated")
    maestro.scheduled(JOB, MONDAY)
    event = maestro.events[-1]
    told = reader.hears(event)

    assert (event["old_status"], event["new_status"]) == ("FAILED", "FAILED")
    assert kinds(told) == ["1.1 run.failed"]
    assert told[0].error is not None
    assert "param [region] cannot be evaluated" in (told[0].error.log or "")


@pytest.mark.parametrize("queued", [False, True])
def test_trap_12_a_persons_kill_is_called_failed_and_is_a_cancellation(
    maestro: Maestro, reader: Reader, queued: bool
) -> None:
    maestro.push(JOB, strategy={"rule": "SEQUENTIAL", "workflow_concurrency": 0 if queued else 1})
    reader.polls()
    run = maestro.scheduled(JOB, MONDAY)
    maestro.kills(run, user="ann")
    told = reader.polls()[-1]

    assert run.status == "FAILED"
    assert (told.kind, told.by) == (SourceKind.RUN_CANCELLED, "ann")


def test_trap_13_no_action_takes_a_reason_so_that_none_is_sent_and_the_person_is_named(
    maestro: Maestro, reader: Reader
) -> None:
    maestro.push(JOB, cron="0 6 * * *")
    run = maestro.scheduled(JOB, MONDAY)
    maestro.fails_for_good(run)
    answers = [
        reader.ask(run, requested_by="ana", reason="the source is back"),
        reader.ask(run, Action.PAUSE, requested_by="ana", reason="until Friday", key=f"{KEY}:pause"),
        reader.ask(run, Action.RESUME, requested_by="ana", reason="Friday", key=f"{KEY}:resume"),
        reader.ask(run, Action.RETIRE, requested_by="ana", reason="no longer used", key=f"{KEY}:retire"),
    ]
    sent = [one for one in maestro.asked if one.method != "GET"]

    assert [answer.taken for answer in answers] == [Taken.TAKEN] * 4
    assert all(set(one.body) <= RESTART | START | {"time_trigger_disabled"} for one in sent)
    assert {one.user for one in sent} == {"ana"}
    assert "ana" in maestro.run(JOB).timeline.entries[0]["message"]


@pytest.mark.parametrize("name", ["ana\r\nuser: root", "Анна", "ana\x00", "a" * 5000, ""])
def test_trap_14_the_name_in_the_header_is_all_that_maestro_knows_of_a_person(
    maestro: Maestro, reader: Reader, name: str
) -> None:
    maestro.push(JOB)
    run = maestro.scheduled(JOB, MONDAY)
    maestro.fails_for_good(run)
    answer = reader.ask(run, requested_by=name)
    sent = [one for one in maestro.asked if one.method == "POST"]

    assert answer.taken is Taken.TAKEN
    assert len(sent) == 1
    assert sent[0].user is not None
    assert sent[0].user.isprintable()
    assert sent[0].user.isascii()
    assert 0 < len(sent[0].user) <= 200


def test_the_engines_own_failures_that_are_ignored_are_good_ends(maestro: Maestro, reader: Reader) -> None:
    lenient: Json = {"step": {"id": "load", "type": "Kubernetes", "failure_mode": "IGNORE_FAILURE"}}
    maestro.push(JOB, steps=(lenient, "publish"))
    reader.polls()
    run = maestro.scheduled(JOB, MONDAY)
    maestro.fails_for_good(run)
    maestro.succeeds(run)

    assert kinds(reader.polls()) == ["1.1 run.started", "1.1 run.succeeded"]


def test_a_good_run_beside_what_is_still_failed_is_no_good_end(maestro: Maestro, reader: Reader) -> None:
    maestro.push(JOB)
    reader.polls()
    run = maestro.scheduled(JOB, MONDAY)
    maestro.succeeds(run, "load")
    maestro.fails_for_good(run, "publish")
    reader.polls()
    maestro.succeeds(maestro.runs_only(run, "load"))
    told = reader.polls()

    assert SourceKind.RUN_SUCCEEDED not in [event.kind for event in told]
    assert reader.taken
    assert all(event.job.scheduler == NAME for event in told)
