"""Notices sources that have fallen silent, and times in which ontrack itself was not there. Every process with doors notes
what it heard; the leader judges.

It changes no incident: a silence goes the road of a failed run, its end that of a good one.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from bot.evidence.types import ErrorReport
from bot.incidents.absence import Absence
from bot.incidents.keys import JobKey, RunRef
from bot.incidents.late_words import span
from bot.intake import Inbound, Outcome, Result
from bot.intake.heard import Heard
from bot.policies.layers import OURS
from bot.policies.model import Policies
from bot.sources import SourceEvent, SourceKind
from bot.store.watch import SourceRow, WatchStore

LOOK_EVERY = timedelta(seconds=5)
THERE_EVERY = timedelta(minutes=1)
LONGEST_ABSENCE = timedelta(minutes=5)
WRITTEN_DOWN_WITHIN = timedelta(seconds=10)
"""What another process heard is in the database by then."""
SILENT = "ontrack.SourceSilent"


def job_of(source: str) -> JobKey:
    """The job of ontrack's own whose runs are the times in which this source was heard."""
    return JobKey(scheduler=OURS, name=f"source {source}")


class Silence:
    """The use case of whoever watches sources. `heard` is what this process's intake notes."""

    def __init__(
        self,
        *,
        store: WatchStore,
        take_in: Callable[[Sequence[Inbound]], list[Outcome]],
        heard: Heard,
        policies: Callable[[], Policies],
        leads: Callable[[], bool],
    ) -> None:
        self._store = store
        self._take_in = take_in
        self._heard = heard
        self._policies = policies
        self._leads = leads
        self._there_at: datetime | None = None

    def be_there(self, now: datetime) -> Absence | None:
        """Write down that ontrack is there; call it before the first timer is looked at. Returns the absence that it ends."""
        absence = self._store.be_there(now=now, longest=LONGEST_ABSENCE)
        self._there_at = now
        return absence

    def step(self, now: datetime) -> datetime:
        """Write down what was heard, and where this process leads, judge it; returns when to do so next."""
        self._write_down()
        if self._leads():
            if self._there_at is None or now - self._there_at >= THERE_EVERY:
                self.be_there(now)
            self._judge(now)
        return now + LOOK_EVERY

    def _write_down(self) -> None:
        taken = self._heard.taken()
        taken.pop(OURS, None)
        if not taken:
            return
        try:
            self._store.heard(at=taken)
        except BaseException:
            self._heard.put_back(taken)
            raise

    def _judge(self, now: datetime) -> None:
        known = {row.name: row for row in self._store.sources()}
        patience = self._patience()
        self._store.watch_sources(names=patience.keys() - known.keys(), now=now)
        for name, row in known.items():
            if row.silent_since is not None:
                self._judge_silent(row, row.silent_since, now, watched=name in patience)
            elif name in patience and now - row.quiet_since > patience[name] + WRITTEN_DOWN_WITHIN:
                self._falls_silent(row, patience[name], now)

    def _patience(self) -> Mapping[str, timedelta]:
        """How long each source may say nothing; those that may for ever are left out."""
        schedulers = self._policies().schedulers
        return {name: spec.silent_after for name, spec in schedulers.items() if spec.silent_after is not None}

    def _falls_silent(self, row: SourceRow, patience: timedelta, now: datetime) -> None:
        """The run is named by the last instant at which it was heard: told twice, it is the same."""
        since = row.quiet_since
        never = " (never heard before)" if row.heard_at is None else ""
        message = (
            f"nothing heard of {row.name} since {_written(since)}{never}; silent_after is {span(patience)}. "
            "None of its jobs is called late until it is heard again"
        )
        error = ErrorReport(type=SILENT, message=message)
        if self._told(SourceKind.RUN_FAILED, row.name, f"silent__{_named(since)}", now, error=error):
            self._store.mark_silent(name=row.name, since=since)

    def _judge_silent(self, row: SourceRow, since: datetime, now: datetime, *, watched: bool) -> None:
        """It spoke: that is the good run. One whose silence is nobody's business any more holds nothing up from now on;
        its record is for its owner to close."""
        spoke = row.heard_at is not None and row.heard_at > since
        if spoke and not self._told(SourceKind.RUN_SUCCEEDED, row.name, f"heard__after_{_named(since)}", now):
            return
        if spoke or not watched:
            self._store.mark_heard(name=row.name, now=now)

    def _told(
        self, kind: SourceKind, source: str, run_id: str, now: datetime, *, error: ErrorReport | None = None
    ) -> bool:
        run = RunRef(run_id=run_id, nominal_time=None)
        event = SourceEvent(id=run_id, kind=kind, at=now, job=job_of(source), run=run, ended_at=now, error=error)
        (outcome,) = self._take_in([Inbound(key=event.key, event=event)])
        return outcome.result is not Result.REJECTED


def _named(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _written(at: datetime) -> str:
    local = at.astimezone(UTC)
    return f"{local:%a} {local.day} {local:%b} {local:%H:%M} UTC"
