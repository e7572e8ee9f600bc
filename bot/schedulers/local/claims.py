"""The run directories: who has claimed a run, whether it lives, how it ended, what is kept of it.

A directory is the claim, the lock in it is the life, `result.json` the end, `reported` our word that the end was told.
It starts nothing and reports nothing.
"""

import fcntl
import os
import shutil
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from bot.schedulers.local.records import RunRecord, read, write_whole
from bot.schedulers.local.shim_watch import members

KEPT = 50
SHOWN_HEAD = 64 * 1024
SHOWN_TAIL = 192 * 1024
CLAIM_VARIABLE = "ONTRACK_CLAIM"
LOG_PARTS = ("log", "log.old", "log.new")


class Claims:
    """All run directories under one root."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def path(self, claim: str) -> Path:
        return self._root / claim

    def prepare(self) -> None:
        """Make the root, and sweep away what a guard left behind that died before it had claimed anything."""
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
        for passing in self._root.glob(".new-*-*"):
            try:
                os.kill(int(passing.name.split("-")[1]), 0)
            except (ProcessLookupError, ValueError, OverflowError):
                shutil.rmtree(passing, ignore_errors=True)
            except PermissionError:
                continue

    def oldest_first(self) -> list[str]:
        with os.scandir(self._root) as entries:
            found = [(entry.stat().st_mtime, entry.name) for entry in entries if not entry.name.startswith(".")]
        return [name for _, name in sorted(found)]

    def exists(self, claim: str) -> bool:
        return self.path(claim).is_dir()

    def record(self, claim: str) -> RunRecord:
        """Raises `OSError` or `ValueError` for a directory that no guard made."""
        value = read(self.path(claim) / "run.json")
        if value is None:
            raise ValueError(f"{claim} holds no record")
        return RunRecord.from_json(value)

    def is_living(self, claim: str) -> bool:
        with suppress(FileNotFoundError), self._lock(claim) as number:
            try:
                fcntl.flock(number, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    def wait(self, claim: str) -> None:
        """Return when the run's guard lives no more."""
        with self._lock(claim) as number:
            fcntl.flock(number, fcntl.LOCK_SH)

    def result(self, claim: str) -> dict[str, Any] | None:
        """How an ended run ended; None: its guard died before it could tell. Ask only once it lives no more."""
        try:
            return read(self.path(claim) / "result.json")
        except ValueError:
            return None

    def settle_without_run(self, record: RunRecord, result: Mapping[str, Any]) -> bool:
        """Claim a run that is not to start, with its result; False when it was claimed by another."""
        passing = self._root / f".new-{os.getpid()}-{record.claim}"
        passing.mkdir(mode=0o700)
        try:
            (passing / "lock").touch(mode=0o600)
            write_whole(passing / "run.json", record.to_json())
            write_whole(passing / "result.json", result)
            os.rename(passing, self.path(record.claim))
        except OSError:
            shutil.rmtree(passing)
            if self.exists(record.claim):
                return False
            raise
        return True

    def is_reported(self, claim: str) -> bool:
        return (self.path(claim) / "reported").exists()

    def mark_reported(self, claim: str) -> None:
        with suppress(FileNotFoundError):
            write_whole(self.path(claim) / "reported", {})

    def stopper(self, claim: str) -> str | None:
        """Who asked to stop the run."""
        value = read(self.path(claim) / "stop.json")
        return value["by"] if value is not None else None

    def stop(self, claim: str, by: str) -> bool:
        """Tell a living run to end, in `by`'s name; False when it lives no more."""
        pid = self._guard(claim)
        write_whole(self.path(claim) / "stop.json", {"by": by})
        with _process(pid) as send:
            if not self.is_living(claim):
                return False
            send(signal.SIGTERM)
        return True

    def kill_remains(self, claim: str) -> None:
        """End what a dead guard left running: what is of its session and carries the claim in its environment."""
        mark = f"{CLAIM_VARIABLE}={self.path(claim)}".encode()
        for pid, _ in members(self._guard(claim)):
            with suppress(OSError):
                if mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                    os.kill(pid, signal.SIGKILL)

    def log(self, claim: str) -> str:
        """The output of an ended run: whole, or its beginning and its end."""
        try:
            return self._shown(claim)
        except OSError as error:
            return f"[the log cannot be read: {error.strerror}]"

    def _shown(self, claim: str) -> str:
        sizes = [(part, part.stat().st_size) for part in self._log_parts(claim)]
        total = sum(size for _, size in sizes)
        if total <= SHOWN_HEAD + SHOWN_TAIL:
            return b"".join(part.read_bytes() for part, _ in sizes).decode(errors="replace")
        with open(sizes[0][0], "rb") as file:
            head = file.read(SHOWN_HEAD)
        tail = b""
        for part, size in reversed(sizes):
            wanted = SHOWN_TAIL - len(tail)
            with open(part, "rb") as file:
                file.seek(max(0, size - wanted))
                tail = file.read(wanted) + tail
            if len(tail) >= SHOWN_TAIL:
                break
        gap = f"\n[... {total - len(head) - len(tail)} bytes not shown ...]\n"
        return head.decode(errors="replace") + gap + tail.decode(errors="replace")

    def remove(self, claim: str) -> None:
        shutil.rmtree(self.path(claim), ignore_errors=True)

    def _guard(self, claim: str) -> int:
        pid = (read(self.path(claim) / "run.json") or {}).get("guard_pid")
        if not isinstance(pid, int):
            raise ValueError(f"{claim} names no guard")
        return pid

    def _log_parts(self, claim: str) -> list[Path]:
        return [path for name in LOG_PARTS if (path := self.path(claim) / name).is_file()]

    @contextmanager
    def _lock(self, claim: str) -> Iterator[int]:
        number = os.open(self.path(claim) / "lock", os.O_RDONLY)
        try:
            yield number
        finally:
            os.close(number)


@contextmanager
def _process(pid: int) -> Iterator[Any]:
    """A way to signal a process that cannot reach another one of the same number, where the system has such a way."""
    if not hasattr(os, "pidfd_open"):
        yield lambda number: os.kill(pid, number)
        return
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        yield lambda _number: None
        return
    try:
        yield lambda number: signal.pidfd_send_signal(handle, number)
    finally:
        os.close(handle)
