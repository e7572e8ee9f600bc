"""A built service: what it is made of, how it starts and stops, and how it follows its policies. Building it is `wiring`."""

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from starlette.applications import Starlette

from bot.compose.ending import ended
from bot.compose.leading import Leadership
from bot.compose.people import FollowedDirectory
from bot.compose.roles import LED, Role
from bot.compose.schedulers import Schedulers
from bot.evidence import ErrorReport, read_failure
from bot.intake import Inbound, Intake
from bot.intake.inbound import PolicyChanged
from bot.policies import PolicyFile
from bot.ports import Clock
from bot.reads import Records
from bot.render.pages import compile_pages
from bot.render.templates import compile_all
from bot.settings import Settings
from bot.silence import Silence
from bot.store import StorageDown
from bot.store.together import Hints
from handlers.ticker import Ticker
from storage.opening import SqlStorage

log = logging.getLogger(__name__)

Step = Callable[[datetime], datetime | None]

STEPS_END = timedelta(seconds=2)
TALK_ENDS = timedelta(seconds=1)
SENDS_END = timedelta(seconds=3)
LEADING = "leading"


@dataclass(slots=True)
class Service:
    """A built service: `app` is served by whoever holds it, the rest runs between `start` and `stop`.

    `steps` are what its threads call; who does not start it (tests, simulation) calls them instead, and leads.
    """

    role: Role
    settings: Settings
    policies: PolicyFile
    storage: SqlStorage
    intake: Intake
    schedulers: Schedulers
    directory: FollowedDirectory
    leadership: Leadership
    records: Records
    app: Starlette
    tickers: dict[str, Ticker]
    steps: Mapping[str, Step]
    clock: Clock
    open_hints: Callable[[Callable[[], None]], Hints]
    silence: Silence
    parting: list[Callable[[], None]] = field(default_factory=list)
    closing: list[Callable[[], None]] = field(default_factory=list)
    hints: Hints | None = None

    def start(self) -> None:
        """Start the threads; due work of an earlier life, and of other processes, is found by the first steps."""
        self.schedulers.follow(self.policies.current)
        self.hints = self.open_hints(self.wake)
        self.leadership.begin()
        if self.role.may_lead:
            self.silence.be_there(self.clock())
        for ticker in self.tickers.values():
            ticker.start()
        threading.Thread(target=self._warm_up, name="warm-up", daemon=True).start()

    def _warm_up(self) -> None:
        """Read one failure and compile what messages are made from, so that the first is as fast as the next."""
        read_failure(
            error=ErrorReport(log="KeyError: 'amount'"), facts={}, last_good=None, rules=self.policies.current.rules
        )
        compile_all()
        compile_pages()

    def stop(self) -> bool:
        """Stop taking up work, let what is under way end, but not for long, and hand the leases and the lead back.

        False: some threads are still at it; what they send will be looked for.
        """
        for part in self.parting:
            part()
        working = [ticker.stop for name, ticker in self.tickers.items() if name != LEADING]
        stepped = ended(working, within=STEPS_END)
        stood_back = ended([self._stand_back], within=TALK_ENDS)
        sent = ended([self._close], within=SENDS_END)
        try:
            self.storage.release_leases()
        except StorageDown as down:
            log.warning("the leases were not handed back; others void them", extra={"error": str(down)})
        self.storage.close()
        if not (stepped and stood_back and sent):
            log.warning("stopped in the middle", extra={"steps": stepped, "lead": stood_back, "sends": sent})
        return stepped and stood_back and sent

    def _stand_back(self) -> None:
        self.leadership.end()
        if LEADING in self.tickers:
            self.tickers[LEADING].stop()

    def _close(self) -> None:
        for close in self.closing:
            close()
        if self.hints is not None:
            self.hints.close()

    def wake(self) -> None:
        """Something may be due."""
        for name in ("delivery", "timers"):
            self.poke(name, self.clock())

    def poke(self, name: str, at: datetime) -> None:
        """Something is due at `at` in that thread, if this process has it."""
        if name in self.tickers:
            self.tickers[name].poke(at)

    def hint(self) -> None:
        """Wake the other processes."""
        if self.hints is not None:
            self.hints.hint()

    def begin_to_lead(self) -> None:
        """What earlier leaders did is read anew, and what holds from now on is told."""
        self.schedulers.forget()
        self.follow_policies()

    def lead(self) -> None:
        """Now this process may do what only the leader does."""
        for name in (*LED, "directory", "delivery"):
            self.poke(name, self.clock())

    def look_at_policies(self, now: datetime) -> datetime | None:
        """Reload policies.yaml when it changed; a bad file is told once and the last good one stays."""
        reload = self.policies.reload_if_changed()
        for problem in reload.problems:
            log.error("policies refused", extra={"problem": str(problem)})
        if reload.changed and self.leadership.leads:
            self.follow_policies()
            for name in ("directory", "schedulers", "polling", "digests"):
                self.poke(name, now)
        elif reload.changed:
            self.schedulers.follow(self.policies.current)
        return None

    def follow_policies(self) -> None:
        """What holds from now on: the schedulers that are declared, the version that decisions name, every job's deadlines.

        Only for the leader: the other processes have the same file, and follow its schedulers.
        """
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
