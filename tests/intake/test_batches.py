"""A list of events is one transaction: in order, duplicates answered alike, poison put aside alone."""

from datetime import datetime, timedelta

import pytest

from bot.incidents.effects import ToldKind
from bot.incidents.events import Acknowledged
from bot.incidents.model import Outcome as Ended
from bot.incidents.model import Status
from bot.incidents.people import By, Person
from bot.intake import Inbound, Result
from tests.world.people import LOST_COLUMN
from tests.world.reports import Report
from tests.world.world import World


def failure(world: World, job: str, *, nominal: datetime | None = None, **more: object) -> Report:
    time = nominal or world.nominal_before(job, world.now)
    given: dict[str, object] = {"kind": "failed", "error": {"log": LOST_COLUMN}, **more}
    return Report(job=job, at=world.now, nominal=time, **given)  # type: ignore[arg-type]


def results(answer: dict[str, list[dict[str, str]]]) -> list[str]:
    return [result["result"] for result in answer["results"]]


def test_a_poison_event_stands_alone_and_takes_none_of_its_neighbours_with_it(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.moves_to("03:12")
    world.scheduler.bewitched.add("poison")
    jobs = ("one", "two", "poison", "three", "four")
    answer = world.sends([failure(world, job).event() for job in jobs])

    assert results(answer) == ["accepted", "accepted", "rejected", "accepted", "accepted"]
    assert sorted(incident.job.name for incident in world.incidents()) == ["four", "one", "three", "two"]
    (logged,) = [record for record in caplog.records if record.message == "event could not be taken in"]
    assert logged.levelname == "ERROR"
    assert logged.exc_info is not None

    world.scheduler.bewitched.clear()
    again = world.sends([failure(world, "poison").event()])
    assert results(again) == ["accepted"], "what was rejected may be sent again"


def test_an_event_that_cannot_even_be_read_is_rejected_alone(world: World) -> None:
    world.moves_to("03:12")
    world.scheduler.bewitched.add("board_pack")
    answer = world.sends([failure(world, job).event() for job in ("orders", "revenue", "stock")])

    assert results(answer) == ["accepted", "rejected", "accepted"], "board_pack is downstream of revenue"


def test_a_batch_is_taken_in_its_order(world: World) -> None:
    world.moves_to("03:12")
    good = failure(world, "orders", kind="succeeded", generation=1, trigger="rerun", error=None, run_id="r")
    bad = failure(world, "orders", run_id="r")
    world.sends([bad.event(), good.event()])
    assert world.incident("orders").outcome is Ended.RECOVERED_BY_HAND

    good = failure(world, "stock", kind="succeeded", generation=1, trigger="rerun", error=None, run_id="r")
    bad = failure(world, "stock", run_id="r")
    answer = world.sends([good.event(), bad.event()])
    assert world.incidents("stock") == ()
    assert "superseded" in answer["results"][1]["reason"]


def test_a_duplicate_gets_what_the_first_one_got(world: World) -> None:
    world.moves_to("03:12")
    event = failure(world, "orders").event()
    first = world.sends([event, event])
    later = world.sends([event])

    assert results(first) == ["accepted", "duplicate"]
    assert results(later) == ["duplicate"]
    assert {result["reason"] for result in (*first["results"], *later["results"])} == {first["results"][0]["reason"]}
    assert len(world.timeline("orders")) == len({row.key + row.kind for row in world.timeline("orders")})


def test_a_person_whose_word_comes_twice_is_told_the_same(world: World) -> None:
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    by = By(person=Person(id="U0SAM", name="sam"), at=world.now, door="slack")
    word = Inbound(key="slack:sam:1", event=Acknowledged(by=by), occurrence=(1, 1))
    first, again = (world.service.intake.take_in([word])[0] for _ in range(2))

    assert first.result is Result.ACCEPTED
    assert again.result is Result.DUPLICATE
    assert first.told is not None
    assert first.told == again.told
    assert first.told.kind is ToldKind.NOT_YOURS
    assert again.status is Status.OPEN


def test_a_word_about_an_occurrence_that_does_not_exist_is_rejected(world: World) -> None:
    by = By(person=Person(id="U0ANA", name="ana"), at=world.now, door="slack")
    (outcome,) = world.service.intake.take_in(
        [Inbound(key="slack:ana:1", event=Acknowledged(by=by), occurrence=(77, 1))]
    )

    assert outcome.result is Result.REJECTED
    assert outcome.reason == "no such occurrence"


def test_a_batch_of_one_jobs_events_is_folded_one_after_the_other(world: World) -> None:
    world.moves_to("Wed 03:12")
    nominal = world.nominal_before("orders", world.now)
    days = [nominal - timedelta(days=back) for back in (2, 1, 0)]
    world.sends([failure(world, "orders", nominal=day).event() for day in days])

    incident = world.incident("orders")
    assert incident.count == 3
    assert [owed.nominal_time for owed in incident.owed] == days
    assert len(world.channel("finance")) == 1
