"""A call to the Web API: its arguments, its refusal, and how a method is declared; no method lives here."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import msgspec

from bot.sandbox.slack.rules import Problem
from bot.sandbox.slack.state import State

Json = dict[str, Any]
TRUE = {"true", "1", True}
TRIGGER_LIFE = timedelta(seconds=3)


class Refusal(Exception):
    """Slack says no, by this name."""

    def __init__(self, error: str, *, messages: Iterable[str] = (), **more: Any) -> None:
        super().__init__(error)
        self.error = error
        self.messages = tuple(messages)
        self.more = more

    def body(self) -> Json:
        metadata = {"response_metadata": {"messages": list(self.messages)}} if self.messages else {}
        return {"ok": False, "error": self.error, **self.more, **metadata}


def missing(name: str) -> Refusal:
    return Refusal("invalid_arguments", messages=[f"[ERROR] missing required field: {name}"])


def refused(error: str, problems: Iterable[Problem]) -> Refusal:
    """A refusal that names each pointer, as Slack writes it."""
    return Refusal(error, messages=[f"[ERROR] {each.message} [json-pointer:{each.pointer}]" for each in problems])


@dataclass(slots=True)
class Args:
    """Arguments as they came: JSON values, or the strings of a form."""

    values: Json

    def text(self, name: str) -> str | None:
        value = self.values.get(name)
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return str(value)
        raise Refusal("invalid_arguments", messages=[f"[ERROR] must be a string [json-pointer:/{name}]"])

    def required(self, name: str) -> str:
        value = self.text(name)
        if not value:
            raise missing(name)
        return value

    def flag(self, name: str) -> bool:
        value = self.values.get(name)
        return value in TRUE if isinstance(value, (str, bool, int)) else False

    def number(self, name: str, *, otherwise: int, most: int) -> int:
        value = self.values.get(name, otherwise)
        if isinstance(value, bool) or not str(value).isdecimal():
            raise Refusal("invalid_arguments", messages=[f"[ERROR] must be an integer [json-pointer:/{name}]"])
        return min(int(value), most)

    def nested(self, name: str, *, error: str = "invalid_arguments") -> Any:
        """A structure: itself in a JSON body, a string of JSON in a form."""
        value = self.values.get(name)
        if not isinstance(value, str):
            return value
        try:
            return msgspec.json.decode(value)
        except msgspec.DecodeError as broken:
            raise Refusal(error, messages=[f"[ERROR] not JSON [json-pointer:/{name}]"]) from broken

    def words(self, name: str) -> tuple[str, ...]:
        """A comma-separated list, or an array of strings."""
        value = self.values.get(name) or ""
        parts = value if isinstance(value, list) else str(value).split(",")
        return tuple(str(part).strip() for part in parts if str(part).strip())


@dataclass(slots=True, kw_only=True)
class Call:
    """One call of a method: what it may read, when it came, and the number that its effect would get."""

    state: State
    args: Args
    now: datetime
    number: int
    url: str
    known: Json = field(default_factory=dict)

    def name(self, letter: str, index: int = 0) -> str:
        """A fresh identifier in Slack's form: two calls never share one."""
        return f"{letter}0{self.number:07X}{index:02X}"

    def fresh_ts(self, index: int = 0) -> str:
        """A timestamp in Slack's form, later than every one before."""
        return self.state.next_ts(self.now, index)


Run = Callable[[Call], Json]
Keep = Callable[[State, Json], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A Web API method: `run` answers (or refuses), `keep` puts an accepted answer into the state."""

    run: Run
    keep: Keep | None = None
    scopes: tuple[str, ...] = ()
    tier: int = 3
    per_channel: bool = False
