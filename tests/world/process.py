"""One life after the other of the product on one database, and the clock that is moved by hand. It speaks for nobody."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import httpx

from bot.compose import Service, build
from bot.compose.post import Post
from bot.delivery import Pace
from bot.policies import PolicyFile
from bot.settings import Settings
from tests.world.clock import Clock, Killed, ProcessClock, next_at
from tests.world.people import POLICIES, SECRET, SOURCE_TOKEN, TOKEN
from tests.world.reports import SCHEDULER
from tests.world.scheduler import FakeScheduler
from tests.world.stage import Stage

AT_ONCE = Pace(post=timedelta(0), update=timedelta(0))
NO_END = 2000


@dataclass(slots=True)
class Process:
    """The process under test; instants are written "03:15" or "Tue 03:15" (UTC).

    `handing_over`: digests are written as well when they are due; stories about something else do without.
    """

    stage: Stage
    database_url: str
    directory: Path
    policies: str = POLICIES
    pace: Pace = AT_ONCE
    env: Mapping[str, str] = field(default_factory=dict)
    scheduler: FakeScheduler = field(default_factory=lambda: FakeScheduler(SCHEDULER))
    post: Post | None = None
    service: Service = field(init=False, repr=False)
    _process: ProcessClock = field(init=False, repr=False)
    delivering: bool = True
    handing_over: bool = False
    _read_people_at: datetime | None = None
    _digest_at: datetime | None = None
    _late_at: datetime | None = None
    _http: httpx.Client = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._http = httpx.Client(base_url=self.stage.url, timeout=30, trust_env=False)
        self._policies_path.write_text(self.policies)
        self._start()

    @property
    def clock(self) -> Clock:
        return self.stage.clock

    @property
    def now(self) -> datetime:
        return self.clock.now

    def moves_to(self, written: str | datetime) -> None:
        """The clock goes on to that instant, through everything that falls due before it, in order."""
        until = next_at(written, self.now) if isinstance(written, str) else written
        for _ in range(NO_END):
            self.settles()
            due = self._next_due()
            if due is None or due > until:
                break
            self.clock.now = max(due, self.now)
        else:
            raise AssertionError(f"something falls due again and again before {until}")
        self.clock.now = max(until, self.now)
        self.settles()

    def passes(self, **span: float) -> None:
        """So much time goes by: `world.passes(minutes=30)`."""
        self.moves_to(self.now + timedelta(**span))

    def settles(self) -> None:
        """Everything that is due now is done; a process that dies over it is started anew."""
        try:
            self._settles()
        except Killed:
            self.kill()

    def _settles(self) -> None:
        steps = self.service.steps
        for _ in range(NO_END):
            if self._read_people_at is None or self._read_people_at <= self.now:
                self._read_people_at = steps["directory"](self.now)
            self._digest_at = steps["digests"](self.now) if self.handing_over else None
            mailbox_at = steps["mailbox"](self.now) if "mailbox" in steps else None
            self._late_at = steps["late"](self.now) if "late" in steps else None
            timer_at = steps["timers"](self.now)
            effect_at = steps["delivery"](self.now) if self.delivering else None
            if all(at is None or at > self.now for at in (mailbox_at, timer_at, effect_at, self._next_due())):
                return
        raise AssertionError("there is always something due now")

    @contextmanager
    def undelivered(self) -> Iterator[None]:
        """Inside nothing leaves: the deliverers are busy elsewhere."""
        self.delivering = False
        yield
        self.delivering = True
        self.settles()

    def has_policies(self, text: str) -> None:
        """policies.yaml is edited, and found changed."""
        self.policies = text
        self._policies_path.write_text(text)
        self.service.look_at_policies(self.now)
        self._read_people_at = None
        self.settles()

    def dies_when(self, moment: Callable[[], bool]) -> None:
        """The process will die at that moment, in the middle of whatever it does; nothing of it is left but its rows."""
        self._process.dies_when = moment

    def kill(self) -> None:
        """The process dies where it stands and is started again on the same database."""
        self._drop()
        self._start()

    def close(self) -> None:
        self._drop()
        self._http.close()

    def _drop(self) -> None:
        self.stage.door.app = None
        for close in self.service.closing:
            close()
        self.service.storage.close()

    def _start(self) -> None:
        env = {
            "DATABASE_URL": self.database_url,
            "POLICIES": str(self._policies_path),
            "SLACK_BOT_TOKEN": TOKEN,
            "SLACK_SIGNING_SECRET": SECRET,
            "SLACK_API_URL": f"{self.stage.slack_url}/api/",
            "SOURCE_TOKENS": f"{SCHEDULER}:{SOURCE_TOKEN}",
            "STATE_DIR": str(self.directory / "state"),
            **self.env,
        }
        self._process = ProcessClock(self.clock)
        settings = Settings.from_env(env)
        policies = PolicyFile(settings.policies, env={})
        self.service = build(
            settings,
            policies,
            pace=self.pace,
            threads=0,
            clock=self._process,
            connect=lambda spec: self.scheduler,
            post=self.post,
        )
        self.service.follow_policies()
        self.stage.door.app = self.service.app
        self._read_people_at = self.service.steps["directory"](self.now)

    @property
    def _policies_path(self) -> Path:
        return self.directory / "policies.yaml"

    def _next_due(self) -> datetime | None:
        storage = self.service.storage
        effect_at = storage.next_effect_at(now=self.now) if self.delivering else None
        due = (storage.next_timer_at(), effect_at, self._digest_at, self._late_at)
        return min((at for at in due if at is not None), default=None)
