"""The workspace: every call and every person's act passes here, one at a time; it must not know HTTP."""

import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from bot.sandbox.slack.effects import EFFECTS
from bot.sandbox.slack.journal import Journal
from bot.sandbox.slack.methods import METHODS
from bot.sandbox.slack.rates import Rates
from bot.sandbox.slack.state import State, from_seed
from bot.sandbox.slack.wire import Args, Call, Json, Keep, Refusal, Run

REMEMBERED_CALLS = 20_000

KEEPS: Mapping[str, Keep] = {
    **{name: method.keep for name, method in METHODS.items() if method.keep is not None},
    **EFFECTS,
}


@dataclass(slots=True)
class Workspace:
    """State behind one lock; what changes it is a row of the journal first."""

    seed: Json
    clock: Callable[[], datetime]
    journal: Journal = field(default_factory=Journal)
    rates: Rates = field(default_factory=Rates)
    url: str = "http://127.0.0.1"
    calls: deque[Json] = field(default_factory=lambda: deque(maxlen=REMEMBERED_CALLS))
    lock: threading.RLock = field(default_factory=threading.RLock)
    state: State = field(init=False)

    def __post_init__(self) -> None:
        self.state = from_seed(self.seed)
        for row in self.journal.rows:
            self._keep(row)

    def call(self, name: str, args: Json, token: str | None) -> Json:
        """Slack's answer to a Web API call; raises Refusal."""
        method = METHODS.get(name)
        with self.lock:
            self._authorise(token)
            if method is None:
                raise Refusal("unknown_method", req_method=name)
            self._refuse_missing_scope(method.scopes)
            return self.perform(name, args, run=method.run, token=token)

    def perform(self, name: str, args: Json, *, run: Run, token: str | None = None) -> Json:
        """Work out the answer, and if it changes anything journal it and put it into the state."""
        with self.lock:
            call = self.calling(args)
            result = run(call)
            if name in KEEPS:
                self.record(name, args, result, known=call.known, token=token)
            return result

    def calling(self, args: Json) -> Call:
        now = self.clock()
        return Call(state=self.state, args=Args(args), now=now, number=self.journal.last + 1, url=self.url)

    def record(
        self, name: str, args: Json, result: Json, *, known: Json | None = None, token: str | None = None
    ) -> None:
        """Journal an accepted effect, then let it take place."""
        with self.lock:
            row: Json = {
                "n": self.journal.last + 1,
                "at": self.clock().isoformat(),
                "method": name,
                "token": token,
                "args": args,
                "known": known or {},
                "result": result,
            }
            self.journal.append(row)
            self._keep(self.journal.rows[-1])

    def remember(self, name: str, args: Json, outcome: str) -> None:
        """Note a call with its outcome, refused and faulted ones as well."""
        self.calls.append(
            {"at": self.clock().isoformat(), "method": name, "channel": args.get("channel"), "outcome": outcome}
        )

    def _keep(self, row: Json) -> None:
        if row["method"] == "control.reset":
            self.state = from_seed(self.seed)
        else:
            KEEPS[row["method"]](self.state, row)

    def _authorise(self, token: str | None) -> None:
        if not token:
            raise Refusal("not_authed")
        if token != self.state.bot["token"]:
            raise Refusal("invalid_auth")
        if self.state.revoked:
            raise Refusal("token_revoked")

    def _refuse_missing_scope(self, scopes: tuple[str, ...]) -> None:
        if scopes and not self.state.scopes.intersection(scopes):
            provided = ",".join(sorted(self.state.scopes))
            raise Refusal("missing_scope", needed=scopes[0], provided=provided)


def plain_seed() -> dict[str, Any]:
    """A small workspace to start from when no seed is given: one channel, four people."""
    people = [("U0ANA", "ana", "owner"), ("U0BEN", "ben", "on-call"), ("U0MARIA", "maria", "manager")]
    people.append(("U0SAM", "sam", "stranger"))
    users = [
        {"id": user, "name": name, "real_name": name.title(), "email": f"{name}@example.com", "role": role}
        for user, name, role in people
    ]
    return {
        "team": {"id": "T0TEAM", "name": "Example", "domain": "example"},
        "users": users,
        "usergroups": [{"id": "S0DATA", "handle": "data-oncall", "name": "Data on-call", "users": ["U0BEN"]}],
        "channels": [{"id": "C0DATA", "name": "data-jobs", "members": [user for user, _, _ in people]}],
        "bot": {"user_id": "U0BOT", "bot_id": "B0BOT", "app_id": "A0APP", "token": "xoxb-sandbox"},
        "commands": [],
    }
