"""Follows what the stand-ins have written down, which is what the world has seen. It asks nobody and changes nothing."""

import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

Json = dict[str, Any]
Found = TypeVar("Found")
LOOK_EVERY = 0.02
JOB = re.compile(r"\b[a-z]+-[a-z0-9_]+\b")


class NotSeen(Exception):
    """It did not come to pass in time."""


@dataclass(slots=True)
class Tail:
    """The whole rows of a file of JSON lines, as it grows."""

    path: Path
    rows: list[Json] = field(default_factory=list)
    _read: int = 0

    def grow(self) -> list[Json]:
        """The rows that are new."""
        if not self.path.exists():
            return []
        with self.path.open("rb") as file:
            file.seek(self._read)
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        self._read += len(whole)
        new = [json.loads(line) for line in whole.splitlines()]
        self.rows += new
        return new


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """A message that the workspace took: the key in its metadata, and where it stands."""

    key: str
    channel: str
    ts: str
    thread_ts: str | None


@dataclass(slots=True)
class Seen:
    """Both journals. `messages` holds every message of the workspace as it stands now, by channel and `ts`; `naming` those
    that name a job; `views` the modals as they were shown."""

    slack: Tail
    scheduler: Tail
    messages: dict[tuple[str, str], Json] = field(default_factory=dict)
    naming: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    views: list[Json] = field(default_factory=list)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _stopped: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        self._thread = threading.Thread(target=self._follow, name="journals", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()

    def wait_for(self, look: Callable[[], Found | None], *, within: float, what: str) -> Found:
        """What `look` finds, asked again whenever something was written; raises `NotSeen`."""
        with self._changed:
            found = self._changed.wait_for(look, timeout=within)
        if not found:
            raise NotSeen(what)
        return found

    def message_with(self, action: str, job: str) -> tuple[str, str, Json] | None:
        """Channel, `ts` and element of the newest message that names the job and has such a button."""
        for channel, ts in sorted(self.naming.get(job, ()), reverse=True):
            for block in self.messages[channel, ts].get("blocks") or []:
                for element in block.get("elements", []):
                    if element.get("action_id") == action:
                        return channel, ts, {**element, "block_id": block["block_id"]}
        return None

    def view_with(self, block_id: str, since: int) -> Json | None:
        """The newest modal with such a block, of those after the first `since`."""
        for view in reversed(self.views[since:]):
            if any(block.get("block_id") == block_id for block in view["blocks"]):
                return view
        return None

    def posts(self) -> list[Post]:
        """The messages that were taken, in order."""
        return [
            Post(
                key=row["args"]["metadata"]["event_payload"]["key"],
                channel=row["result"]["channel"],
                ts=row["result"]["ts"],
                thread_ts=row["args"].get("thread_ts"),
            )
            for row in self._rows("chat.postMessage")
        ]

    def files(self) -> list[str]:
        """The names of the files that were shared."""
        shared = [file for row in self._rows("files.completeUploadExternal") for file in row["result"]["files"]]
        return [str(file["name"]) for file in shared]

    def taken(self, action: str) -> list[Json]:
        """The requests that the scheduler took."""
        with self._changed:
            rows = list(self.scheduler.rows)
        return [row["request"] for row in rows if row["what"] == "taken" and row["request"]["action"] == action]

    def repeat_the_last(self) -> None:
        """Pretend that the last message and the last rerun came twice."""
        post = self._rows("chat.postMessage")[-1]
        with self._changed:
            again = [
                row for row in self.scheduler.rows if row["what"] == "taken" and row["request"]["action"] == "rerun"
            ]
            self.slack.rows.append(post)
            self.scheduler.rows.append(again[-1])

    def _rows(self, method: str) -> list[Json]:
        with self._changed:
            return [row for row in self.slack.rows if row["method"] == method]

    def _follow(self) -> None:
        while not self._stopped.wait(LOOK_EVERY):
            with self._changed:
                new = self.slack.grow()
                for row in new:
                    self._keep(row)
                if self.scheduler.grow() or new:
                    self._changed.notify_all()

    def _keep(self, row: Json) -> None:
        result = row["result"]
        if row["method"] in ("chat.postMessage", "chat.update"):
            place, message = (result["channel"], result["ts"]), result["message"]
            self.messages[place] = message
            for job in JOB.findall(message["text"]):
                self.naming.setdefault(job, set()).add(place)
        elif row["method"] in ("views.open", "views.push", "views.update"):
            self.views.append(result["view"])
