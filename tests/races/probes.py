"""Makes the connections of a storage stop before each statement and commit of an actor, and tells who waits for whom.

It listens to the engines and, on SQLite, stands in for the lock of the one process; no statement is changed.
"""

import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg import errors
from sqlalchemy import Connection, Engine, event

from storage.database import Database
from tests.races.conductor import Actor, stop
from tests.races.steps import ANYTHING, TURN, Footprint, statement_footprint, statement_label, under_the_jobs_lock

_WAITING = "SELECT pid FROM unnest(%s::int[]) AS pid WHERE cardinality(pg_blocking_pids(pid)) > 0"


@dataclass(slots=True)
class Probes:
    """What was seen of the databases in one race: the deadlocks that PostgreSQL ended, and who waits."""

    url: str
    deadlocks: list[str] = field(default_factory=list)
    turns: "list[Turn]" = field(default_factory=list)
    _admin: "psycopg.Connection[Any] | None" = None

    def watch(self, database: Database) -> None:
        """Stop at what this database's connections do."""
        if database.sqlite:
            turn = Turn()
            database._turn = turn  # type: ignore[assignment]
            self.turns.append(turn)
            event.listen(database.writer, "commit", lambda connection: stop("commits", Footprint(shows=ANYTHING)))
        else:
            self._watch_writer(database.writer)
        event.listen(database._reader, "before_cursor_execute", _at_first_read)

    def waits(self, actors: Sequence[Actor]) -> frozenset[str]:
        """Which of them wait for a lock that somebody else holds."""
        if self.turns:
            return frozenset(actor.name for actor in actors if any(turn.keeps(actor) for turn in self.turns))
        sessions = {actor.session: actor.name for actor in actors if actor.session is not None}
        if self._admin is None:
            self._admin = psycopg.connect(self.url, autocommit=True)
        found = self._admin.execute(_WAITING, (list(sessions),)).fetchall()
        return frozenset(sessions[pid] for (pid,) in found)

    def close(self) -> None:
        if self._admin is not None:
            self._admin.close()

    def _watch_writer(self, engine: Engine) -> None:
        event.listen(engine, "before_cursor_execute", _at_statement)
        event.listen(engine, "begin", lambda connection: connection.info.pop("held", None))
        event.listen(engine, "commit", lambda connection: _at_end(connection, "commits"))
        event.listen(engine, "rollback", lambda connection: _at_end(connection, "rolls back"))
        event.listen(engine, "handle_error", self._note)

    def _note(self, context: Any) -> None:
        if isinstance(context.original_exception, errors.DeadlockDetected):
            self.deadlocks.append(str(context.original_exception))


class Turn:
    """A lock like that of the one process on SQLite, which knows who has it and who waits."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holder: int | None = None
        self._waiting: set[int] = set()

    def acquire(self, timeout: float = -1) -> bool:
        stop("takes its turn to write", Footprint(holds=frozenset({TURN}), reads=ANYTHING))
        me = threading.get_ident()
        self._waiting.add(me)
        try:
            taken = self._lock.acquire(timeout=timeout)
        finally:
            self._waiting.discard(me)
        if taken:
            self._holder = me
        return taken

    def release(self) -> None:
        self._holder = None
        self._lock.release()

    def keeps(self, actor: Actor) -> bool:
        """Whether the actor waits for the one who has the turn."""
        return self._holder is not None and actor.thread.ident in self._waiting


def _at_statement(connection: Connection, _cursor: Any, statement: str, *_more: Any) -> None:
    footprint = statement_footprint(statement)
    held: Collection[str] = connection.info.get("held", frozenset())
    connection.info["held"] = frozenset(held) | footprint.holds
    if "jobs" in held:
        footprint = under_the_jobs_lock(footprint)
    stop(statement_label(statement), footprint, session=_session(connection))


def _at_first_read(connection: Connection, _cursor: Any, statement: str, *_more: Any) -> None:
    """A read sees one picture from its first statement on."""
    transaction = connection.get_transaction()
    if connection.info.get("reading") is not transaction:
        connection.info["reading"] = transaction
        stop("looks at what is committed", Footprint(reads=ANYTHING))


def _at_end(connection: Connection, does: str) -> None:
    held: frozenset[str] = connection.info.pop("held", frozenset())
    if held:
        stop(does, Footprint(shows=held), session=_session(connection))


def _session(connection: Connection) -> int:
    driver: psycopg.Connection[Any] = connection.connection.driver_connection  # type: ignore[assignment]
    return driver.info.backend_pid
