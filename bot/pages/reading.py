"""The use case behind the pages: each page as a value, read in one picture of the database. It changes nothing.

Who may see a page is decided before; how it looks is `bot.render.pages`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from fnmatch import translate
from re import compile as compiled

from bot.evidence.types import UNKNOWN
from bot.incidents.keys import JobKey
from bot.incidents.memory import JobMemory, marks_of
from bot.incidents.model import UNRESOLVED
from bot.pages.rows import Rows, run_row
from bot.people import People
from bot.policies.model import Policies
from bot.ports import Clock
from bot.render.pages import Happened, JobPage, RecordPage, RecordsPage, RerunRow, TeamPage, Wanted
from bot.render.snapshot import Snapshot
from bot.store import Booking, Reads, TimelineRow
from bot.store.page_reads import PageReads, RecordLine, RecordPlace, RecordsWanted
from bot.teams import Teams

ROWS = 50
RUNS = 50
OCCURRENCES = 30
EARLIER = 10
SIMILAR = 20
TIMELINE = 300
TEAM_ROWS = 50
TEAM_JOBS = 200
LATELY = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsAsked:
    """What the list is asked for: `shown` as its form has it, `wanted` as the storage reads it.

    `team` and `job` (a glob on `scheduler/job`) are empty where any will do; `before` is where the list goes on.
    """

    shown: Wanted = field(default_factory=Wanted)
    wanted: RecordsWanted = field(default_factory=lambda: RecordsWanted(statuses=UNRESOLVED))
    team: str = ""
    job: str = ""
    before: RecordPlace | None = None


class Pages:
    """Handed to the door; `snapshot_of` reads an occurrence as it stands now, `thread_of` the address of its thread."""

    def __init__(
        self,
        *,
        reads: Reads,
        page_reads: PageReads,
        teams: Teams,
        policies: Callable[[], Policies],
        people: Callable[[], People],
        snapshot_of: Callable[[int, int], Snapshot | None],
        thread_of: Callable[[int, int], str | None],
        clock: Clock,
    ) -> None:
        self._reads = reads
        self._page_reads = page_reads
        self._teams = teams
        self._policies = policies
        self._people = people
        self._snapshot_of = snapshot_of
        self._thread_of = thread_of
        self._clock = clock
        self._rows = Rows(policies=policies, people=people)

    def snapshot(self, record: int, number: int) -> Snapshot | None:
        return self._snapshot_of(record, number)

    def newest(self, record: int) -> int:
        """The number of the newest occurrence of the record; 0 when there is no such record."""
        return self._reads.occurrences_of(record=record)

    def record(self, record: int, number: int) -> RecordPage | None:
        """One occurrence, whole; None when there is none of that name."""
        with self._reads.at_once():
            snapshot = self._snapshot_of(record, number)
            if snapshot is None:
                return None
            timeline = self._reads.timeline(record=record, number=number)
            reruns = self._reads.reruns_of(record=record, number=number)
            return RecordPage(
                snapshot=snapshot,
                timeline=tuple(_happened(row) for row in timeline[-TIMELINE:]),
                happened_before=max(0, len(timeline) - TIMELINE),
                reruns=tuple(self._rerun(booking) for booking in reruns),
                occurrences=self._rows.of(self._page_reads.occurrence_lines(record=record, limit=OCCURRENCES)),
                earlier=self._rows.of(self._earlier(snapshot)),
                similar=self._rows.of(self._similar(snapshot), why=lambda line: _like(line, snapshot)),
                thread_url=self._thread_of(record, number),
            )

    def records(self, asked: RecordsAsked) -> RecordsPage:
        """A page of the list of records."""
        matches = compiled(translate(asked.job)).match if asked.job else None

        def keep(job: JobKey) -> bool:
            if asked.team and self._rows.team_of(job) != asked.team:
                return False
            return matches is None or matches(str(job)) is not None

        found = self._page_reads.record_lines(asked.wanted, keep=keep, before=asked.before, limit=ROWS)
        return RecordsPage(
            wanted=asked.shown,
            rows=self._rows.of(found.lines),
            teams=tuple(sorted(self._policies().teams)),
            older=_written(found.older),
            looked_at=found.looked_at,
            later=asked.before is not None,
        )

    def job(self, key: JobKey) -> JobPage | None:
        """A job; None when it was never heard of and policies.yaml does not declare it."""
        with self._reads.at_once():
            row = self._reads.job(key=key)
            if row is None and key not in self._policies().declared_jobs():
                return None
            policy = self._policies().job(key)
            runs = self._page_reads.newest_runs(job=key, limit=RUNS)
            lines = self._page_reads.job_lines(job=key, limit=ROWS)
        memory = row.memory if row else JobMemory()
        schedule = policy.schedule or memory.schedule
        return JobPage(
            job=key,
            policy=policy,
            zone=schedule.zone if schedule else policy.late.zone,
            runs=tuple(run_row(line) for line in runs),
            rows=self._rows.of(lines),
            schedule=schedule,
            last_good=memory.last_good,
            usual_duration=memory.usual_duration,
            marks=tuple((self._teams.title(mark.cause), mark.void) for mark in marks_of(memory, policy.safe_marks)),
            deleted=memory.deleted,
        )

    def team(self, name: str) -> TeamPage | None:
        """A team of policies.yaml; None when there is none of that name."""
        now = self._clock()
        team = self._policies().team(name)
        if team is None:
            return None
        people, directory = self._people(), self._teams.directory(team, now)
        with self._reads.at_once():
            lines = self._page_reads.record_lines(
                RecordsWanted(statuses=UNRESOLVED),
                keep=lambda job: self._rows.team_of(job) == name,
                before=None,
                limit=TEAM_ROWS,
            )
            marks = self._teams.marks(team, now)
            jobs = self._teams.jobs_of([name])
        return TeamPage(
            team=name,
            zone=team.hours.zone if team.hours else "UTC",
            rows=self._rows.of(lines.lines),
            more=lines.older is not None,
            marks=marks,
            on_call=tuple(sorted(people.name(each) for each in directory.oncall - directory.inactive)),
            owners=tuple(sorted(people.name(each) for each in directory.owners - directory.inactive)),
            manager=people.name(team.manager) if team.manager else "",
            jobs=jobs[:TEAM_JOBS],
            jobs_count=len(jobs),
        )

    def teams(self) -> tuple[str, ...]:
        return tuple(sorted(self._policies().teams))

    def _earlier(self, snapshot: Snapshot) -> tuple[RecordLine, ...]:
        incident = snapshot.incident
        found = self._page_reads.same_failure(job=incident.job, fingerprint=incident.fingerprint, limit=EARLIER + 1)
        return tuple(line for line in found if (line.record, line.number) != (incident.record, incident.number))[
            :EARLIER
        ]

    def _similar(self, snapshot: Snapshot) -> tuple[RecordLine, ...]:
        return self._page_reads.alike_elsewhere(
            job=snapshot.incident.job,
            fingerprint=snapshot.incident.fingerprint,
            cause=snapshot.cause if snapshot.cause != UNKNOWN else None,
            since=self._clock() - LATELY,
            limit=SIMILAR,
        )

    def _rerun(self, booking: Booking) -> RerunRow:
        return RerunRow(
            at=booking.at,
            nominal_times=booking.nominal_times,
            cause=booking.cause,
            automatic=booking.automatic,
            amount=booking.amount,
            unit=booking.unit,
            by=self._people().name(booking.by) if booking.by else "",
            result=booking.result or "",
        )


def _happened(row: TimelineRow) -> Happened:
    return Happened(at=row.at, kind=row.kind, reason=row.reason, by=row.by, facts=row.facts)


def _like(line: RecordLine, snapshot: Snapshot) -> str:
    return "the same failure" if line.fingerprint == snapshot.incident.fingerprint else "the same cause"


def _written(place: RecordPlace | None) -> str:
    """A place as it stands in the address of the next page."""
    if place is None:
        return ""
    return f"{place.opened_at.isoformat().replace('+00:00', 'Z')}_{place.record}.{place.number}"
