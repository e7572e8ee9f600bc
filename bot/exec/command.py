"""Runs the command with its output passed through and the end of it kept. It knows nothing of who is told about it."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import IO

MOST_LOG = 64 * 1024
CHUNK = 64 * 1024
NOT_FOUND, NOT_EXECUTABLE = 127, 126
SETTLED_WITHIN = 0.5
FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGUSR1, signal.SIGUSR2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How the command ended. `status` is what a shell would say; `signal` the name of the one that killed it.

    `seconds` on the clock, of processor time, and `peak_bytes` of memory: of the command and what it waited for.
    """

    status: int
    signal: str | None = None
    log: bytes = b""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_bytes: int = 0
    why: str | None = None


class Tail:
    """The last bytes of an output, whoever wrote them, in the order in which they came."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept = bytearray()
        self._lock = threading.Lock()

    def add(self, chunk: bytes) -> None:
        with self._lock:
            self._kept += chunk
            if len(self._kept) > 2 * self._most:
                del self._kept[: -self._most]

    def kept(self) -> bytes:
        with self._lock:
            return bytes(self._kept[-self._most :]) if self._most else b""


def run(command: Sequence[str], *, keep: int = MOST_LOG, ended: Callable[[Ended], None]) -> int:
    """Run it and return its status; `ended` is called once it has ended, before its output is closed.

    What the command left running in the background may still write: its output is passed on until it is closed.
    """
    tail = Tail(keep)
    began = time.monotonic()
    with _forwarding() as forward_to:
        try:
            child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
        except OSError as failed:
            return _not_begun(command, failed, ended)
        forward_to(child.pid)
        copying = [
            _copying(pipe, out, tail) for pipe, out in ((child.stdout, 1), (child.stderr, 2)) if pipe is not None
        ]
        used = _waited(child)
        forward_to(None)
    for thread in copying:
        thread.join(SETTLED_WITHIN)
    number = -child.returncode if child.returncode < 0 else 0
    status = 128 + number if number else child.returncode
    ended(
        Ended(
            status=status,
            signal=_name_of(number) if number else None,
            log=tail.kept(),
            seconds=time.monotonic() - began,
            cpu_seconds=used[0],
            peak_bytes=used[1],
        )
    )
    for thread in copying:
        thread.join()
    return status


def _not_begun(command: Sequence[str], failed: OSError, ended: Callable[[Ended], None]) -> int:
    missing = isinstance(failed, FileNotFoundError)
    status = NOT_FOUND if missing else NOT_EXECUTABLE
    why = f"{command[0]}: {failed.strerror or failed}"
    sys.stderr.write(f"ontrack exec: {why}\n")
    ended(Ended(status=status, why=why))
    return status


def _waited(child: subprocess.Popen[bytes]) -> tuple[float, int]:
    """Wait for the end; processor seconds and peak bytes as the kernel counted them for this child."""
    _, code, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(code)
    unit = 1 if sys.platform == "darwin" else 1024
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit


def _copying(source: IO[bytes], out: int, tail: Tail) -> threading.Thread:
    thread = threading.Thread(target=_copy, args=(source, out, tail), name=f"output-{out}", daemon=True)
    thread.start()
    return thread


def _copy(source: IO[bytes], out: int, tail: Tail) -> None:
    """Pass on until the end. Nobody reads us any more: the command learns of it as it would without us."""
    with source:
        while chunk := source.read(CHUNK):
            tail.add(chunk)
            try:
                _write(out, chunk)
            except OSError:
                return


def _write(out: int, chunk: bytes) -> None:
    view = memoryview(chunk)
    while view:
        view = view[os.write(out, view) :]


@contextlib.contextmanager
def _forwarding() -> Iterator[Callable[[int | None], None]]:
    """Signals to us are for the command; those that come before it has begun are sent on once it has.

    A terminal sends its own to both, so that those are not sent on; what was ignored (nohup) stays so for both.
    """
    pid: int | None = None
    early: list[int] = []

    def send(number: int) -> None:
        if pid is None:
            early.append(number)
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)

    def on_signal(number: int, _frame: FrameType | None) -> None:
        if number != signal.SIGINT or not os.isatty(0):
            send(number)

    def forward_to(begun: int | None) -> None:
        nonlocal pid
        pid = begun
        while pid is not None and early:
            send(early.pop(0))

    heard = [number for number in FORWARDED if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, on_signal) for number in heard}
    try:
        yield forward_to
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _name_of(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
