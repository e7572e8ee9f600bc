"""What the fake Maestro answers to a request, strict about what it is asked; and what goes wrong where the test says so.

The verbs that it has from `Playing` are what its schedule, its workers and its users do.
"""

import re
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

from tests.maestro.fake.changing import CHANGES
from tests.maestro.fake.engine import Engine
from tests.maestro.fake.faults import Asked, Fault, error_body, fault_for
from tests.maestro.fake.playing import Playing
from tests.maestro.fake.reading import READS
from tests.maestro.fake.records import Clock, No
from tests.maestro.fake.running import works

MONDAY = datetime(2026, 11, 30, 6, tzinfo=UTC)


def _nothing(asked: Asked) -> None:
    return


class Answering(Playing):
    """`prompt`: its workers do at once what a request asked for; else only when the test says `works()`.

    `asked` is what came in, in order; `token`: the bearer token without which nothing is answered. `when_heard` and
    `when_done` are called before and after each request's effect, before anything is answered.
    """

    def __init__(self, clock: Clock | None = None) -> None:
        super().__init__(Engine(clock=clock or Clock(MONDAY)))
        self.faults: list[Fault] = []
        self.asked: list[Asked] = []
        self.prompt = True
        self.token: str | None = None
        self.when_heard: Callable[[Asked], None] = _nothing
        self.when_done: Callable[[Asked], None] = _nothing
        self.lock = threading.RLock()

    def emptied(self, at: datetime = MONDAY) -> None:
        """As new, on the same address: for many short stories in a row."""
        with self.lock:
            self.engine = Engine(clock=Clock(at))
            self.faults, self.asked, self.prompt, self.token = [], [], True, None

    def fails_to_answer(self, kind: str | int, path: str = "", **more: Any) -> None:
        """The next request to `path` goes wrong; see `Fault`."""
        self.faults.append(Fault(kind=kind, path=path, **more))

    def calls(self, method: str, path: str) -> list[Asked]:
        """The requests that came in, whatever became of them."""
        return [one for one in self.asked if one.method == method and re.search(path, one.path)]

    def heard(self, asked: Asked) -> Fault | None:
        """A request has come in; what shall go wrong with it."""
        self.when_heard(asked)
        with self.lock:
            self.asked.append(asked)
            return fault_for(self.faults, asked)

    def answered(self, asked: Asked) -> tuple[int, Any]:
        """It takes effect, and this is what is answered."""
        try:
            with self.lock:
                found = self._answer(asked)
        except No as no:
            found = no.status, error_body(no.status, no.message, no.errors)
        self.when_done(asked)
        return found

    def _answer(self, asked: Asked) -> tuple[int, Any]:
        if self.token is not None and asked.headers.get("authorization") != f"Bearer {self.token}":
            raise No(401, "Unauthorized")
        if asked.method == "GET":
            for pattern, read in READS:
                found = re.fullmatch(pattern, asked.path)
                if found:
                    return 200, read(self.engine, asked, *map(unquote, found.groups()))
            raise No(404, f"No static resource {asked.path}")
        for method, pattern, act in CHANGES:
            found = re.fullmatch(pattern, asked.path)
            if found and method == asked.method:
                answered = act(self.engine, asked, *map(unquote, found.groups()))
                if self.prompt:
                    works(self.engine)
                return answered if isinstance(answered, tuple) else (200, answered)
        raise No(404, f"No static resource {asked.path}")
