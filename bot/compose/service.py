"""A built service: what it is made of, how it starts and stops, and how it follows its policies. Building it is `wiring`."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import uuid4

from starlette.applications import Starlette

from bot.compose.schedulers import Schedulers
from bot.directory import DirectoryRefresher
from bot.intake import Inbound, Intake
from bot.intake.inbound import PolicyChanged
from bot.policies import PolicyFile
from bot.ports import Clock
from bot.reads import Records
from bot.settings import Settings
from handlers.ticker import Ticker
from storage.opening import SqlStorage

log = logging.getLogger(__name__)

Step = Callable[[datetime], datetime | None]


@dataclass(slots=True)
class Service:
    """A built service: `app` is served by whoever holds it, the rest runs between `start` and `stop`.

    `steps` are what its threads call; who does not start it (tests, simulation) calls them instead.
    """

    settings: Settings
    policies: PolicyFile
    storage: SqlStorage
    intake: Intake
    schedulers: Schedulers
    directory: DirectoryRefresher
    records: Records
    app: Starlette
    tickers: dict[str, Ticker]
    steps: Mapping[str, Step]
    clock: Clock
    closing: list[Callable[[], None]] = field(default_factory=list)

    def start(self) -> None:
        """Make the declared jobs known and start the threads; due work of an earlier life is found by the first steps."""
        self.follow_policies()
        for ticker in self.tickers.values():
            ticker.start()

    def stop(self) -> None:
        """Stop taking up work, let what is under way end, and hand the leases back."""
        for ticker in self.tickers.values():
            ticker.stop()
        for close in self.closing:
            close()
        self.storage.release_leases()
        self.storage.close()

    def look_at_policies(self, now: datetime) -> datetime | None:
        """Reload policies.yaml when it changed; a bad file is told once and the last good one stays."""
        reload = self.policies.reload_if_changed()
        for problem in reload.problems:
            log.error("policies refused", extra={"problem": str(problem)})
        if reload.changed:
            self.follow_policies()
            self.tickers["directory"].poke(now)
            self.tickers["schedulers"].poke(now)
        return None

    def follow_policies(self) -> None:
        """What holds from now on: the schedulers that are declared, the version that decisions name, every job's deadlines."""
        policies = self.policies.current
        self.schedulers.follow(policies)
        now = self.clock()
        self.storage.publish_policies(version=policies.version, text=self.policies.path.read_text(), now=now)
        known = {row.key for row in self.storage.reads.jobs()} | set(policies.declared_jobs())
        key = uuid4().hex
        reason = f"policies {policies.version[:12]}"
        changed = [PolicyChanged(job=job, reason=reason) for job in sorted(known)]
        self.intake.take_in([Inbound(key=f"policies:{key}:{one.job}", event=one) for one in changed])


def utc_now() -> datetime:
    """The clock of the running service."""
    return datetime.now(UTC)
