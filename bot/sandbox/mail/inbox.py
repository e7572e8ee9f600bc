"""ontrack's own inbox at the stand-in mail system: the port `Mailbox`. It must not know whose mails they are."""

import threading
from dataclasses import dataclass, field
from datetime import timedelta

from bot.ports import ArrivedMail


@dataclass(slots=True)
class SandboxMailbox:
    """Mails by ascending UID. `validity`: another one for every life of the stand-in, since its UIDs begin anew."""

    validity: int
    _mails: list[ArrivedMail] = field(default_factory=list)
    _news: threading.Condition = field(default_factory=threading.Condition)
    _awaited: int = 0
    _closed: bool = False

    def deliver(self, message: bytes) -> int:
        """Lay a mail in, wake who waits, and return its UID."""
        with self._news:
            uid = len(self._mails) + 1
            self._mails.append(ArrivedMail(uid=uid, message=message))
            self._news.notify_all()
        return uid

    def open(self) -> int:
        with self._news:
            self._closed = False
            return self.validity

    def after(self, uid: int, *, limit: int) -> tuple[ArrivedMail, ...]:
        with self._news:
            found = tuple(self._mails[max(uid, 0) : max(uid, 0) + limit])
            self._awaited = max(uid, 0) + len(found)
            return found

    def wait(self, timeout: timedelta) -> None:
        """Return at once also when something came since the last look: nothing falls between the two."""
        with self._news:
            self._news.wait_for(lambda: self._closed or len(self._mails) > self._awaited, timeout.total_seconds())

    def close(self) -> None:
        with self._news:
            self._closed = True
            self._news.notify_all()
