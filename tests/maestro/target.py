"""A Maestro, fake or live, as one who knows only its API asks it; workflows that it makes are deleted afterwards."""

import time
from typing import Any
from uuid import uuid4

import httpx

from tests.maestro.fake.records import Json
from tests.maestro.fake.statuses import ENDED

API = "/api/v3"
WAITS_UP_TO = 60.0


class Target:
    """`live`: things take time there, and are waited for."""

    def __init__(self, url: str, *, live: bool) -> None:
        self.live = live
        self.http = httpx.Client(base_url=url, timeout=20, trust_env=False)
        self.made: list[str] = []

    def close(self) -> None:
        for name in self.made:
            self.http.delete(f"{API}/workflows/{name}", headers={"user": "ontrack-test"})
        self.http.close()

    def get(self, path: str, **query: Any) -> httpx.Response:
        return self.http.get(f"{API}{path}", params=query)

    def read(self, path: str, **query: Any) -> Any:
        answer = self.get(path, **query)

        assert answer.status_code == 200, answer.text

        return answer.json()

    def post(self, path: str, body: Json, *, user: str | None = "ontrack-test") -> httpx.Response:
        return self.http.post(f"{API}{path}", json=body, headers={"user": user} if user else {})

    def put(self, path: str, *, user: str | None = "ontrack-test") -> httpx.Response:
        return self.http.put(f"{API}{path}", headers={"user": user} if user else {})

    def makes(self, **properties: object) -> str:
        """A workflow of one step that does nothing, under a name of its own."""
        name = f"ontrack-contract-{uuid4().hex[:12]}"
        steps = [{"step": {"id": "nothing", "type": "NoOp"}}]
        body: Json = {
            "properties": {"owner": "ontrack-test", **properties},
            "workflow": {"id": name, "name": "ontrack contract", "steps": steps},
            "is_active": True,
        }
        answer = self.post("/workflows", body)

        assert answer.status_code == 200, answer.text

        self.made.append(name)
        return name

    def ended(self, name: str, instance: int) -> Json:
        """The instance's latest run when it is over."""
        until = time.monotonic() + (WAITS_UP_TO if self.live else 0)
        while True:
            found: Json = self.read(f"/workflows/{name}/instances/{instance}/runs/latest")
            if found["status"] in ENDED or time.monotonic() >= until:
                return found
            time.sleep(0.5)
