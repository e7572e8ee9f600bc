"""When a scheduler wants its runs done, as it writes it into its events."""

import json
from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest

from bot.incidents.target import Target
from bot.schedulers.cloudevents import Rejected, decode
from bot.schedulers.cloudevents_body import SINGLE
from bot.sources import SourceEvent
from tests.handlers.events import changed, failed


def one(event: dict[str, Any]) -> SourceEvent | Rejected:
    (read,) = decode(json.dumps(event).encode(), SINGLE)
    return read


@pytest.mark.parametrize(
    ("told", "target"),
    [
        ({"target": {"finish_within": "45m"}}, Target(finish_within=timedelta(minutes=45))),
        (
            {"target": {"finish_by": "07:00", "timezone": "Europe/Berlin"}},
            Target(finish_by=time(7), zone="Europe/Berlin"),
        ),
        ({"target": {}}, Target()),
        ({"target": None}, Target()),
        ({}, None),
    ],
)
def test_a_job_may_tell_when_its_runs_should_be_done(told: dict[str, Any], target: Target | None) -> None:
    read = one(changed(**told))

    assert isinstance(read, SourceEvent)
    assert read.change is not None
    assert read.change.target == target


@pytest.mark.parametrize(
    ("target", "path", "reason"),
    [
        ({"finish_within": "45m", "finish_by": "07:00"}, "data.target", "not both"),
        ({"finish_within": "soon"}, "data.target.finish_within", "not a duration"),
        ({"finish_by": "25:00"}, "data.target.finish_by", "not a time of day"),
        ({"finish_by": "07:00", "timezone": "Mars/Olympus"}, "data.target.timezone", "unknown time zone"),
        ("07:00", "data.target", "expected"),
    ],
)
def test_a_target_that_is_wrong_is_named(target: object, path: str, reason: str) -> None:
    read = one(changed(target=target))

    assert isinstance(read, Rejected)
    assert read.path == path
    assert reason in read.reason


def test_a_run_may_tell_when_it_should_be_done() -> None:
    event = failed()
    event["data"]["run"]["finish_by"] = "2026-11-30T08:00:00+01:00"
    read = one(event)

    assert isinstance(read, SourceEvent)
    assert read.finish_by == datetime(2026, 11, 30, 7, tzinfo=UTC)
