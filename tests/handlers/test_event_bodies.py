"""Bodies that only JSON readers stumble over, and ones that hold too much."""

import json

import pytest

from bot.schedulers.cloudevents import decode
from bot.schedulers.cloudevents_body import BATCH, NotEvents
from bot.sources import SourceEvent
from tests.handlers.events import failed


def test_half_a_character_in_a_log_costs_no_event() -> None:
    trace = "File \udcff.py, \N{GRINNING FACE} and \\ud800 as words"
    event = failed()
    event["data"]["error"] = {"log": trace}
    read = decode(json.dumps([event, failed()]).encode(), BATCH)

    assert all(isinstance(found, SourceEvent) for found in read)
    (first, _) = read
    assert isinstance(first, SourceEvent)
    assert first.error is not None
    assert first.error.log == "File \ufffd.py, \N{GRINNING FACE} and \\ud800 as words"


def test_more_events_than_can_be_taken_at_once_are_turned_away_whole() -> None:
    with pytest.raises(NotEvents, match="at most 20000 events"):
        decode(b"[" + b"{}," * 20_000 + b"{}]", BATCH)
