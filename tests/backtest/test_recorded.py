"""What is recorded of an event is enough to play it again, and holds neither secrets nor logs."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bot.evidence.types import ErrorReport
from bot.incidents.effects import RerunResult
from bot.incidents.events import Acknowledged, FixDeclared, LeaveWanted, OwedChoice, SchedulerAnswered
from bot.incidents.keys import Cost, JobKey, RunRef, Trigger
from bot.incidents.people import By, Person, Standing
from bot.incidents.policy import Schedule
from bot.intake.inbound import PolicyChanged
from bot.intake.reading import ReadEvent, read_source
from bot.intake.recorded import Recorded, read_record, record_of, record_of_source
from bot.policies import load
from bot.sources import JobChange, SourceEvent, SourceKind

AT = datetime(2026, 11, 30, 3, 12, 0, 250, tzinfo=UTC)
JOB = JobKey(scheduler="shop", name="revenue")
RUN = RunRef(
    run_id="scheduled__2026-11-30", nominal_time=AT.replace(minute=0), generation=2, attempt=3, trigger=Trigger.RERUN
)
RULES = load("version: 1\nfallback: {channel: C0JOBS}\nadmins: [U0ROOT]\n", env={}).rules
BY = By(person=Person(id="U0ANA", name="Ana"), at=AT)


def read(event: SourceEvent, *, no_addresses: bool = False) -> ReadEvent:
    return read_source(event, rules=RULES, good_runs=lambda job: (), no_addresses=no_addresses)


def kept(event: SourceEvent) -> SourceEvent:
    found = read_record(record_of_source(read(event))).event
    assert isinstance(found, SourceEvent)
    return found


@pytest.mark.parametrize(
    "event",
    [
        SourceEvent(id="", kind=SourceKind.RUN_STARTED, at=AT, job=JOB, run=RUN, started_at=AT, by="Ben"),
        SourceEvent(
            id="",
            kind=SourceKind.RUN_SUCCEEDED,
            at=AT,
            job=JOB,
            run=replace(RUN, nominal_time=None, trigger=Trigger.SCHEDULE, generation=0, attempt=1),
            started_at=AT - timedelta(minutes=9),
            ended_at=AT,
            rerun_key="7.1/3/0",
            cost=Cost(amount=3.25, unit="core_hours"),
        ),
        SourceEvent(id="", kind=SourceKind.RUN_SCHEDULED, at=AT, job=JOB, run=RUN, finish_by=AT + timedelta(hours=1)),
        SourceEvent(
            id="event-7",
            kind=SourceKind.JOB_CHANGED,
            at=AT,
            job=JOB,
            change=JobChange(schedule=Schedule(cron="0 3 * * *", zone="UTC"), owner="finance", writes=("orders",)),
        ),
    ],
    ids=lambda event: str(event.kind),
)
def test_a_source_event_comes_back_as_it_was(event: SourceEvent) -> None:
    again = kept(event)

    assert again == event
    assert again.key == event.key


def test_of_a_failure_all_comes_back_but_what_its_evidence_holds() -> None:
    error = ErrorReport(type="OSError", message="the password=hunter2 was wrong", exit_code=1, log="line\n" * 1000)
    event = SourceEvent(
        id="", kind=SourceKind.RUN_FAILED, at=AT, job=JOB, run=RUN, error=error, facts={"code": {"version": "1"}}
    )
    text = record_of_source(read(event))

    assert kept(event) == replace(event, error=None, facts={})
    assert "hunter2" not in text
    assert len(text) < 400


def test_the_reason_of_a_skipped_run_is_kept_masked_and_without_addresses() -> None:
    error = ErrorReport(message="asked by ana@example.com, token=ghp_0123456789abcdefghijklmnopqrstuvwxyz")
    event = SourceEvent(id="", kind=SourceKind.RUN_SKIPPED, at=AT, job=JOB, run=RUN, error=error, by="ana@example.com")
    text = record_of_source(read(event, no_addresses=True))

    assert "ghp_0123456789" not in text
    assert "ana@example.com" not in text
    assert "asked by" in text


@pytest.mark.parametrize(
    "event",
    [
        Acknowledged(by=BY, lasts=timedelta(hours=4), take_over=True),
        FixDeclared(by=BY, what="mended", choices=((AT, OwedChoice.NEXT_RUN), (None, OwedChoice.NOT_NEEDED))),
        LeaveWanted(by=BY, until=AT + timedelta(days=3), reason="waits", false_alarm=True),
    ],
    ids=lambda event: type(event).__name__,
)
def test_a_persons_word_comes_back_with_what_the_person_was(event: Acknowledged | FixDeclared | LeaveWanted) -> None:
    text = record_of(event, about=(7, 2), of=JOB, standing=Standing.ONCALL)

    assert text is not None
    assert read_record(text) == Recorded(event=event, about=(7, 2), of=JOB, standing=Standing.ONCALL)


def test_words_are_kept_masked_and_without_addresses_where_a_job_hides_them() -> None:
    event = FixDeclared(by=BY, what="set api_key=sk_live_0123456789abcdefghij, told bob@example.com")
    plain = record_of(event, about=(7, 1), of=JOB)
    hidden = record_of(event, about=(7, 1), of=JOB, no_addresses=True)

    assert plain is not None
    assert hidden is not None
    assert "sk_live_0123456789" not in plain
    assert "bob@example.com" in plain
    assert "bob@example.com" not in hidden


def test_what_is_worked_out_again_is_not_recorded() -> None:
    answer = SchedulerAnswered(key="k", action="rerun", answer="taken", at=AT)  # type: ignore[arg-type]

    assert record_of(answer, about=(7, 1), of=JOB) is None
    assert record_of(RerunResult.FAILED, about=None, of=None) is None


def test_a_change_of_policies_is_recorded_by_its_job() -> None:
    event = PolicyChanged(job=JOB, reason="policies 1")
    text = record_of(event, about=None, of=JOB)

    assert text is not None
    assert read_record(text) == Recorded(event=event)


def test_halves_of_characters_do_not_stop_a_record() -> None:
    event = SourceEvent(id="", kind=SourceKind.RUN_STARTED, at=AT, job=JOB, run=replace(RUN, run_id="half \ud83d"))

    assert kept(event).run == replace(RUN, run_id="half \N{REPLACEMENT CHARACTER}")


def test_a_record_of_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown kind: Gone"):
        read_record('{"is":"Gone","event":{}}')
