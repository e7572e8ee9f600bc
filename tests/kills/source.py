"""The shop's scheduler as a sender of events: at least once, again and again until it was told that each was taken in."""

import socket
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from tests.kills import company

Json = dict[str, Any]
AGAIN_AFTER = 0.03
TAKEN = ("accepted", "duplicate")


class Rejected(Exception):
    """The product did not want an event."""


@dataclass(slots=True)
class Source:
    """`url` is the product's; what it said of each event is kept in `results`."""

    url: str
    results: list[tuple[str, str]] = field(default_factory=list)
    unanswered: int = 0
    _client: httpx.Client = field(init=False, repr=False)
    _pause: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        headers = {"Authorization": f"Bearer {company.SHOP_TOKEN}", "Content-Type": CONTENT_TYPE}
        self._client = httpx.Client(base_url=self.url, headers=headers, timeout=10, trust_env=False)

    def report(self, events: Sequence[Json]) -> None:
        """Returns when all were taken in."""
        while not self.tries(events):
            if self._pause.wait(AGAIN_AFTER):
                raise Rejected("the source was closed")

    def tries(self, events: Sequence[Json]) -> bool:
        """Once; False when no answer came, or a 503."""
        try:
            answer = self._client.post("/api/v1/events", json=list(events))
        except httpx.HTTPError:
            self.unanswered += 1
            return False
        if answer.status_code == 503:
            return False
        if answer.status_code != 200:
            raise Rejected(answer.text)
        results = [each["result"] for each in answer.json()["results"]]
        if not all(result in TAKEN for result in results):
            raise Rejected(answer.text)
        self.results += [(str(event["id"]), result) for event, result in zip(events, results, strict=True)]
        return True

    def sends_and_hangs_up(self, events: Sequence[Json]) -> None:
        """The whole request, and not a look at the answer."""
        request = self._client.build_request("POST", "/api/v1/events", json=list(events))
        lines = [
            f"{request.method} /api/v1/events HTTP/1.1",
            *(f"{name}: {value}" for name, value in request.headers.items()),
        ]
        with socket.create_connection((company.LOOPBACK, request.url.port or 80)) as wire:
            wire.sendall("\r\n".join([*lines, "", ""]).encode() + request.content)

    def close(self) -> None:
        self._pause.set()
        self._client.close()


CONTENT_TYPE = "application/cloudevents-batch+json"


def event(kind: str, job: str, *, nominal: datetime, error: str | None = None, **run: Any) -> Json:
    """A run's event; the run took half a minute and ended just now."""
    at = datetime.now(UTC)
    generation = int(run.get("generation", 0))
    known: Json = {
        "id": f"scheduled__{nominal.isoformat()}",
        "generation": generation,
        "nominal_time": nominal.isoformat(),
        "started_at": (at - timedelta(seconds=30)).isoformat(),
        "ended_at": at.isoformat(),
        "trigger": "schedule",
        **run,
    }
    data: Json = {"scheduler": company.SHOP, "job": job, "run": known}
    if error is not None:
        data["error"] = {"log": f"loading {job}\n{error}\n", "exit_code": 1}
    return {
        "specversion": "1.0",
        "id": f"{job}-{nominal.isoformat()}-{generation}-{kind}",
        "source": "/shop",
        "type": f"io.ontrack.run.{kind}",
        "time": at.isoformat(),
        "data": data,
    }
