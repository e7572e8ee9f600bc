"""The server that the tests start leaves nothing behind, however they end."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from tests.databases import PostgresServer
from tests.house.tree import ROOT
from tests.postgres import USER, running_postgres

WAITING = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
import sys
from tests.postgres import running_postgres
with running_postgres() as place:
    print(place, flush=True)
    sys.stdin.read()
"""


@contextmanager
def another_run() -> Iterator[tuple["subprocess.Popen[str]", Path]]:
    """Another process with a server of its own; the keeper and the server hold its standard error open while they live.

    It hears SIGINT, as from a terminal, also where the tests run in a shell's background, which ignores it.
    """
    with subprocess.Popen(
        [sys.executable, "-c", WAITING],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        yield process, Path(process.stdout.readline().strip())


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_ended_leaves_no_process_and_no_file(how: signal.Signals) -> None:
    with another_run() as (process, place):
        assert (place / "data" / "postmaster.pid").exists()
        process.send_signal(how)
        process.wait()
        assert process.stderr is not None
        process.stderr.read()

    assert not place.exists()


def test_two_runs_have_a_server_each(postgres_server: PostgresServer) -> None:
    with running_postgres() as place:
        with psycopg.connect(host=str(place), user=USER, dbname="postgres") as connection:
            found = connection.execute("SELECT count(*) FROM pg_database WHERE datname = 'migrated'").fetchone()

        assert found == (0,)
        assert place != postgres_server.place
    assert not place.exists()


def test_a_dropped_database_is_gone_although_somebody_is_connected(postgres_server: PostgresServer) -> None:
    url = postgres_server.new_database()
    with psycopg.connect(url) as connection:
        postgres_server.drop(url)

        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    with pytest.raises(psycopg.OperationalError, match="does not exist"):
        psycopg.connect(url)
