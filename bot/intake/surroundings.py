"""Puts together the `Situation` of one decision from what the transaction read, the policies and the directory.

It reads nothing itself and decides nothing.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot import cron
from bot.incidents.absence import Absence
from bot.incidents.calendar import period_start
from bot.incidents.canary import Canary, Stage
from bot.incidents.keys import Capability, Cost, JobKey
from bot.incidents.memory import JobMemory, marks_of
from bot.incidents.model import Failure, Incident, Owed
from bot.incidents.opening import open_after, plan_of
from bot.incidents.people import Directory
from bot.incidents.policy import BudgetLimit, Door, JobPolicy, Mode, Schedule, Team
from bot.incidents.situation import Allowance, Answering, Platform, Situation, Waiting
from bot.incidents.storm import Storm
from bot.store import JobIncidents, RunRow, RunState, Scope

RUN_HOURS = "run_hours"
FORGET_LIVE_AFTER = timedelta(hours=24)
FORGET_LIVE_FACTOR = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What holds for a job outside the transaction: its policy, people, and what its scheduler can do.

    `handed`: another team answers the occurrence in place of the job's own; `other`: the team that a hand-over names.
    `pushes`: its scheduler only tells; what it told while nobody was there cannot be looked up.
    """

    policy: JobPolicy
    policies_version: str
    directory: Directory
    can: frozenset[Capability]
    doors: frozenset[Door]
    schedule: Schedule | None = None
    platform: Callable[[str], Platform | None] = lambda cause: None
    downstream: tuple[Waiting, ...] = ()
    downstream_beyond: int = 0
    upstream: str = ""
    handed: Team | None = None
    other: Answering | None = None
    pushes: bool = True


@dataclass(slots=True)
class Read:
    """What the transaction has read about one job so far; folding events keeps it true."""

    key: JobKey
    id: int
    memory: JobMemory
    incidents: JobIncidents
    runs: dict[datetime | None, tuple[RunRow, ...]] = field(default_factory=dict)

    @property
    def near(self) -> tuple[Incident, ...]:
        """The job's occurrences that an event may be about."""
        known = self.incidents
        return tuple(filter(None, (known.unresolved, *known.in_force, known.newest_settled)))


def situation_of(
    read: Read,
    world: World,
    now: datetime,
    *,
    booked: Mapping[Scope, float],
    about: Incident | None = None,
    failure: Failure | None = None,
    previous: tuple[Incident | None, int] = (None, 0),
    canaries: tuple[Canary, ...] = (),
    stage: Stage | None = None,
    storm: Storm | None = None,
    recovered: tuple[datetime, ...] = (),
    absence: Absence | None = None,
) -> Situation:
    """The surroundings of a decision about `about` (None: none is unresolved), for `failure` when the event is one."""
    memory, policy = read.memory, _honoured(world.policy, read.memory)
    schedule = world.schedule or memory.schedule
    runs = read.runs
    rates = dict(policy.rates)
    budget = policy.rerun.budget
    unresolved = read.incidents.unresolved
    interval = cron.interval(schedule, now) if schedule else None
    next_run_at = cron.next_after(schedule, now) if schedule and not memory.deleted else None
    return Situation(
        job=read.key,
        policy=policy,
        policies_version=world.policies_version,
        directory=world.directory,
        can=world.can,
        doors=world.doors,
        next_run_at=next_run_at,
        following_run_at=cron.next_after(schedule, next_run_at) if schedule and next_run_at else None,
        interval=interval,
        usual_duration=memory.usual_duration,
        estimate=_estimate(memory, budget, rates, failure),
        allowance=_allowance(read.key, policy, booked, now),
        marks=marks_of(memory, policy.safe_marks),
        suspended=memory.suspended(),
        canaries=canaries,
        stage=stage,
        storm=storm,
        recovered=recovered,
        platform=world.platform(failure.cause) if storm is not None and failure is not None else None,
        reruns=tuple((time, _reruns(time, rows, failure)) for time, rows in runs.items()),
        live=_live(memory, now),
        run_strategy=memory.run_strategy,
        paid=frozenset(time for time, rows in runs.items() if time is not None and _good(rows)),
        latest_started=memory.latest_started,
        last_good_at=memory.last_good.ended_at if memory.last_good else None,
        last_good_time=memory.last_good.run.nominal_time if memory.last_good else None,
        failures_in_a_row=max(1, memory.failures_in_a_row),
        unpaid=_unpaid(memory, policy, interval, failure),
        previous=previous[0],
        times=previous[1],
        linked=read.incidents.newest_settled.record if read.incidents.newest_settled else None,
        unresolved=unresolved.record if unresolved and about is not None and unresolved.id != about.id else None,
        newer=_newer(read.incidents, about),
        retired=any(held.status == "retired" for held in read.incidents.in_force),
        downstream=world.downstream,
        downstream_beyond=world.downstream_beyond,
        upstream=world.upstream,
        handed=world.handed,
        other=world.other,
        absence=absence,
    )


