"""What stands behind the doors in these tests: an intake that records and answers as told, a clock, a workspace."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from threading import Event, Lock
from typing import Any

from bot.health.answering import Told as HealthTold
from bot.incidents.effects import Told
from bot.incidents.people import Person
from bot.intake import Inbound, Outcome, Result
from bot.ports import SendFailed
from bot.render.health import HealthHelp
from bot.render.home import Home, Seen
from bot.render.snapshot import Snapshot
from bot.store import StorageDown

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@dataclass
class Clock:
    """A clock that stands until it is moved."""

    at: datetime = NOON

    def __call__(self) -> datetime:
        return self.at

    def move(self, by: timedelta) -> None:
        self.at += by


@dataclass
class Recorder:
    """Takes each key in once, remembers what it said, and says it again to a duplicate."""

    told: Told | None = None
    down: bool = False
    raises: Exception | None = None
    rejects: Mapping[str, str] = field(default_factory=dict)
    taken: list[Inbound] = field(default_factory=list)
    holds: Event | None = None
    _said: dict[str, Outcome] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def take_in(self, inbounds: Sequence[Inbound]) -> list[Outcome]:
        if self.holds is not None:
            self.holds.wait(10)
        if self.down:
            raise StorageDown
        if self.raises is not None:
            raise self.raises
        with self._lock:
            return [self._one(inbound) for inbound in inbounds]

    def _one(self, inbound: Inbound) -> Outcome:
        known = self._said.get(inbound.key)
        if known is not None:
            return Outcome(result=Result.DUPLICATE, reason=known.reason, told=known.told)
        reason = self.rejects.get(inbound.key)
        if reason is not None:
            return Outcome(result=Result.REJECTED, reason=reason)
        self.taken.append(inbound)
        outcome = Outcome(result=Result.ACCEPTED, told=self.told)
        self._said[inbound.key] = outcome
        return outcome


@dataclass
class Figures:
    """What is told of job health; `heard` is what was asked, and by whom."""

    told: HealthTold = field(default_factory=lambda: HealthHelp(examples=("finance 30d",)))
    down: bool = False
    heard: list[tuple[str, str | None]] = field(default_factory=list)

    def tell(self, text: str, *, by: Person | None, now: datetime) -> HealthTold:
        if self.down:
            raise StorageDown
        self.heard.append((text, by.id if by else None))
        return self.told

    def name_of(self, person: Person) -> str:
        return person.name


@dataclass
class Addresses:
    """Where answers to a command or a click go; those whose blocks hold `refuses` are refused, `fails` is raised for any."""

    refuses: str | None = None
    fails: SendFailed | None = None
    said: list[dict[str, Any]] = field(default_factory=list)

    def answer(self, **call: Any) -> None:
        if self.fails is not None:
            raise self.fails
        if self.refuses is not None and self.refuses in str(call["blocks"]):
            raise SendFailed("invalid_blocks", permanent=True)
        self.said.append(call)


@dataclass
class Claims:
    """What was claimed."""

    known: set[str] = field(default_factory=set)

    def __call__(self, name: str, now: datetime) -> bool:
        new = name not in self.known
        self.known.add(name)
        return new


@dataclass
class Reading:
    """The occurrences that can be read."""

    snapshots: dict[tuple[int, int], Snapshot] = field(default_factory=dict)
    home: Home = field(default_factory=lambda: Home(seen=Seen.TEAM, at=NOON))
    marked: dict[tuple[str, str], tuple[tuple[int, int], ...]] = field(default_factory=dict)
    down: bool = False

    def snapshot(self, record: int, number: int) -> Snapshot | None:
        if self.down:
            raise StorageDown
        return self.snapshots.get((record, number))

    def permalink(self, record: int, number: int) -> str | None:
        return f"https://team.slack.com/archives/C1/p{record}{number}"

    def page(self, user: str) -> Home:
        """Everybody's Home tab is the same."""
        if self.down:
            raise StorageDown
        return self.home

    def marked_in_chat(self, team: str, cause: str) -> Sequence[tuple[int, int]]:
        return self.marked.get((team, cause), ())


@dataclass
class Workspace:
    """Where private answers go; `fails` is raised instead, `holds` makes each wait."""

    fails: Exception | None = None
    holds: Event | None = None
    settle: Callable[[], None] = lambda: None
    said: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def open_view(self, **call: Any) -> str:
        self._say("open_view", call)
        return "V1"

    def update_view(self, **call: Any) -> None:
        self._say("update_view", call)

    def publish_home(self, **call: Any) -> None:
        self._say("publish_home", call)

    def ephemeral(self, **call: Any) -> None:
        self._say("ephemeral", call)

    def heard(self) -> list[tuple[str, dict[str, Any]]]:
        """Everything that was said, once all of it has arrived; nothing can be said afterwards."""
        self.settle()
        return self.said

    def _say(self, what: str, call: dict[str, Any]) -> None:
        if self.holds is not None:
            self.holds.wait(10)
        if self.fails is not None:
            raise self.fails
        self.said.append((what, call))
