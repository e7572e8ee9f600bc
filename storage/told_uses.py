"""The datasets that a job's own scheduler says it reads and writes: the newest word stands. Inside a caller's transaction.

What was seen in its runs is another word, and stays.
"""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import Connection, and_, bindparam
from sqlalchemy.dialects.postgresql import insert

from bot.incidents.keys import JobKey
from storage.lineage_tables import lineage_uses

_U = lineage_uses.c
_OTHERS = and_(
    _U.scheduler == bindparam("of_scheduler"),
    _U.job == bindparam("of_job"),
    _U.writes == bindparam("of_writes"),
    _U.told_at.is_not(None),
    _U.dataset.not_in(bindparam("named", expanding=True)),
)
_FORGET = lineage_uses.delete().where(_OTHERS, _U.seen_at.is_(None))
_NO_MORE = lineage_uses.update().where(_OTHERS).values(told_at=None)
_NEW = insert(lineage_uses)
_TELL = _NEW.on_conflict_do_update(
    index_elements=["scheduler", "job", "writes", "dataset"],
    set_={"told_at": _NEW.excluded.told_at},
    where=_U.told_at.is_(None),
)


def tell(connection: Connection, job: JobKey, *, writes: bool, datasets: Collection[str], now: datetime) -> None:
    """These are what the job's scheduler names on that side, and no others."""
    named = sorted(set(datasets))
    others = {"of_scheduler": job.scheduler, "of_job": job.name, "of_writes": writes, "named": named}
    connection.execute(_FORGET, others)
    connection.execute(_NO_MORE, others)
    rows = [
        {"scheduler": job.scheduler, "job": job.name, "writes": writes, "dataset": name, "told_at": now}
        for name in named
    ]
    if rows:
        connection.execute(_TELL, rows)
