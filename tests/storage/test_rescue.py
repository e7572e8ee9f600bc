"""Leases given back while others hold the rows for a moment: what may have been sent is looked for all the same."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from sqlalchemy import Engine, event

from tests.storage.conftest import OpenNamed
from tests.storage.samples import NOW, incident, minutes, stored

LATER = NOW + minutes(5)


@contextmanager
def held_until_the_second(words: str, url: str, query: str) -> Iterator[None]:
    """The rows of `query` are locked until the second statement that begins with `words` comes, and are free from then on."""
    met: list[str] = []
    with psycopg.connect(url) as holder:
        holder.execute(query.encode())

        def before(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
            if statement.startswith(words):
                met.append(statement)
                if len(met) == 2:
                    holder.rollback()

        event.listen(Engine, "before_cursor_execute", before)
        try:
            yield
        finally:
            event.remove(Engine, "before_cursor_execute", before)
    assert len(met) == 2


def test_a_root_that_somebody_held_for_a_moment_is_looked_for_all_the_same(
    process: OpenNamed, postgresql_url: str
) -> None:
    mine, yours = process("web"), process("worker")
    _, committed = stored(mine, incident(), born_leased=True)
    (view,) = committed.views
    assert mine.begin_view(id=view.id, now=NOW)

    with held_until_the_second("UPDATE views", postgresql_url, "SELECT id FROM views FOR UPDATE"):
        yours.void_leases(now=LATER)
    assert yours.claim_views(now=LATER, limit=9) == ()

    yours.void_leases(now=LATER)
    (again,) = yours.claim_views(now=LATER, limit=9)
    assert again.uncertain_at == NOW
