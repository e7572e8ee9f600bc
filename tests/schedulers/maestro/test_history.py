"""Maestro's past as an import reads it."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest

from bot.policies.specs import MaestroSpec
from bot.ports import Historian, HistoryDown
from bot.schedulers.maestro import history
from bot.schedulers.maestro.scheduler import MaestroScheduler
from bot.sources import SourceEvent
from tests.maestro.fake.playing import subworkflow
from tests.maestro.fake.server import MONDAY, Maestro
from tests.schedulers.maestro.desk import DAILY, NAME, kinds

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)


class Past:
    """Reads the past of these workflows. Waiting moves Maestro's clock."""

    def __init__(self, maestro: Maestro, *workflows: str) -> None:
        self.maestro = maestro
        spec = MaestroSpec(name=NAME, url=maestro.url, user="ontrack", workflows=workflows or (DAILY,))
        self.scheduler = MaestroScheduler(spec, clock=lambda: maestro.clock.now, wait=self._waits)
        self.waited = timedelta()

    def reads(self, since: datetime = MONDAY, until: datetime | None = None) -> list[SourceEvent]:
        return [event for page in self.pages(since, until) for event in page]

    def pages(self, since: datetime = MONDAY, until: datetime | None = None) -> list[Sequence[SourceEvent]]:
        self.maestro.asked.clear()
        return list(self.scheduler.history(since=since, until=until or self.maestro.clock.now))

    def _waits(self, span: timedelta) -> None:
        self.waited += span
        self.maestro.clock.moves(span)


def month(maestro: Maestro, *, days: int = 30) -> None:
    """A run a day; those of every tenth failed, and the twentieth's went well when a person ran it again."""
    maestro.push(DAILY, steps=("load",), cron="0 6 * * *")
    for day in range(1, days + 1):
        maestro.clock.moves_to(MONDAY + day * DAY)
        run = maestro.scheduled(DAILY, MONDAY + day * DAY)
        maestro.clock.moves(HOUR)
        if day % 10:
            maestro.succeeds(run)
        else:
            maestro.fails_for_good(run, "load", message=f"no rows on day {day}")
        if day == 20:
            maestro.succeeds(maestro.restarts(run, user="maria"))
    maestro.clock.moves(DAY)


def test_a_scheduler_of_maestro_can_tell_of_its_past(maestro: Maestro) -> None:
    assert isinstance(Past(maestro).scheduler, Historian)


def test_the_past_is_told_as_the_poller_would_have_told_it(maestro: Maestro) -> None:
    month(maestro)
    told = Past(maestro).reads()
    ends = [event for event in told if event.ended_at is not None]

    assert kinds(ends)[8:11] == ["9.1 run.succeeded", "10.1 run.failed", "11.1 run.succeeded"]
    assert [one for one in kinds(told) if one.startswith("20.")] == [
        "20.1 run.started", "20.1 run.failed", "20.2 run.started", "20.2 run.succeeded",
    ]  # fmt: skip
    assert len(ends) == 31
    assert [event.ended_at for event in ends] == sorted(event.ended_at for event in ends if event.ended_at)
    failure = next(event for event in ends if event.error is not None)
    assert failure.error is not None
    assert failure.error.message == "no rows on day 10"


def test_a_run_that_went_well_at_once_costs_no_call_of_its_own(maestro: Maestro) -> None:
    month(maestro, days=9)
    Past(maestro).reads()
    paths = [asked.path for asked in maestro.asked]

    assert len(paths) == 4
    assert [path for path in paths if "/instances/" in path] == []


def test_only_what_ended_in_the_stretch_of_time_is_told(maestro: Maestro) -> None:
    month(maestro)
    told = Past(maestro).reads(MONDAY + 5 * DAY, MONDAY + 8 * DAY)

    assert kinds([event for event in told if event.ended_at is not None]) == [
        f"{number}.1 run.succeeded" for number in (5, 6, 7)
    ]


def test_many_pages_are_read_the_oldest_first_whatever_begins_meanwhile(
    maestro: Maestro, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "PAGE", 7)
    month(maestro)
    past = Past(maestro)
    pages = past.scheduler.history(since=MONDAY, until=maestro.clock.now)
    first = next(pages)
    maestro.scheduled(DAILY, maestro.clock.now)
    told = [*first, *(event for page in pages for event in page)]
    ends = kinds([event for event in told if event.ended_at is not None])

    assert len(ends) == len(set(ends)) == 31
    assert [int(one.partition(".")[0]) for one in ends] == sorted(int(one.partition(".")[0]) for one in ends)


def test_of_very_many_failures_only_some_are_read_closely(maestro: Maestro, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MOST_LOGS", 2)
    month(maestro)
    failures = [event for event in Past(maestro).reads() if event.error is not None]

    assert [event.error.message if event.error else "" for event in failures] == [
        "no rows on day 10", "no rows on day 20", None,
    ]  # fmt: skip
    assert failures[2].error is not None
    assert history.NOT_READ in failures[2].error.log


def test_parts_are_told_with_what_they_are_a_part_of(maestro: Maestro) -> None:
    maestro.push("sales.publish", steps=("write",))
    maestro.push(DAILY, steps=(subworkflow("pub", "sales.publish"),))
    maestro.succeeds(maestro.scheduled(DAILY, MONDAY))
    maestro.clock.moves(DAY)
    told = Past(maestro, DAILY, "sales.publish").reads()

    assert {event.job.name for event in told} == {DAILY}


def test_it_waits_while_maestro_is_unwell_and_gives_up_in_words(maestro: Maestro) -> None:
    month(maestro, days=3)
    past = Past(maestro)
    maestro.fails_to_answer(503, "/overview$", times=3)

    assert len(past.reads()) == 6
    assert past.waited > timedelta(seconds=30)

    maestro.fails_to_answer(503, "", times=10_000)

    with pytest.raises(HistoryDown, match="its past cannot be read further: Maestro answered 503"):
        past.reads()


def test_a_workflow_that_is_not_there_is_left_out_and_said(maestro: Maestro, caplog: pytest.LogCaptureFixture) -> None:
    month(maestro, days=3)
    told = Past(maestro, "no.such", DAILY).reads()

    assert len(told) == 6
    assert [record.__dict__["workflow"] for record in caplog.records if "no past" in record.message] == ["no.such"]
