"""A team's digest: one hand-over message on each of its working days, written when it is due. It sends nothing.

It goes to the team's channel; to its mail address where it has none; and to its manager where only mail reaches them. The
row in the outbox is the guard: whatever stops in between, nobody gets two for a day. A day on which nothing ran before the
team's hours were over goes without.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from bot.incidents.calendar import at_local
from bot.incidents.chronic import TIMES, WITHIN
from bot.incidents.model import Incident, Outcome, Status
from bot.incidents.people import Destination
from bot.incidents.policy import Door, Hours, Team
from bot.incidents.reach import merged
from bot.people import People
from bot.render.digest import MOST_LINES, MOST_OPEN, Digest, NoticeKind, content_of
from bot.render.lines import ChronicLine, DecidedLine, StandingLine
from bot.store import Chronic, NewMail, NewNotice, OpenLine, Storage
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
    if hours is None or team.digest_at is None or day.weekday() not in hours.days:
        return None
    at = at_local(day, team.digest_at, hours.zone)
    return Turn(day=day, at=at, ends=at_local(day, hours.ends, hours.zone))


def local_day(hours: Hours, now: datetime) -> date:
    return now.astimezone(ZoneInfo(hours.zone)).date()


def key_of(team: Team, day: date, there: Destination) -> str:
    of_day = f"digest:{team.name}:{day.isoformat()}"
    return f"{of_day}:{there.address.lower()}" if there.door is Door.EMAIL else of_day


class Digests:
    """The use case of the clock that leads; `written` is told when there is something to deliver. `mails`: mail is sent."""

    def __init__(
        self,
        *,
        storage: Storage,
        teams: Teams,
        people: Callable[[], People],
        written: Callable[[], None],
        mails: bool = False,
    ) -> None:
        self._mails = mails
        self._storage = storage
        self._teams = teams
        self._people = people
        self._written = written

    def step(self, now: datetime) -> datetime | None:
        """Write every digest that is due at `now` and not there yet; returns when the next one is due."""
        teams = [team for team in self._teams.every() if team.hours is not None and team.digest_at is not None]
        due = {
            key_of(team, turn.day, there): (team, turn, there)
            for team in teams
            if (turn := _due(team, now)) is not None
            for there in self._readers(team, now)
        }
        known = self._known(due) if due else frozenset()
        wrote = [self._write(key, *due[key], now) for key in due if key not in known]
        if any(wrote):
            self._written()
        return min((turn.at for team in teams if (turn := _next(team, now)) is not None), default=None)

    def _readers(self, team: Team, now: datetime) -> tuple[Destination, ...]:
        """Where the team's digest goes."""
        there = (Destination(door=Door.CHANNEL, address=team.channel),) if team.channel is not None else ()
        if not self._mails:
            return there
        directory = self._teams.directory(team, now)
        manager = tuple(one for one in directory.manager_mail if one.address in directory.mail_alone)
        return merged(there or (directory.team_mail if team.email else ()), manager)

    def _known(self, keys: Collection[str]) -> frozenset[str]:
        """Those that were written already, or had nothing to say."""
        reads = self._storage.reads
        return frozenset((*reads.written_at(keys), *reads.outcomes(keys=keys)))

    def _write(self, key: str, team: Team, turn: Turn, there: Destination, now: datetime) -> bool:
        found = self._digest(team, since=self._since(team, turn, there), now=now)
        content = content_of(NoticeKind.DIGEST, found, until=turn.ends)
        if there.door is Door.EMAIL and found.says_something:
            mail = NewMail(key=key, address=there.address, content=content, due_at=now)
            return self._storage.put_mail(mail, now=now)
        with self._storage.begin_write(born_leased=False, now=now) as uow:
            if there.door is Door.EMAIL:
                uow.remember_outcome(key=key, outcome={"told": "nothing"}, at=now)
                new = False
            else:
                new = uow.add_notice(NewNotice(key=key, channel=there.address, content=content, due_at=now))
            uow.commit()
        return new

    def _since(self, team: Team, turn: Turn, there: Destination) -> datetime:
        """When the last digest was written there; without one, when the last before this was due."""
        earlier = [one for back in range(1, LOOKED_BACK + 1) if (one := turn_on(team, _before(turn.day, back)))]
        known = self._storage.reads.written_at([key_of(team, one.day, there) for one in earlier])
        return max(known.values(), default=earlier[0].at if earlier else turn.at - timedelta(days=1))

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
