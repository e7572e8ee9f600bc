"""The road that every event takes, in a replay: intake, timers, and requests to schedulers, on a database and a clock of its own.

Messages count as delivered at once: nothing but requests to schedulers is performed, and those by `PastScheduler`.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

import msgspec

from bot.backtest.agenda import LAST
from bot.backtest.history import Looks
from bot.backtest.scheduler import PastScheduler, Stage
from bot.delivery.backoff import LOOK_AFTER
from bot.delivery.requests import Requester
from bot.incidents.absence import Absence
from bot.incidents.effects import AskScheduler
from bot.intake import Inbound, Intake, Outcome
from bot.intake.following import Following
from bot.intake.worlds import Worlds
from bot.store import Committed, EffectKind, EffectRow, Reads, Share, Storage
from bot.store.watch import WatchStore
from bot.timers import Timers

CLAIM = 32


class Scratch(Storage, WatchStore, Protocol):
    """A database of a replay's own: empty, and gone after it."""

    @property
    def reads(self) -> Reads: ...

    @property
    def record(self) -> Looks: ...


class Road:
    """One replay's; `now` goes on when its player says so."""

    def __init__(
        self,
        *,
        scratch: Scratch,
        worlds: Worlds,
        schedulers: Mapping[str, PastScheduler],
        stage: Stage,
        absences: Sequence[Absence],
        now: datetime,
    ) -> None:
        self.now = now
        self._scratch = scratch
        self._stage = stage
        self._absences = list(absences)
        self._pending: list[EffectRow] = []
        self._timer_at: datetime | None = None
        self._share = Share(only=frozenset(schedulers))
        intake = Intake(
            storage=scratch,
            reads=scratch.reads,
            worlds=worlds,
            clock=self._clock,
            committed=self._committed,
            share=lambda: self._share,
            read=stage.reader.read,
        )
        self._take_in = intake.take_in
        self._timers = Timers(storage=scratch, take_in=intake.take_in)
        self._following = Following(
            waits=scratch, reads=scratch.reads, policy_of=worlds.policy_of, take_in=intake.take_in
        )
        self._requester = Requester(
            storage=scratch,
            schedulers=lambda: schedulers,
            take_in=intake.take_in,
            clock=self._clock,
            policy_of=worlds.policy_of,
        )

    @property
    def absence(self) -> Absence | None:
        """The next time in which ontrack itself was not there, or the present one."""
        return self._absences[0] if self._absences else None

    @property
    def timers_due(self) -> datetime | None:
        """When the next timer fires, or earlier: none while ontrack itself was not there."""
        due, absence = self._timer_at, self.absence
        return absence.ended_at if due is not None and absence is not None and absence.covers(due) else due

    def moves_to(self, at: datetime) -> None:
        self.now = max(self.now, at)

    def take_in(self, inbounds: list[Inbound]) -> list[Outcome]:
        return self._take_in(inbounds)

    def settles(self) -> None:
        """Everything that is due now is done."""
        while True:
            due = self.timers_due
            if due is not None and due <= self.now:
                self._timer_at = self._timers.step(self.now)
            elif self._pending:
                self._ask(self._pending.pop(0))
            else:
                return

    def follows(self) -> None:
        """Look what became of what waits downstream."""
        self._following.step(self.now)
        self.settles()

    def comes_back(self) -> None:
        """The absence is over."""
        absence = self._absences.pop(0)
        self.moves_to(absence.ended_at)
        self._scratch.be_there(now=absence.began_at, longest=timedelta.max)
        self._scratch.be_there(now=absence.ended_at, longest=timedelta())

    def wakes(self) -> None:
        """A request that waited is due."""
        self._pending += self._claimed()

    def _ask(self, row: EffectRow) -> None:
        if not self._requester.perform(row):
            self._wait(row, LOOK_AFTER, uncertain=True)

    def _committed(self, left: Committed) -> None:
        for row in left.effects:
            self._foresee(row)
        if left.next_timer_at is not None:
            known = self._timer_at
            self._timer_at = left.next_timer_at if known is None else min(known, left.next_timer_at)
        if left.more:
            for row in self._claimed():
                self._foresee(row)

    def _claimed(self) -> tuple[EffectRow, ...]:
        return self._scratch.claim_effects(now=self.now, limit=CLAIM, share=self._share)

    def _foresee(self, row: EffectRow) -> None:
        """A request goes out at once, or waits as long as it waited in history."""
        waits = timedelta()
        if row.kind is EffectKind.REQUEST and row.content["key"] not in self._stage.episodes:
            asked = msgspec.convert(row.content, AskScheduler)
            waits = self._stage.foresee(key=asked.key, action=asked.action, job=row.job, times=asked.nominal_times)
        if waits:
            self._wait(row, waits, uncertain=False)
        else:
            self._pending.append(row)

    def _wait(self, row: EffectRow, waits: timedelta, *, uncertain: bool) -> None:
        self._scratch.retry(id=row.id, at=self.now + waits, uncertain=uncertain, code="waits")
        self._stage.agenda.add(None, at=self.now + waits, batch=LAST)

    def _clock(self) -> datetime:
        return self.now