def scopes_of(key: JobKey, policy: JobPolicy, now: datetime) -> dict[Scope, float]:
    """The budget rows that an automatic rerun of the job is booked on, with their limits: the job's, then the team's."""
    found: dict[Scope, float] = {}
    budgets: Iterable[tuple[str, BudgetLimit | None]] = (
        (f"job:{key}", policy.rerun.budget),
        (f"team:{policy.team.name}" if policy.team else "", policy.team.budget if policy.team else None),
    )
    for name, budget in budgets:
        if budget is not None:
            start = period_start(budget.per, now, budget.zone)
            found[Scope(name=name, unit=budget.unit, period_start=start)] = budget.limit
    return found


def in_unit(cost: Cost, unit: str, rates: Mapping[str, float]) -> float | None:
    """`cost` in another unit by the policy's rates per run hour; None when nothing converts."""
    known = {RUN_HOURS: 1.0, **rates}
    if cost.unit == unit:
        return cost.amount
    if cost.unit not in known or unit not in known or not known[cost.unit]:
        return None
    return cost.amount / known[cost.unit] * known[unit]


def _estimate(
    memory: JobMemory, budget: BudgetLimit | None, rates: Mapping[str, float], failure: Failure | None
) -> Cost | None:
    """The median cost of the last good runs; what the failed run used may raise it. No good run: unknown."""
    unit = budget.unit if budget else RUN_HOURS
    usual = memory.usual_cost(unit)
    if usual is None:
        hours = memory.usual_cost(RUN_HOURS)
        usual = in_unit(Cost(amount=hours), unit, rates) if hours is not None else None
    if usual is None:
        return None
    used = in_unit(failure.cost, unit, rates) if failure and failure.cost else None
    return Cost(amount=max(usual, used or 0.0), unit=unit)


def _allowance(key: JobKey, policy: JobPolicy, booked: Mapping[Scope, float], now: datetime) -> Allowance | None:
    """What is left of job and team; a team budget in another unit than the job's counts as used up: an owner decides."""
    if policy.rerun.budget is None:
        return None
    unit = policy.rerun.budget.unit
    left: dict[str, float] = {}
    for scope, limit in scopes_of(key, policy, now).items():
        rest = limit - booked.get(scope, 0.0) if scope.unit == unit else 0.0
        left[scope.name.split(":", 1)[0]] = max(0.0, rest)
    return Allowance(unit=unit, job=left.get("job"), team=left.get("team"))


def _newer(incidents: JobIncidents, about: Incident | None) -> int | None:
    """The number of a later occurrence of the record, where one is known."""
    if about is None:
        return None
    near = filter(None, (incidents.unresolved, *incidents.in_force, incidents.newest_settled))
    numbers = [one.number for one in near if one.record == about.record and one.number > about.number]
    return max(numbers, default=None)


def _reruns(time: datetime | None, rows: tuple[RunRow, ...], failure: Failure | None) -> int:
    """Reruns of a nominal time so far, whoever asked: its runs and generations beyond the first."""
    generations = {(row.run.run_id, row.run.generation) for row in rows}
    counted = len(generations) - 1 if generations else 0
    told = failure.run.generation if failure is not None and failure.run.nominal_time == time else 0
    return max(counted, told, max((row.run.generation for row in rows), default=0))


def _good(rows: tuple[RunRow, ...]) -> bool:
    return any(row.state is RunState.SUCCEEDED for row in rows)


def _honoured(policy: JobPolicy, memory: JobMemory) -> JobPolicy:
    """A job whose owner switched off alerting at its scheduler is watched, and nobody is called."""
    return replace(policy, mode=Mode.OBSERVE) if memory.quiet else policy


def _live(memory: JobMemory, now: datetime) -> frozenset[datetime | None]:
    """Nominal times with a living run; one that was never heard of again is forgotten in the end."""
    patience = max(FORGET_LIVE_AFTER, FORGET_LIVE_FACTOR * (memory.usual_duration or timedelta()))
    return frozenset(live.run.nominal_time for live in memory.live if now - live.started_at <= patience)


def _unpaid(
    memory: JobMemory, policy: JobPolicy, interval: timedelta | None, failure: Failure | None
) -> tuple[Owed, ...]:
    """The failures that did not open an occurrence yet and do so with this one: the last of the row before it."""
    earlier = open_after(policy, interval) - 1
    if failure is None or earlier < 1:
        return ()
    before = [one for one in memory.streak if one.run != failure.run][-earlier:]
    by_time = {one.run.nominal_time: one for one in before if one.run.nominal_time != failure.run.nominal_time}
    return tuple(
        Owed(nominal_time=time, since=one.at, failure=one, plan=plan_of(policy, time)) for time, one in by_time.items()
    )
