"""The guard of one run: claims its directory, runs the command, bounds it, and writes down how it ended.

A program of its own that needs the standard library only and imports nothing of ontrack: it must outlive us.
"""

import contextlib
import fcntl
import json
import os
import resource
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

HEAD = 5_000_000
TAIL = 2_500_000
SCAN_EVERY = 0.1
DRAIN = 5.0
BACKSTOP_RATIO = 1.25
BACKSTOP_ROOM = 64 * 1024 * 1024
NEAR_LIMIT = 0.95
TIMEOUT = "ontrack.Timeout"
MEMORY = "ontrack.MemoryLimit"
CANNOT_START = "ontrack.CannotStart"
STOPPED = "ontrack.Stopped"
CLAIMED = b"claimed\n"
EXISTS = b"exists\n"


def main() -> int:
    """Read what to run from standard input, answer whether the claim is ours, and see the run through."""
    try:
        spec = json.load(sys.stdin.buffer)
    except ValueError:
        return 2
    told = Told()
    if not claim(spec):
        answer(EXISTS)
        return 3
    answer(CLAIMED)
    os.chdir(spec["claim"])
    complain_into("guard.err")
    write_whole("result.json", run(spec, told))
    return 0


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


def claim(spec: dict[str, Any]) -> bool:
    """Appear under `claim` whole, locked and described, or not at all; False when another was there first.

    The lock is taken and the record written under a passing name: a rename onto a claim that exists fails.
    """
    passing = f"{os.path.dirname(spec['claim'])}/.new-{os.getpid()}-{time.monotonic_ns()}"
    os.mkdir(passing, 0o700)
    lock = os.open(f"{passing}/lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    write_whole(f"{passing}/run.json", spec["record"] | {"guard_pid": os.getpid()})
    try:
        os.rename(passing, spec["claim"])
    except OSError:
        for name in ("run.json", "lock"):
            os.unlink(f"{passing}/{name}")
        os.rmdir(passing)
        if not os.path.isdir(spec["claim"]):
            raise
        return False
    sync(os.path.dirname(spec["claim"]))
    return True


def answer(word: bytes) -> None:
    """Tell whoever started us, if it still lives, and let go of it."""
    with contextlib.suppress(OSError):
        os.write(1, word)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1):
        os.dup2(nothing, number)


def complain_into(name: str) -> None:
    number = open_new(name)
    if number is not None:
        os.dup2(number, 2)
        os.close(number)


def run(spec: dict[str, Any], told: Told) -> dict[str, Any]:
    started = ticks()
    log = Log()
    try:
        child = start(spec)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        code, words = told_of(error)
        log.write(words.encode(errors="replace") + b"\n")
        log.close()
        return {"exit_code": code, "saw": CANNOT_START, "message": words, **used(started)}
    watch = Watch(spec, child, log, told, started)
    watch.until_ended()
    log.close()
    return watch.result()


def told_of(error: Exception) -> tuple[int, str]:
    """The exit code that a shell would give, and words, for a command that could not be started."""
    if isinstance(error, FileNotFoundError):
        return 127, f"{error.filename}: command not found"
    if isinstance(error, OSError):
        return 126, f"{error.filename}: {error.strerror}"
    return 126, f"cannot be started: {error}"


def start(spec: dict[str, Any]) -> "subprocess.Popen[bytes]":
    """Start the command as the leader of a process group of its own, in our session."""
    try:
        os.close(os.open(spec["directory"], os.O_RDONLY | os.O_DIRECTORY))
    except OSError as error:
        raise PermissionError(error.errno, f"working directory: {error.strerror}", spec["directory"]) from error
    return subprocess.Popen(
        spec["argv"],
        cwd=spec["directory"],
        env=spec["env"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        process_group=0,
        preexec_fn=bounded(spec["memory"]) if spec["memory"] else None,  # noqa: PLW1509 - one thread: no lock can be held
    )


def bounded(memory: int) -> Callable[[], None]:
    """A backstop above the limit for what allocates faster than the watch looks; the watch is the judge."""

    def limit() -> None:
        most = int(memory * BACKSTOP_RATIO) + BACKSTOP_ROOM
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_DATA, (most, most))

    return limit


