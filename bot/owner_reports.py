"""Tells the fallback channel and mail address of owner records that lead to nobody, each record once.

It sends nothing and mends nothing.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from hashlib import sha256

from bot.incidents.policy import Fallback
from bot.policies.model import Policies
from bot.render import mail
from bot.render.digest import NoticeKind, content_of
from bot.render.lines import OwnerFault
from bot.store import NewMail, NewNotice, Storage
from bot.teams import Teams


class OwnerReports:
    """The use case of the clock that leads, after each reading of the directory; `written` is told of a new notice.

    `mails`: mail is sent.
    """

    def __init__(
        self,
        *,
        storage: Storage,
        teams: Teams,
        policies: Callable[[], Policies],
        written: Callable[[], None],
        mails: bool = False,
    ) -> None:
        self._storage = storage
        self._teams = teams
        self._policies = policies
        self._written = written
        self._mails = mails

    def step(self, now: datetime) -> None:
        """Write of all records that were not told before; what was told is remembered with the notice.

        The mail is written first: its key keeps it from being said twice, whatever stops in between.
        """
        there = self._policies().fallback
        found = {_key(fault): fault for fault in self._teams.faults()}
        if not found or (there.channel is None and not self._address(there)):
            return
        new = self._untold(found, now)
        if not new:
            return
        self._mail(there, new, now)
        self._tell(there, new, now)
        self._written()

    def _untold(self, found: Mapping[str, OwnerFault], now: datetime) -> dict[str, OwnerFault]:
        with self._storage.begin_write(born_leased=False, now=now) as uow:
            told = uow.outcomes(keys=found)
        return {key: fault for key, fault in found.items() if key not in told}

    def _mail(self, there: Fallback, new: Mapping[str, OwnerFault], now: datetime) -> None:
        address = self._address(there)
        if address:
            content = mail.content_of(mail.Fault(owners=tuple(new.values())))
            told = NewMail(key=f"{_key_of_all(new)}:{address.lower()}", address=address, content=content, due_at=now)
            self._storage.put_mail(told, now=now)

    def _tell(self, there: Fallback, new: Mapping[str, OwnerFault], now: datetime) -> None:
        with self._storage.begin_write(born_leased=False, now=now) as uow:
            for key in new:
                uow.remember_outcome(key=key, outcome={"told": "owners"}, at=now)
            if there.channel is not None:
                content = content_of(NoticeKind.OWNERS, tuple(new.values()))
                uow.add_notice(NewNotice(key=_key_of_all(new), channel=there.channel, content=content, due_at=now))
            uow.commit()

    def _address(self, there: Fallback) -> str | None:
        return there.email if self._mails else None


def _key(fault: OwnerFault) -> str:
    return f"owner-record:{fault.team}:{fault.place}:{fault.name}"


def _key_of_all(new: Mapping[str, OwnerFault]) -> str:
    return f"owners:{sha256(chr(10).join(sorted(new)).encode()).hexdigest()[:24]}"
