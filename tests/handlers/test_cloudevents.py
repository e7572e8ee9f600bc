"""The event mapping: what a source may write, and how each wrong field is named."""

import json
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.evidence.types import ErrorReport
from bot.incidents.keys import Cost, JobKey, Trigger
from bot.incidents.policy import Schedule
from bot.schedulers.cloudevents import Rejected, decode
from bot.schedulers.cloudevents_body import BATCH, PLAIN, SINGLE, NotEvents, UnknownContent, Unreadable
from bot.sources import SourceEvent, SourceKind
from tests.handlers.events import changed, failed

NOMINAL = datetime(2026, 11, 30, 6, tzinfo=UTC)
MISSING: Any = object()


def one(event: dict[str, Any] | bytes, content_type: str = SINGLE) -> SourceEvent | Rejected:
    body = event if isinstance(event, bytes) else json.dumps(event).encode()
    (read,) = decode(body, content_type)
    return read


def understood(event: dict[str, Any]) -> SourceEvent:
    read = one(event)

    assert isinstance(read, SourceEvent), read

    return read


def at(event: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy of `event` with `value` at the path, or without the field."""
    made = deepcopy(event)
    *steps, last = path.split(".")
    place = made
    for step in steps:
        place = place[step]
    if value is MISSING:
        del place[last]
    else:
        place[last] = value
    return made


def test_a_failure_is_read_with_everything_that_it_tells() -> None:
    event = understood(failed())

    assert event.kind is SourceKind.RUN_FAILED
    assert event.job == JobKey(scheduler="airflow-prod", name="finance.daily_revenue")
    assert event.run is not None
    assert (event.run.run_id, event.run.generation, event.run.attempt) == ("scheduled__2026-11-30", 0, 3)
    assert event.run.nominal_time == NOMINAL
    assert event.run.trigger is Trigger.SCHEDULE
    assert event.started_at == NOMINAL + timedelta(minutes=1)
    assert event.ended_at == NOMINAL + timedelta(minutes=9)
    assert event.error == ErrorReport(
        type="psycopg.OperationalError", message="connection reset", exit_code=1, signal=None, log="line\nlast line"
    )
    assert event.facts["code"] == {"version": "4f2a9c1"}
    assert event.cost == Cost(amount=3.2, unit="core_hours")


def test_a_job_change_is_read_with_its_schedule() -> None:
    event = understood(changed(schedule={"cron": "30 2 * * *", "timezone": "Europe/Berlin"}, owner="finance-data"))

    assert event.kind is SourceKind.JOB_CHANGED
    assert event.run is None
    assert event.change is not None
    assert event.change.schedule == Schedule(cron="30 2 * * *", zone="Europe/Berlin")
    assert event.change.owner == "finance-data"


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ({"every": "5m"}, Schedule(every=timedelta(minutes=5))),
        ({"every": "1w"}, Schedule(every=timedelta(weeks=1))),
        ({"next_run": "2026-12-01T08:00:00+02:00"}, Schedule(next_run_at=datetime(2026, 12, 1, 6, tzinfo=UTC))),
    ],
)
def test_a_schedule_is_a_cron_an_interval_or_the_next_run(schedule: dict[str, str], expected: Schedule) -> None:
    event = understood(changed(schedule=schedule))

    assert event.change is not None
    assert event.change.schedule == expected


def test_instants_are_brought_to_utc() -> None:
    event = understood(at(failed(), "data.run.nominal_time", "2026-11-30T08:00:00+02:00"))

    assert event.run is not None
    assert event.run.nominal_time == NOMINAL
    assert event.run.nominal_time.tzinfo is UTC


def test_fields_that_nobody_knows_are_ignored_at_every_level() -> None:
    strange = {"name": "new", "list": [1, {"x": None}]}
    event = failed()
    event["comorelation"] = strange
    event["data"]["lineage"] = strange
    event["data"]["run"]["map_index"] = strange
    event["data"]["error"]["frames"] = strange

    assert understood(event) == understood(failed())


def test_keys_in_another_order_make_the_same_event() -> None:
    def reordered(value: Any) -> Any:
        return {key: reordered(value[key]) for key in reversed(value)} if isinstance(value, dict) else value

    assert understood(reordered(failed())) == understood(failed())


def test_an_event_without_time_counts_from_the_end_of_its_run() -> None:
    event = understood(at(failed(), "time", MISSING))

    assert event.at == NOMINAL + timedelta(minutes=9)


def test_a_failure_that_says_nothing_about_its_error_is_still_a_failure() -> None:
    assert understood(at(failed(), "data.error", MISSING)).error == ErrorReport()


def test_will_retry_counts_for_a_failure_only() -> None:
    event = at(at(failed(), "data.run.will_retry", True), "type", "io.ontrack.run.succeeded")

    assert understood(event).will_retry is False


WRONG = [
    ("specversion", "0.3", "specversion"),
    ("specversion", MISSING, "specversion"),
    ("id", MISSING, "id"),
    ("id", "", "id"),
    ("id", 7, "id"),
    ("id", "a\u0000b", "id"),
    ("id", "x" * 501, "id"),
    ("source", MISSING, "source"),
    ("source", "", "source"),
    ("type", "run.failed", "type"),
    ("type", "io.ontrack.run.exploded", "type"),
    ("type", ["io.ontrack.run.failed"], "type"),
    ("time", "2026-11-30T06:00:00", "time"),
    ("time", "yesterday", "time"),
    ("time", 1_700_000_000, "time"),
    ("time", "0001-01-01T00:00:00+14:00", "time"),
    ("time", "9999-12-31T23:59:59-14:00", "time"),
    ("data", MISSING, "data"),
    ("data", None, "data"),
    ("data", "text", "data"),
    ("data", [], "data"),
    ("data.scheduler", MISSING, "data.scheduler"),
    ("data.scheduler", 1, "data.scheduler"),
    ("data.job", MISSING, "data.job"),
    ("data.job", "", "data.job"),
    ("data.job", "x" * 501, "data.job"),
    ("data.job", "語" * 400, "data.job"),
    ("data.job", "a\nb", "data.job"),
    ("data.run", MISSING, "data.run"),
    ("data.run", 5, "data.run"),
    ("data.run.id", MISSING, "data.run.id"),
    ("data.run.id", None, "data.run.id"),
    ("data.run.generation", -1, "data.run.generation"),
    ("data.run.generation", "0", "data.run.generation"),
    ("data.run.generation", 1.5, "data.run.generation"),
    ("data.run.generation", True, "data.run.generation"),
    ("data.run.generation", 10**30, "data.run.generation"),
    ("data.run.attempt", -3, "data.run.attempt"),
    ("data.run.nominal_time", "2026-11-30T06:00:00", "data.run.nominal_time"),
    ("data.run.nominal_time", "1969-12-31T00:00:00Z", "data.run.nominal_time"),
    ("data.run.started_at", "2026-11-30", "data.run.started_at"),
    ("data.run.ended_at", {}, "data.run.ended_at"),
    ("data.run.trigger", "cosmic", "data.run.trigger"),
    ("data.run.will_retry", "yes", "data.run.will_retry"),
    ("data.run.rerun_key", 12, "data.run.rerun_key"),
    ("data.error", "boom", "data.error"),
    ("data.error.exit_code", "1", "data.error.exit_code"),
    ("data.error.exit_code", 2**40, "data.error.exit_code"),
    ("data.error.message", 5, "data.error.message"),
    ("data.error.log", ["a"], "data.error.log"),
    ("data.facts", [], "data.facts"),
    ("data.cost.amount", -0.1, "data.cost.amount"),
    ("data.cost.amount", "3", "data.cost.amount"),
    ("data.cost.amount", 1e13, "data.cost.amount"),
    ("data.cost.amount", MISSING, "data.cost.amount"),
    ("data.cost.unit", 3, "data.cost.unit"),
]


@pytest.mark.parametrize(("path", "value", "named"), WRONG)
def test_what_is_wrong_is_rejected_by_the_name_of_its_field(path: str, value: Any, named: str) -> None:
    read = one(at(failed(), path, value))

    assert isinstance(read, Rejected)
    assert read.path == named
    assert read.reason
    assert str(read).startswith(f"{named}: ")


@pytest.mark.parametrize(
    ("schedule", "named"),
    [
        ({}, "data.schedule"),
        ({"cron": "61 * * * *"}, "data.schedule"),
        ({"cron": "0 0 31 2 *"}, "data.schedule"),
        ({"cron": "* * * * *", "every": "5m"}, "data.schedule"),
        ({"cron": "* * * * *", "timezone": "Mars/Base"}, "data.schedule"),
        ({"every": "often"}, "data.schedule.every"),
        ({"every": "0s"}, "data.schedule"),
        ({"every": 300}, "data.schedule.every"),
        ({"next_run": "2026-12-01T08:00:00"}, "data.schedule.next_run"),
        ("daily", "data.schedule"),
    ],
)
def test_a_schedule_that_can_never_fire_is_rejected(schedule: Any, named: str) -> None:
    read = one(changed(schedule=schedule))

    assert isinstance(read, Rejected)
    assert read.path == named


def test_a_bad_event_costs_only_itself() -> None:
    bad = at(failed(id="bad"), "data.run.generation", -1)
    body = json.dumps([failed(id="first"), bad, {"id": "empty"}, 7, failed(id="last")]).encode()

    read = decode(body, BATCH)

    assert [type(event) for event in read] == [SourceEvent, Rejected, Rejected, Rejected, SourceEvent]
    assert [(event.index, event.id) for event in read if isinstance(event, Rejected)] == [
        (1, "bad"),
        (2, "empty"),
        (3, None),
    ]


def test_an_event_that_is_nested_without_end_costs_only_itself() -> None:
    good = json.dumps(failed(id="good")).encode()
    deep = b'{"id": "deep", "data": {"facts": ' + b"[" * 50_000 + b'"]},{["' + b"]" * 50_000 + b"}}"

    read = decode(b"[" + good + b"," + deep + b", " + good + b"]", BATCH)

    assert [type(event) for event in read] == [SourceEvent, Rejected, SourceEvent]
    assert isinstance(read[1], Rejected)
    assert "nested too deeply" in read[1].reason


def test_a_single_event_that_is_nested_without_end_is_rejected() -> None:
    deep = json.dumps(failed()).encode().replace(b'"4f2a9c1"', b"[" * 50_000 + b"]" * 50_000)

    read = one(deep)

    assert isinstance(read, Rejected)
    assert "nested too deeply" in read.reason


def test_the_last_of_two_equal_keys_counts() -> None:
    body = json.dumps(failed()).replace('"attempt": 3', '"attempt": 1, "attempt": 4').encode()

    read = one(body)

    assert isinstance(read, SourceEvent)
    assert read.run is not None
    assert read.run.attempt == 4


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"{",
        b'{"id": }',
        b"not json",
        b'{"id": "a"} trailing',
        b'{"id": "\xff"}',
        b"\x00",
        b'{"id": "a\x00b"}',
        b'{"x": NaN}',
        b'[{"id": "a"},]',
        b"[" * 100_000,
        b"\xff\xfe{\x00}\x00",
    ],
)
def test_what_is_not_json_is_unreadable(body: bytes) -> None:
    with pytest.raises(Unreadable):
        decode(body, PLAIN)


@pytest.mark.parametrize(
    ("body", "content_type"),
    [(b"5", PLAIN), (b'"x"', SINGLE), (b"null", PLAIN), (b"[]", PLAIN), (b"[]", BATCH), (b"{}", BATCH)],
)
def test_json_that_holds_no_event_is_told_apart(body: bytes, content_type: str) -> None:
    with pytest.raises(NotEvents):
        decode(body, content_type)


@pytest.mark.parametrize("content_type", ["", "text/plain", "application/xml", "application/json; charset=latin-1"])
def test_another_content_type_is_not_taken(content_type: str) -> None:
    with pytest.raises(UnknownContent):
        decode(b"{}", content_type)


@pytest.mark.parametrize(
    "content_type", ["application/json; charset=utf-8", "Application/JSON", 'application/json;charset="UTF-8"; q=1']
)
def test_plain_json_is_one_event_or_a_list(content_type: str) -> None:
    event = failed()

    assert decode(json.dumps(event).encode(), content_type) == decode(json.dumps([event]).encode(), content_type)


@given(st.binary(max_size=400))
def test_no_bytes_crash_it(body: bytes) -> None:
    for content_type in (SINGLE, BATCH, PLAIN):
        try:
            decode(body, content_type)
        except (Unreadable, NotEvents):
            continue


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)


@given(path=st.sampled_from([path for path, _, _ in WRONG]), value=json_values)
def test_no_value_in_any_field_crashes_it(path: str, value: Any) -> None:
    read = one(at(failed(), path, value))

    assert isinstance(read, SourceEvent | Rejected)
