"""What is particular to PostgreSQL: its connections, their time limits, what its failures mean. Knows no table.

The limits keep a dead peer, on either side, from being waited for: this side notices first (9 s), then the server frees
what a vanished process held (17 s).
"""

import select
from typing import Any

import psycopg
from psycopg import errors
from sqlalchemy import URL, Engine, create_engine, event
from sqlalchemy.exc import DisconnectionError, SQLAlchemyError

POOL = 16
CONFLICTS = (errors.SerializationFailure, errors.DeadlockDetected)

_OURS: dict[str, Any] = {
    "application_name": "ontrack",
    "connect_timeout": 5,
    "keepalives_idle": 3,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 9000,
}
_SERVER = {
    "TimeZone": "UTC",
    "tcp_keepalives_idle": "5",
    "tcp_keepalives_interval": "3",
    "tcp_keepalives_count": "4",
}
_TRANSACTIONS = {
    "lock_timeout": "10s",
    "statement_timeout": "30s",
    "idle_in_transaction_session_timeout": "60s",
}


def pooled(url: URL, *, wait: float, limited: bool = True, read_only: bool = False) -> Engine:
    """An engine with connections of our kind; `limited` False lets a migration take its time."""
    options = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True} if read_only else {}
    engine = create_engine(
        url,
        pool_size=POOL,
        max_overflow=0,
        pool_timeout=wait,
        pool_use_lifo=True,
        connect_args=_missing_in(url),
        execution_options={"isolation_level": "READ COMMITTED"} | options,
    )

    @event.listens_for(engine, "connect")
    def _prepare(driver_connection: "psycopg.Connection[Any]", _record: Any) -> None:
        _set(driver_connection, _SERVER | (_TRANSACTIONS if limited else {"lock_timeout": "10s"}))
        driver_connection.commit()

    @event.listens_for(engine, "checkout")
    def _look(driver_connection: "psycopg.Connection[Any]", _record: Any, _fairy: Any) -> None:
        if is_lost(driver_connection):
            raise DisconnectionError("the server has closed this connection")

    return engine


def connect_alone(url: URL) -> "psycopg.Connection[Any]":
    """A connection for one purpose, outside every pool and transaction; raises `psycopg.Error`."""
    _, named = url.get_dialect()().create_connect_args(url)
    connection: psycopg.Connection[Any] = psycopg.connect(**{**_OURS, **named}, autocommit=True)
    _set(connection, _SERVER)
    return connection


def is_lost(connection: "psycopg.Connection[Any]") -> bool:
    """Whether the server, or the network, has ended it. Costs no round trip: an idle connection has nothing to read but its end."""
    if connection.closed:
        return True
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return bool(poll.poll(0))


def is_conflict(error: SQLAlchemyError) -> bool:
    """Two transactions stood in each other's way and this one was ended: it may simply be done again."""
    return isinstance(getattr(error, "orig", None), CONFLICTS)


def _missing_in(url: URL) -> dict[str, Any]:
    return {name: value for name, value in _OURS.items() if name not in url.query}


def _set(connection: "psycopg.Connection[Any]", settings: dict[str, str]) -> None:
    chosen = ", ".join(f"set_config('{name}', '{value}', false)" for name, value in settings.items())
    connection.execute(f"SELECT {chosen}".encode())
