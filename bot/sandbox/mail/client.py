"""Speaks to the mail system's control API, for tests and the demo's check; it must not look into its memory."""

from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import httpx

Json = dict[str, Any]
PATIENCE_SECONDS = 15.0


@dataclass(slots=True)
class MailClient:
    """The mailboxes of one stand-in, by the address of its page."""

    url: str
    _http: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        self._http = httpx.Client(base_url=self.url, timeout=PATIENCE_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    def mails(self, box: str | None = None) -> list[Json]:
        """What lies in the mailbox (or in all of them), the oldest first, what its people sent among it."""
        found: list[Json] = self._http.get("/control/mail").raise_for_status().json()["mails"]
        return [each for each in found if box in (None, each["box"])]

    def reply(self, mail: Json, text: str, *, as_address: str, forged: bool = False) -> None:
        """Answer a mail as a person who quotes it below."""
        wish = {"mail": mail["id"], "text": text, "from": as_address, "forged": forged}
        self._http.post("/control/mail/reply", json=wish).raise_for_status()
