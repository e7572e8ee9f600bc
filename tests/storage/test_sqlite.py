"""What holds for SQLite only: one process, its settings, the plans of its queries."""

from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from bot.store import StorageDown
from storage.database import Database
from storage.leases import DatabaseTaken
from storage.opening import open_storage
from tests.storage.samples import JOB, NOW, incident, reply, request, stored
from tests.storage.test_statements import counted, take_in_success

PARTIAL = "USING INDEX uq_occurrences_unresolved"
SMALL = ("CONSTANT ROW", "SCAN jobs USING COVERING INDEX sqlite_autoindex_jobs_1")


def test_one_process_works_on_a_database(sqlite_url: str) -> None:
    storage = open_storage(sqlite_url, instance="web")

    with pytest.raises(DatabaseTaken, match=r"process \d+ already works .*DATABASE_URL"):
        open_storage(sqlite_url, instance="worker")
    storage.close()


def test_the_leases_of_a_dead_process_are_void_at_once(sqlite_url: str) -> None:
    before = open_storage(sqlite_url, instance="web")
    stored(before, incident(), request("begun"), request("claimed"))
    rows = before.claim_effects(now=NOW, limit=9)
    before.begin_sending(id=rows[0].id, now=NOW)
    before.close()

    after = open_storage(sqlite_url, instance="web")

    assert after.void_leases(now=NOW + timedelta(seconds=1)) == 2
    assert [row.key for row in after.claim_effects(now=NOW + timedelta(seconds=1), limit=9)] == ["claimed"]
    (begun,) = after.claim_effects(now=NOW + timedelta(seconds=10), limit=9)
    assert (begun.key, begun.uncertain_at) == ("begun", NOW)
    after.close()


def test_sqlite_is_set_up_to_lose_nothing(sqlite_url: str) -> None:
    database = Database(sqlite_url)
    with database.transaction() as connection:
        found = {
            name: connection.execute(text(f"PRAGMA {name}")).scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys")
        }
    database.close()

    assert found == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}


def test_a_database_that_cannot_be_opened_is_down_in_the_words_of_the_port(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path}")
    with pytest.raises(StorageDown, match="unable to open"), database.transaction() as connection:
        connection.execute(text("SELECT 1"))


def test_looks_that_are_made_all_the_time_read_an_index(sqlite_url: str) -> None:
    """None of them reads a table from end to end, so that none slows down as history grows."""
    storage = open_storage(sqlite_url, instance="web")
    with counted() as statements:
        stored(storage, incident(), reply("evidence"), born_leased=True)
        take_in_success(storage, JOB)
        storage.claim_views(now=NOW, limit=9)
        storage.claim_effects(now=NOW, limit=9)
        storage.void_leases(now=NOW)
        storage.next_effect_at(now=NOW)
        storage.due_timers(now=NOW, limit=9)
        storage.next_timer_at()
        storage.reads.counts()
    looks = {statement for statement in statements if not statement.startswith("INSERT")}
    with storage._database.read() as connection:
        plans = [
            row.detail
            for statement in looks
            for row in connection.exec_driver_sql(
                f"EXPLAIN QUERY PLAN {statement}", tuple([None] * statement.count("?"))
            )
        ]
    storage.close()
    scans = {plan for plan in plans if plan.startswith("SCAN") and not plan.endswith(SMALL)}

    assert len(looks) > 15
    assert {scan for scan in scans if not scan.endswith(PARTIAL) and "INDEX ix_" not in scan} == set()


def test_a_thread_that_would_wait_for_itself_is_told_at_once(sqlite_url: str) -> None:
    storage = open_storage(sqlite_url, instance="web")
    with (
        storage.begin_write(born_leased=False, now=NOW),
        pytest.raises(RuntimeError, match="already"),
        storage.begin_write(born_leased=False, now=NOW),
    ):
        pass
    storage.close()
