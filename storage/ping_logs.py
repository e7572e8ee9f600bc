"""What runs wrote by `/log` until they ended. It knows no incident; pieces are dropped after a while."""

from datetime import datetime, timedelta

from sqlalchemy import Column, Index, Table, bindparam, delete, insert, select

from storage.columns import Id, Instant, Words
from storage.part import Part
from storage.tables import metadata

ping_logs = Table(
    "ping_logs",
    metadata,
    Column("id", Id, primary_key=True),
    Column("job", Words, nullable=False),
    Column("run_id", Words, nullable=False),
    Column("text", Words, nullable=False),
    Column("at", Instant, nullable=False),
    Index("ix_ping_logs_run", "job", "run_id", "id"),
    Index("ix_ping_logs_at", "at"),
)

_KEPT = (
    select(ping_logs.c.text)
    .where(ping_logs.c.job == bindparam("of_job"), ping_logs.c.run_id == bindparam("of_run"))
    .order_by(ping_logs.c.id)
)
_PRUNE = delete(ping_logs).where(ping_logs.c.at < bindparam("before"))


class PingLogs(Part):
    """The part of `bot.store.Storage` that `bot.store.pings.PingStore` describes."""

    def keep_log(self, *, job: str, run_id: str, text: str, at: datetime) -> None:
        with self._database.transaction() as connection:
            connection.execute(insert(ping_logs), {"job": job, "run_id": run_id, "text": text, "at": at})

    def kept_log(self, *, job: str, run_id: str) -> str:
        with self._database.read() as connection:
            return "\n".join(connection.execute(_KEPT, {"of_job": job, "of_run": run_id}).scalars())

    def prune_logs(self, *, now: datetime, lasts: timedelta) -> int:
        with self._database.transaction() as connection:
            return connection.execute(_PRUNE, {"before": now - lasts}).rowcount
