"""The runs that live or whose end is untold: begins them, adopts those that outlived us, notices at once when one ends.

It decides nothing: which run begins, and when, is said by the scheduler. Not thread safe but where a watcher tells.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from queue import Empty, SimpleQueue
from subprocess import Popen

from bot.incidents.keys import RunRef
from bot.ports import Clock
from bot.schedulers.local import events
from bot.schedulers.local.claims import KEPT, Claims
from bot.schedulers.local.facts import gather
from bot.schedulers.local.job import LocalJob
from bot.schedulers.local.launch import CannotLaunch, environment, launch
from bot.schedulers.local.records import RunRecord, claim_of, job_part, stamped, stem
from bot.schedulers.local.shim import CANNOT_START
from bot.sources import SourceEvent, SourceKind

logger = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class Tracked:
    """A run that is not done with: `ended_at` is when its end was noticed."""

    record: RunRecord
    started_told: bool = False
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Untold:
    """An event for intake; once it is taken, its run's start, or all of the run, is told."""

    event: SourceEvent
    claim: str

    @property
    def is_final(self) -> bool:
        return self.event.kind is not SourceKind.RUN_STARTED


class Runs:
    """Every run of one scheduler, by the name of its claim."""

    def __init__(self, *, scheduler: str, claims: Claims, clock: Clock, woken: Callable[[], None]) -> None:
        self._scheduler = scheduler
        self._claims = claims
        self._clock = clock
        self._woken = woken
        self._tracked: dict[str, Tracked] = {}
        self._kept: dict[str, list[str]] = {}
        self._ended: SimpleQueue[str] = SimpleQueue()

    def adopt(self) -> None:
        """Take over what an earlier process left: runs that live on, and ends that it had not told."""
        self._claims.prepare()
        self._kept.clear()
        for claim in self._claims.oldest_first():
            self._kept.setdefault(claim.partition(".")[0], []).append(claim)
            if claim not in self._tracked and not self._claims.is_reported(claim):
                self._track(claim, guard=None)

    def begin(
        self, *, name: str, job: LocalJob, run: RunRef, request_key: str | None = None, by: str | None = None
    ) -> None:
        """Start a run, unless it was claimed before. What cannot be started becomes a run that failed."""
        env = environment(job=job, name=name, run=run, claim=self._claims.path(claim_of(name, run)))
        now = self._clock()
        record = RunRecord(
            job=name,
            run=run,
            started_at=now,
            request_key=request_key,
            by=by,
            facts=gather(job, env=env, nominal_time=run.nominal_time, started_at=now),
        )
        guard = None
        try:
            guard = launch(job, record, claim=self._claims.path(record.claim), env=env)
        except CannotLaunch as error:
            self._settle(record, exit_code=126, saw=CANNOT_START, message=str(error))
        self._add(record.claim, guard)

    def skip(self, *, name: str, run: RunRef, reason: str) -> None:
        """Record that a run does not start, and why."""
        record = RunRecord(job=name, run=run, started_at=self._clock())
        self._settle(record, exit_code=None, saw=events.OVERLAP, message=reason)
        self._add(record.claim, None)

    def stop(self, claim: str, *, by: str) -> bool:
        """Tell a living run to end; False when it lives no more."""
        return self._claims.stop(claim, by)

    def living(self, name: str) -> tuple[RunRecord, ...]:
        """The job's runs that live at this moment."""
        return tuple(
            tracked.record
            for claim, tracked in self._tracked.items()
            if tracked.record.job == name and tracked.ended_at is None and self._claims.is_living(claim)
        )

    def is_claimed(self, name: str, run: RunRef) -> bool:
        return self._claims.exists(claim_of(name, run))

    def generation(self, name: str, run: RunRef) -> int:
        """The highest generation of the run that was claimed; -1 when there was none."""
        beginning = stem(name, run) + "."
        kept = self._kept.get(job_part(name), ())
        return max((int(claim.rpartition(".")[2]) for claim in kept if claim.startswith(beginning)), default=-1)

    def newest_nominal_time(self, name: str) -> datetime | None:
        """The latest nominal time that was claimed, whatever became of it."""
        times = (stamped(claim) for claim in self._kept.get(job_part(name), ()))
        return max((at for at in times if at is not None), default=None)

    def collect(self) -> None:
        """Take note of the runs whose end the watchers have told, and end what a lost guard's command left running."""
        while True:
            try:
                claim = self._ended.get_nowait()
            except Empty:
                return
            self._note_end(claim)

    def untold(self) -> list[Untold]:
        found: list[Untold] = []
        for claim, tracked in self._tracked.items():
            final = self._final(claim, tracked)
            skipped = final is not None and final.kind is SourceKind.RUN_SKIPPED
            if not tracked.started_told and not skipped:
                found.append(Untold(event=events.started(tracked.record, scheduler=self._scheduler), claim=claim))
            if final is not None:
                found.append(Untold(event=final, claim=claim))
        return found

    def mark_told(self, told: Sequence[Untold]) -> None:
        for one in told:
            if one.is_final:
                self._claims.mark_reported(one.claim)
                del self._tracked[one.claim]
            else:
                self._tracked[one.claim].started_told = True

    def prune(self) -> None:
        """Keep the newest runs of each job, and everything that is not told yet."""
        for claims in self._kept.values():
            for claim in claims[:-KEPT]:
                if claim not in self._tracked:
                    self._claims.remove(claim)
                    claims.remove(claim)

    def _final(self, claim: str, tracked: Tracked) -> SourceEvent | None:
        if tracked.ended_at is None:
            return None
        return events.ended(
            tracked.record,
            self._claims.result(claim),
            scheduler=self._scheduler,
            log=self._claims.log(claim),
            stopped_by=self._claims.stopper(claim),
            now=tracked.ended_at,
        )

    def _settle(self, record: RunRecord, *, exit_code: int | None, saw: str, message: str) -> None:
        result = {"exit_code": exit_code, "saw": saw, "message": message, "duration_seconds": 0.0}
        self._claims.settle_without_run(record, result)

    def _add(self, claim: str, guard: "Popen[bytes] | None") -> None:
        if claim in self._tracked:
            return
        kept = self._kept.setdefault(claim.partition(".")[0], [])
        if claim not in kept:
            kept.append(claim)
        if guard is not None or not self._claims.is_reported(claim):
            self._track(claim, guard)

    def _track(self, claim: str, guard: "Popen[bytes] | None") -> None:
        try:
            record = self._claims.record(claim)
        except (OSError, ValueError, KeyError):
            logger.warning("a run directory cannot be read", extra={"claim": claim})
            return
        self._tracked[claim] = Tracked(record=record)
        if guard is None and not self._claims.is_living(claim):
            self._note_end(claim)
            return
        watcher = threading.Thread(target=self._watch, args=(claim, guard), name=f"run {claim}", daemon=True)
        watcher.start()

    def _note_end(self, claim: str) -> None:
        tracked = self._tracked.get(claim)
        if tracked is not None and tracked.ended_at is None:
            tracked.ended_at = self._clock()
            if self._claims.result(claim) is None:
                self._claims.kill_remains(claim)

    def _watch(self, claim: str, guard: "Popen[bytes] | None") -> None:
        try:
            self._claims.wait(claim)
        except OSError:
            logger.warning("a run's lock cannot be waited for", extra={"claim": claim})
        if guard is not None:
            guard.wait()
        self._ended.put(claim)
        self._woken()
