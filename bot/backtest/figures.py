"""The figures of a backtest, counted in the same way in what happened and in what was replayed. Pure; it looks nothing up."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, time

from bot.backtest.history import PastAsk, PastOccurrence, PastRerun
from bot.incidents import calendar
from bot.incidents.effects import RerunResult
from bot.incidents.keys import JobKey
from bot.incidents.model import UNRESOLVED
from bot.incidents.policy import Hours, Team

RELEASED = "released"
"""The result of a rerun that never ran."""
DAYS, MORNING, EVENING = tuple(range(7)), time(7), time(22)
_LIVING = frozenset(str(status) for status in UNRESOLVED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """`tried` are first reruns of their times, `known` those of them whose end is known, `good` those that succeeded."""

    opened: int = 0
    unresolved: int = 0
    automatic: int = 0
    approved: int = 0
    costs: Mapping[str, float] = field(default_factory=dict)
    tried: int = 0
    known: int = 0
    good: int = 0
    asks: int = 0
    night_asks: int = 0

    @property
    def reruns(self) -> int:
        return self.automatic + self.approved

    def cost(self, unit: str) -> float:
        return self.costs.get(unit, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What was counted in one database; `unknown` are the keys of reruns whose end nobody knows."""

    occurrences: tuple[PastOccurrence, ...]
    reruns: tuple[PastRerun, ...]
    asks: tuple[PastAsk, ...]
    unknown: frozenset[str] = frozenset()

    def of(self, which: Callable[[JobKey], bool]) -> "Measured":
        """Of these jobs only."""
        return Measured(
            occurrences=tuple(one for one in self.occurrences if which(one.job)),
            reruns=tuple(one for one in self.reruns if which(one.job)),
            asks=tuple(one for one in self.asks if which(one.job)),
            unknown=self.unknown,
        )

    def figures(self, team_of: Callable[[JobKey], Team | None]) -> Figures:
        made = [one for one in self.reruns if one.result != RELEASED]
        first = [one for one in made if one.first]
        known = [one for one in first if one.result is not None and one.key not in self.unknown]
        return Figures(
            opened=len(self.occurrences),
            unresolved=sum(one.status in _LIVING for one in self.occurrences),
            automatic=sum(one.automatic for one in made),
            approved=sum(not one.automatic for one in made),
            costs=_costs(made),
            tried=len(first),
            known=len(known),
            good=sum(one.result == RerunResult.SUCCEEDED for one in known),
            asks=len(self.asks),
            night_asks=sum(at_night(team_of(one.job), one.at) for one in self.asks),
        )

    @property
    def jobs(self) -> frozenset[JobKey]:
        found = {one.job for one in self.occurrences} | {one.job for one in self.reruns}
        return frozenset(found | {one.job for one in self.asks})


@dataclass(frozen=True, slots=True, kw_only=True)
class Openings:
    """How the incidents of the replay are opened compared with what happened; `new` are those that were none then."""

    same: int = 0
    earlier: int = 0
    later: int = 0
    never: int = 0
    new: int = 0


def at_night(team: Team | None, at: datetime) -> bool:
    """Whether somebody of the team is asked outside its hours, or between 22 and 7 where it names none."""
    if team is not None and team.hours is not None:
        return not calendar.within(team.hours, at)
    zone = team.rota.zone if team is not None and team.rota is not None else "UTC"
    return not calendar.within(Hours(days=DAYS, starts=MORNING, ends=EVENING, zone=zone), at)


def openings(happened: Iterable[PastOccurrence], replayed: Iterable[PastOccurrence]) -> Openings:
    """Match the troubles of each job: one opened at the same instant, else one that was open at the same time."""
    theirs: dict[JobKey, list[PastOccurrence]] = {}
    for one in replayed:
        theirs.setdefault(one.job, []).append(one)
    same = earlier = later = never = 0
    left: list[PastOccurrence] = []
    for one in happened:
        found = next((each for each in theirs.get(one.job, ()) if each.opened_at == one.opened_at), None)
        if found is None:
            left.append(one)
        else:
            theirs[one.job].remove(found)
            same += 1
    for one in left:
        found = next((each for each in theirs.get(one.job, ()) if _overlap(one, each)), None)
        if found is None:
            never += 1
            continue
        theirs[one.job].remove(found)
        earlier += found.opened_at < one.opened_at
        later += found.opened_at > one.opened_at
    return Openings(same=same, earlier=earlier, later=later, never=never, new=sum(map(len, theirs.values())))


def _overlap(one: PastOccurrence, other: PastOccurrence) -> bool:
    begins = max(one.opened_at, other.opened_at)
    return all(each.closed_at is None or begins <= each.closed_at for each in (one, other))


def _costs(made: Iterable[PastRerun]) -> dict[str, float]:
    found: dict[str, float] = {}
    for one in made:
        found[one.unit] = found.get(one.unit, 0.0) + (one.amount or 0.0)
    return {unit: round(amount, 6) for unit, amount in sorted(found.items())}
