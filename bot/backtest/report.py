"""What a backtest says: both sides, the difference by team and by job, what is not known, which limits are exceeded. Pure."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from bot.backtest.figures import Figures, Measured, Openings, openings
from bot.backtest.player import Played
from bot.incidents.keys import JobKey
from bot.incidents.policy import Team

MOST_JOBS = 10
NO_TEAM = "(no team)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a policy may bring at most; None: as much as it likes."""

    cost: float | None = None
    unit: str = "run_hours"
    night_asks: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One row: a team, a job or everything."""

    name: str
    happened: Figures
    replayed: Figures

    @property
    def weight(self) -> float:
        """How much it differs."""
        was, would_be = self.happened, self.replayed
        pairs = [
            (was.opened, would_be.opened),
            (was.automatic, would_be.automatic),
            (was.approved, would_be.approved),
            (was.asks, would_be.asks),
        ]
        units = was.costs.keys() | would_be.costs.keys()
        costs = [abs(would_be.cost(unit) - was.cost(unit)) for unit in units]
        return sum(abs(after - before) for before, after in pairs) + sum(costs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """`begins`: from when on events were played, to warm up; only what lies in `[since, until)` is counted."""

    policies: str
    begins: datetime
    since: datetime
    until: datetime
    everything: Compared
    teams: tuple[Compared, ...]
    jobs: tuple[Compared, ...]
    openings: Openings
    played: Played
    unknown: int
    assumed: tuple[str, ...]
    exceeded: tuple[str, ...]


def report(
    *,
    policies: str,
    period: tuple[datetime, datetime, datetime],
    happened: Measured,
    replayed: Measured,
    played: Played,
    team_of: Callable[[JobKey], Team | None],
    limits: Limits,
) -> Report:
    """Compare what happened with what was replayed; `period` is begins, since, until."""
    begins, since, until = period
    everything = _compared("everything", happened, replayed, team_of)
    return Report(
        policies=policies,
        begins=begins,
        since=since,
        until=until,
        everything=everything,
        teams=tuple(_by_team(happened, replayed, team_of)),
        jobs=tuple(_by_job(happened, replayed, team_of)),
        openings=openings(happened.occurrences, replayed.occurrences),
        played=played,
        unknown=sum(one.key in played.unknown for one in replayed.reruns),
        assumed=tuple(_assumed(played, begins, since)),
        exceeded=tuple(_exceeded(everything.replayed, limits)),
    )


def as_object(found: Report) -> dict[str, Any]:
    """The report for programs."""
    return {
        "policies": found.policies,
        "period": {
            "since": found.since.isoformat(),
            "until": found.until.isoformat(),
            "warmed_up_from": found.begins.isoformat(),
        },
        **_sides(found.everything),
        "openings": {each.name: getattr(found.openings, each.name) for each in fields(found.openings)},
        "teams": [{"team": one.name, **_sides(one)} for one in found.teams],
        "jobs": [{"job": one.name, **_sides(one)} for one in found.jobs],
        "played": {
            "events": found.played.events,
            "words": found.played.words,
            "words_not_applicable": found.played.inapplicable,
            "refused": found.played.refused,
            "reruns_not_known": found.unknown,
        },
        "assumed": list(found.assumed),
        "exceeded": list(found.exceeded),
    }


def _sides(one: Compared) -> dict[str, Any]:
    was, would_be = _plain(one.happened), _plain(one.replayed)
    difference = {name: would_be[name] - was[name] for name in was if name != "costs"}
    units = sorted(was["costs"].keys() | would_be["costs"].keys())
    costs = {unit: round(would_be["costs"].get(unit, 0.0) - was["costs"].get(unit, 0.0), 6) for unit in units}
    return {"happened": was, "replayed": would_be, "difference": {**difference, "costs": costs}}


def _plain(figures: Figures) -> dict[str, Any]:
    return {each.name: getattr(figures, each.name) for each in fields(figures)} | {"costs": dict(figures.costs)}


def _compared(name: str, happened: Measured, replayed: Measured, team_of: Callable[[JobKey], Team | None]) -> Compared:
    return Compared(name=name, happened=happened.figures(team_of), replayed=replayed.figures(team_of))


def _by_team(happened: Measured, replayed: Measured, team_of: Callable[[JobKey], Team | None]) -> Iterator[Compared]:
    teams = {job: team.name if (team := team_of(job)) is not None else NO_TEAM for job in happened.jobs | replayed.jobs}
    for name in sorted(set(teams.values())):

        def is_theirs(job: JobKey, name: str = name) -> bool:
            return teams[job] == name

        yield _compared(name, happened.of(is_theirs), replayed.of(is_theirs), team_of)


def _by_job(happened: Measured, replayed: Measured, team_of: Callable[[JobKey], Team | None]) -> list[Compared]:
    """The jobs that differ most, the most different first."""
    was, would_be = _apart(happened), _apart(replayed)
    nothing = Measured(occurrences=(), reruns=(), asks=())
    found = [
        _compared(str(job), was.get(job, nothing), would_be.get(job, nothing), team_of)
        for job in sorted(was.keys() | would_be.keys())
    ]
    differing = [one for one in found if one.weight > 0]
    return sorted(differing, key=lambda one: (-one.weight, one.name))[:MOST_JOBS]


def _apart(measured: Measured) -> dict[JobKey, Measured]:
    occurrences, reruns, asks = _grouped(measured.occurrences), _grouped(measured.reruns), _grouped(measured.asks)
    return {
        job: Measured(
            occurrences=tuple(occurrences.get(job, ())),
            reruns=tuple(reruns.get(job, ())),
            asks=tuple(asks.get(job, ())),
            unknown=measured.unknown,
        )
        for job in measured.jobs
    }


def _grouped(rows: tuple[Any, ...]) -> dict[JobKey, list[Any]]:
    found: dict[JobKey, list[Any]] = {}
    for one in rows:
        found.setdefault(one.job, []).append(one)
    return found


def _assumed(played: Played, begins: datetime, since: datetime) -> Iterator[str]:
    if begins == since:
        yield "nothing is recorded before the period: it begins without any memory of jobs and no open incident"
    else:
        yield f"incidents that were opened before {_written(begins)} are left out"
    if played.nobody:
        yield "the directory holds nobody yet: no ask reaches anybody, and none is counted"
    yield "people and groups as the directory knows them now; who spoke then may say the same again"
    yield "messages arrive at once; causes are those that were read then, never_safe is that of these policies"
    if played.unknown:
        yield "reruns whose end history does not know fail after the usual duration: cost and asks are upper bounds"
    if played.inapplicable:
        yield f"{played.inapplicable} words of people were about trouble that is not there: left out"
    if played.refused:
        yield f"{played.refused} events could not be taken in: see the log"


def _exceeded(figures: Figures, limits: Limits) -> Iterator[str]:
    cost = figures.cost(limits.unit)
    if limits.cost is not None and cost > limits.cost:
        yield f"--max-cost: {cost:g} {limits.unit}, at most {limits.cost:g}"
    if limits.night_asks is not None and figures.night_asks > limits.night_asks:
        yield f"--max-night-asks: {figures.night_asks}, at most {limits.night_asks}"


def _written(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
