"""Opens the storage: checks the schema, takes the lock of the one process, hands out units of work. Decides nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import count

from bot.store import EVERYTHING, Share, TimerRow
from storage import timers
from storage.database import Database
from storage.directory import Directory
from storage.health import Baselines
from storage.late import LateMessages
from storage.leases import FileLock, Holders, SharedHolder, SoleHolder
from storage.lineage import LineageRoom
from storage.lineage_edges import LineageEdges
from storage.locks import LockSession
from storage.mail import MailRoom
from storage.migrating import check_schema
from storage.pace import Pace
from storage.ping_logs import PingLogs
from storage.queue import EffectQueue
from storage.reads import SqlReads
from storage.replaying import SqlRecord
from storage.rescue import Rescue
from storage.unit_of_work import SqlUnitOfWork
from storage.views import ViewQueue
from storage.waits import DownstreamRoom
from storage.watch import WatchRoom


class SqlStorage(
    EffectQueue,
    ViewQueue,
    Rescue,
    Pace,
    Directory,
    MailRoom,
    LateMessages,
    LineageRoom,
    LineageEdges,
    PingLogs,
    WatchRoom,
    DownstreamRoom,
    Baselines,
):
    """Implements `bot.store.Storage`; `reads` implements `bot.store.Reads`, `record` `bot.backtest.history.Record`."""

    def __init__(self, database: Database, holders: Holders) -> None:
        super().__init__(database, holders)
        self.reads = SqlReads(database)
        self.record = SqlRecord(database)
        self._batches = count()

    @contextmanager
    def begin_write(self, *, born_leased: bool, now: datetime, share: Share = EVERYTHING) -> Iterator[SqlUnitOfWork]:
        with self._database.write() as connection:
            yield SqlUnitOfWork(
                connection,
                holders=self._holders,
                born_leased=share if born_leased else None,
                now=now,
                batch=next(self._batches),
            )

    def next_effect_at(self, *, now: datetime, share: Share = EVERYTHING) -> datetime | None:
        view_at = self._next_view_at() if share.only is None else None
        due = [at for at in (self._next_effect_at(share), view_at) if at is not None]
        return max(now, min(due)) if due else None

    def due_timers(self, *, now: datetime, limit: int) -> tuple[TimerRow, ...]:
        with self._database.read() as connection:
            return timers.due(connection, now=now, limit=limit)

    def next_timer_at(self) -> datetime | None:
        with self._database.read() as connection:
            return timers.next_at(connection)

    def postpone_timer(self, *, id: int, to: datetime) -> None:
        with self._database.transaction() as connection:
            timers.postpone(connection, id=id, to=to)

    def close(self) -> None:
        self._database.close()
        self._holders.release()


def open_storage(url: str, *, instance: str, read_only: bool = False) -> SqlStorage:
    """Open the database for this process; commands that only look open it read-only, beside the one that works on it.

    Raises `DatabaseTaken`, `SchemaMismatch`, or `bot.store.StorageDown`.
    """
    database = Database(url, read_only=read_only)
    holders = _holders(database, instance)
    try:
        check_schema(database)
    except BaseException:
        database.close()
        holders.release()
        raise
    return SqlStorage(database, holders)


def _holders(database: Database, instance: str) -> Holders:
    if database.read_only:
        return SoleHolder(instance=instance, lock=None)
    if not database.sqlite:
        return SharedHolder(session=LockSession(database.url), instance=instance)
    lock = FileLock(database.path)
    lock.take()
    return SoleHolder(instance=instance, lock=lock)
