"""The control API: act as a person, break things, look inside; only the page, tests and the demo speak to it."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.sandbox.slack.acts import People
from bot.sandbox.slack.faults import Faults
from bot.sandbox.slack.posted import Act, posted
from bot.sandbox.slack.snapshot import SHOWN, snapshot
from bot.sandbox.slack.sockets import Sockets
from bot.sandbox.slack.wire import Json, Refusal
from bot.sandbox.slack.wishes import WISHES
from bot.sandbox.slack.workspace import Workspace

LONGEST_WAIT_MS = 10_000
STEP_MS = 20


@dataclass(slots=True)
class Control:
    workspace: Workspace
    people: People
    faults: Faults
    sockets: Sockets

    def routes(self) -> list[Route]:
        acts: dict[str, Act] = {
            "click": self._while_here(self.people.click),
            "submit": self._while_here(self.people.submit),
            "close": self.people.close,
            "command": self._while_here(self.people.command),
            "home": self._while_here(self.people.home),
            "say": self._while_here(self.people.say),
            "dismiss": self.dismiss,
            "channel": self.change_channel,
            "users": self.change_people,
            "token": self.change_token,
            "away": self.go_away,
            "delete": self.delete,
            "rates": self.change_rates,
            "reset": self.reset,
            "faults": self.order_fault,
            "sockets": self.sockets.disturb,
        }
        return [
            *(Route(f"/control/{name}", posted(act, WISHES[name]), methods=["POST"]) for name, act in acts.items()),
            Route("/control/faults", self.on_faults, methods=["GET", "DELETE"]),
            Route("/control/state", self.on_state, methods=["GET"]),
            Route("/control/journal", self.on_journal, methods=["GET"]),
            Route("/control/calls", self.on_calls, methods=["GET"]),
        ]

    def dismiss(self, wish: Json) -> Json:
        """Take away a message that only one person sees."""
        return self._record("person.dismissed", wish)

    def change_channel(self, wish: Json) -> Json:
        """Archive, rename, make private, remove the bot (`bot_member`), change members; a new id makes a channel."""
        return self._record("control.channel", wish)

    def change_people(self, wish: Json) -> Json:
        """Add or replace `users` and `usergroups`, in the seed's form."""
        return self._record("control.people", wish)

    def change_token(self, wish: Json) -> Json:
        """Revoke the token (`revoked`), or leave it other `scopes`."""
        return self._record("control.token", wish)

    def go_away(self, wish: Json) -> Json:
        """An outage (`away`): no call is answered and nobody can act, until it is over."""
        return self._record("control.away", wish)

    def delete(self, wish: Json) -> Json:
        """Delete a message as its author or an admin would."""
        channel = self.workspace.state.channels.get(wish.get("channel", ""))
        if channel is None or wish.get("ts") not in channel.messages:
            raise Refusal("message_not_found")
        result = {"ok": True, "channel": channel.id, "ts": wish["ts"]}
        self.workspace.record("control.delete", wish, result)
        return result

    def change_rates(self, wish: Json) -> Json:
        """Switch the rate limits on or off: `enabled`, `special_every_ms`, `special_burst`, `per_minute`."""
        rates = self.workspace.rates
        rates.enabled = bool(wish.get("enabled", rates.enabled))
        if "special_every_ms" in wish:
            rates.special_every = timedelta(milliseconds=wish["special_every_ms"])
        rates.special_burst = int(wish.get("special_burst", rates.special_burst))
        rates.per_minute |= {int(tier): int(calls) for tier, calls in wish.get("per_minute", {}).items()}
        rates.buckets.clear()
        return {"ok": True, "enabled": rates.enabled}

    def reset(self, wish: Json) -> Json:
        """Back to the seed; faults and rate limits are cleared."""
        self.faults.clear()
        self.workspace.rates.enabled = False
        self.workspace.rates.buckets.clear()
        return self._record("control.reset", wish)

    def order_fault(self, wish: Json) -> Json:
        self.faults.order(wish)
        return {"ok": True, "faults": self.faults.listed()}

    async def on_faults(self, request: Request) -> Response:
        if request.method == "DELETE":
            self.faults.clear()
        return JSONResponse({"ok": True, "faults": self.faults.listed()})

    async def on_state(self, request: Request) -> Response:
        """Everything to draw, or only `changed: false` when nothing happens after `since` within `wait_ms`."""
        since, wait = (request.query_params.get(name, "") for name in ("since", "wait_ms"))
        steps = min(int(wait), LONGEST_WAIT_MS) // STEP_MS if wait.isdecimal() else 0
        while since == str(self.workspace.journal.last):
            if steps <= 0:
                return JSONResponse({"n": self.workspace.journal.last, "changed": False})
            steps -= 1
            await asyncio.sleep(STEP_MS / 1000)
        most = request.query_params.get("most", "")
        return await run_in_threadpool(self._snapshot, int(most) if most.isdecimal() else SHOWN)

    async def on_journal(self, request: Request) -> Response:
        since = request.query_params.get("since", "0")
        first = int(since) if since.isdecimal() else 0
        rows = list(self.workspace.journal.rows)
        return JSONResponse({"ok": True, "rows": [row for row in rows if row["n"] > first]})

    async def on_calls(self, request: Request) -> Response:
        return JSONResponse({"ok": True, "calls": list(self.workspace.calls)})

    def _while_here(self, act: Act) -> Act:
        def acted(wish: Json) -> Json:
            if self.workspace.state.away:
                raise Refusal("slack_is_down")
            return act(wish)

        return acted

    def _snapshot(self, most: int) -> Response:
        with self.workspace.lock:
            return JSONResponse(snapshot(self.workspace.state, number=self.workspace.journal.last, most=most))

    def _record(self, name: str, wish: Json) -> Json:
        self.workspace.record(name, wish, {"ok": True})
        return {"ok": True}
