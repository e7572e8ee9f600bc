"""What is known of a run before it starts: its code, parameters, inputs, surroundings and bounds.

Reading only, and cheaply: no process is started, no file is read beyond its cap, and what cannot be read says so.
"""

import csv
import hashlib
import os
import platform
import re
import shlex
import stat
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot.evidence.cleaning import clean
from bot.evidence.masking import mask
from bot.schedulers.local.job import LocalJob

COUNTED = 64 * 1024 * 1024
LARGEST_SCRIPT = 5 * 1024 * 1024
BLOCK = 1024 * 1024
LONGEST_HEADER = 64 * 1024
MOST_COLUMNS = 1000
NUMBER = re.compile(r"[-+.\d]*")
MOST_ENTRIES = 10_000
DELIMITERS = ",;\t|"
SCRIPTS = frozenset({".bash", ".jar", ".jl", ".js", ".ksh", ".php", ".pl", ".py", ".r", ".rb", ".sh", ".sql", ".ts"})
TABLES = frozenset({".csv", ".tsv", ".psv"})
CONFIGS = frozenset({".cfg", ".conf", ".ini", ".properties", ".sql", ".toml", ".yaml", ".yml"})
REQUIREMENTS = re.compile(r"requirements.*\.txt", re.IGNORECASE)
LARGEST_CONFIG = 1024 * 1024
LARGEST_TEXT = 8 * 1024


def gather(
    job: LocalJob, *, env: Mapping[str, str], nominal_time: datetime | None, started_at: datetime
) -> dict[str, Any]:
    """The facts of a run that is about to start with the environment `env`."""
    return {
        "code": _code(job),
        "params": _params(job),
        "inputs": {name: _input(job.directory / name) for name in job.inputs},
        "env": {
            "names": sorted(env),
            "host": platform.node(),
            "os": f"{platform.system()} {platform.release()}",
            "python": platform.python_version(),
        },
        "resources": _bounds(job),
        "timing": _timing(nominal_time, started_at),
    }


def _params(job: LocalJob) -> dict[str, Any]:
    command = job.command if isinstance(job.command, str) else list(job.command)
    return {"command": command, **({"env": dict(job.env)} if job.env else {})}


def _bounds(job: LocalJob) -> dict[str, Any]:
    bounds: dict[str, Any] = {}
    if job.timeout is not None:
        bounds["timeout_seconds"] = job.timeout.total_seconds()
    if job.memory is not None:
        bounds["memory_limit_bytes"] = job.memory
    return bounds


def _timing(nominal_time: datetime | None, started_at: datetime) -> dict[str, Any]:
    timing: dict[str, Any] = {"started_at": started_at.isoformat()}
    if nominal_time is not None:
        timing["queued_at"] = nominal_time.isoformat()
        timing["waited_seconds"] = (started_at - nominal_time).total_seconds()
    return timing


def _code(job: LocalJob) -> dict[str, Any]:
    code: dict[str, Any] = {}
    version = git_revision(job.directory)
    if version is not None:
        code["version"] = version
    scripts = hashlib.sha256()
    found = False
    for word in _words(job):
        content = _script(job.directory / word) if word not in job.inputs else None
        if content is not None:
            found = True
            scripts.update(hashlib.sha256(content).digest())
    if found:
        code["digest"] = f"sha256:{scripts.hexdigest()}"
    return code


def _words(job: LocalJob) -> list[str]:
    if not isinstance(job.command, str):
        return list(job.command)
    try:
        return shlex.split(job.command)
    except ValueError:
        return job.command.split()


def _script(path: Path) -> bytes | None:
    try:
        is_script = path.suffix.lower() in SCRIPTS or os.access(path, os.X_OK)
        if not is_script or not path.is_file() or path.stat().st_size > LARGEST_SCRIPT:
            return None
        return path.read_bytes()
    except (OSError, ValueError):
        return None


def _input(path: Path) -> dict[str, Any]:
    try:
        info = path.stat()
        updated_at = datetime.fromtimestamp(info.st_mtime, UTC).isoformat()
        if stat.S_ISDIR(info.st_mode):
            return {"files": _entries(path), "updated_at": updated_at}
        if not stat.S_ISREG(info.st_mode):
            return {"kind": "special file"}
        facts = {"bytes": info.st_size, "updated_at": updated_at, **_content(path, info.st_size)}
        return {**facts, **_digest(path, info.st_size)}
    except (FileNotFoundError, NotADirectoryError):
        return {"missing": True}
    except (OSError, ValueError) as error:
        return {"unreadable": getattr(error, "strerror", None) or str(error)}


def _entries(path: Path) -> int:
    with os.scandir(path) as entries:
        return sum(1 for _ in zip(range(MOST_ENTRIES), entries, strict=False))


def _content(path: Path, size: int) -> dict[str, Any]:
    """Rows of a text, columns of a table; nothing for what is not text, no rows for what is too big to count."""
    lines, last, read = 0, b"\n", 0
    with open(path, "rb") as file:
        head = file.read(LONGEST_HEADER)
        if b"\0" in head:
            return {}
        block = head
        while block and read < COUNTED:
            lines, last, read = lines + block.count(b"\n"), block[-1:], read + len(block)
            block = file.read(BLOCK)
    rows = lines + (last != b"\n")
    columns = _columns(path, head)
    if columns is not None:
        rows = max(0, rows - 1)
    found: dict[str, Any] = {"rows": rows} if read >= size else {"rows_at_least": rows}
    return found if columns is None else found | {"schema": columns}


def _digest(path: Path, size: int) -> dict[str, Any]:
    """What tells that a file kept by people was edited, and a short one's words; data is expected to differ."""
    kept = path.suffix.lower() in CONFIGS or REQUIREMENTS.fullmatch(path.name)
    if not kept or size > LARGEST_CONFIG:
        return {}
    content = path.read_bytes()
    digest = {"digest": f"sha256:{hashlib.sha256(content).hexdigest()[:16]}"}
    if len(content) > LARGEST_TEXT:
        return digest
    return {**digest, "text": mask(clean(content.decode(errors="replace")))}


def _columns(path: Path, head: bytes) -> list[str] | None:
    first = head.split(b"\n", 1)[0].decode("utf-8-sig", errors="replace").strip("\r")
    if path.suffix.lower() not in TABLES or not first:
        return None
    delimiter = max(DELIMITERS, key=first.count)
    try:
        names = [name.strip() for name in next(csv.reader([first], delimiter=delimiter))][:MOST_COLUMNS]
    except csv.Error:
        return None
    return None if all(NUMBER.fullmatch(name) for name in names) else names


def git_revision(directory: Path) -> str | None:
    """The commit checked out where `directory` lies, read from git's own files; None when it is no repository."""
    try:
        for place in (directory.resolve(), *directory.resolve().parents):
            marker = place / ".git"
            if marker.is_dir():
                return _head(marker)
            if marker.is_file():
                return _head(place / marker.read_text().removeprefix("gitdir:").strip())
    except (OSError, ValueError, RuntimeError):
        return None
    return None


def _head(git: Path) -> str | None:
    head = (git / "HEAD").read_text().strip()
    if not head.startswith("ref:"):
        return head
    name = head.removeprefix("ref:").strip()
    shared = git / "commondir"
    common = git / shared.read_text().strip() if shared.is_file() else git
    for place in (git, common):
        if (place / name).is_file():
            return (place / name).read_text().strip()
    packed = common / "packed-refs"
    lines = packed.read_text().splitlines() if packed.is_file() else []
    return next((line.split()[0] for line in lines if line.endswith(f" {name}")), None)
