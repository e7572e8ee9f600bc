"""A team's jobs, what of them was put aside and ends soon, and its safe marks with how reruns under them went.

It changes nothing; a picture is as old as the reads behind it.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.incidents.keys import JobKey
from bot.incidents.memory import written_marks
from bot.incidents.model import AtEnd, Incident, OwnerDecision, Status
from bot.incidents.people import Directory
from bot.incidents.policy import JobPolicy, SafeMark, Team
from bot.people import People
from bot.policies.model import Policies
from bot.render.lines import Confirm, EndingLine, MarkLine, OwnerFault
from bot.store import JobRow, Reads, RerunRate
from bot.teams.owners import faults, team_faults

RATED = timedelta(days=90)
OLD = timedelta(days=90)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Marked:
    """A mark on one job."""

    mark: SafeMark
    in_file: bool
    suspended: bool


class Teams:
    """Handed to the Home tab and the digest; `thread_url` makes the address of a message from channel and `ts`.

    `mails`: mail is sent, so that whoever has an address is reached.
    """

    def __init__(
        self,
        *,
        reads: Reads,
        policies: Callable[[], Policies],
        people: Callable[[], People],
        thread_url: Callable[[str, str], str | None],
        mails: bool = False,
    ) -> None:
        self._mails = mails
        self._reads = reads
        self._policies = policies
        self._people = people
        self._thread_url = thread_url

    def named(self, names: Collection[str]) -> tuple[Team, ...]:
        """The teams of these names, those that there are, in the order of policies.yaml."""
        return tuple(team for team in self._policies().teams.values() if team.name in names)

    def every(self) -> tuple[Team, ...]:
        return tuple(self._policies().teams.values())

    def directory(self, team: Team | None, now: datetime) -> Directory:
        """Who decides for the team's jobs."""
        return self._people().directory(JobPolicy(team=team, admins=self._policies().admins), now)

    def of(self, job: JobKey) -> str:
        """The name of the job's team; empty without one."""
        team = self._policies().job(job).team
        return team.name if team else ""

    def jobs_of(self, names: Collection[str]) -> tuple[JobKey, ...]:
        """All known jobs of these teams."""
        return tuple(job for job in self._reads.job_keys() if self.of(job) in names)

    def url_of(self, record: int, number: int) -> str | None:
        """The address of the occurrence's thread; None when it has none yet."""
        thread = self._reads.conversation_of(record=record, number=number)
        return self._thread_url(thread[0], thread[1]) if thread is not None and thread[1] is not None else None

    def faults(self) -> tuple[OwnerFault, ...]:
        """Every owner record of policies.yaml that leads to nobody."""
        return faults(self._policies(), self._people(), mails=self._mails)

    def faults_of(self, team: Team) -> tuple[OwnerFault, ...]:
        return team_faults(team, self._people(), mails=self._mails)

    def ending(self, names: Collection[str], *, before: datetime) -> tuple[EndingLine, ...]:
        """The pauses and leaves of these teams that end before then, the first to end first."""
        found = ((one, one.decision) for one in self._reads.ending(before=before) if self.of(one.job) in names)
        return tuple(self._ending(one, held) for one, held in found if held is not None)

    def marks(self, team: Team, now: datetime) -> tuple[MarkLine, ...]:
        """The team's safe marks by cause, those to be confirmed first."""
        rows = self._reads.jobs_of(self.jobs_of([team.name]))
        rates = self._reads.rerun_rates([row.key for row in rows], since=now - RATED)
        directory = self.directory(team, now)
        grouped: defaultdict[tuple[str, bool, str | None], list[_Marked]] = defaultdict(list)
        for row in rows:
            for one in self._marks_on(row):
                grouped[one.mark.cause, one.in_file, one.mark.void].append(one)
        lines = [self._mark(team, marked, rates, directory, now) for marked in grouped.values()]
        return tuple(sorted(lines, key=lambda line: (line.confirm is None, line.title, line.in_file)))

    def marked_in_chat(self, team: Team, cause: str) -> tuple[tuple[int, int], ...]:
        """An occurrence of each job of the team that bears a mark on this cause made in the chat, where it can be changed."""
        rows = self._reads.jobs_of(self.jobs_of([team.name]))
        marked = [row.key for row in rows if any(mark.cause == cause for mark in row.memory.marks)]
        return tuple(sorted(self._reads.newest_of(marked).values())) if marked else ()

    def _marks_on(self, row: JobRow) -> Iterator[_Marked]:
        suspended = row.memory.suspended()
        for mark in written_marks(row.memory, self._policies().job(row.key).safe_marks):
            yield _Marked(mark=mark, in_file=True, suspended=mark.cause in suspended)
        for mark in row.memory.marks:
            yield _Marked(mark=mark, in_file=False, suspended=mark.cause in suspended)

    def _mark(
        self, team: Team, marked: list[_Marked], rates: dict[str, RerunRate], directory: Directory, now: datetime
    ) -> MarkLine:
        first = marked[0]
        cause, since = first.mark.cause, min(one.mark.since for one in marked)
        rate = rates.get(cause, RerunRate())
        markers = {one.mark.by for one in marked}
        return MarkLine(
            team=team.name,
            cause=cause,
            title=self.title(cause),
            by=tuple(sorted(self._people().name(one) for one in markers)),
            since=since,
            jobs=len(marked),
            in_file=first.in_file,
            void=_void(first.mark, team),
            suspended=sum(one.suspended for one in marked),
            worked=rate.worked,
            ended=rate.ended,
            confirm=self._confirm(first.mark, team, markers, since, directory, now),
        )

    def _confirm(
        self,
        mark: SafeMark,
        team: Team,
        markers: Iterable[str],
        since: datetime,
        directory: Directory,
        now: datetime,
    ) -> Confirm | None:
        if _void(mark, team):
            return Confirm.VOID
        people = self._people()
        ids = {people.known_as(marker) for marker in markers}
        if people.read_at is not None and ids - (directory.owners - directory.inactive):
            return Confirm.LEFT
        return Confirm.OLD if since < now - OLD else None

    def title(self, cause: str) -> str:
        """What the cause is called."""
        known = {rule.id: rule.title for rule in self._policies().every_rule()}
        return known.get(cause) or cause

    def _ending(self, incident: Incident, held: OwnerDecision) -> EndingLine:
        left = incident.status is Status.LEFT
        then = "asked" if held.at_end is AtEnd.ASK else "resumes"
        return EndingLine(
            job=incident.job.name,
            team=self.of(incident.job),
            what="left" if left else "silenced" if held.silences_only else "paused",
            until=held.until or incident.opened_at,
            by=str(held.by.person),
            then="judged" if left or held.silences_only else then,
            reason=held.reason,
            url=self.url_of(incident.record, incident.number),
        )


def _void(mark: SafeMark, team: Team) -> str | None:
    """Why the mark counts for nothing: a job that moved to another team loses its marks."""
    if mark.void is None and mark.team != team.name:
        return f"marked by {mark.team}"
    return mark.void
