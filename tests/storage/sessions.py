"""What tests do to sessions of PostgreSQL from outside: ending them, waiting until one waits. It tests nothing."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg

WAITS = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


def end_sessions(url: str, query: str = "") -> int:
    """End the sessions of the database whose last statement is like this, as a failover does; returns how many."""
    with psycopg.connect(url, autocommit=True) as admin:
        ended = admin.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid() AND query ILIKE %s",
            (f"%{query}%",),
        ).fetchall()
    return len(ended)


@contextmanager
def held_up(url: str, work: Callable[[], None], *, by: str) -> Iterator["psycopg.Connection[tuple[object, ...]]"]:
    """`work` waits for a row that a rude transaction holds; ends when the block does. Yields a third party's connection."""
    with psycopg.connect(url) as rude, psycopg.connect(url, autocommit=True) as third:
        rude.execute(by.encode())
        waiting = threading.Thread(target=work)
        waiting.start()
        while third.execute(WAITS).fetchone() == (0,):
            pass
        yield third
        rude.rollback()
        waiting.join()
