"""Keeps the policies of a file current while it is edited: a bad file is refused, the last good one stays.

It starts no thread; whoever holds it asks from time to time.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from bot.policies.loading import load
from bot.policies.model import Policies
from bot.policies.nodes import MAX_BYTES
from bot.policies.problems import PolicyError, Problem

_Signature = tuple[int, int, int, int] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reload:
    """What a look at the file brought: `changed`: other policies hold now; `problems`: a new text was refused."""

    changed: bool
    problems: tuple[Problem, ...] = ()


class PolicyFile:
    """The policies of one file. Safe among threads; `current` never waits for a reload."""

    def __init__(self, path: Path, *, env: Mapping[str, str]) -> None:
        """Load the file; raises `PolicyError` when that cannot be done."""
        self.path = path
        self._env = env
        self._lock = Lock()
        self._signature = self._look()
        self._current = load(self._read(), env=env)
        self._problems: tuple[Problem, ...] = ()

    @property
    def current(self) -> Policies:
        """The last good policies."""
        return self._current

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Why the file as it stands was refused; empty while `current` is what it says."""
        return self._problems

    def reload_if_changed(self) -> Reload:
        """Look at the file, and load it when it is not the one seen last. Each bad text is reported once."""
        with self._lock:
            signature = self._look()
            if signature == self._signature:
                return Reload(changed=False)
            self._signature = signature
            try:
                loaded = load(self._read(), env=self._env)
            except PolicyError as refused:
                self._problems = refused.problems
                return Reload(changed=False, problems=refused.problems)
            self._problems = ()
            changed = loaded.version != self._current.version
            if changed:
                self._current = loaded
            return Reload(changed=changed)

    def _look(self) -> _Signature:
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino

    def _read(self) -> str:
        return read_policies(self.path)


def read_policies(path: Path) -> str:
    """The text of a policies file; raises `PolicyError` when it cannot be read or is no UTF-8."""
    try:
        with path.open("rb") as file:
            found = file.read(MAX_BYTES + 1)
    except OSError as failed:
        raise PolicyError(
            [_whole(f"the file cannot be read: {failed.strerror or failed}", f"POLICIES is {path}")]
        ) from None
    try:
        return found.decode()
    except UnicodeDecodeError as failed:
        before = found[: failed.start].decode()
        line, column = before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1
        raise PolicyError([Problem(line=line, column=column, path="", message="the file is not UTF-8 here")]) from None


def _whole(message: str, hint: str) -> Problem:
    return Problem(line=1, column=1, path="", message=message, hint=hint)