class Watch:
    """The loop over one command: its output, its end, its bounds. Once it is told to end, TERM goes first, then KILL."""

    def __init__(
        self, spec: dict[str, Any], child: "subprocess.Popen[bytes]", log: "Log", told: Told, started: float
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
            held = resident(os.getpid())
            self.peak = max(self.peak, held)
            if held > self.memory:
                self.end(MEMORY, f"held {held} bytes of memory, its limit is {self.memory}", now)

    def end(self, saw: str, message: str, now: float) -> None:
        self.saw, self.message = saw, message
        self.kill_at = now + self.kill_after
        self.signal_all(signal.SIGTERM if saw != MEMORY else signal.SIGKILL)

    def signal_all(self, number: int) -> None:
        """The group is still ours: its leader is reaped only after the last signal."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.child.pid, number)

    def has_ended(self) -> bool:
        return os.waitid(os.P_PID, self.child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def result(self) -> dict[str, Any]:
        code = self.child.returncode
        use = used(self.started)
        peak = max(self.peak, use["max_rss_bytes"])
        saw, message = self.saw, self.message
        if saw is None and code != 0 and self.memory and peak >= self.memory * NEAR_LIMIT:
            saw, message = MEMORY, f"failed while it held {peak} bytes of memory, its limit is {self.memory}"
        number = {"signal": signal_name(-code)} if code < 0 else {"exit_code": code}
        return {**number, "saw": saw, "message": message, **use, "max_rss_bytes": peak}


class Log:
    """What the command wrote: the first 5 MB as they come, then only the newest in two parts that replace each other.

    A full disk costs output, never the run. Whoever reads after a crash finds the parts where they are.
    """

    def __init__(self) -> None:
        self.head: int | None = open_new("log")
        self.tail: int | None = None
        self.left, self.room = HEAD, 0
        self.dropped = 0
        self.older = 0

    def write(self, block: bytes) -> None:
        head, tail = block[: self.left], block[self.left :]
        if head:
            self.left -= len(head)
            self.put(self.head, head)
        while tail:
            if self.room == 0:
                self.turn()
            part, tail = tail[: self.room], tail[self.room :]
            self.room -= len(part)
            self.put(self.tail, part)

    def turn(self) -> None:
        if self.tail is not None:
            os.close(self.tail)
            self.dropped += self.older
            self.older = TAIL
            os.replace("log.new", "log.old")
        self.tail, self.room = open_new("log.new"), TAIL

    def put(self, number: int | None, block: bytes) -> None:
        try:
            while number is not None and block:
                block = block[os.write(number, block) :]
        except OSError:
            self.dropped += len(block)

    def close(self) -> None:
        """Make one file of the parts."""
        if self.tail is not None and self.head is not None:
            if self.dropped:
                self.put(self.head, f"\n[... {self.dropped} bytes left out ...]\n".encode())
            for name in ("log.old", "log.new"):
                with contextlib.suppress(FileNotFoundError), open(name, "rb") as part:
                    self.put(self.head, part.read())
                    os.unlink(name)
        for number in (self.head, self.tail):
            if number is not None:
                with contextlib.suppress(OSError):
                    os.fsync(number)
                    os.close(number)


def open_new(name: str) -> int | None:
    try:
        return os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    except OSError:
        return None


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


def resident(session: int) -> int:
    """Bytes that the processes of our session hold, our own left out; 0 where the system does not show them."""
    pages = 0
    try:
        names = os.listdir("/proc")
    except OSError:
        return 0
    for name in names:
        if name.isdigit() and int(name) != session:
            with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{name}/stat", "rb") as stat:
                fields = stat.read().rpartition(b")")[2].split()
                if int(fields[3]) == session:
                    pages += int(fields[21])
    return pages * resource.getpagesize()


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"


def write_whole(path: str, value: dict[str, Any]) -> None:
    """The file is there whole or not at all."""
    with open(f"{path}.tmp", "w", encoding="utf-8") as file:
        json.dump(value, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(f"{path}.tmp", path)
    sync(os.path.dirname(path) or ".")


def sync(directory: str) -> None:
    number = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


if __name__ == "__main__":
    sys.exit(main())
