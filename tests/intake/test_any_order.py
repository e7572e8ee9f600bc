"""Events come shuffled, doubled and with holes: the state in the end is that of the ordered story.

The claim, for any number of jobs. A story says what each try (generation) of each run became. However its events are shuffled,
repeated, and cut into batches, and whichever are lost except those that decide, once a poller has told each run's last state
again:

- the newest try of each run stands there as in the ordered story, and so does the last good run's nominal time;
- an occurrence is unresolved for the same jobs, and owes the same nominal times.

A run's success decides, whichever try it was, else its last failure: what only an earlier try said and nobody repeats cannot be
known. Which occurrences were opened and settled again meanwhile may differ: a failure told after its good run opens none.

Reruns: at whatever moment one is booked by licence, its nominal time had a final failure under a marked cause, no good run of it
had been told, and reruns were left; no nominal time gets a second one (one that was taken back before it
was asked for is none); and what is still booked in the end is owed in the end.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from bot.evidence.types import ErrorReport
from bot.incidents.keys import JobKey, RunRef, Trigger
from bot.incidents.model import Status
from bot.intake import Inbound, Result
from bot.sources import SourceEvent, SourceKind
from bot.store import Booking, RunState
from tests.world.clock import MONDAY_MIDNIGHT
from tests.world.fixtures import Build
from tests.world.people import POLICIES, RESET, STRANGE
from tests.world.world import World

ENDS = ("reset", "strange", "succeeded", "cancelled", "skipped")
KINDS = {
    "succeeded": SourceKind.RUN_SUCCEEDED,
    "cancelled": SourceKind.RUN_CANCELLED,
    "skipped": SourceKind.RUN_SKIPPED,
}
STATES = {"reset": RunState.FAILED, "strange": RunState.FAILED, "running": RunState.STARTED}
LOGS = {"reset": RESET, "strange": STRANGE}
NUMBERS = count(1)
MANY = (
    POLICIES.replace("match: shop/revenue\n    team", "match: shop/*\n    team")
    .replace("{limit: 40, unit: run_hours, per: day}\n  growth", "{limit: 900000, unit: run_hours, per: day}\n  growth")
    .replace("defaults:\n", "defaults:\n  canary: {jobs: 100000}\n  storm: {jobs: 100000}\n")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """One generation of a run: attempts that its scheduler tried again by itself, and how it ended ("running": not yet)."""

    retried: int
    ended: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Play:
    """What becomes of the runs of some jobs, and how their events are told: by a shuffle of that seed."""

    runs: tuple[tuple[int, int, tuple[Try, ...]], ...]
    seed: int
    lost: float
    doubled: float


tries = st.lists(st.builds(Try, retried=st.integers(0, 2), ended=st.sampled_from(ENDS)), min_size=1, max_size=3).map(
    tuple
)
last = st.sampled_from((*ENDS, "running"))


@st.composite
def plays(draw: st.DrawFn) -> Play:
    places = draw(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=6, unique=True))
    runs = []
    for job, day in sorted(places):
        made = draw(tries)
        ended = Try(retried=made[-1].retried, ended=draw(last))
        runs.append((job, day, (*made[:-1], ended)))
    return Play(
        runs=tuple(runs),
        seed=draw(st.integers(0, 2**32)),
        lost=draw(st.sampled_from((0.0, 0.3, 0.8))),
        doubled=draw(st.sampled_from((0.0, 0.5))),
    )


@dataclass(frozen=True, slots=True)
class Told:
    """An event of a story; `decides`: nobody repeats what only it says."""

    event: SourceEvent
    decides: bool
    closing: bool


def story(play: Play, name: str) -> list[Told]:
    """The events in the order in which they happened; days one after the other, jobs side by side."""
    found = []
    for job, day, made in sorted(play.runs, key=lambda one: one[1]):
        key = JobKey(scheduler="shop", name=f"{name}_{job}")
        nominal = MONDAY_MIDNIGHT - timedelta(days=4 - day)
        deciding = _deciding(made)
        for generation, one in enumerate(made):
            at = nominal + timedelta(hours=generation)
            for attempt in range(1, one.retried + 2):
                run = _run(nominal, generation, attempt)
                found.append(Told(_event(key, run, SourceKind.RUN_STARTED, at), False, False))
                if attempt <= one.retried:
                    found.append(Told(_event(key, run, SourceKind.RUN_FAILED, at, log=RESET, retry=True), False, False))
            final = _run(nominal, generation, one.retried + 1)
            newest = generation == len(made) - 1
            if one.ended == "running":
                found[-1] = Told(found[-1].event, found[-1].decides, newest)
                continue
            kind = KINDS.get(one.ended, SourceKind.RUN_FAILED)
            event = _event(key, final, kind, at + timedelta(minutes=10), log=LOGS.get(one.ended, ""))
            found.append(Told(event, generation == deciding, newest))
    return found


def _deciding(made: Sequence[Try]) -> int | None:
    good = [number for number, one in enumerate(made) if one.ended == "succeeded"]
    bad = [number for number, one in enumerate(made) if one.ended in LOGS]
    return max(good or bad, default=None)


def _run(nominal: datetime, generation: int, attempt: int) -> RunRef:
    trigger = Trigger.RERUN if generation else Trigger.SCHEDULE
    run_id = f"scheduled__{nominal.isoformat()}"
    return RunRef(run_id=run_id, nominal_time=nominal, generation=generation, attempt=attempt, trigger=trigger)


def _event(
    job: JobKey, run: RunRef, kind: SourceKind, at: datetime, *, log: str = "", retry: bool = False
) -> SourceEvent:
    ended = kind is not SourceKind.RUN_STARTED
    return SourceEvent(
        id=f"{run.run_id}-{run.generation}-{run.attempt}-{kind}",
        kind=kind,
        at=at,
        job=job,
        run=run,
        started_at=at - timedelta(minutes=10) if ended else at,
        ended_at=at if ended else None,
        will_retry=retry,
        error=ErrorReport(log=log, exit_code=1) if kind is SourceKind.RUN_FAILED else None,
    )


def tell(world: World, events: Sequence[SourceEvent]) -> None:
    outcomes = world.service.intake.take_in([Inbound(key=event.key, event=event) for event in events])
    assert all(outcome.result is not Result.REJECTED for outcome in outcomes), outcomes


def seed(world: World, name: str) -> None:
    """Good runs long before, so that what a rerun costs is known."""
    for job in range(3):
        key = JobKey(scheduler="shop", name=f"{name}_{job}")
        at = MONDAY_MIDNIGHT - timedelta(days=9)
        tell(world, [_event(key, _run(at, 0, 1), SourceKind.RUN_SUCCEEDED, at + timedelta(minutes=10))])


def state(world: World, play: Play, name: str) -> dict[str, object]:
    """What must not depend on the order."""
    found: dict[str, object] = {}
    with world.service.storage.begin_write(born_leased=False, now=world.now) as uow:
        keys = [JobKey(scheduler="shop", name=f"{name}_{job}") for job in range(3)]
        for number, (_, row) in enumerate(sorted(uow.lock_jobs(keys=keys, now=world.now).items())):
            unresolved = uow.incidents_of(jobs=[row.id])[row.id].unresolved
            days = {day: MONDAY_MIDNIGHT - timedelta(days=4 - day) for job, day, _ in play.runs if job == number}
            rows = uow.run_rows(wanted=[(row.id, nominal) for nominal in days.values()])
            found[f"job {number}"] = {
                "newest": {
                    day: max((one.run.generation, one.state) for one in rows[row.id, nominal])
                    for day, nominal in days.items()
                },
                "good": row.memory.last_good.run.nominal_time if row.memory.last_good else None,
                "owed": {owed.nominal_time for owed in unresolved.owed} if unresolved else None,
            }

    return found


def bookings(world: World, name: str) -> list[Booking]:
    reads = world.service.storage.reads
    incidents = [one for job in range(3) for one in world.incidents(f"{name}_{job}")]
    return [each for one in incidents for each in reads.reruns_of(record=one.record, number=one.number)]


def licensed_soundly(world: World, name: str, told: Sequence[SourceEvent]) -> None:
    """Every rerun that was booked was for a marked failure that had been told, of a time without a good run; once each."""
    by_job: dict[str, set[datetime | None]] = {}
    for incident in (one for job in range(3) for one in world.incidents(f"{name}_{job}")):
        mine = [event for event in told if event.job == incident.job and event.run is not None]
        failed = {
            event.run.nominal_time
            for event in mine
            if event.run and event.error and event.error.log == RESET and not event.will_retry
        }
        for booking in world.service.storage.reads.reruns_of(record=incident.record, number=incident.number):
            assert booking.automatic
            assert booking.cause == "network.connection_reset"
            (time,) = booking.nominal_times
            assert time in failed
            if booking.result == "released":
                continue
            known = by_job.setdefault(incident.job.name, set())
            assert time not in known, "a second licence"
            known.add(time)
            if booking.result is None:
                assert incident.status.unresolved
                assert time in {owed.nominal_time for owed in incident.owed}


@pytest.fixture
def company(build_world: Build) -> World:
    world: World = build_world(policies=MANY)
    world.delivering = False
    return world


def test_events_in_any_order_end_in_the_state_of_the_ordered_story(company: World) -> None:
    @settings(
        max_examples=110,
        deadline=None,
        print_blob=True,
        phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(play=plays())
    def holds(play: Play) -> None:
        number = next(NUMBERS)
        ordered, mixed = f"o{number}", f"m{number}"
        seed(company, ordered)
        tell(company, [one.event for one in story(play, ordered)])
        seed(company, mixed)
        random = Random(play.seed)
        events = story(play, mixed)
        kept = [one for one in events if one.decides or random.random() >= play.lost]
        kept += [one for one in kept if random.random() < play.doubled]
        random.shuffle(kept)
        told: list[SourceEvent] = []
        replay = [one for one in events if one.closing]
        for batch in (*_cut(kept, random), replay):
            told += [one.event for one in batch]
            tell(company, [one.event for one in batch])
            licensed_soundly(company, mixed, told)

        assert _named(state(company, play, mixed)) == _named(state(company, play, ordered))
        licensed_soundly(company, ordered, [one.event for one in story(play, ordered)])

    holds()


def _named(found: dict[str, object]) -> str:
    return "\n".join(f"{job}: {what}" for job, what in sorted(found.items()))


def _cut(events: list[Told], random: Random) -> list[list[Told]]:
    batches, start = [], 0
    while start < len(events):
        end = start + random.randint(1, 6)
        batches.append(events[start:end])
        start = end
    return batches


def test_the_failure_before_a_rerun_that_was_stopped_stands_however_late_it_is_told(company: World) -> None:
    made = (Try(retried=0, ended="strange"), Try(retried=0, ended="cancelled"))
    play = Play(runs=((0, 0, made),), seed=0, lost=0, doubled=0)
    tell(company, [one.event for one in reversed(story(play, "late"))])

    (incident,) = company.incidents("late_0")
    assert incident.status is Status.OPEN
    assert len(incident.owed) == 1


def test_a_good_run_told_after_a_later_try_of_it_failed_pays_all_the_same(company: World) -> None:
    made = (Try(retried=0, ended="succeeded"), Try(retried=0, ended="strange"))
    play = Play(runs=((0, 0, made),), seed=0, lost=0, doubled=0)
    tell(company, [one.event for one in reversed(story(play, "good"))])

    (incident,) = company.incidents("good_0")
    assert incident.status is Status.RESOLVED
