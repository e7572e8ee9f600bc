"""What must hold at the end of every race, whatever its order was. It looks at tables and at the stand-ins, and changes nothing."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from sqlalchemy import select

from bot.incidents.canary import Stage
from bot.incidents.keys import Action
from bot.incidents.model import Incident, timers_of
from bot.incidents.policy import BudgetLimit
from bot.store import EffectState
from storage.queue_tables import outbox, timers, views
from storage.tables import budgets, gates, reruns
from tests.races.town import Town

ONCE = (Action.RERUN, Action.START)


def broken(town: Town) -> list[str]:
    """The rules that do not hold, in words."""
    with town.storage._database.read() as connection:
        rows = {
            table.name: connection.execute(select(table)).all()
            for table in (outbox, views, timers, budgets, reruns, gates)
        }
    return [*_outside(town), *_queue(rows), *_incidents(town, rows), *_money(town, rows), *_canaries(rows)]


def used(town: Town, scopes: str) -> float:
    """The automatic amounts in all budget rows whose scope begins so."""
    with town.storage._database.read() as connection:
        found = connection.execute(select(budgets)).all()
    return float(sum(row.automatic_used for row in found if row.scope.startswith(scopes)))


def _outside(town: Town) -> Iterator[str]:
    for deadlock in town.probes.deadlocks:
        yield f"a deadlock: {deadlock}"
    asked = Counter(request.key for request in town.scheduler.asked if request.action in ONCE)
    yield from (f"the scheduler was asked {times} times for {key}" for key, times in asked.items() if times > 1)
    posted = Counter((post.channel, post.message.key) for post in town.room.posted)
    yield from (f"{key} was posted {times} times" for key, times in posted.items() if times > 1)


def _queue(rows: dict[str, Any]) -> Iterator[str]:
    for row in (*rows["outbox"], *rows["views"]):
        if row.leased_by is not None:
            yield f"{row.key} is still leased by {row.leased_by}"
    for row in rows["outbox"]:
        if row.state in (EffectState.WAITING, EffectState.SENDING):
            yield f"{row.key} is still {row.state}"
    for row in rows["views"]:
        if row.shown_version != row.wanted_version:
            yield f"{row.key} shows version {row.shown_version}, not {row.wanted_version}"


def _incidents(town: Town, rows: dict[str, Any]) -> Iterator[str]:
    found = town.incidents()
    unresolved = Counter(str(one.job) for one in found if one.status.unresolved)
    yield from (f"{job} has {many} unresolved occurrences" for job, many in unresolved.items() if many > 1)
    for one in found:
        living = {
            (row.kind, row.due_at) for row in rows["timers"] if (row.record, row.number) == (one.record, one.number)
        }
        wanted = {(str(timer.kind), timer.due_at) for timer in timers_of(one)}
        if living != wanted:
            yield f"{one.id} has the timers {sorted(living)}, not {sorted(wanted)}"
        if one.status.unresolved and not living:
            yield f"{one.id} is {one.status} and nothing will ever happen to it"
        yield from _timeline(town, one)


def _timeline(town: Town, one: Incident) -> Iterator[str]:
    """Every version but those of which no word was said has its row, none comes from nowhere."""
    told = [row.version for row in town.storage.reads.timeline(record=one.record, number=one.number)]
    if told != sorted(told):
        yield f"the timeline of {one.id} is out of order: {told}"
    missing = set(range(1, one.version + 1)) - set(told)
    if missing:
        yield f"the timeline of {one.id} does not tell of the versions {sorted(missing)}"


def _money(town: Town, rows: dict[str, Any]) -> Iterator[str]:
    for row in rows["budgets"]:
        limit = _limit(town, row.scope)
        if limit is not None and row.automatic_used > limit.limit:
            yield f"{row.scope} used {row.automatic_used} of {limit.limit}"
    reserved: defaultdict[tuple[str, str], float] = defaultdict(float)
    for row in rows["reruns"]:
        for scope in row.scopes if row.automatic else ():
            reserved[scope.name, scope.unit] += row.amount or 0.0
    for row in rows["budgets"]:
        if abs(row.automatic_used - reserved[row.scope, row.unit]) > 1e-6:
            yield f"{row.scope} says {row.automatic_used}, its reruns {reserved[row.scope, row.unit]}"
    for request in town.scheduler.asked:
        booked = next((row for row in rows["reruns"] if row.key == request.key), None)
        if request.action in ONCE and booked is None:
            yield f"{request.key} was asked for and never booked"


def _canaries(rows: dict[str, Any]) -> Iterator[str]:
    """What a canary counts is what stands in the ledger, and no more are out than its wave has places for."""
    for known in (row.canary for row in rows["gates"] if row.canary is not None and row.canary.on):
        stages = Counter(row.stage for row in rows["reruns"] if row.cause == known.cause)
        out = stages[Stage.OUT] + stages[Stage.LET]
        counted = (known.planned, known.held, known.out)
        if counted != (stages[Stage.PLANNED], stages[Stage.HELD], out):
            yield f"the canary of {known.cause} counts {counted}, its reruns are {dict(stages)}"
        if known.gone > known.wave:
            yield f"{known.gone} went in a wave of {known.wave}"


def _limit(town: Town, scope: str) -> BudgetLimit | None:
    kind, _, name = scope.partition(":")
    if kind == "team":
        team = town.policies.team(name)
        return team.budget if team else None
    job = next(one.job for one in town.incidents() if str(one.job) == name)
    return town.policies.job(job).rerun.budget
