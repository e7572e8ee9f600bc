"""Tells the fallback channel of owner records that lead to nobody, each record once. It sends nothing and mends nothing."""

from collections.abc import Callable
from datetime import datetime
from hashlib import sha256

from bot.policies.model import Policies
from bot.render.digest import NoticeKind, content_of
from bot.render.lines import OwnerFault
from bot.store import NewNotice, Storage
from bot.teams import Teams


class OwnerReports:
    """The use case of the clock that leads, after each reading of the directory; `written` is told of a new notice."""

    def __init__(
        self,
        *,
        storage: Storage,
        teams: Teams,
        policies: Callable[[], Policies],
        written: Callable[[], None],
    ) -> None:
        self._storage = storage
        self._teams = teams
        self._policies = policies
        self._written = written

    def step(self, now: datetime) -> None:
        """Write one notice of all records that were not told before; what was told is remembered in the same transaction."""
        channel = self._policies().fallback.channel
        found = {_key(fault): fault for fault in self._teams.faults()}
        if channel is None or not found:
            return
        with self._storage.begin_write(born_leased=False, now=now) as uow:
            told = uow.outcomes(keys=found)
            new = {key: fault for key, fault in found.items() if key not in told}
            if not new:
                return
            for key in new:
                uow.remember_outcome(key=key, outcome={"told": "owners"}, at=now)
            uow.add_notice(
                NewNotice(
                    key=f"owners:{sha256(chr(10).join(sorted(new)).encode()).hexdigest()[:24]}",
                    channel=channel,
                    content=content_of(NoticeKind.OWNERS, tuple(new.values())),
                    due_at=now,
                )
            )
            uow.commit()
        self._written()


def _key(fault: OwnerFault) -> str:
    return f"owner-record:{fault.team}:{fault.place}:{fault.name}"
