"""Reports of runs that meet: doubled, crossed, about the same run or the same job."""

from datetime import timedelta

from bot.incidents.model import Status
from bot.intake import Result
from tests.races.racing import Races
from tests.races.reports import NOMINAL, REVENUE, failed, succeeded
from tests.races.scenes import broken_once, never_ran, nothing_wrong
from tests.world.people import LOST_COLUMN


def test_one_report_that_arrives_twice_at_once(race: Races) -> None:
    for end in race(
        nothing_wrong, one=lambda calm: calm.one.hears(failed()), other=lambda calm: calm.other.hears(failed())
    ):
        results = sorted(outcome.result for outcome in end.results.values())
        assert results == [Result.ACCEPTED, Result.DUPLICATE]
        assert end.results["one"].occurrence == end.results["other"].occurrence
        assert end.town.incident(REVENUE).count == 1
        assert len(end.town.room.roots()) == 1


def test_one_report_of_an_unknown_job_that_arrives_twice_at_once(race: Races) -> None:
    for end in race(
        never_ran, one=lambda calm: calm.one.hears(failed()), other=lambda calm: calm.other.hears(failed())
    ):
        assert sorted(outcome.result for outcome in end.results.values()) == [Result.ACCEPTED, Result.DUPLICATE]
        assert len(end.town.incidents()) == 1
        assert len(end.town.room.roots()) == 1


def test_two_failures_of_one_job(race: Races) -> None:
    later = NOMINAL + timedelta(days=1)
    for end in race(
        nothing_wrong,
        one=lambda calm: calm.one.hears(failed(log=LOST_COLUMN)),
        other=lambda calm: calm.other.hears(failed(nominal=later)),
    ):
        (incident,) = end.town.incidents()
        assert [outcome.result for outcome in end.results.values()] == [Result.ACCEPTED] * 2
        assert incident.count == 2
        assert {owed.nominal_time for owed in incident.owed} == {NOMINAL, later}
        assert len(end.town.room.roots()) == 1
        assert {"opened", "failed"} <= end.kinds(REVENUE)


def test_the_first_two_failures_of_an_unknown_job(race: Races) -> None:
    for end in race(
        never_ran,
        one=lambda calm: calm.one.hears(failed(log=LOST_COLUMN)),
        other=lambda calm: calm.other.hears(failed(run_id="another")),
    ):
        (incident,) = end.town.incidents()
        assert incident.count == 2
        assert len(incident.owed) == 1
        assert len(end.town.room.roots()) == 1


def test_a_run_that_is_told_as_failed_and_as_good(race: Races) -> None:
    """The first word about the end of a generation stands; the other one is told that it was superseded."""
    for end in race(
        nothing_wrong, bad=lambda calm: calm.one.hears(failed()), good=lambda calm: calm.other.hears(succeeded())
    ):
        opened = bool(end.town.incidents())
        reasons = {name: str(outcome.reason) for name, outcome in end.results.items()}
        assert ("superseded" in reasons["good"]) is opened
        assert ("superseded" in reasons["bad"]) is not opened


def test_a_failure_and_the_good_run_of_a_later_generation(race: Races) -> None:
    for end in race(
        nothing_wrong,
        bad=lambda calm: calm.one.hears(failed()),
        good=lambda calm: calm.other.hears(succeeded(generation=1)),
    ):
        assert all(one.status is Status.RESOLVED for one in end.town.incidents())
        assert end.used() == 0.0
        end.town.passes(end.afterwards, minutes=6)

        assert end.town.scheduler.asked == []


def test_the_next_failure_and_the_good_run_that_settles(race: Races) -> None:
    """The failure joins what is still open, or opens anew beside what was settled: never both, never neither."""
    later = NOMINAL + timedelta(days=1)

    for end in race(
        broken_once,
        good=lambda calm: calm.one.hears(succeeded(run_id="by-hand", generation=0)),
        bad=lambda calm: calm.other.hears(failed(nominal=later)),
    ):
        unresolved = [one for one in end.town.incidents() if one.status.unresolved]
        assert len(unresolved) == 1
        assert [owed.nominal_time for owed in unresolved[0].owed] == [later]
