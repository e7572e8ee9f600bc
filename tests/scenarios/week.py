"""A week of one busy team as a script: forty jobs, sixty failures, what people do about them, and who must be called.

Every call is written down from the rules of the design, beside the episode that brings it; nothing here asks the product.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from tests.world.people import LOST_COLUMN, RESET, STRANGE
from tests.world.world import World

BEGINS = datetime(2026, 11, 30, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
FAILS_AFTER = 12 * MINUTE
ONCALL, TEAM = "finance-oncall", "finance-data"
ON_CALL_CHANGES_AT = BEGINS + timedelta(days=3, hours=9)
HEALED, DIFFERENT, OWNED, DID_NOT_HOLD, ALONE, LOW, HOURLY = 10, 4, 12, 2, 2, 3, 4

Do = Callable[[World], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    at: datetime
    do: Do


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Somebody must be called, and why they agree with it in the morning."""

    at: datetime
    who: str
    job: str
    why: str


@dataclass(slots=True)
class Week:
    """The script so far; `jobs` are lines of policies.yaml, `notes` the quiet direct messages, which call nobody."""

    jobs: list[str] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    notes: list[Call] = field(default_factory=list)
    failures: int = 0

    def at(self, at: datetime, do: Do) -> None:
        self.steps.append(Step(at=at, do=do))

    def fails(self, job: str, nominal: datetime, log: str, **more: object) -> datetime:
        """The run of that time fails a little later; returns when."""
        self.failures += 1
        at = nominal + FAILS_AFTER
        self.at(at, lambda world: void(world.fails(job, nominal=nominal, log=log, **more)))  # type: ignore[arg-type]
        return at

    def runs_well(self, job: str, nominal: datetime) -> None:
        self.at(nominal + FAILS_AFTER, lambda world: void(world.succeeds(job, nominal=nominal)))

    def call(self, at: datetime, who: str, job: str, why: str) -> None:
        self.calls.append(Call(at=at, who=who, job=job, why=why))

    def acknowledges(self, at: datetime, job: str, person: str = "") -> None:
        """Whoever is on call takes it, or that person."""
        who = person or on_call(at)
        self.at(at, lambda world: void(world.clicks(who, "Acknowledge", job)))

    def says_fixed(self, at: datetime, job: str, person: str = "ana") -> None:
        def do(world: World) -> None:
            world.clicks(person, "Fixed", job)
            owed = [one.nominal_time for one in world.incident(job).owed if one.nominal_time]
            world.submits(person, what="mended it", **{f"owed:{time.isoformat()}": "next_run" for time in owed})

        self.at(at, do)


def on_call(at: datetime) -> str:
    """Ben, until Olga takes over on Thursday morning."""
    return "ben" if at < ON_CALL_CHANGES_AT else "olga"


def void(_: object) -> None:
    """A step's result is looked at in the workspace, not here."""


def busy_week() -> Week:
    """The whole week."""
    week = Week()
    slots = _slots()
    for number in range(HEALED):
        _healed(week, f"load_{number}", next(slots), again=number % 5 + 1)
    for number in range(DIFFERENT):
        _fails_differently(week, f"merge_{number}", next(slots))
    for number in range(OWNED):
        _taken_and_mended(week, f"report_{number}", next(slots))
    for number in range(DID_NOT_HOLD):
        _fix_did_not_hold(week, f"ledger_{number}", next(slots))
    for number in range(ALONE):
        _nobody_answers(week, f"export_{number}", next(slots))
    for number in range(LOW):
        _can_wait(week, f"archive_{number}", day=number + 1, again=number == 0)
    for number in range(HOURLY):
        _next_run_brings_it(week, f"feed_{number}", next(slots))
    _paused(week, "partner")
    _no_incident(week)
    return week


def _slots() -> Iterator[datetime]:
    """Nominal times through the week, never many at once."""
    for number in range(40):
        yield BEGINS + DAY * (number % 4) + HOUR * (number * 7 % 24) + MINUTE * (5 * number % 60)


def _daily(week: Week, job: str, at: datetime, more: str = "") -> None:
    week.jobs.append(f'  - {{match: shop/{job}, schedule: {{cron: "{at.minute} {at.hour} * * *"}}{more}}}')


def _healed(week: Week, job: str, at: datetime, *, again: int) -> None:
    """A licensed rerun brings it, twice in the week: nobody is called."""
    _daily(week, job, at)
    week.jobs.append(
        f"  - {{match: shop/{job}, team: finance, safe_to_retry: "
        "{causes: [network.connection_reset], by: ana@example.com, since: 2026-11-02}}"
    )
    _known_cost(week, job)
    for nominal in (at, at + DAY * min(again, 3)):
        failed_at = week.fails(job, nominal, RESET)
        week.at(failed_at + 6 * MINUTE, lambda world: void(world.rerun_starts(job)))
        week.at(failed_at + 16 * MINUTE, lambda world: void(world.rerun_succeeds(job)))


def _fails_differently(week: Week, job: str, at: datetime) -> None:
    """The licensed rerun fails with another error: the on-call at once, who takes and mends it."""
    _daily(week, job, at)
    week.jobs.append(
        f"  - {{match: shop/{job}, team: finance, safe_to_retry: "
        "{causes: [network.connection_reset], by: ana@example.com, since: 2026-11-02}}"
    )
    _known_cost(week, job)
    failed_at = week.fails(job, at, RESET)
    week.at(failed_at + 6 * MINUTE, lambda world: void(world.rerun_starts(job)))
    failed_again_at = failed_at + 16 * MINUTE
    week.failures += 1
    week.at(failed_again_at, lambda world: void(world.rerun_fails(job, log=LOST_COLUMN)))
    week.call(failed_again_at, ONCALL, job, "its rerun failed with another error")
    week.acknowledges(failed_again_at + 10 * MINUTE, job)
    week.says_fixed(failed_again_at + 2 * HOUR, job)
    week.runs_well(job, at + DAY)


