"""The door for mail: reads the mailbox in order, hands over each mail once, and waits for more. Only the leader reads.

It must not judge a mail, keep the place itself (that moves with what the mail did), or stay at a mail that cannot be taken.
"""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Protocol

from bot.ports import ArrivedMail, Clock, Mailbox, MailboxDown
from bot.store import StorageDown
from bot.store.mail import MailboxPlace

logger = logging.getLogger(__name__)

AT_ONCE = 20
WAITED = timedelta(seconds=25)
A_MOMENT = timedelta(milliseconds=10)
FIRST_WAIT, LONGEST_WAIT = timedelta(seconds=1), timedelta(seconds=60)
TRIES = 3
OK = "ok"


class Take(Protocol):
    """What is done about a mail; raises `StorageDown` where nothing of it was done. It moves the mailbox's place on."""

    def __call__(self, arrived: ArrivedMail, *, place: MailboxPlace, mailbox: str, now: datetime) -> None: ...


class Places(Protocol):
    """Where each mailbox is read on; both raise `StorageDown`."""

    def place_in(self, *, mailbox: str) -> MailboxPlace | None: ...

    def begin_at(self, place: MailboxPlace, *, mailbox: str) -> None: ...


class MailboxDoor:
    """`step` reads what is new, or waits up to `waited` for it, in whose thread that may be; `name` is the mailbox's own.

    A mail that fails three times for no known reason is passed over, loudly: the mails behind it wait as well.
    """

    def __init__(
        self,
        *,
        mailbox: Mailbox,
        name: str,
        take: Take,
        places: Places,
        leads: Callable[[], bool],
        clock: Clock,
        waited: timedelta = WAITED,
    ) -> None:
        self._mailbox = mailbox
        self._name = name
        self._take = take
        self._places = places
        self._leads = leads
        self._clock = clock
        self._waited = waited
        self._again_at: datetime | None = None
        self._failures = 0
        self._failing: tuple[MailboxPlace, int] | None = None
        self._closed = False
        self._state = "not read yet"

    def state(self) -> str:
        """What readiness says of it: "ok", or why no reply is read."""
        return self._state

    def step(self, now: datetime) -> datetime | None:
        """Read on; returns when to be called again."""
        if not self._may_read():
            self._mailbox.close()
            self._state, self._failures, self._again_at = OK, 0, None
            return None
        if self._again_at is not None and now < self._again_at:
            return self._again_at
        try:
            found = self._read_on()
        except MailboxDown as down:
            return self._failed(str(down))
        except StorageDown:
            return self._failed("nothing can be stored; no reply is lost, they stay in the mailbox")
        self._fine()
        return now if found else now + A_MOMENT

    def close(self) -> None:
        """Read no more; a step that waits ends at once. Called before the thread that steps is waited for."""
        self._closed = True
        self._mailbox.close()

    def _may_read(self) -> bool:
        return not self._closed and self._leads()

    def _read_on(self) -> bool:
        """Whether there was any mail; without any it waits."""
        validity = self._mailbox.open()
        place = self._place_under(validity)
        arrived = self._mailbox.after(place.uid, limit=AT_ONCE)
        for mail in arrived:
            if not self._may_read():
                break
            self._hand_over(mail, MailboxPlace(validity=validity, uid=mail.uid))
        self._fine()
        if not arrived and self._may_read():
            self._mailbox.wait(self._waited)
        return bool(arrived)

    def _place_under(self, validity: int) -> MailboxPlace:
        """From the start where the mailbox is new, or its UIDs are: a mail that was done before does nothing again."""
        known = self._places.place_in(mailbox=self._name)
        if known is not None and known.validity == validity:
            return known
        begun = MailboxPlace(validity=validity, uid=0)
        self._places.begin_at(begun, mailbox=self._name)
        logger.info("reads a mailbox from its start", extra={"mailbox": self._name, "validity": validity})
        return begun

    def _hand_over(self, mail: ArrivedMail, place: MailboxPlace) -> None:
        try:
            self._take(mail, place=place, mailbox=self._name, now=self._clock())
        except StorageDown:
            raise
        except Exception:
            tries = 1 if self._failing is None or self._failing[0] != place else self._failing[1] + 1
            self._failing = (place, tries)
            logger.exception("a mail could not be taken", extra={"uid": mail.uid, "tries": tries})
            if tries < TRIES:
                raise MailboxDown(f"the mail with UID {mail.uid} could not be taken; see the log") from None
            self._places.begin_at(place, mailbox=self._name)
            logger.error("a mail was passed over", extra={"uid": mail.uid, "mailbox": self._name})

    def _failed(self, why: str) -> datetime | None:
        """A connection that is lost once, as idle ones are, is no trouble yet."""
        if self._closed:
            return None
        if self._failures == 0 and self._state == OK:
            logger.info("the mailbox is asked again", extra={"why": why})
        elif why != self._state:
            logger.warning("the mailbox is not read", extra={"why": why})
            self._state = why
        self._again_at = self._clock() + min(FIRST_WAIT * (1 << min(self._failures, 10)), LONGEST_WAIT)
        self._failures += 1
        return self._again_at

    def _fine(self) -> None:
        if self._state != OK:
            logger.info("the mailbox is read", extra={"mailbox": self._name})
        self._state, self._failures, self._again_at = OK, 0, None
