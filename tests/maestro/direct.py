"""A wire that leads to the fake without a socket, for thousands of stories; a process may die in the middle of a call."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from bot.wire.exchange import Answered, JsonWire, NoAnswer, NotSent, Params
from tests.maestro.fake.answering import Answering
from tests.maestro.fake.faults import Asked, error_body
from tests.world.clock import Killed

URL = "http://maestro.invalid"


class Direct(JsonWire):
    """`dies_in` so many calls, or at a call to `dies_at`, the caller dies: before it takes effect, or after (`dies_after`)."""

    def __init__(self, maestro: Answering) -> None:
        super().__init__(URL)
        self.maestro = maestro
        self.lets_live()

    def lets_live(self) -> None:
        self.dies_in, self.dies_at, self.dies_after = 0, "", False

    @contextmanager
    def within(self, allowed: timedelta) -> Iterator[None]:
        yield

    def exchange(
        self, method: str, path: str, *, params: Params = (), body: Any = None, headers: Mapping[str, str]
    ) -> Answered:
        self.dies_in -= 1
        dies = self.dies_in == 0 or bool(self.dies_at and re.search(self.dies_at, path))
        if dies and not self.dies_after:
            raise Killed
        low = {name.lower(): value for name, value in headers.items()}
        sent = json.loads(json.dumps(body)) if body is not None else {}
        asked = Asked(method, urlsplit(path).path, dict(params), sent, low.get("user"), low)
        fault = self.maestro.heard(asked)
        kind = fault.kind if fault else ""
        if kind == "refuse":
            raise NotSent("no connection to it came about")
        if kind in ("drop", "hang"):
            raise NoAnswer("the connection broke before an answer came")
        if isinstance(kind, int):
            return _answer(kind, error_body(kind, f"fault {kind}"))
        status, answer = self.maestro.answered(asked)
        if dies:
            raise Killed
        if kind in ("lose", "hang_after"):
            raise NoAnswer("it did not answer in time")
        if kind == "late":
            return _answer(500, error_body(500, "BACKEND_ERROR - the connection to the database was lost"))
        return _answer(status, "<html>not what you think" if kind == "garbage" else answer)


def _answer(status: int, answer: Any) -> Answered:
    text = answer if isinstance(answer, str) else json.dumps(answer)
    return Answered(status=status, headers={}, content=text.encode())
