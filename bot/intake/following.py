"""Follows what waits downstream: tells occurrences what became of it, and jobs that still wait that they are alone with it.

It looks at open waits only, beside the road on which events come; it decides nothing.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from bot.incidents import waits
from bot.incidents.downstream_events import DownstreamAlone, DownstreamHung, DownstreamRan
from bot.incidents.keys import JobKey
from bot.incidents.memory import JobMemory
from bot.incidents.policy import JobPolicy
from bot.incidents.waits import Hung
from bot.intake.hanging import upstream_of
from bot.intake.inbound import AnyEvent, DownstreamStuck, Inbound, Outcome
from bot.store.waits import EndedWait, WaitReads, WaitRow, WaitStore

EVERY = timedelta(seconds=10)
BATCH = 100
FOLLOWED = timedelta(days=30)


class Following:
    """The use case of the step that follows waits; one process of all needs to drive it, and more do no harm."""

    def __init__(
        self,
        *,
        waits: WaitStore,
        reads: WaitReads,
        policy_of: Callable[[JobKey], JobPolicy],
        take_in: Callable[[list[Inbound]], list[Outcome]],
    ) -> None:
        self._waits = waits
        self._reads = reads
        self._policy_of = policy_of
        self._take_in = take_in

    def step(self, now: datetime) -> datetime | None:
        """Tell what has changed since the last look; returns when to look again."""
        since = now - FOLLOWED
        told = [_hung(wait) for wait in self._waits.hung_waits(limit=BATCH)]
        told += [_ran(ended) for ended in self._waits.ended_waits(since=since, limit=BATCH)]
        if told:
            self._take_in(told)
        stuck = [wait for wait in self._waits.stuck_waits(since=since, limit=BATCH) if self._is_stuck(wait, now)]
        if stuck:
            self._take_in([each for wait in stuck for each in (_stuck(wait), _alone(wait, now))])
        return now + EVERY

    def _is_stuck(self, wait: WaitRow, now: datetime) -> bool:
        """It had its usual time since what it needs was there, and since it was due."""
        known = self._reads.memories_of(jobs=[wait.now_called])
        memory = known.get(wait.now_called, JobMemory())
        late = self._policy_of(wait.now_called).late
        ready_at = max(wait.cleared_at or now, wait.since + (late.start_within or timedelta()))
        return now >= ready_at + (memory.usual_duration or late.learned_floor) + late.grace


def _inbound(kind: str, wait: WaitRow, event: AnyEvent, *, about_it: bool = True) -> Inbound:
    time = wait.nominal_time.isoformat() if wait.nominal_time else "-"
    key = f"downstream:{kind}:{wait.record}.{wait.number}:{wait.job}:{time}"
    return Inbound(key=key, event=event, occurrence=(wait.record, wait.number) if about_it else None)


def _hung(wait: WaitRow) -> Inbound:
    what, at = wait.hung or Hung.LATE, wait.hung_at or wait.since
    return _inbound("hung", wait, DownstreamHung(job=str(wait.job), nominal_time=wait.nominal_time, what=what, at=at))


def _ran(ended: EndedWait) -> Inbound:
    wait = ended.wait
    event = DownstreamRan(
        job=str(wait.job),
        nominal_time=wait.nominal_time,
        at=ended.ended_at,
        lag=waits.median(ended.lags),
        learned_from=len(ended.lags),
    )
    return _inbound("ran", wait, event)


def _stuck(wait: WaitRow) -> Inbound:
    event = DownstreamStuck(job=wait.now_called, nominal_time=wait.nominal_time, upstream=upstream_of(wait))
    return _inbound("stuck", wait, event, about_it=False)


def _alone(wait: WaitRow, now: datetime) -> Inbound:
    return _inbound("alone", wait, DownstreamAlone(job=str(wait.job), nominal_time=wait.nominal_time, at=now))
