"""Asks that did not reach their thread: found while they wait, made known of once, and by reading what is unsettled only."""

from datetime import timedelta
from typing import Any

from sqlalchemy import Engine, event

from bot.store import EffectKind, NewEffect
from storage.opening import SqlStorage
from tests.storage.samples import NOW, hand_back, incident, reply, root_posted, stored

EXPLAIN = {"sqlite": "EXPLAIN QUERY PLAN ", "postgresql": "EXPLAIN "}
LATER = NOW + timedelta(minutes=10)


def note(key: str, kind: str, *, in_thread: bool = True, effect: EffectKind = EffectKind.REPLY) -> NewEffect:
    content = {"kind": kind, "facts": {"reason": "it failed"}}
    return NewEffect(key=key, kind=effect, content=content, due_at=NOW, in_thread=in_thread, lane=1)


def keys(storage: SqlStorage, *, limit: int = 10) -> list[str]:
    return [ask.row.key for ask in storage.late_asks(before=LATER, limit=limit)]


def test_asks_and_approvals_of_a_thread_are_late_until_they_are_sent(storage: SqlStorage) -> None:
    stored(storage, incident(), note("1", "evidence"), note("2", "ask"), note("3", "approval"), note("4", "storm_ask"))
    assert keys(storage) == ["2", "3", "4"]
    assert keys(storage, limit=1) == ["2"]
    assert storage.late_asks(before=NOW, limit=10) == (), "they were written at that instant, not before it"

    root_posted(storage)
    for _ in ("evidence", "ask"):
        (row,) = storage.claim_effects(now=NOW, limit=1)
        storage.begin_sending(id=row.id, now=NOW)
        hand_back(storage, storage.settle(row=row, result={"ts": "1.1"}, now=NOW))
    assert keys(storage) == ["3", "4"]


def test_what_does_not_go_into_the_thread_is_not_late(storage: SqlStorage) -> None:
    mail = note("mail", "ask", in_thread=False, effect=EffectKind.EMAIL)
    direct = note("direct", "ask", in_thread=False, effect=EffectKind.DIRECT)
    stored(storage, incident(), mail, direct, reply("other"))

    assert keys(storage) == []


def test_that_one_is_late_is_made_known_once(storage: SqlStorage) -> None:
    stored(storage, incident(), note("1", "ask"))
    (ask,) = storage.late_asks(before=LATER, limit=10)

    assert storage.mark_late(id=ask.row.id, now=LATER)
    assert not storage.mark_late(id=ask.row.id, now=LATER)
    assert keys(storage) == []


def test_one_that_was_sent_meanwhile_is_not_late(storage: SqlStorage) -> None:
    stored(storage, incident(), note("1", "ask"))
    (late,) = storage.late_asks(before=LATER, limit=10)
    root_posted(storage)
    (row,) = storage.claim_effects(now=NOW, limit=1)
    storage.begin_sending(id=row.id, now=NOW)
    assert keys(storage) == ["1"], "it may yet fail"
    storage.settle(row=row, result={"ts": "1.1"}, now=NOW)

    assert not storage.mark_late(id=late.row.id, now=LATER)


def test_the_last_word_of_the_chat_is_that_on_the_first_in_the_thread_or_on_the_root(storage: SqlStorage) -> None:
    stored(storage, incident(), note("1", "evidence"), note("2", "ask"))
    (view,) = storage.claim_views(now=NOW, limit=9)
    assert [ask.code for ask in storage.late_asks(before=LATER, limit=9)] == [""]
    storage.begin_view(id=view.id, now=NOW)
    storage.retry_view(id=view.id, at=NOW, uncertain=False, code="invalid_auth")
    assert [ask.code for ask in storage.late_asks(before=LATER, limit=9)] == ["invalid_auth"]
    assert storage.said_of_waiting(codes=["invalid_auth", "token_revoked"]) == {"invalid_auth"}

    root_posted(storage)
    assert "invalid_auth" not in [ask.code for ask in storage.late_asks(before=LATER, limit=9)]
    assert storage.said_of_waiting(codes=["invalid_auth"]) == frozenset()
    (row,) = storage.claim_effects(now=NOW, limit=9)
    storage.begin_sending(id=row.id, now=NOW)
    storage.retry(id=row.id, at=NOW, uncertain=False, code="token_revoked")
    assert [ask.code for ask in storage.late_asks(before=LATER, limit=9)] == ["token_revoked"]
    assert storage.said_of_waiting(codes=["invalid_auth", "token_revoked"]) == {"token_revoked"}


def test_only_what_is_unsettled_is_read(storage: SqlStorage) -> None:
    stored(storage, incident(), note("1", "ask"))
    plans: list[str] = []

    def explain(connection: Any, cursor: Any, statement: str, parameters: Any, *_rest: Any) -> None:
        if statement.startswith("SELECT outbox"):
            name = connection.dialect.name
            if name == "postgresql":
                cursor.execute("SET LOCAL enable_seqscan = off")
            cursor.execute(EXPLAIN[name] + statement, parameters)
            plans.append("\n".join(map(str, cursor.fetchall())))

    event.listen(Engine, "before_cursor_execute", explain)
    try:
        assert keys(storage) == ["1"]
    finally:
        event.remove(Engine, "before_cursor_execute", explain)

    (plan,) = plans
    assert "ix_outbox_unsettled" in plan
