"""What a person's Home tab shows: which teams they are of, and what of those waits for them. It changes nothing.

Whoever belongs to no team, or cannot be told to, gets a page without any record.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from bot.incidents.model import Status
from bot.incidents.people import Person, Standing
from bot.incidents.policy import Team
from bot.people import People
from bot.ports import Clock
from bot.render.home import MOST_MINE, MOST_OPEN, Home, HomeRecord, Seen, TeamHealth, Waits
from bot.render.lines import OwnerFault
from bot.render.snapshot import Snapshot
from bot.store import OpenLine, Reads
from bot.teams import Teams, person_trouble

SOON = timedelta(days=7)
ASKS_LOOKED_AT = 200
AGES = (timedelta(hours=1), timedelta(hours=4), timedelta(days=1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    """Who looks: the teams that they are of, those that they decide for and those that they manage."""

    id: str
    seen: Seen
    teams: tuple[Team, ...] = ()
    decides: frozenset[str] = frozenset()
    manages: frozenset[str] = frozenset()
    admin: bool = False

    def may_decide(self, team: str) -> bool:
        return self.admin or team in self.decides


@dataclass(frozen=True, slots=True, kw_only=True)
class _Waiting:
    """An open record that waits for the viewer, or (`why` None) that they are on already."""

    line: OpenLine
    why: Waits | None = None
    asked_at: datetime | None = None


class Homes:
    """The use case; `snapshot_of` reads an occurrence as it stands now."""

    def __init__(
        self,
        *,
        reads: Reads,
        teams: Teams,
        people: Callable[[], People],
        snapshot_of: Callable[[int, int], Snapshot | None],
        clock: Clock,
    ) -> None:
        self._reads = reads
        self._teams = teams
        self._people = people
        self._snapshot_of = snapshot_of
        self._clock = clock

    def page(self, user: str) -> Home:
        """The page of the person with this chat id, as of now."""
        now = self._clock()
        viewer = self._viewer(user, now)
        if viewer.seen is not Seen.TEAM:
            return Home(seen=viewer.seen, at=now)
        with self._reads.at_once():
            return self._page(viewer, now)

    def marked_in_chat(self, team: str, cause: str) -> tuple[tuple[int, int], ...]:
        """The occurrences through which a team's marks on a cause are changed: one of each job that bears one."""
        return tuple(name for one in self._teams.named([team]) for name in self._teams.marked_in_chat(one, cause))

    def _viewer(self, user: str, now: datetime) -> Viewer:
        people = self._people()
        if people.read_at is None:
            return Viewer(id=user, seen=Seen.UNSURE)
        if person_trouble(user, people) is not None:
            return Viewer(id=user, seen=Seen.NOBODY)
        person = Person(id=user)
        admin = self._teams.directory(None, now).standing(person, now) is Standing.ADMIN
        related = [team for team in self._teams.every() if _is_of(team, user, people)]
        standing = {team.name: self._teams.directory(team, now).standing(person, now) for team in related}
        manages = frozenset(team.name for team in related if _manages(team, user, people))
        decides = frozenset(name for name, found in standing.items() if found.decides)
        of = tuple(team for team in related if team.name in decides | manages or _is_on_rota(team, user, people))
        if not of and not admin:
            unsure = Standing.UNSURE in standing.values()
            return Viewer(id=user, seen=Seen.UNSURE if unsure else Seen.NOBODY)
        return Viewer(id=user, seen=Seen.TEAM, teams=of, decides=decides, manages=manages, admin=admin)

    def _page(self, viewer: Viewer, now: datetime) -> Home:
        lines = [(line, self._teams.of(line.job)) for line in self._reads.open_lines()]
        names = frozenset(team.name for team in viewer.teams)
        waiting = self._waiting(viewer, lines, names)
        rest = [line for line, team in lines if (team in names or not names) and _name(line) not in waiting]
        rest.sort(key=lambda line: line.held_by is not None)
        mine = [self._record(viewer, one.line, one) for one in [*waiting.values()][:MOST_MINE]]
        held = sum(one.why is None for one in waiting.values())
        shown = [self._record(viewer, line) for line in rest[:MOST_OPEN]]
        watched = names if not viewer.admin or names else frozenset(team.name for team in self._teams.every())
        return Home(
            seen=Seen.TEAM,
            at=now,
            zone=next((team.hours.zone for team in viewer.teams if team.hours), "UTC"),
            teams=tuple(team.name for team in viewer.teams),
            mine=tuple(record for record in mine if record is not None and record.waits),
            mine_count=len(waiting) - held,
            held=tuple(record for record in mine if record is not None and not record.waits),
            held_count=held,
            open=tuple(record for record in shown if record is not None),
            open_count=len(rest),
            marks=tuple(line for team in viewer.teams for line in self._teams.marks(team, now)),
            ending=self._teams.ending(watched, before=now + SOON),
            faults=self._faults(viewer),
            health=self._health(viewer, lines, now),
            decides=viewer.decides,
            sees_health=viewer.admin or bool(viewer.manages),
        )

    def _waiting(
        self, viewer: Viewer, lines: Sequence[tuple[OpenLine, str]], names: frozenset[str]
    ) -> dict[tuple[int, int], _Waiting]:
        """What waits for the person: their yes or no, then what they were asked, then what they have taken."""
        approvals = [
            _Waiting(line=line, why=Waits.APPROVAL)
            for line, team in lines
            if line.status is Status.AWAITING_APPROVAL and viewer.may_decide(team)
        ]
        unheld = [line for line, team in lines if team in names and line.held_by is None]
        held = [_Waiting(line=line) for line, _ in lines if line.held_by == viewer.id]
        found: dict[tuple[int, int], _Waiting] = {}
        for one in (*approvals, *self._asked(viewer, unheld), *held):
            found.setdefault(_name(one.line), one)
        return found

    def _asked(self, viewer: Viewer, unheld: Sequence[OpenLine]) -> Iterator[_Waiting]:
        """Those of which an ask named the person, or a group that they are in."""
        asks = self._reads.asks_of([_name(line) for line in unheld[-ASKS_LOOKED_AT:]])
        groups = self._people().groups_of(viewer.id)
        for line in unheld:
            mine = [ask.at for ask in asks.get(_name(line), ()) if _names(ask.content, viewer.id, groups)]
            if mine:
                yield _Waiting(line=line, why=Waits.ASKED, asked_at=mine[-1])

    def _record(self, viewer: Viewer, line: OpenLine, waiting: _Waiting | None = None) -> HomeRecord | None:
        snapshot = self._snapshot_of(line.record, line.number)
        if snapshot is None:
            return None
        return HomeRecord(
            snapshot=snapshot,
            decides=viewer.may_decide(snapshot.team),
            holds=line.held_by == viewer.id,
            waits=waiting.why if waiting else None,
            asked_at=waiting.asked_at if waiting else None,
            url=self._teams.url_of(line.record, line.number),
        )

    def _faults(self, viewer: Viewer) -> tuple[OwnerFault, ...]:
        if viewer.admin:
            return self._teams.faults()
        return tuple(fault for team in viewer.teams for fault in self._teams.faults_of(team))

    def _health(self, viewer: Viewer, lines: Sequence[tuple[OpenLine, str]], now: datetime) -> tuple[TeamHealth, ...]:
        """How old the open records are, of the teams that the person manages; an admin sees every team's."""
        names = [team.name for team in self._teams.every() if viewer.admin or team.name in viewer.manages]
        if viewer.admin and any(not team for _, team in lines):
            names.append("")
        found = [_health_of(name, [line for line, team in lines if team == name], now) for name in names]
        return tuple(sorted(found, key=lambda one: -one.open))


