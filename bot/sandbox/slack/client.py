"""Speaks to a stand-in's control API, for tests and the demo's check; it must not look into the stand-in's memory."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from bot.sandbox.slack.text import Names, text_of

Json = dict[str, Any]
Found = TypeVar("Found")
PATIENCE_SECONDS = 15.0
ALL = 10**9


class ActRefused(Exception):
    """The workspace did not let the person do this; nothing was sent to the app."""


@dataclass(slots=True)
class Workspace:
    """One stand-in workspace, by its address."""

    url: str
    _http: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        self._http = httpx.Client(base_url=self.url, timeout=PATIENCE_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def state(self) -> Json:
        """Everything that the page draws, with every message."""
        return self._get(f"/control/state?most={ALL}")

    def wait_for(self, look: Callable[[], Found | None], *, within: timedelta = timedelta(seconds=10)) -> Found:
        """What `look` finds, asked again whenever something happened; TimeoutError when it finds nothing in time."""
        until = time.monotonic() + within.total_seconds()
        while True:
            number = self.state()["n"]
            found = look()
            if found:
                return found
            left = until - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"not seen within {within}")
            self._get(f"/control/state?since={number}&wait_ms={max(20, int(left * 1000))}")

    def channel(self, name: str) -> str:
        """The id of the channel with this name (or this id)."""
        for each in self.state()["channels"]:
            if name.removeprefix("#") in (each["name"], each["id"]):
                return str(each["id"])
        raise LookupError(f"no channel {name}")

    def messages(self, channel: str) -> list[Json]:
        """The messages that stand in the channel itself, oldest first, broadcast replies among them."""
        everything: list[Json] = self.state()["messages"].get(channel, [])
        roots = {each["ts"] for each in everything}
        return [
            each
            for each in everything
            if each.get("thread_ts", each["ts"]) == each["ts"]
            or each.get("subtype") == "thread_broadcast"
            or each["thread_ts"] not in roots
        ]

    def thread(self, channel: str, ts: str) -> list[Json]:
        """The root and its replies, oldest first."""
        everything: list[Json] = self.state()["messages"].get(channel, [])
        return [each for each in everything if ts in (each["ts"], each.get("thread_ts"))]

    def ephemerals(self, user: str) -> list[Json]:
        """What only this person sees."""
        return [each for each in self.state()["ephemerals"] if each["to"] == user]

    def view_of(self, user: str) -> Json | None:
        """The modal on top of this person's screen."""
        stack: list[Json] = self.state()["modals"].get(user, [])
        return stack[-1] if stack else None

    def home_of(self, user: str) -> Json | None:
        home: Json | None = self.state()["homes"].get(user)
        return home

    def names(self) -> Names:
        """Ids of people, groups and channels with their names, for `text_of`."""
        state = self.state()
        people = {each["id"]: each["name"] for each in state["users"]}
        groups = {each["id"]: each["handle"] for each in state["usergroups"]}
        return {**people, **groups, **{each["id"]: each["name"] for each in state["channels"]}}

    def text_of(self, message: Json) -> str:
        return text_of(message, self.names())

    def click(
        self,
        *,
        user: str,
        action_id: str,
        channel: str | None = None,
        ts: str | None = None,
        view_id: str | None = None,
        block_id: str | None = None,
        value: Any = None,
        tamper: str = "none",
    ) -> Json:
        """Use a button or menu (`value`: the option's value); returns the app's `status` and `body`."""
        place = {"channel": channel, "ts": ts, "view_id": view_id, "block_id": block_id, "value": value}
        return self._act("click", {"user": user, "action_id": action_id, "tamper": tamper, **_given(place)})

    def submit(
        self, *, user: str, values: Mapping[str, Any] | None = None, view_id: str | None = None, tamper: str = "none"
    ) -> Json:
        """Submit the topmost modal with values by block_id or action_id; field errors come back as `errors`."""
        wish = {"user": user, "values": dict(values or {}), "tamper": tamper, **_given({"view_id": view_id})}
        return self._act("submit", wish)

    def close_view(self, *, user: str, view_id: str | None = None) -> Json:
        return self._act("close", {"user": user, **_given({"view_id": view_id})})

    def command(self, *, user: str, channel: str, command: str, text: str = "", tamper: str = "none") -> Json:
        wish = {"user": user, "channel": channel, "command": command, "text": text, "tamper": tamper}
        return self._act("command", wish)

    def open_home(self, *, user: str) -> Json:
        return self._act("home", {"user": user})

    def say(self, *, user: str, channel: str, text: str, thread_ts: str | None = None) -> Json:
        """Write a message as a person."""
        return self._act("say", {"user": user, "channel": channel, "text": text, **_given({"thread_ts": thread_ts})})

    def inject(self, method: str, **fault: Any) -> Json:
        """Order a fault; the fields are those of `bot.sandbox.slack.faults.Fault`."""
        return self._act("faults", {"method": method, **fault})

    def heal(self) -> None:
        """Forget all faults."""
        self._http.delete("/control/faults").raise_for_status()

    def change_channel(self, channel: str, **changes: Any) -> Json:
        """`archived`, `name`, `private`, `bot_member`, `members`."""
        return self._act("channel", {"channel": channel, **changes})

    def change_people(self, *, users: list[Json] | None = None, usergroups: list[Json] | None = None) -> Json:
        return self._act("users", _given({"users": users, "usergroups": usergroups}))

    def change_token(self, **changes: Any) -> Json:
        """`revoked`, `scopes`."""
        return self._act("token", changes)

    def go_away(self, away: bool = True) -> Json:
        """Begin an outage, or end it."""
        return self._act("away", {"away": away})

    def change_rates(self, **changes: Any) -> Json:
        return self._act("rates", changes)

    def sockets(self, act: str = "count") -> Json:
        """Disturb the app's WebSockets: `drop`, `silence`, `refresh`; says how many are `open`, and were `opened` so far."""
        return self._act("sockets", {"act": act})

    def delete(self, *, channel: str, ts: str) -> Json:
        """Delete a message, whoever wrote it."""
        return self._act("delete", {"channel": channel, "ts": ts})

    def reset(self) -> Json:
        return self._act("reset", {})

    def journal(self, *, method: str | None = None, since: int = 0) -> list[Json]:
        """The accepted effects, oldest first."""
        rows: list[Json] = self._get(f"/control/journal?since={since}")["rows"]
        return [row for row in rows if method in (None, row["method"])]

    def calls(self, *, method: str | None = None) -> list[Json]:
        """Every call of the Web API with its outcome, refused and faulted ones as well."""
        calls: list[Json] = self._get("/control/calls")["calls"]
        return [call for call in calls if method in (None, call["method"])]

    def _get(self, path: str) -> Json:
        got: Json = self._http.get(path).raise_for_status().json()
        return got

    def _act(self, name: str, wish: Json) -> Json:
        answer = self._http.post(f"/control/{name}", json=wish)
        body: Json = answer.json()
        if answer.status_code >= 400:
            raise ActRefused(f"{name}: {body}")
        return body


def _given(values: Json) -> Json:
    return {key: value for key, value in values.items() if value is not None}
