"""The workspace and the scheduler as the races need them: in memory, and a place to stop before anything reaches them."""

from dataclasses import dataclass, field
from datetime import datetime
from itertools import count

from bot.ports import ChatFile, ChatMessage, Looked, SchedulerAnswer, SchedulerRequest, SendFailed
from tests.races.conductor import stop
from tests.races.steps import Footprint
from tests.world.scheduler import FakeScheduler

AT_SCHEDULER = Footprint(outside=frozenset({"scheduler"}))
AT_WORKSPACE = Footprint(outside=frozenset({"workspace"}))


@dataclass(slots=True)
class Scheduler(FakeScheduler):
    """The world's scheduler; an actor stops before its request arrives."""

    def ask(self, request: SchedulerRequest) -> SchedulerAnswer:
        stop(f"asks the scheduler: {request.action}", AT_SCHEDULER)
        return FakeScheduler.ask(self, request)

    def look(self, request: SchedulerRequest) -> Looked:
        stop(f"looks at the scheduler: {request.action}", AT_SCHEDULER)
        return FakeScheduler.look(self, request)


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """A message as it stands in the workspace."""

    channel: str
    ts: str
    message: ChatMessage


@dataclass(slots=True)
class Room:
    """Implements `bot.ports.Chat`. `posted` holds every post that arrived, `shown` what stands at each `ts` now."""

    posted: list[Posted] = field(default_factory=list)
    shown: dict[str, ChatMessage] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    answers_lost: int = 0
    _numbers: "count[int]" = field(default_factory=lambda: count(1))

    def post(self, *, channel: str, message: ChatMessage) -> str:
        stop(f"posts {message.key}", AT_WORKSPACE)
        ts = f"{next(self._numbers)}.0"
        self.posted.append(Posted(channel=channel, ts=ts, message=message))
        self.shown[ts] = message
        if self.answers_lost:
            self.answers_lost -= 1
            raise SendFailed("timeout", uncertain=True)
        return ts

    def update(self, *, channel: str, ts: str, message: ChatMessage) -> None:
        stop(f"updates {message.key}", AT_WORKSPACE)
        self.shown[ts] = message

    def upload(self, *, channel: str, thread_ts: str, file: ChatFile) -> str:
        stop(f"uploads {file.name}", AT_WORKSPACE)
        return self.files.setdefault(file.name, f"F{len(self.files)}")

    def find(self, *, channel: str, key: str, thread_ts: str | None, since: datetime) -> str | None:
        stop(f"looks for {key}", AT_WORKSPACE)
        return next((post.ts for post in self.posted if post.channel == channel and post.message.key == key), None)

    def find_file(self, *, channel: str, name: str, thread_ts: str, since: datetime) -> str | None:
        stop(f"looks for {name}", AT_WORKSPACE)
        return self.files.get(name)

    def open_direct(self, *, user: str) -> str:
        return f"D{user}"

    def roots(self) -> list[Posted]:
        return [post for post in self.posted if post.message.thread_ts is None and post.message.key.endswith("/root")]
