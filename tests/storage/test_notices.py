"""Notices: rows of the outbox that speak of no occurrence, written once by their key, sent like everything else."""

from datetime import timedelta

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine, text

from bot.incidents.keys import JobKey
from bot.store import EffectKind, EffectState, NewNotice
from storage import upgrading
from storage.database import parse_url
from storage.migrating import migrate
from storage.opening import SqlStorage, open_storage
from tests.storage.samples import NOW, incident, reply, stored

MORNING = NewNotice(key="digest:core:2026-11-30", channel="C0CORE", content={"kind": "digest", "facts": {}}, due_at=NOW)
OLD_OCCURRENCE = (
    text("INSERT INTO jobs (id, scheduler, name, created_at, memory) VALUES (7, 'cron', 'load', 0, '{}')"),
    text("INSERT INTO records (id, job_id, fingerprint, opened_at) VALUES (5, 7, 'f', 0)"),
    text(
        "INSERT INTO occurrences (record, number, job_id, status, version, fingerprint, cause, opened_at, document) "
        "VALUES (5, 1, 7, 'open', 1, 'f', 'unknown', 0, '{}')"
    ),
)
OLD_ROW = text(
    "INSERT INTO outbox (key, kind, lane, job_id, record, number, content, state, due_at, attempt, created_at) "
    "VALUES (:key, 'reply', 5, 7, 5, 1, '{}', 'waiting', 9, 2, 8)"
)


def put(storage: SqlStorage, notice: NewNotice = MORNING, *, commit: bool = True) -> bool:
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        new = uow.add_notice(notice)
        if commit:
            uow.commit()
    return new


def test_a_notice_is_written_once_by_its_key(storage: SqlStorage) -> None:
    assert put(storage)
    assert not put(storage)

    (row,) = storage.reads.outbox(states=tuple(EffectState), limit=10)
    assert (row.key, row.kind, row.channel) == (MORNING.key, EffectKind.NOTICE, "C0CORE")
    assert (row.record, row.number, row.job) == (0, 0, JobKey(scheduler="", name=""))
    assert storage.reads.written_at([MORNING.key, "digest:core:2026-12-01"]) == {MORNING.key: NOW}


def test_what_is_not_committed_is_not_there(storage: SqlStorage) -> None:
    assert put(storage, commit=False)
    assert storage.reads.written_at([MORNING.key]) == {}
    assert put(storage)


def test_it_is_claimed_sent_and_settled_like_any_other(storage: SqlStorage) -> None:
    put(storage)
    assert storage.next_effect_at(now=NOW) == NOW
    (row,) = storage.claim_effects(now=NOW, limit=10)
    assert storage.begin_sending(id=row.id, now=NOW) == NOW
    assert storage.settle(row=row, result={"ts": "1.0"}, now=NOW) is not None

    assert storage.claim_effects(now=NOW, limit=10) == ()
    assert not put(storage), "a key that was used is used, whatever became of its row"


def test_one_that_may_have_been_sent_is_given_back_as_uncertain(storage: SqlStorage) -> None:
    put(storage)
    (row,) = storage.claim_effects(now=NOW, limit=10)
    storage.begin_sending(id=row.id, now=NOW)
    later = NOW + timedelta(minutes=5)
    assert storage.void_leases(now=later) == 1

    (again,) = storage.claim_effects(now=later, limit=10)
    assert again.uncertain_at == NOW


@pytest.mark.parametrize("times", [1, 3])
def test_the_rows_of_an_earlier_version_come_along(empty_url: str, times: int) -> None:
    engine = create_engine(parse_url(empty_url))
    with engine.begin() as connection:
        config = Config()
        config.set_main_option("script_location", str(upgrading._scripts().dir))
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        for statement in OLD_OCCURRENCE:
            connection.execute(statement)
        for number in range(times):
            connection.execute(OLD_ROW, {"key": f"5.1/{number}"})
    engine.dispose()
    migrate(empty_url)

    storage = open_storage(empty_url, instance="web")
    rows = storage.reads.outbox(states=[EffectState.WAITING], limit=10)
    assert [(row.key, row.attempt, str(row.job), row.record) for row in rows] == [
        (f"5.1/{number}", 2, "cron/load", 5) for number in reversed(range(times))
    ]
    assert put(storage)
    assert storage.reads.outbox(states=[EffectState.WAITING], limit=1)[0].id > times
    storage.close()


def test_notices_and_replies_stand_side_by_side(storage: SqlStorage) -> None:
    stored(storage, incident(), reply("5.1/1"))
    put(storage)

    assert [row.kind for row in storage.claim_effects(now=NOW, limit=10)] == [EffectKind.NOTICE]
    assert storage.reads.counts()["outbox.waiting"] == 2
