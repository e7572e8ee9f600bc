"""What each process of the Procfile does, and `run`, which does everything. It starts nothing."""

from enum import StrEnum


class Role(StrEnum):
    """A process's part of the work.

    `web` answers HTTP and sends what its own commits left to it; `worker` sends everything else and rescues void leases;
    `clock` turns due timers into events and, where it leads, does what one process does alone.
    """

    RUN = "run"
    WEB = "web"
    WORKER = "worker"
    CLOCK = "clock"

    @property
    def answers(self) -> bool:
        """Whether it serves HTTP."""
        return self in (Role.RUN, Role.WEB)

    @property
    def sends_at_once(self) -> bool:
        """Whether effects that are due are born leased by its commits; a clock leaves them to the workers."""
        return self is not Role.CLOCK

    @property
    def may_lead(self) -> bool:
        return self in (Role.RUN, Role.CLOCK)

    @property
    def threads(self) -> tuple[str, ...]:
        """The steps that this process drives, each in a thread."""
        return THREADS[self]


LED = ("schedulers", "polling", "queues", "digests", "lineage", "late", "mailbox", "downstream")
"""What one process does alone: the steps that do nothing but in the process that leads, where there are such."""
ALONE = tuple(name for name in LED if name not in ("late", "mailbox"))
THREADS = {
    Role.RUN: ("timers", "delivery", "directory", "silence", "policies", *ALONE),
    Role.WEB: ("directory", "silence", "policies"),
    Role.WORKER: ("delivery", "directory", "policies"),
    Role.CLOCK: ("timers", "delivery", "directory", "silence", "policies", *ALONE),
}


class NeedsPostgres(Exception):
    """The split processes share a database, which SQLite cannot be; the text says what to do."""

    def __init__(self, role: Role) -> None:
        super().__init__(
            f"{role} is one of several processes, and SQLite serves one: start `python -m bot run`, which does everything "
            "in one process, or set DATABASE_URL to PostgreSQL (postgresql://user:password@host/database)"
        )


def check_database(role: Role, url: str) -> None:
    """Raises `NeedsPostgres` where this process could not share its database."""
    if role is not Role.RUN and url.startswith("sqlite:"):
        raise NeedsPostgres(role)
