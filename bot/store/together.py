"""What the processes of one database have to do with each other: who leads, and who is woken. No SQL, no driver.

Nothing is lost without them: leading decides who does what one process does, and a wake-up saves waiting for the sweep.
"""

from datetime import timedelta
from typing import Protocol

NOT_AT_ALL = timedelta(0)


class Leader(Protocol):
    """The one among the processes that polls, reads the mailbox and runs local jobs. It never raises."""

    def try_lead(self, *, wait: timedelta = NOT_AT_ALL) -> bool:
        """Lead, or go on leading; `wait`: how long to stand in line, so as to lead the moment that the leader ends.

        False: another process leads, or the database is away.
        """

    @property
    def lost(self) -> bool:
        """True unless this process leads now; ask before each thing that only the leader may do."""

    def resign(self) -> None:
        """Let another process lead (clean shutdown); this one leads no more."""


class Hints(Protocol):
    """Tells the other processes that something is due, and hears it from them. It never raises."""

    def hint(self) -> None:
        """Call it after a commit that left something for another process; returns at once."""

    def close(self) -> None: ...
