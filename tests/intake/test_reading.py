"""Reading a source event before the transaction: whatever the reader makes of a failure, the failure is not lost."""

from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from bot.evidence import ErrorReport, RuleSet, load_rules
from bot.incidents.events import RunFailed
from bot.incidents.keys import JobKey, RunRef
from bot.intake.reading import read_source
from bot.sources import SourceEvent, SourceKind
from bot.store import GoodRunFacts, RunState

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
    read = read_source(event, rules=cast(RuleSet, BrokenRules()), good_runs=lambda job: ())

    assert isinstance(read.event, RunFailed)
    assert read.state is RunState.FAILED
    assert (read.event.failure.cause, read.event.failure.never_safe) == ("unknown", True)
    assert read.evidence is not None
    assert "hunter2" not in repr(read.evidence)
    assert [record.levelname for record in caplog.records] == ["ERROR"]


def failed(**more: Any) -> SourceEvent:
    known: dict[str, Any] = {
        "id": "1",
        "kind": SourceKind.RUN_FAILED,
        "at": AT,
        "job": JobKey(scheduler="cron", name="orders"),
        "run": RunRef(run_id="r1", nominal_time=AT),
        "started_at": AT - timedelta(minutes=250),
        "ended_at": AT,
        "error": ErrorReport(log="ValueError: no account for ana@example.com\n"),
    }
    return SourceEvent(**known | more)


def test_a_failure_is_compared_with_several_good_runs_by_what_they_took_and_held() -> None:
    good = [GoodRunFacts(facts={"inputs": {"t": {"rows": 1000 + n}}}, took=timedelta(minutes=12)) for n in range(7)]
    event = failed(facts={"inputs": {"t": {"rows": 31}}})

    read = read_source(event, rules=load_rules(), good_runs=lambda job: good)

    assert read.evidence is not None
    assert [change.says for change in read.evidence.changes or ()] == [
        "rows of t 1000 -> 31, -97 %; usually 1003 (\u00b1 2, n = 7)",
        "ran 4 h 10 min, usually 12 min (n = 7)",
    ]


def test_how_long_a_run_took_is_its_sources_word_where_it_gives_one() -> None:
    good = (GoodRunFacts(facts={"timing": {"duration_seconds": 60}}, took=timedelta(minutes=12)),)
    event = failed(facts={"timing": {"duration_seconds": 61}})

    read = read_source(event, rules=load_rules(), good_runs=lambda job: good)

    assert read.evidence is not None
    assert read.evidence.changes == ()


def test_without_a_good_run_nothing_is_compared() -> None:
    read = read_source(failed(), rules=load_rules(), good_runs=lambda job: ())

    assert read.evidence is not None
    assert read.evidence.changes is None


@pytest.mark.parametrize("kind", [SourceKind.RUN_FAILED, SourceKind.RUN_SUCCEEDED, SourceKind.RUN_SKIPPED])
@pytest.mark.parametrize("no_addresses", [False, True])
def test_addresses_go_where_the_company_wants_them_gone(kind: SourceKind, no_addresses: bool) -> None:
    url = "https://runs.example.com/ana@example.com"
    event = failed(
        kind=kind,
        run=RunRef(run_id="by ana@example.com", nominal_time=AT, url=url),
        by="ana@example.com",
        error=ErrorReport(message="no ana@example.com", log="ValueError: no account for ana@example.com\n"),
        facts={"params": {"to": "ana@example.com"}},
    )

    read = read_source(event, rules=load_rules(), good_runs=lambda job: (), no_addresses=no_addresses)

    told = repr((read.event, read.evidence, read.facts, read.source.by, read.source.run and read.source.run.url))
    assert ("ana@example.com" in told.replace("by ana@example.com", "")) is not no_addresses
    assert read.source.run is not None
    assert read.source.run.run_id == "by ana@example.com"
