"""Whether this process leads among those of its database, and what it does on that account. It does none of it itself.

Where nothing was begun (tests, simulation), whoever calls the steps is the only process, and leads.
"""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from bot.store.together import NOT_AT_ALL, Leader

log = logging.getLogger(__name__)

IN_LINE = timedelta(seconds=5)
LOOK_AGAIN = timedelta(seconds=1)


class Leadership:
    """`gained` is called each time that this process begins to lead, before it counts as leading; `leading` after that.

    `leader` None: a process that never leads.
    """

    def __init__(self, leader: Leader | None, *, gained: Callable[[], None], leading: Callable[[], None]) -> None:
        self._leader = leader
        self._gained = gained
        self._leading = leading
        self._leads = leader is not None
        self._begun = False

    @property
    def leads(self) -> bool:
        """Whether this process leads now; ask before each thing that only the leader may do."""
        if self._leads and self._begun and self._leader is not None and self._leader.lost:
            log.warning("no longer leads")
            self._leads = False
        return self._leads

    def begin(self) -> None:
        """From now on others may lead: try, and be content with not leading."""
        self._begun, self._leads = True, False
        self._try(NOT_AT_ALL)

    def step(self, now: datetime) -> datetime | None:
        """Go on leading, or stand in line; returns when to look again."""
        if not self.leads:
            self._try(IN_LINE)
        return now + LOOK_AGAIN

    def end(self) -> None:
        """Let another process lead; a wait in line ends."""
        if self._leader is not None:
            self._leads = False
            self._leader.resign()

    def _try(self, wait: timedelta) -> None:
        if self._leader is None or not self._leader.try_lead(wait=wait):
            return
        self._gained()
        self._leads = True
        log.info("leads")
        self._leading()
