"""Private answers to a person who clicked: sent at once from threads of their own, never again, carrying no state.

It must not hold up the acknowledgement that Slack waits for, nor fail a click that has been taken in.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import BoundedSemaphore
from typing import Any, Protocol

from bot.ports import SendFailed
from bot.render.rendered import Rendered

logger = logging.getLogger(__name__)

View = Mapping[str, Any]
TOO_LATE = frozenset({"expired_trigger_id", "trigger_expired"})


class Answers(Protocol):
    """The workspace as far as private answers go; every method raises `SendFailed` and nothing else."""

    def open_view(self, *, trigger_id: str, view: View) -> str: ...

    def update_view(self, *, view_id: str, view: View) -> None: ...

    def publish_home(self, *, user: str, view: View) -> None: ...

    def ephemeral(
        self,
        *,
        channel: str,
        user: str,
        text: str,
        blocks: Sequence[Mapping[str, Any]] = (),
        thread_ts: str | None = None,
    ) -> None: ...


class PrivateAnswers:
    """Sends answers in the background; one that finds `waiting` others unsent would come too late and is left out.

    `at_once`: sends each before the click is answered, in the thread that took it in.
    """

    def __init__(self, *, to: Answers, threads: int = 8, waiting: int = 100, at_once: bool = False) -> None:
        self._at_once = at_once
        self._to = to
        self._places = BoundedSemaphore(waiting)
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="answer")

    def close(self) -> None:
        """Send what is under way and take nothing more."""
        self._pool.shutdown(wait=True)

    def open_view(self, *, trigger_id: str, view: View, too_late: Callable[[], None]) -> None:
        """Open a modal; `too_late` tells the person that its three seconds were over before it could be opened."""

        def send() -> None:
            try:
                self._to.open_view(trigger_id=trigger_id, view=view)
            except SendFailed as failed:
                if failed.code not in TOO_LATE:
                    raise
                logger.warning("a modal came too late", extra={"code": failed.code})
                too_late()

        self._send("open_view", send)

    def update_view(self, *, view_id: str, build: Callable[[], View]) -> None:
        self._send("update_view", lambda: self._to.update_view(view_id=view_id, view=build()))

    def publish_home(self, *, user: str, build: Callable[[], View]) -> None:
        self._send("publish_home", lambda: self._to.publish_home(user=user, view=build()))

    def ephemeral(self, *, channel: str, user: str, thread_ts: str | None, say: Callable[[], Rendered]) -> None:
        def send() -> None:
            said = say()
            self._to.ephemeral(channel=channel, user=user, text=said.text, blocks=said.blocks, thread_ts=thread_ts)

        self._send("ephemeral", send)

    def later(self, what: str, send: Callable[[], object]) -> None:
        """Send whatever `send` sends; it may raise `SendFailed`."""
        self._send(what, send)

    def _send(self, what: str, send: Callable[[], object]) -> None:
        if not self._places.acquire(blocking=False):
            logger.warning("too many private answers wait; one was left out", extra={"answer": what})
            return
        if self._at_once:
            self._sent(what, send)
            return
        try:
            self._pool.submit(self._sent, what, send)
        except RuntimeError:
            self._places.release()
            logger.warning("a private answer came after the stop and was left out", extra={"answer": what})

    def _sent(self, what: str, send: Callable[[], object]) -> None:
        try:
            send()
        except SendFailed as failed:
            logger.warning("a private answer was not delivered", extra={"answer": what, "code": failed.code})
        except Exception:
            logger.exception("a private answer failed unexpectedly", extra={"answer": what})
        finally:
            self._places.release()