def _taken_and_mended(week: Week, job: str, at: datetime) -> None:
    """An owner is needed, answers within the first step, and the next run confirms the fix."""
    _daily(week, job, at)
    failed_at = week.fails(job, at, STRANGE)
    week.call(failed_at, ONCALL, job, "its cause is unknown: never rerun by itself")
    week.acknowledges(failed_at + 9 * MINUTE, job)
    week.says_fixed(failed_at + 3 * HOUR, job)
    week.runs_well(job, at + DAY)


def _fix_did_not_hold(week: Week, job: str, at: datetime) -> None:
    """Said to be fixed, and fails the same way: the on-call anew, and who declared the fix."""
    _daily(week, job, at)
    failed_at = week.fails(job, at, LOST_COLUMN)
    week.call(failed_at, ONCALL, job, "its cause is not marked safe")
    week.acknowledges(failed_at + 5 * MINUTE, job, "ana")
    week.says_fixed(failed_at + HOUR, job)
    again_at = week.fails(job, at + DAY, LOST_COLUMN)
    week.call(again_at, ONCALL, job, "the fix did not hold")
    week.call(again_at, "ana", job, "the fix that she declared did not hold")
    week.acknowledges(again_at + 5 * MINUTE, job, "ana")
    week.says_fixed(again_at + HOUR, job)
    week.runs_well(job, at + 2 * DAY)


def _nobody_answers(week: Week, job: str, at: datetime) -> None:
    """Nobody answers: each step of the ladder once, then somebody takes it, and nobody is called any more."""
    _daily(week, job, at)
    failed_at = week.fails(job, at, STRANGE)
    week.call(failed_at, ONCALL, job, "its cause is unknown: never rerun by itself")
    week.call(failed_at + 15 * MINUTE, ONCALL, job, "nobody has answered: first step")
    week.call(failed_at + 45 * MINUTE, TEAM, job, "nobody has answered: second step, the team")
    week.call(failed_at + 105 * MINUTE, ONCALL, job, "nobody has answered: third step")
    week.acknowledges(failed_at + 2 * HOUR, job)
    week.says_fixed(failed_at + 4 * HOUR, job)
    week.runs_well(job, at + DAY)


def _can_wait(week: Week, job: str, *, day: int, again: bool) -> None:
    """Low urgency, at three in the night: asked when the team's hours begin, before the next run."""
    at = BEGINS + DAY * (day - 1) + 3 * HOUR + 5 * MINUTE * day
    _daily(week, job, at, ", urgency: low")
    for nominal in (at, at + 2 * DAY) if again else (at,):
        week.fails(job, nominal, STRANGE)
        morning = nominal.replace(hour=8, minute=0)
        week.call(morning, ONCALL, job, "low urgency: asked when the hours begin")
        week.acknowledges(morning + 5 * MINUTE, job)
        week.says_fixed(morning + HOUR, job)
        week.runs_well(job, nominal + DAY)


def _next_run_brings_it(week: Week, job: str, at: datetime) -> None:
    """Every hour, and any later run pays: called when it fails; the next run is good, and nobody is called again."""
    minute = at.minute
    week.jobs.append(f'  - {{match: shop/{job}, schedule: {{cron: "{minute} * * * *"}}, recovers_by: any_later_run}}')
    failed_at = week.fails(job, at, STRANGE)
    week.call(failed_at, ONCALL, job, "its cause is unknown: never rerun by itself")
    week.acknowledges(failed_at + 4 * MINUTE, job)
    note_at = at + HOUR - 30 * MINUTE
    week.notes.append(Call(at=note_at, who=on_call(failed_at), job=job, why="a quiet note: the next run is near"))
    week.runs_well(job, at + HOUR)


def _paused(week: Week, job: str) -> None:
    """Paused on Thursday until Sunday: what fails meanwhile is noted, nobody is called."""
    at = BEGINS + 3 * DAY + 11 * HOUR
    _daily(week, job, at)
    failed_at = week.fails(job, at, LOST_COLUMN)
    week.call(failed_at, ONCALL, job, "its cause is not marked safe")

    def pause(world: World) -> None:
        world.clicks("ana", "More", job)
        world.presses("ana", "Pause")
        world.submits("ana", until="Sun 08:00", reason="the partner moves house", at_end="resume")

    week.at(failed_at + 8 * MINUTE, pause)
    week.fails(job, at + DAY, LOST_COLUMN)
    week.fails(job, at + 2 * DAY, LOST_COLUMN)
    week.runs_well(job, at + 3 * DAY)


def _no_incident(week: Week) -> None:
    """Runs that somebody started by hand and that pay nothing: no incident, no call."""
    for number in range(2):
        job, at = f"tryout_{number}", BEGINS + DAY * (number + 1) + 14 * HOUR
        _daily(week, job, at)
        week.fails(job, at + HOUR, STRANGE, trigger="manual")
    week.fails("tryout_0", BEGINS + 4 * DAY + 16 * HOUR, STRANGE, trigger="manual")


def _known_cost(week: Week, job: str) -> None:
    """Good runs before the week, so that a rerun's cost can be estimated."""
    week.at(BEGINS, lambda world: world.has_run(job, times=3))