def _health_of(team: str, lines: Sequence[OpenLine], now: datetime) -> TeamHealth:
    ages = [now - line.opened_at for line in lines]
    below = [sum(age < most for age in ages) for most in AGES]
    return TeamHealth(
        team=team,
        open=len(lines),
        under_1h=below[0],
        under_4h=below[1] - below[0],
        under_1d=below[2] - below[1],
        older=len(lines) - below[2],
        unattended=sum(line.held_by is None for line in lines),
    )


def _is_of(team: Team, user: str, people: People) -> bool:
    groups = {group for group in (team.usergroup, team.team_usergroup) if group}
    named = user in _ids(team.members, people) or _is_on_rota(team, user, people)
    return named or _manages(team, user, people) or bool(groups & people.groups_of(user))


def _is_on_rota(team: Team, user: str, people: People) -> bool:
    """Also between shifts, when they decide nothing."""
    return team.rota is not None and user in _ids(team.rota.members, people)


def _manages(team: Team, user: str, people: People) -> bool:
    return team.manager is not None and user in _ids([team.manager], people)


def _ids(names: Iterable[str], people: People) -> set[str]:
    return {people.id_of(name) or name for name in names}


def _names(ask: Mapping[str, Any], user: str, groups: frozenset[str]) -> bool:
    """Whether the ask named this person, or a group that they are in."""
    called = {mention.get("id") for mention in ask.get("mention", ())} | {ask.get("address")}
    return user in called or bool(called & groups)


def _name(line: OpenLine) -> tuple[int, int]:
    return line.record, line.number
