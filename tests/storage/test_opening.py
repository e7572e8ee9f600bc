"""Who may open a database, how often, and what a crash leaves behind."""

import subprocess
import sys

import pytest

from bot.store import Which
from storage.database import parse_url
from storage.opening import SqlStorage, open_storage
from tests.house.tree import ROOT
from tests.storage.conftest import Open
from tests.storage.samples import NOW, incident, lock, stored

CRASHING = """
import os
from storage.opening import open_storage
from tests.storage.samples import NOW, incident, lock, stored
storage = open_storage({url!r}, instance="web")
stored(storage, incident())
with storage.begin_write(born_leased=False, now=NOW) as uow:
    job = lock(uow)
    uow.consume_timer(id=1, due_at=storage.next_timer_at())
    uow.settle_booking(key="none", amount=1.0, result="none", at=NOW)
    os._exit(9)
"""


def test_commands_may_look_beside_the_process_that_works(open_again: Open) -> None:
    one, _ = stored(open_again(), incident())
    looking = open_again(instance="cli", read_only=True)

    assert looking.reads.incidents(which=Which.ALL, limit=9) == (one,)
    with pytest.raises(RuntimeError, match="reading only"), looking.begin_write(born_leased=False, now=NOW):
        pass


def test_a_closed_database_can_be_opened_again(open_again: Open) -> None:
    open_again().close()

    open_again().close()


def test_a_killed_process_leaves_what_it_committed_and_nothing_else(database_url: str) -> None:
    script = CRASHING.format(url=database_url)
    killed = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, check=False)
    assert (killed.returncode, killed.stderr) == (9, b"")

    storage = open_storage(database_url, instance="web")

    (one,) = storage.reads.incidents(which=Which.ALL, limit=9)
    assert [timer.record for timer in storage.due_timers(now=one.opened_at.replace(year=2027), limit=9)] == [one.record]
    storage.close()


def test_readers_go_on_while_somebody_writes(storage: SqlStorage) -> None:
    stored(storage, incident())
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        lock(uow)

        assert len(storage.reads.incidents(which=Which.UNRESOLVED, limit=9)) == 1


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", "mysql://host/db"])
def test_databases_that_cannot_serve_are_refused(url: str) -> None:
    with pytest.raises(ValueError, match="sqlite:///"):
        parse_url(url)


def test_the_driver_is_ours() -> None:
    assert parse_url("postgresql://u:p@h/d").drivername == "postgresql+psycopg"
    assert parse_url("sqlite:///ontrack.db").drivername == "sqlite+pysqlite"
