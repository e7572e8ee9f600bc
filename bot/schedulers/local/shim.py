"""The guard of one run: claims its directory, starts the command, watches it, and writes down how it ended.

A process of its own that outlives us: it loads the standard library and its own three files, and nothing else.
"""

import contextlib
import fcntl
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from bot.schedulers.local.shim_log import Log, open_new, sync, write_whole
from bot.schedulers.local.shim_watch import Told, Watch, ticks, used

BACKSTOP_RATIO = 1.25
BACKSTOP_ROOM = 64 * 1024 * 1024
CANNOT_START = "ontrack.CannotStart"
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
