"""Many jobs failed alike, and two processes let their reruns go: never more than the wave has places for."""

from dataclasses import dataclass
from datetime import timedelta

from bot.incidents.events import StopRerunWanted
from bot.incidents.keys import Action, JobKey
from bot.incidents.model import Outcome, RerunPhase, Status
from bot.incidents.people import By
from bot.ports import SchedulerRequest
from bot.sources import SourceKind
from tests.races.policies import ANA, POLICIES
from tests.races.racing import Races
from tests.races.reports import BROKE_AT, NOMINAL, SCHEDULER, failed, rerun_ended, succeeded
from tests.races.town import Process, Town, loaded

FEEDS = tuple(JobKey(scheduler=SCHEDULER, name=f"feed-{letter}") for letter in "abcdef")
CAREFUL = POLICIES.replace("defaults:", "defaults:\n  canary: {jobs: 2, window: 5m}\n  storm: {jobs: 1000}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outage:
    """Two processes, and jobs that failed alike."""

    town: Town
    one: Process
    other: Process

    @property
    def asked(self) -> list[SchedulerRequest]:
        return self.one.scheduler.requests(Action.RERUN)

    def phases(self) -> list[str]:
        found = [self.town.incident(job) for job in FEEDS]
        return sorted(one.rerun.phase if one.rerun else one.status for one in found)

    def ends(self, which: int, *, well: bool = True) -> None:
        """The rerun that was asked for as that number ended."""
        kind = SourceKind.RUN_SUCCEEDED if well else SourceKind.RUN_FAILED
        process = self.one if which % 2 == 0 else self.other
        process.hears(rerun_ended(kind, self.asked[which], self.one.clock()))


def outage(town: Town) -> Outage:
    """Three back off and the others are held; the back-off is over now."""
    town.policies = loaded(CAREFUL)
    one, other = town.process(), town.process()
    town.clock.now = NOMINAL - timedelta(hours=1)
    for job in FEEDS:
        for days in (3, 2, 1):
            one.hears(succeeded(job, nominal=NOMINAL - timedelta(days=days)))
    town.clock.now = BROKE_AT
    for job in FEEDS:
        one.hears(failed(job))
    town.settles(one)
    town.clock.now = BROKE_AT + timedelta(minutes=5)
    return Outage(town=town, one=one, other=other)


def first_is_out(town: Town) -> Outage:
    met = outage(town)
    town.settles(met.one)
    town.clock.tick()

    assert len(met.asked) == 1
    assert met.phases().count(RerunPhase.HELD) == 5
    return met


def two_are_out(town: Town) -> Outage:
    met = first_is_out(town)
    met.ends(0)
    town.settles(met.one)
    town.clock.tick()

    assert len(met.asked) == 3
    return met


def test_two_back_offs_that_end_at_once_in_two_processes(race: Races) -> None:
    for end in race(outage, one=lambda met: met.one.fires(), other=lambda met: met.other.fires()):
        assert len(end.scene.asked) == 1
        assert end.scene.phases() == [*[RerunPhase.HELD] * 5, RerunPhase.REQUESTED]


def test_the_two_of_a_wave_that_end_well_at_once(race: Races) -> None:
    """Whoever comes second begins the next wave; it begins once, and takes all that are left."""
    for end in race(two_are_out, one=lambda met: met.ends(1), other=lambda met: met.ends(2)):
        assert len(end.scene.asked) == 6
        assert [end.town.incident(request.job).outcome for request in end.scene.asked[:3]] == [Outcome.RECOVERED] * 3


def test_one_of_a_wave_that_ends_well_while_the_other_fails(race: Races) -> None:
    for end in race(two_are_out, one=lambda met: met.ends(1), other=lambda met: met.ends(2, well=False)):
        assert len(end.scene.asked) == 3
        assert [end.town.incident(job).status for job in FEEDS].count(Status.OPEN) == 4


def test_a_held_rerun_that_its_owner_stops_while_the_first_ends_well(race: Races) -> None:
    def stops(met: Outage) -> None:
        held = next(job for job in FEEDS if job != met.asked[0].job)
        by = By(person=ANA, at=met.one.clock())
        met.other.is_told(StopRerunWanted(by=by), met.town.incident(held))

    for end in race(first_is_out, first=lambda met: met.ends(0), owner=stops):
        assert len(end.scene.asked) in (3, 4)
        waits = [phase for phase in end.scene.phases() if phase in (RerunPhase.HELD, RerunPhase.REQUESTED)]
        assert waits.count(RerunPhase.REQUESTED) == 2


def test_another_job_that_fails_while_the_first_rerun_does(race: Races) -> None:
    late = JobKey(scheduler=SCHEDULER, name="feed-late")

    def before(town: Town) -> Outage:
        met = first_is_out(town)
        for days in (3, 2, 1):
            met.one.hears(succeeded(late, nominal=NOMINAL - timedelta(days=days)))
        return met

    for end in race(before, first=lambda met: met.ends(0, well=False), other=lambda met: met.other.hears(failed(late))):
        assert len(end.scene.asked) == 1
        assert {end.town.incident(job).status for job in (*FEEDS, late)} == {Status.OPEN}
