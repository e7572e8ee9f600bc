"""What messages, modals, pages and commands may look up about an occurrence, put together from the newest commit.

It changes nothing and decides nothing.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from bot.evidence.types import UNKNOWN, Evidence
from bot.incidents import downstream
from bot.incidents.keys import JobKey
from bot.incidents.memory import GoodRun, JobMemory
from bot.incidents.model import Incident
from bot.incidents.storm import ROWS_A_PAGE, in_force
from bot.intake.surroundings import Read, scopes_of, situation_of
from bot.intake.worlds import Worlds
from bot.people import People
from bot.ports import Clock
from bot.render.snapshot import Snapshot
from bot.render.storm import Counted, Line, StormPage, StormRoot
from bot.store import JobIncidents, Reads

PAST = 4
ELSEWHERE = 100
LATELY = timedelta(hours=24)


class Records:
    """The read use case; `thread_url` makes the address of a message from channel and `ts`."""

    def __init__(
        self,
        *,
        reads: Reads,
        worlds: Worlds,
        people: Callable[[], People],
        clock: Clock,
        thread_url: Callable[[str, str], str | None],
        record_url: Callable[[str], str | None] = lambda occurrence: None,
    ) -> None:
        self._reads = reads
        self._worlds = worlds
        self._people = people
        self._clock = clock
        self._thread_url = thread_url
        self._record_url = record_url

    def snapshot(self, record: int, number: int, evidence: str | None = None) -> Snapshot | None:
        """The occurrence as it stands now.

        `evidence` names the failure that a reply speaks of; then it is looked up as well how that failure ended whenever it
        came, and who else failed of its cause.
        """
        with self._reads.at_once():
            incident = self._reads.incident(record=record, number=number)
            if incident is None:
                return None
            now = self._clock()
            found = self._snapshot(incident, evidence, now)
            return self._with_past(found, found.evidence, now) if evidence and found.evidence else found

    def permalink(self, record: int, number: int) -> str | None:
        """The address of the occurrence's thread, or of the storm's of which it is a row; None when it has none yet."""
        thread = self._reads.conversation_of(record=record, number=number)
        thread = thread or self._reads.storm_thread_of(record=record, number=number)
        if thread is None or thread[1] is None:
            return None
        return self._thread_url(thread[0], thread[1])

    def storm(self, key: str) -> StormRoot | None:
        """What the root of a storm's thread shows."""
        state = self._reads.storm(key=key)
        if state is None:
            return None
        return StormRoot(
            began_at=state.began_at,
            last_at=state.last_at,
            settled_at=state.settled_at,
            counts=tuple(
                Counted(status=one.status, cause=one.cause, team=one.team, count=one.count) for one in state.counts
            ),
            apart=state.apart,
            since=state.since,
            held=in_force(state.held, self._clock()),
        )

    def storm_page(self, key: str, page: int) -> StormPage | None:
        """What a page of a storm's rows shows."""
        rows = self._reads.storm_rows(key=key, page=page)
        lines = tuple(
            Line(
                row=row.row,
                incident=row.incident,
                team=row.team,
                url=self._thread_url(row.channel, row.root_ts) if row.channel and row.root_ts else None,
            )
            for row in rows
        )
        held = in_force(self._reads.storm_held(key=key), self._clock())
        return StormPage(first=(page - 1) * ROWS_A_PAGE + 1, lines=lines, held=held) if lines else None

    def memory_of(self, key: JobKey) -> JobMemory | None:
        row = self._reads.job(key=key)
        return row.memory if row else None

    def _with_past(self, snapshot: Snapshot, evidence: Evidence, now: datetime) -> Snapshot:
        """What is remembered of failures like this one, the occurrence itself left out."""
        incident, cause = snapshot.incident, evidence.cause.id
        known = self._reads.past_failures(job=incident.job, fingerprint=evidence.fingerprint, limit=PAST)
        past = tuple(one for one in known.newest if one.id != incident.id)
        others: tuple[JobKey, ...] = ()
        if cause != UNKNOWN:
            since = now - LATELY
            others = self._reads.others_with_cause(cause=cause, since=since, job=incident.job, limit=ELSEWHERE)
        times = known.times - (len(known.newest) - len(past))
        return replace(snapshot, past=past[: PAST - 1], past_times=times, same_cause=others)

    def _snapshot(self, incident: Incident, evidence: str | None, now: datetime) -> Snapshot:
        world = self._worlds.around(self._worlds.of(incident.job, now), incident, None, now)
        memory = self.memory_of(incident.job) or JobMemory()
        read = Read(key=incident.job, id=0, memory=memory, incidents=JobIncidents(unresolved=incident))
        booked = self._reads.booked(scopes=scopes_of(incident.job, world.policy, now))
        situation = situation_of(read, world, now, booked=booked, about=incident, failure=incident.failure)
        named = evidence or incident.failure.evidence
        team = situation.team
        schedule = world.schedule or memory.schedule
        return Snapshot(
            incident=incident,
            evidence=self._reads.evidence(key=named) if named else None,
            team=team.name if team else "",
            teams=self._worlds.teams(),
            owners=self._people().deciders(world.directory),
            can=world.can,
            policy=world.policy,
            zone=schedule.zone if schedule else world.policy.late.zone,
            next_run_at=situation.next_run_at,
            usual_duration=situation.usual_duration,
            last_good=self._last_good(incident, evidence, memory),
            closed_for=self._closed_for(incident, memory),
            estimate=situation.estimate,
            allowance=situation.allowance,
            marks=situation.marks,
            downstream=downstream.shown(incident, now),
            named_owner=memory.owner or "",
            gone=memory.deleted,
            run_strategy=situation.run_strategy,
            live=situation.live,
            record_url=self._record_url(incident.id),
            occurrences=self._reads.occurrences_of(record=incident.record),
        )

    def _last_good(self, incident: Incident, evidence: str | None, memory: JobMemory) -> GoodRun | None:
        """The last good run before the failure that is told of: runs that came after it are no standard for it."""
        failures = (incident.failure, *(owed.failure for owed in incident.owed))
        told = next((failure for failure in failures if failure.evidence == evidence), incident.failure)
        if memory.last_good is None or memory.last_good.ended_at <= told.at:
            return memory.last_good
        return self._reads.last_good_before(incident.job, at=told.at)

    def _closed_for(self, incident: Incident, memory: JobMemory) -> datetime | None:
        """The nominal time of the good run that settled it."""
        if incident.closed_by_run is None:
            return None
        known = (incident.rerun, memory.last_good, incident.failure)
        runs = [one.run for one in known if one is not None and one.run.run_id == incident.closed_by_run]
        if not runs:
            return self._reads.due_at(incident.job, run_id=incident.closed_by_run)
        return next((run.nominal_time for run in runs if run.nominal_time is not None), None)
