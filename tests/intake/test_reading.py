"""Reading a source event before the transaction: whatever the reader makes of a failure, the failure is not lost."""

from datetime import UTC, datetime
from typing import Any, cast

import pytest

from bot.evidence import ErrorReport, RuleSet
from bot.incidents.events import RunFailed
from bot.incidents.keys import JobKey, RunRef
from bot.intake.reading import read_source
from bot.sources import SourceEvent, SourceKind
from bot.store import RunState

AT = datetime(2026, 11, 30, 3, 12, tzinfo=UTC)


class BrokenRules:
    """Rules with a fault of ours in them."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"no {name}")


def test_a_failure_that_our_reader_fails_on_is_still_a_failure_of_unknown_cause(
    caplog: pytest.LogCaptureFixture,
) -> None:
    event = SourceEvent(
        id="1",
        kind=SourceKind.RUN_FAILED,
        at=AT,
        job=JobKey(scheduler="cron", name="orders"),
        run=RunRef(run_id="r1", nominal_time=AT),
        error=ErrorReport(log="password=hunter2hunter2\nConnectionResetError: Connection reset by peer"),
    )
    read = read_source(event, rules=cast(RuleSet, BrokenRules()), last_good=lambda job: None)

    assert isinstance(read.event, RunFailed)
    assert read.state is RunState.FAILED
    assert (read.event.failure.cause, read.event.failure.never_safe) == ("unknown", True)
    assert read.evidence is not None
    assert "hunter2" not in repr(read.evidence)
    assert [record.levelname for record in caplog.records] == ["ERROR"]
