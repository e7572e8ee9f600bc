"""Sees what a person would see in the workspace, and beside it what the database holds; it changes neither.

It reads the database through a connection that cannot write.
"""

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Self, TypeVar

import httpx

from bot.cron import next_after
from bot.incidents.keys import JobKey, RunRef
from bot.incidents.memory import JobMemory
from bot.incidents.model import Incident
from bot.incidents.policy import Schedule
from bot.sandbox.slack.text import Names, text_of
from bot.schedulers.local.records import written
from bot.store import Booking, Which
from storage.opening import SqlStorage, open_storage

Json = dict[str, Any]
Found = TypeVar("Found")
SCHEDULER = "shop"
EVERYTHING = 10**9
LOOK_AGAIN = 0.25
MENTION = re.compile(r"<@([UW][A-Z0-9]+)>|<!subteam\^(S[A-Z0-9]+)|\"(?:user|usergroup)_id\": ?\"([A-Z0-9]+)\"")


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A job's newest occurrence as the database has it, with its thread as the workspace shows it."""

    incident: Incident
    channel: str
    root: Json
    replies: tuple[Json, ...]
    names: Names

    @property
    def root_text(self) -> str:
        return text_of(self.root, self.names)

    @property
    def reply_texts(self) -> tuple[str, ...]:
        return tuple(text_of(reply, self.names) for reply in self.replies)

    def says(self, *words: str) -> bool:
        """Whether one reply holds all these words."""
        return any(all(word in text for word in words) for text in self.reply_texts)

    def called(self, person: str, *words: str) -> bool:
        """Whether a reply mentions this person or group, and holds all these words."""
        texts = zip(self.replies, self.reply_texts, strict=True)
        return any(person in mentioned(reply) and all(word in text for word in words) for reply, text in texts)

    @property
    def mentions(self) -> frozenset[str]:
        """Everybody whom any message of the thread mentions."""
        return frozenset(who for message in (self.root, *self.replies) for who in mentioned(message))


@dataclass(slots=True)
class Witness:
    """Looks at one running demo; `wait` returns as soon as something is seen, and is woken when something happens."""

    address: str
    database_url: str
    _state: Json = field(default_factory=dict)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _closing: threading.Event = field(default_factory=threading.Event)
    _storage: SqlStorage = field(init=False)
    _watcher: threading.Thread = field(init=False)

    def __enter__(self) -> Self:
        self._storage = open_storage(self.database_url, instance="witness", read_only=True)
        self._watcher = threading.Thread(target=self._watch, name="sandbox-witness", daemon=True)
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._watcher.join()
        self._storage.close()

    def wait(self, look: Callable[[], Found | None], *, until: float) -> Found | None:
        """What `look` finds, or None when the monotonic instant `until` has come."""
        while True:
            found = look()
            if found or time.monotonic() >= until:
                return found
            with self._changed:
                self._changed.wait(min(LOOK_AGAIN, max(0.0, until - time.monotonic())))

    def seen(self, job: str) -> Seen | None:
        """The newest occurrence of the job with its thread, once both are there."""
        newest = self._storage.reads.incidents(which=Which.ALL, jobs=f"{SCHEDULER}/{job}", limit=1)
        place = (
            self._storage.reads.conversation_of(record=newest[0].record, number=newest[0].number) if newest else None
        )
        if place is None or place[1] is None or not self._state:
            return None
        channel, ts = place
        thread = [
            each
            for each in self._state["messages"].get(channel, [])
            if ts in (each["ts"], each.get("thread_ts")) and not each.get("deleted")
        ]
        if not thread or thread[0]["ts"] != ts:
            return None
        return Seen(incident=newest[0], channel=channel, root=thread[0], replies=tuple(thread[1:]), names=self.names())

    def memory(self, job: str) -> JobMemory:
        """What the database remembers of the job's runs."""
        row = self._storage.reads.job(key=JobKey(scheduler=SCHEDULER, name=job))
        return row.memory if row else JobMemory()

    def runs_due(
        self, job: str, *, since: datetime, until: datetime, every: timedelta
    ) -> tuple[tuple[datetime, bool], ...]:
        """The job's nominal times after `since` and before `until`, each with whether a run of it was ever told."""
        times: list[datetime] = []
        at = next_after(Schedule(every=every), since)
        while at is not None and at < until:
            times.append(at)
            at = next_after(Schedule(every=every), at)
        key = JobKey(scheduler=SCHEDULER, name=job)
        runs = (RunRef(run_id=f"scheduled__{written(at)}", nominal_time=at) for at in times)
        facts = [self._storage.reads.run_facts(job=key, run=run) for run in runs]
        return tuple((at, found is not None) for at, found in zip(times, facts, strict=True))

    def bookings(self, incident: Incident) -> tuple[Booking, ...]:
        return self._storage.reads.reruns_of(record=incident.record, number=incident.number)

    def has_evidence(self, incident: Incident) -> bool:
        return self._storage.reads.evidence(key=incident.failure.evidence) is not None

    def threads(self) -> Iterator[tuple[Json, tuple[Json, ...]]]:
        """Each thread of each channel, the oldest root first, with its channel."""
        for channel in self._state.get("channels", []):
            threads: dict[str, list[Json]] = {}
            for message in self._state["messages"].get(channel["id"], []):
                threads.setdefault(message.get("thread_ts", message["ts"]), []).append(message)
            yield from ((channel, tuple(thread)) for thread in threads.values())

    def whispers(self, user: str) -> tuple[str, ...]:
        """What only this person sees."""
        return tuple(text_of(each, self.names()) for each in self._state.get("ephemerals", []) if each["to"] == user)

    def view(self, user: str) -> Json | None:
        """The modal on top of this person's screen."""
        stack: list[Json] = self._state.get("modals", {}).get(user, [])
        return stack[-1] if stack else None

    def names(self) -> Names:
        """Ids of people, groups and channels with their names."""
        state = self._state
        people = {each["id"]: each["name"] for each in state["users"]}
        groups = {each["id"]: each["handle"] for each in state["usergroups"]}
        return {**people, **groups, **{each["id"]: each["name"] for each in state["channels"]}}

    def _watch(self) -> None:
        with httpx.Client(base_url=self.address, timeout=30) as http:
            number = ""
            while not self._closing.is_set():
                asked: dict[str, str | int] = {
                    "most": EVERYTHING,
                    "since": number,
                    "wait_ms": int(LOOK_AGAIN * 1000),
                }
                got: Json = http.get("/control/state", params=asked).raise_for_status().json()
                number = str(got["n"])
                with self._changed:
                    if got["changed"]:
                        self._state = got
                    self._changed.notify_all()


def mentioned(message: Json) -> frozenset[str]:
    """The people and groups that a message calls."""
    found = MENTION.findall(f"{message.get('text', '')} {json.dumps(message.get('blocks') or [])}")
    return frozenset(one for groups in found for one in groups if one)
