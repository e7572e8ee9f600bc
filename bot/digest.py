"""A team's digest: one hand-over message on each of its working days, written when it is due. It sends nothing.

The row in the outbox is the guard: whatever stops in between, no team gets two for a day. A day on which nothing ran
before the team's hours were over goes without.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from bot.incidents.calendar import at_local
from bot.incidents.chronic import TIMES, WITHIN
from bot.incidents.model import Incident, Outcome, Status
from bot.incidents.policy import Hours, Team
from bot.people import People
from bot.render.digest import MOST_LINES, MOST_OPEN, Digest, NoticeKind, content_of
from bot.render.lines import ChronicLine, DecidedLine, StandingLine
from bot.store import Chronic, NewNotice, OpenLine, Storage
from bot.teams import Teams

SOON = timedelta(days=7)
LOOKED_BACK = 14
"""Days: how far back the last digest is looked for."""

STATES = {
    Status.OPEN: "failed",
    Status.RERUNNING: "failed; a rerun is under way",
    Status.AWAITING_APPROVAL: "failed; a rerun waits for approval",
    Status.VERIFYING: "is said to be fixed; no good run yet",
}
LATE = {"late.not_started": "has not started", "late.not_finished": "has not finished in time"}
DECIDED = {Status.PAUSED: "is paused", Status.RETIRED: "is retired", Status.LEFT: "is left as it is"}
SETTLED = {Outcome.FIXED: "was fixed", Outcome.NOT_NEEDED: "needs no run any more"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A team's digest of one local day: due from `at`, not worth writing from `ends` on."""

    day: date
    at: datetime
    ends: datetime


def turn_on(team: Team, day: date) -> Turn | None:
    """The team's turn on that local day; None on a day without hours, or for a team without a digest."""
    hours = team.hours
    if hours is None or team.digest_at is None or team.channel is None or day.weekday() not in hours.days:
        return None
    at = at_local(day, team.digest_at, hours.zone)
    return Turn(day=day, at=at, ends=at_local(day, hours.ends, hours.zone))


def local_day(hours: Hours, now: datetime) -> date:
    return now.astimezone(ZoneInfo(hours.zone)).date()


def key_of(team: Team, day: date) -> str:
    return f"digest:{team.name}:{day.isoformat()}"


class Digests:
    """The use case of the clock that leads; `written` is told when there is something to deliver."""

    def __init__(
        self, *, storage: Storage, teams: Teams, people: Callable[[], People], written: Callable[[], None]
    ) -> None:
        self._storage = storage
        self._teams = teams
        self._people = people
        self._written = written

    def step(self, now: datetime) -> datetime | None:
        """Write every digest that is due at `now` and not there yet; returns when the next one is due."""
        teams = [team for team in self._teams.every() if team.hours is not None and team.digest_at is not None]
        due = {key_of(team, turn.day): (team, turn) for team in teams if (turn := _due(team, now)) is not None}
        there = self._storage.reads.written_at(due) if due else {}
        wrote = [self._write(key, team, turn, now) for key, (team, turn) in due.items() if key not in there]
        if any(wrote):
            self._written()
        return min((turn.at for team in teams if (turn := _next(team, now)) is not None), default=None)

    def _write(self, key: str, team: Team, turn: Turn, now: datetime) -> bool:
        found = self._digest(team, since=self._since(team, turn), now=now)
        content = content_of(NoticeKind.DIGEST, found, until=turn.ends)
        notice = NewNotice(key=key, channel=team.channel or "", content=content, due_at=now)
        with self._storage.begin_write(born_leased=False, now=now) as uow:
            new = uow.add_notice(notice)
            uow.commit()
        return new

    def _since(self, team: Team, turn: Turn) -> datetime:
        """When the last digest was written; without one, when the last before this was due."""
        earlier = [one for back in range(1, LOOKED_BACK + 1) if (one := turn_on(team, _before(turn.day, back)))]
        there = self._storage.reads.written_at([key_of(team, one.day) for one in earlier])
        return max(there.values(), default=earlier[0].at if earlier else turn.at - timedelta(days=1))

    def _digest(self, team: Team, *, since: datetime, now: datetime) -> Digest:
        reads = self._storage.reads
        with reads.at_once():
            lines = [line for line in reads.open_lines() if self._teams.of(line.job) == team.name]
            lines.sort(key=lambda line: line.held_by is not None)
            settled = reads.settled_since(self._teams.jobs_of([team.name]), since=since)
            decided = [line for one in settled if (line := self._decided(one)) is not None]
            ending = self._teams.ending([team.name], before=now + SOON)
            chronic = reads.chronic(self._teams.jobs_of([team.name]), since=now - WITHIN, times=TIMES)
            marks = [mark for mark in self._teams.marks(team, now) if mark.confirm is not None]
            faults = self._teams.faults_of(team)
            return Digest(
                team=team.name,
                zone=team.hours.zone if team.hours else "UTC",
                at=now,
                since=since,
                open=tuple(self._standing(line) for line in lines[:MOST_OPEN]),
                open_count=len(lines),
                decided=tuple(decided[-MOST_LINES:]),
                decided_count=len(decided),
                recovered=len(settled) - len(decided),
                ending=ending[:MOST_LINES],
                ending_count=len(ending),
                chronic=tuple(self._chronic(one) for one in chronic[:MOST_LINES]),
                chronic_count=len(chronic),
                marks=tuple(marks[:MOST_LINES]),
                marks_count=len(marks),
                faults=faults[:MOST_LINES],
                faults_count=len(faults),
            )

    def _standing(self, line: OpenLine) -> StandingLine:
        return StandingLine(
            job=line.job.name,
            state=LATE.get(line.cause, STATES[line.status]) if line.status is Status.OPEN else STATES[line.status],
            since=line.opened_at,
            on_it=self._people().name(line.held_by) if line.held_by else None,
            until=line.held_until,
            url=self._teams.url_of(line.record, line.number),
        )

    def _chronic(self, one: Chronic) -> ChronicLine:
        return ChronicLine(
            job=one.job.name,
            cause=self._teams.title(one.cause),
            times=one.times,
            last_at=one.last_at,
            url=self._teams.url_of(one.record, self._storage.reads.occurrences_of(record=one.record)),
        )

    def _decided(self, incident: Incident) -> DecidedLine | None:
        """A person's decision that settled it; None when it recovered without one."""
        decision = incident.decision if incident.status in DECIDED else None
        what = DECIDED.get(incident.status) or (SETTLED.get(incident.outcome) if incident.outcome else None)
        if what is None:
            return None
        if decision is not None and decision.silences_only:
            what = "is silenced"
        by = (
            decision.by if decision else incident.fix.by if incident.outcome is Outcome.FIXED and incident.fix else None
        )
        return DecidedLine(
            job=incident.job.name,
            what=what,
            at=incident.closed_at or incident.opened_at,
            by=str(by.person) if by else None,
            until=decision.until if decision else None,
            reason=decision.reason if decision else "",
            url=self._teams.url_of(incident.record, incident.number),
        )


def _due(team: Team, now: datetime) -> Turn | None:
    turn = turn_on(team, local_day(team.hours, now)) if team.hours else None
    return turn if turn is not None and turn.at <= now < turn.ends else None


def _next(team: Team, now: datetime) -> Turn | None:
    """The team's next turn that is still to come."""
    if team.hours is None:
        return None
    today = local_day(team.hours, now)
    turns = (turn_on(team, today + timedelta(days=ahead)) for ahead in range(8))
    return next((turn for turn in turns if turn is not None and turn.at > now), None)


def _before(day: date, back: int) -> date:
    return day - timedelta(days=back)
