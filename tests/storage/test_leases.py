"""Whose leases hold when many processes share PostgreSQL, and what a process may do that lost its name."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import psycopg
import pytest
from sqlalchemy import Connection, event, text

from bot.incidents.keys import JobKey
from bot.store import StorageDown
from storage.opening import SqlStorage
from tests.storage.conftest import OpenNamed
from tests.storage.samples import NOW, incident, minutes, request, stored
from tests.storage.sessions import end_sessions

OTHER = JobKey(scheduler="cron", name="other_load")
SHORTLY = NOW + timedelta(seconds=1)
THIRTY_FIVE = NOW + timedelta(seconds=35)


def name_of(storage: SqlStorage) -> str | None:
    return storage._holders.me


def test_the_leases_of_a_living_process_are_not_void(process: OpenNamed) -> None:
    mine, yours = process("web"), process("worker")
    stored(mine, incident(), request("claimed"))
    mine.claim_effects(now=NOW, limit=9)

    assert yours.void_leases(now=SHORTLY) == 0
    assert yours.claim_effects(now=SHORTLY, limit=9) == ()


def test_the_leases_of_a_dead_process_are_void_at_once(process: OpenNamed) -> None:
    mine, yours = process("web"), process("worker")
    stored(mine, incident(), request("begun"), request("claimed"))
    begun, _ = mine.claim_effects(now=NOW, limit=9)
    assert mine.begin_sending(id=begun.id, now=NOW)
    mine.close()

    assert yours.void_leases(now=SHORTLY) == 2
    assert [row.key for row in yours.claim_effects(now=SHORTLY, limit=9)] == ["claimed"]
    assert yours.claim_effects(now=NOW + timedelta(seconds=34), limit=9) == ()
    (uncertain,) = yours.claim_effects(now=THIRTY_FIVE, limit=9)
    assert (uncertain.key, uncertain.uncertain_at) == ("begun", NOW)


def test_a_process_that_lost_its_lock_begins_nothing_under_its_old_name(
    process: OpenNamed, postgresql_url: str
) -> None:
    mine, yours = process("web"), process("worker")
    stored(mine, incident(), request("one"), request("two"))
    one, two = mine.claim_effects(now=NOW, limit=9)
    before = name_of(mine)

    assert end_sessions(postgresql_url, "advisory") == 2
    assert not mine.begin_sending(id=one.id, now=SHORTLY)
    assert name_of(mine) not in (None, before)
    assert yours.void_leases(now=SHORTLY) == 2
    assert [row.id for row in mine.claim_effects(now=SHORTLY, limit=9)] == [one.id, two.id]


def test_without_a_name_nothing_is_claimed_begun_or_born_leased(process: OpenNamed, postgresql_url: str) -> None:
    mine = process("web")
    stored(mine, incident(), request("one"))
    (one,) = mine.claim_effects(now=NOW, limit=9)
    mine._holders.release()

    assert name_of(mine) is None
    assert not mine.begin_sending(id=one.id, now=SHORTLY)
    assert mine.claim_effects(now=NOW + minutes(5), limit=9) == ()
    assert mine.claim_views(now=NOW + minutes(5), limit=9) == ()
    _, committed = stored(mine, incident(job=OTHER), request("three"), born_leased=True)
    assert (committed.effects, committed.views) == ((), ())


def test_what_was_sent_by_a_process_that_lost_its_name_is_settled_all_the_same(
    process: OpenNamed, postgresql_url: str
) -> None:
    mine, yours = process("web"), process("worker")
    stored(mine, incident(), request("one"))
    (one,) = mine.claim_effects(now=NOW, limit=9)
    assert mine.begin_sending(id=one.id, now=NOW)
    end_sessions(postgresql_url, "advisory")
    assert yours.void_leases(now=SHORTLY) == 1

    assert mine.settle(row=one, result={"ts": "1.0"}, now=SHORTLY) is not None
    assert yours.claim_effects(now=THIRTY_FIVE, limit=9) == ()


@contextmanager
def answer_of_commit_lost(storage: SqlStorage, url: str) -> Iterator[None]:
    """The connection ends when the commit is on its way."""

    def end(connection: Connection) -> None:
        pid = connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
        with psycopg.connect(url, autocommit=True) as admin:
            admin.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,))

    event.listen(storage._database.writer, "commit", end)
    try:
        yield
    finally:
        event.remove(storage._database.writer, "commit", end)


def test_a_commit_whose_answer_is_lost_leaves_no_lease_of_a_living_name(
    process: OpenNamed, postgresql_url: str
) -> None:
    mine = process("web")
    before = name_of(mine)
    with answer_of_commit_lost(mine, postgresql_url), pytest.raises(StorageDown):
        stored(mine, incident(), request("one"), born_leased=True)

    assert name_of(mine) not in (None, before)
    assert mine._holders.gone({before or ""}) == {before}
