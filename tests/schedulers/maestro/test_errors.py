"""What failed steps say, as one text that evidence finds the root error in."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from bot.evidence import load_rules, read_failure
from bot.schedulers.maestro.errors import LONGEST_LOG, Failed, report
from bot.schedulers.maestro.reading import deeds, duration, entries, name_of
from bot.schedulers.maestro.shapes import Instance, Step
from bot.sources import SourceEvent
from tests.maestro.fake.server import MONDAY, Maestro
from tests.schedulers.maestro.desk import DAILY, Desk

RULES = load_rules()
RUN = Instance(workflow_id=DAILY, workflow_instance_id=77)
TRACE = (
    "java.lang.RuntimeException: job aborted",
    "  at com.example.Load.run(Load.java:12)",
    "Caused by: java.io.IOException: No space left on device",
    "  at java.io.FileOutputStream.write(FileOutputStream.java:1)",
)


@pytest.fixture
def desk(maestro: Maestro, tmp_path: Path) -> Desk:
    maestro.push(DAILY, steps=("load", "publish"), cron="0 6 * * *")
    return Desk(maestro, tmp_path)


def step(name: str = "load", *, at: int = 3, **fields: Any) -> Step:
    told = {
        "workflow_id": DAILY,
        "workflow_instance_id": 77,
        "step_id": name,
        "runtime_state": {"status": "FATALLY_FAILED", "start_time": 1, "end_time": at},
        **fields,
    }
    return msgspec.convert(told, Step)


def failure(desk: Desk) -> SourceEvent:
    return next(event for event in desk.polls(2) if event.error is not None)


def test_the_root_error_is_the_one_below_what_maestro_says(desk: Desk, maestro: Maestro) -> None:
    maestro.fails_for_good(maestro.scheduled(DAILY, MONDAY), "load", message="step failed", errors=TRACE)
    event = failure(desk)
    assert event.error is not None
    read = read_failure(error=event.error, facts=event.facts, last_good=None, rules=RULES)

    assert (read.root.type, read.root.message) == ("java.io.IOException", "No space left on device")


def test_what_the_pod_printed_is_in_the_text(desk: Desk, maestro: Maestro) -> None:
    output = "loading\nTraceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nKeyError: 'region'\n"
    artifacts = {"maestro_kubernetes": {"type": "KUBERNETES", "job_id": "j1", "execution_output": output}}
    maestro.fails_for_good(maestro.scheduled(DAILY, MONDAY), "load", message="pod failed", artifacts=artifacts)
    event = failure(desk)
    assert event.error is not None
    read = read_failure(error=event.error, facts=event.facts, last_good=None, rules=RULES)

    assert read.root.type == "KeyError"


def test_the_step_that_failed_first_comes_first() -> None:
    later, first = step("b", at=9), step("a", at=5)
    text = report(RUN, Failed(steps=(first, later), total=2)).log

    assert text.splitlines()[0] == "Parts of sales.daily: a (attempt 1), b (attempt 1)"
    assert text.index("step a ") < text.index("step b ")


def test_lines_are_in_the_order_of_time_whatever_order_they_came_in() -> None:
    timeline = [
        {"type": "DETAILS", "status": "INTERNAL_ERROR", "message": "gave up", "errors": ["E: why"], "timestamp": 3000},
        {"type": "LOG", "level": "INFO", "message": "Retrying task in [1m]", "timestamp": 2000},
        {"type": "STATUS", "status": "FATALLY_FAILED", "timestamp": 4000},
        {"type": "LOG", "level": "INFO", "message": "launched", "timestamp": 1000},
    ]
    lines = report(RUN, Failed(steps=(step(timeline=timeline),), total=1)).log.splitlines()[2:]

    assert lines == [
        "[1970-01-01T00:00:01Z] INFO launched",
        "[1970-01-01T00:00:02Z] INFO Retrying task in [1m]",
        "[1970-01-01T00:00:03Z] ERROR INTERNAL_ERROR gave up",
        "E: why",
    ]


def test_an_answer_that_a_step_got_is_told_where_it_was_a_refusal() -> None:
    refused = step(artifacts={"maestro_http": {"type": "HTTP", "status_code": 503, "body": "try later"}})
    taken = step(artifacts={"maestro_http": {"type": "HTTP", "status_code": 200, "body": "fine"}})

    assert "HTTP 503 try later" in report(RUN, Failed(steps=(refused,), total=1)).log
    assert "fine" not in report(RUN, Failed(steps=(taken,), total=1)).log


def test_retries_that_the_engine_made_are_counted_for_the_reader() -> None:
    tried = step(step_retry={"error_retries": 2, "error_retry_limit": "2", "platform_retries": 0})

    assert "step load failed for good, 2 of 2 error retries used" in report(RUN, Failed(steps=(tried,), total=1)).log


def test_a_very_long_output_keeps_its_end() -> None:
    output = "\n".join(f"line {number}" for number in range(100_000))
    text = report(RUN, Failed(steps=(step(artifacts={"k": {"execution_output": output}}),), total=1)).log

    assert len(text) <= LONGEST_LOG
    assert text.endswith("line 99999")


@pytest.mark.parametrize("timeline", [None, "text", 7, [1, None, "x"], {"timeline_events": None}, [{"timestamp": "x"}]])
def test_a_timeline_of_another_shape_says_nothing_and_breaks_nothing(timeline: Any) -> None:
    assert [entry.message for entry in entries(timeline) if entry.message] == []


def test_who_acted_is_read_from_every_wording() -> None:
    said = (
        "User [ann] take action [KILL] on the step due to reason: [x]",
        "Workflow instance status becomes [FAILED] due to reason [User [ben] take an action to KILL the running workflow]",
    )
    timeline = [{"type": "LOG", "message": text, "timestamp": number} for number, text in enumerate(said, start=1)]
    timeline.append({"type": "ACTION", "action": "stop", "author": {"name": "cleo"}, "timestamp": 9})

    assert [(deed.action, deed.by) for deed in deeds(timeline)] == [("KILL", "ann"), ("KILL", "ben"), ("STOP", "cleo")]


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("3 hours", 10800),
        ("30min", 1800),
        ("45s", 45),
        ("1 day", 86400),
        (90, 90),
        ("10m", None),
        ("", None),
        (0, None),
    ],
)
def test_durations_are_read_as_maestro_reads_them(written: Any, seconds: int | None) -> None:
    took = duration(written)

    assert (took.total_seconds() if took is not None else None) == seconds


@pytest.mark.parametrize("owner", ["ann", {"name": "ann"}, {"email": "ann"}, " ann "])
def test_an_owner_may_be_a_name_or_hold_one(owner: Any) -> None:
    assert name_of(owner) == "ann"
