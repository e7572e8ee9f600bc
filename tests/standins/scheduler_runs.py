"""The runs of the stand-in scheduler: each rerun or start that it took is reported as events, until they are taken in.

It runs nothing; what becomes of a run is told by control.
"""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import httpx

Json = dict[str, Any]
THREADS = 4
AGAIN_AFTER = 0.05
IDLE_WITHIN = 20.0


@dataclass(slots=True)
class Runs:
    """`outcomes` by job (`*`: of all others): `succeeded`, `failed` (with `log`), `started` (and no end) or `nothing`.

    `at` is the instant that reports carry, where a test has a clock of its own. `reports` holds what was taken in, or was
    not and never will be.
    """

    events: str
    token: str
    clock: Callable[[], datetime]
    outcomes: dict[str, Json] = field(default_factory=lambda: {"*": {"outcome": "succeeded"}})
    at: str | None = None
    reports: list[Json] = field(default_factory=list)
    waiting: int = 0
    changed: threading.Condition = field(default_factory=threading.Condition)
    pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(THREADS))
    client: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/cloudevents-batch+json"}
        self.client = httpx.Client(headers=headers, timeout=10, trust_env=False)

    def control(self, wish: Json) -> None:
        """`jobs`: outcomes to add; `at`; `events`: the address, where it has moved."""
        self.outcomes |= wish.get("jobs", {})
        self.at = wish.get("at", self.at)
        self.events = wish.get("events", self.events)

    def take(self, request: Json) -> None:
        """Begin what was asked for, where it is a run at all."""
        if request["action"] not in ("rerun", "start"):
            return
        with self.changed:
            self.waiting += 1
        self.pool.submit(self._run, request)

    def wait_idle(self) -> bool:
        with self.changed:
            return self.changed.wait_for(lambda: self.waiting == 0, timeout=IDLE_WITHIN)

    def _run(self, request: Json) -> None:
        told = self.outcomes.get(request["job"]) or self.outcomes["*"]
        try:
            if told["outcome"] != "nothing":
                self._report(self._event("started", request))
            if told["outcome"] in ("succeeded", "failed"):
                log = told.get("log", "it failed") if told["outcome"] == "failed" else None
                self._report(self._event(told["outcome"], request, log=log))
        finally:
            with self.changed:
                self.waiting -= 1
                self.changed.notify_all()

    def _report(self, event: Json) -> None:
        """Report until it is taken in or rejected: whoever listens may be starting anew."""
        pause = threading.Event()
        while True:
            try:
                answer = self.client.post(self.events, json=[event])
            except httpx.HTTPError:
                pause.wait(AGAIN_AFTER)
                continue
            if answer.status_code < 500:
                self.reports.append({"event": event, "status": answer.status_code, "answer": answer.text})
                return
            pause.wait(AGAIN_AFTER)

    def _event(self, kind: str, request: Json, *, log: str | None = None) -> Json:
        at = self.at or self.clock().isoformat()
        nominal = request["nominal_times"][0] if request["nominal_times"] else None
        known = request.get("run")
        run = {
            "id": known["id"] if known else f"asked__{nominal}",
            "generation": known["generation"] + 1 if known else 0,
            "nominal_time": nominal,
            "started_at": at,
            "ended_at": None if kind == "started" else at,
            "trigger": "rerun" if known else "manual",
            "rerun_key": request["key"],
        }
        data = {"scheduler": request["scheduler"], "job": request["job"], "run": run}
        return {
            "specversion": "1.0",
            "id": f"{request['key']}-{kind}",
            "source": "/scheduler",
            "type": f"io.ontrack.run.{kind}",
            "time": at,
            "data": data if log is None else {**data, "error": {"log": log, "exit_code": 1}},
        }
