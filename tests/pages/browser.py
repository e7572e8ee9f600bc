"""A browser at some address that speaks to the app itself; it follows no redirect and keeps no cookie."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import anyio
import httpx
from starlette.applications import Starlette


@dataclass(frozen=True, kw_only=True)
class Browser:
    """Sends one request after the other; `peer` is where its connection seems to come from, `twice` are headers beside others."""

    app: Starlette
    base_url: str
    peer: str
    headers: Mapping[str, str] = field(default_factory=dict)
    twice: tuple[tuple[str, str], ...] = ()

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self.request("GET", path, headers=headers)

    def post(self, path: str, data: Mapping[str, str] | None = None, **headers: str) -> httpx.Response:
        return self.request("POST", path, data=data or {}, headers=headers)

    def request(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        data: Mapping[str, str] | None = None,
        content: bytes | None = None,
        json: object = None,
    ) -> httpx.Response:
        """The answer; header names are written with underscores."""
        sent = dict(self.headers) | {name.replace("_", "-"): value for name, value in (headers or {}).items()}
        if data is not None and "content-type" not in sent:
            sent["content-type"] = "application/x-www-form-urlencoded"

        async def asked() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app, client=(self.peer, 4711))
            async with httpx.AsyncClient(transport=transport, base_url=self.base_url) as client:
                lines = [*sent.items(), *self.twice]
                return await client.request(method, path, headers=lines, data=data, content=content, json=json)

        return anyio.run(asked)
