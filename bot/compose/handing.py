"""Requests to jobs that run beside the leader are performed by it alone: whoever leads no more hands over what it had claimed.

Claims leave them out of every other process's share. A request that is handed over was not begun: its licence is checked
again by whoever performs it.
"""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime, timedelta

from bot.delivery.requests import Requester
from bot.incidents.keys import JobKey
from bot.incidents.policy import JobPolicy
from bot.intake import Inbound, Outcome
from bot.ports import Clock, Scheduler
from bot.store import EffectRow, Storage

LEFT_ALONE = timedelta(milliseconds=250)
LEFT = "leader"
"""The code of a row that waits for the leader."""


class HandingRequester(Requester):
    """`at_leader` names the schedulers whose jobs only the leader can reach; `handed` wakes it."""

    def __init__(
        self,
        *,
        storage: Storage,
        schedulers: Callable[[], Mapping[str, Scheduler]],
        take_in: Callable[[list[Inbound]], list[Outcome]],
        clock: Clock,
        policy_of: Callable[[JobKey], JobPolicy],
        at_leader: Callable[[], Collection[str]],
        leads: Callable[[], bool],
        handed: Callable[[datetime], None],
    ) -> None:
        super().__init__(storage=storage, schedulers=schedulers, take_in=take_in, clock=clock, policy_of=policy_of)
        self._outbox = storage
        self._now = clock
        self._at_leader = at_leader
        self._leads = leads
        self._handed = handed

    def perform(self, row: EffectRow) -> bool:
        if row.job.scheduler not in self._at_leader() or self._leads():
            return super().perform(row)
        at = self._now() + LEFT_ALONE
        self._outbox.retry(id=row.id, at=at, uncertain=row.uncertain_at is not None, code=LEFT)
        self._handed(at)
        return True
