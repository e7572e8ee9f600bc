"""Runs one process of the service until it is told to stop: the web server, if it has one, in front, the threads behind."""

import contextlib
import errno
import gc
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from queue import Empty, SimpleQueue
from types import FrameType

import uvicorn

from bot.compose.roles import Role, check_database
from bot.compose.service import Service
from bot.compose.wiring import SLACKS_PACE, build
from bot.delivery import Pace
from bot.policies import PolicyFile
from bot.settings import Settings

log = logging.getLogger(__name__)

END_WITHIN = timedelta(seconds=10)
LISTEN_TRIES, LISTEN_AGAIN = 20, 0.1
SWITCH_AFTER = 0.0005
"""Seconds that a busy thread keeps the others waiting; at Python's own 5 ms one busy thread costs tens of milliseconds."""
COLLECT_AFTER = (50_000, 20, 50)
"""New objects, and rounds, between collections: a batch of events makes many that live a moment and hold no circles."""
REQUESTS_END = 2
LOOK_UP = 0.25


class PortTaken(Exception):
    """The port cannot be listened on; the text says which and what to do."""


def settle_heap() -> None:
    """What a start leaves (rules, policies, code) lives as long as the process: the collector need not look at it again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)


def run(settings: Settings, policies: PolicyFile, *, role: Role, pace: Pace = SLACKS_PACE) -> None:
    """Be that process until SIGINT or SIGTERM; returns when everything has ended cleanly.

    Raises `NeedsPostgres`, `PortTaken`, and what opening the database raises.
    """
    check_database(role, settings.database_url)
    sys.setswitchinterval(SWITCH_AFTER)
    listening = listen("0.0.0.0", settings.port) if role.answers else None
    service = build(settings, policies, role=role, pace=pace)
    told = Told()
    told.listen()
    settle_heap()
    service.start()
    port = listening.getsockname()[1] if listening else None
    log.info("started", extra={"role": role.value, "port": port})
    try:
        if listening is not None:
            serve(service, listening, told)
        else:
            told.wait()
    finally:
        whole = service.stop()
    log.info("stopped", extra={"role": role.value})
    if not whole:
        leave()


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; raises `PortTaken` with the fix.

    After a kill the port may be held for a moment by a guard that had just been forked: it is tried for two seconds.
    """
    why: str | None = None
    for _ in range(LISTEN_TRIES):
        try:
            return socket.create_server((host, port), backlog=512)
        except OSError as failed:
            if failed.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
            why = failed.strerror
            time.sleep(LISTEN_AGAIN)
    raise PortTaken(f"port {port} cannot be used ({why}): set PORT to a free one")


def serve(service: Service, listening: socket.socket, told: "Told") -> None:
    """Answer requests until told to stop; those under way are answered.

    Whom a request comes from is the connection's own word: what a proxy says of it is judged where it is asked for.
    """
    config = uvicorn.Config(
        service.app,
        log_config=None,
        access_log=False,
        proxy_headers=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=REQUESTS_END,
        server_header=False,
    )
    server = _Server(config)
    told.then(server.leave)
    server.run(sockets=[listening])


class _Server(uvicorn.Server):
    """Leaves the signals to us: it would raise them again when it ends, before anything was handed back."""

    def leave(self) -> None:
        self.should_exit = True

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class Told:
    """Whether the process was told to stop; the second time it ends at once, and the tenth second after the first.

    A signal may come while the main thread holds any lock of its own: only a queue that can be re-entered is safe.
    """

    def __init__(self) -> None:
        self._asked = False
        self._news: SimpleQueue[None] = SimpleQueue()
        self._then: list[Callable[[], None]] = []

    def listen(self) -> None:
        """Take SIGINT and SIGTERM from now on; from the main thread."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)

    def then(self, act: Callable[[], None]) -> None:
        """Call it when told; at once when that was before."""
        self._then.append(act)
        if self._asked:
            act()

    def wait(self) -> None:
        """Return when told. It looks up now and then: a signal that another thread got is handled only when this one runs."""
        while not self._asked:
            with contextlib.suppress(Empty):
                self._news.get(timeout=LOOK_UP)

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        if self._asked:
            os._exit(128 + number)
        self._asked = True
        self._news.put(None)
        overdue = threading.Timer(END_WITHIN.total_seconds(), os._exit, args=(1,))
        overdue.daemon = True
        overdue.start()
        for act in self._then:
            act()


def leave() -> None:
    """End the process now: threads that could not be waited for would hold it up."""
    logging.shutdown()
    os._exit(0)
