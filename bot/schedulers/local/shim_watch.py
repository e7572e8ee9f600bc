"""The guard's loop over one command: pumps its output, holds it to its bounds, and sees how it ends.

Standard library only; it judges nothing but the bounds that it was given.
"""

import contextlib
import os
import resource
import selectors
import signal
import subprocess
import sys
import time
from types import FrameType
from typing import Any

from bot.schedulers.local.shim_log import Log

SCAN_EVERY = 0.1
DRAIN = 5.0
NEAR_LIMIT = 0.95
MEBIBYTE = 1024 * 1024
TIMEOUT = "ontrack.Timeout"
MEMORY = "ontrack.MemoryLimit"
STOPPED = "ontrack.Stopped"


class Told:
    """What the signals said: a request to end, or that a child changed state; both wake the loop through a pipe."""

    def __init__(self) -> None:
        self.to_end = False
        self.reading, writing = os.pipe()
        os.set_blocking(self.reading, False)
        os.set_blocking(writing, False)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, self.on_child)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self.on_end)

    def on_child(self, _number: int, _frame: FrameType | None) -> None:
        """Nothing but the wake-up is wanted."""

    def on_end(self, number: int, _frame: FrameType | None) -> None:
        self.to_end = self.to_end or number != signal.SIGHUP

    def drain(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while os.read(self.reading, 4096):
                pass


class Watch:
    """The loop over one command: its output, its end, its bounds. What must end gets TERM first, then KILL."""

    def __init__(
        self, spec: dict[str, Any], child: "subprocess.Popen[bytes]", log: Log, told: Told, started: float
    ) -> None:
        self.child, self.log, self.told, self.started = child, log, told, started
        self.memory, self.timeout, self.kill_after = spec["memory"], spec["timeout"], spec["kill_after"]
        self.saw: str | None = None
        self.message: str | None = None
        self.peak = 0
        self.kill_at: float | None = None
        self.drained_at: float | None = None
        self.selector = selectors.DefaultSelector()
        self.selector.register(told.reading, selectors.EVENT_READ)
        assert child.stdout is not None
        self.output = child.stdout.fileno()
        self.open = True
        os.set_blocking(self.output, False)
        self.selector.register(self.output, selectors.EVENT_READ)

    def until_ended(self) -> None:
        while True:
            for key, _ in self.selector.select(self.patience()):
                if key.fd == self.output:
                    self.pump()
                else:
                    self.told.drain()
            now = ticks()
            ended = self.has_ended()
            self.judge(now, ended=ended)
            if ended:
                if self.drained_at is None:
                    self.drained_at = now + (DRAIN if self.kill_at is None else max(0.0, self.kill_at - now))
                if not self.open or now >= self.drained_at:
                    break
        if self.kill_at is not None:
            self.signal_all(signal.SIGKILL)
        self.child.wait()

    def patience(self) -> float | None:
        """How long nothing needs to be looked at, unless output or a signal comes."""
        now = ticks()
        instants = [at for at in (self.kill_at, self.drained_at) if at is not None]
        if self.timeout is not None and self.kill_at is None:
            instants.append(self.started + self.timeout)
        if self.memory:
            instants.append(now + SCAN_EVERY)
        return max(0.0, min(instants) - now) if instants else None

    def pump(self) -> None:
        try:
            block = os.read(self.output, 262_144)
        except BlockingIOError:
            return
        if block:
            self.log.write(block)
        else:
            self.selector.unregister(self.output)
            self.open = False

    def judge(self, now: float, *, ended: bool) -> None:
        """What has ended by itself is judged no more: only the rest of its output is waited for."""
        if self.kill_at is not None:
            if now >= self.kill_at:
                self.signal_all(signal.SIGKILL)
                self.kill_at = now + 1.0
        elif ended:
            self.drained_at = now if self.told.to_end else self.drained_at
        elif self.told.to_end:
            self.end(STOPPED, "told to end", now)
        elif self.timeout is not None and now - self.started >= self.timeout:
            self.end(TIMEOUT, f"ran longer than its timeout of {self.timeout:g} s", now)
        elif self.memory:
            held = self.held()
            self.peak = max(self.peak, held)
            if held > self.memory:
                self.end(MEMORY, f"held {size(held)} of memory, its limit is {size(self.memory)}", now)

    def held(self) -> int:
        """What looks like too much is looked at twice: a fork between two readings counts what it shares in full."""
        held = sum(whole for _, whole in members(os.getpid()))
        for _ in range(2):
            if held > self.memory:
                held = held_by(members(os.getpid()))
        return held

    def end(self, saw: str, message: str, now: float) -> None:
        self.saw, self.message = saw, message
        self.kill_at = now + self.kill_after
        self.signal_all(signal.SIGTERM if saw != MEMORY else signal.SIGKILL)

    def signal_all(self, number: int) -> None:
        """Reach the group, ours until its leader is reaped, and what made a group of its own in our session."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.child.pid, number)
        for pid, _ in members(os.getpid()):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if os.getpgid(pid) != self.child.pid:
                    os.kill(pid, number)

    def has_ended(self) -> bool:
        return os.waitid(os.P_PID, self.child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def result(self) -> dict[str, Any]:
        code = self.child.returncode
        use = used(self.started)
        peak = max(self.peak, use["max_rss_bytes"])
        saw, message = self.saw, self.message
        if saw is None and code != 0 and self.memory and peak >= self.memory * NEAR_LIMIT:
            saw, message = MEMORY, f"failed while it held {size(peak)} of memory, its limit is {size(self.memory)}"
        number = {"signal": signal_name(-code)} if code < 0 else {"exit_code": code}
        return {**number, "saw": saw, "message": message, **use, "max_rss_bytes": peak}


def ticks() -> float:
    """Seconds that no change of the clock touches, time asleep included where the system can tell."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def used(started: float) -> dict[str, Any]:
    use = resource.getrusage(resource.RUSAGE_CHILDREN)
    unit = 1 if sys.platform == "darwin" else 1024
    return {
        "duration_seconds": ticks() - started,
        "cpu_seconds": round(use.ru_utime + use.ru_stime, 3),
        "max_rss_bytes": use.ru_maxrss * unit,
    }


def members(session: int) -> list[tuple[int, int]]:
    """The processes of our session, our own left out, with the bytes that each holds; none where nothing shows them."""
    found = []
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if name.isdigit() and int(name) != session:
            with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{name}/stat", "rb") as stat:
                fields = stat.read().rpartition(b")")[2].split()
                if int(fields[3]) == session:
                    found.append((int(name), int(fields[21]) * resource.getpagesize()))
    return found


def held_by(processes: list[tuple[int, int]]) -> int:
    """Bytes that they hold together, what they share counted once where the system tells."""
    return sum(own_share(pid, whole) for pid, whole in processes)


def own_share(pid: int, whole: int) -> int:
    """A process that has gone by now holds nothing."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as rollup:
            shares = [int(line.split()[1]) * 1024 for line in rollup if line.startswith(b"Pss:")]
    except PermissionError:
        return whole
    except OSError:
        return 0 if os.path.exists("/proc/self/smaps_rollup") else whole
    return sum(shares)


def size(count: int) -> str:
    return f"{count / MEBIBYTE:.4g} MiB"


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"
