"""A real SMTP server (aiosmtpd) on loopback that keeps what it is given, and refuses as it is told. It tests nothing."""

import asyncio
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any, TypeVar

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session

from tests.kills.town import free_port

HOST = "127.0.0.1"
PATIENCE = timedelta(seconds=60)
HANGS_UP = "hangs up"
"""Said instead of an answer: the connection is closed without one, whatever was done."""

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A mail as it was handed over: the envelope, and the message's bytes."""

    sender: str
    to: tuple[str, ...]
    content: bytes

    @property
    def message(self) -> EmailMessage:
        return message_from_bytes(self.content, policy=policy.default)

    def header(self, name: str) -> str:
        return str(self.message[name] or "")

    def part(self, kind: str) -> str:
        """The text of its `plain` or `html` part."""
        body = self.message.get_body((kind,))
        return "" if body is None else str(body.get_content())


class SmtpServer:
    """`taken` are the mails in the order in which they came."""

    def __init__(self) -> None:
        self.taken: list[Sent] = []
        self.port = free_port()
        self._news = threading.Condition()
        self._scripts: defaultdict[str, deque[str]] = defaultdict(deque)
        self._controller = Controller(_Handler(self), hostname=HOST, port=self.port, server_hostname="mx.example.com")

    @property
    def url(self) -> str:
        return f"smtp://{HOST}:{self.port}"

    def start(self) -> None:
        self._controller.start()

    def stop(self) -> None:
        self._controller.stop()

    def will(self, command: str, *answers: str) -> None:
        """Answer the next `RCPT` or `DATA` in these words, as in `450 4.2.1 Try later`, or with `HANGS_UP`."""
        with self._news:
            self._scripts[command].extend(answers)

    def answer(self, command: str) -> str | None:
        """What the script says to this one."""
        with self._news:
            script = self._scripts[command]
            return script.popleft() if script else None

    def keep(self, sent: Sent) -> None:
        with self._news:
            self.taken.append(sent)
            self._news.notify_all()

    def sees(self, look: Callable[[list[Sent]], Found | None], *, within: timedelta = PATIENCE) -> Found:
        """What `look` finds among the mails, once it is there."""
        found: list[Found] = []

        def is_there() -> bool:
            found.extend(each for each in [look(self.taken)] if each)
            return bool(found)

        with self._news:
            self._news.wait_for(is_there, within.total_seconds())

            assert found, f"no such mail among {[(each.to, each.header('Subject')) for each in self.taken]}"
            return found[0]

    def mail_to(self, address: str, *, number: int = 1) -> Sent:
        """The mail with this number, from 1, of those to the address, waited for."""
        return self.sees(lambda taken: next(iter([each for each in taken if address in each.to][number - 1 :]), None))


class _Handler:
    def __init__(self, server: SmtpServer) -> None:
        self._server = server

    async def handle_RCPT(
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, _options: list[Any]
    ) -> str:
        if (said := self._server.answer("RCPT")) is not None:
            return said
        envelope.rcpt_tos.append(address)
        return "250 2.1.5 OK"

    async def handle_DATA(self, server: SMTP, _session: Session, envelope: Envelope) -> str:
        said = self._server.answer("DATA")
        if said is None or said == HANGS_UP:
            content = envelope.content

            assert isinstance(content, bytes)
            sent = Sent(sender=envelope.mail_from or "", to=tuple(envelope.rcpt_tos), content=content)
            self._server.keep(sent)
        if said == HANGS_UP and isinstance(server.transport, asyncio.Transport):
            server.transport.abort()
        return said or "250 2.0.0 OK queued"


@contextmanager
def smtp_server() -> Iterator[SmtpServer]:
    """One that runs until the block ends."""
    server = SmtpServer()
    server.start()
    try:
        yield server
    finally:
        server.stop()
