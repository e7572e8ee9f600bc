"""Who is there: when each source was heard, when ontrack itself was there, and when it was not. It judges nothing."""

from collections.abc import Collection
from datetime import datetime, timedelta

from sqlalchemy import (
    BindParameter,
    Column,
    Connection,
    Index,
    Integer,
    Table,
    bindparam,
    case,
    or_,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from bot.incidents.absence import Absence
from bot.store.watch import SourceRow, Watched
from storage.columns import Id, Instant, Words
from storage.part import Part
from storage.tables import metadata

US = 1

sources = Table(
    "sources",
    metadata,
    Column("name", Words, primary_key=True),
    Column("watched_from", Instant, nullable=False),
    Column("heard_at", Instant),
    Column("silent_since", Instant),
    Column("spoke_at", Instant),
)

presence = Table(
    "presence",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("there_at", Instant, nullable=False),
)

absences = Table(
    "absences",
    metadata,
    Column("id", Id, primary_key=True),
    Column("began_at", Instant, nullable=False),
    Column("ended_at", Instant, nullable=False),
    Index("ix_absences_ended_at", "ended_at"),
)

_THERE = select(presence.c.there_at).where(presence.c.id == US).with_for_update()
_COME = insert(presence).on_conflict_do_nothing(index_elements=["id"])
_STAY = update(presence).where(presence.c.id == US).values(there_at=bindparam("now"))
_COUNT_FROM = update(sources).values(watched_from=bindparam("now"))
_HEARD = insert(sources)
_NEW = _HEARD.excluded
_HEARD_LATER = _HEARD.on_conflict_do_update(
    index_elements=["name"],
    set_={
        "heard_at": case(
            (or_(sources.c.heard_at.is_(None), sources.c.heard_at < _NEW.heard_at), _NEW.heard_at),
            else_=sources.c.heard_at,
        )
    },
)
_WATCH = insert(sources).on_conflict_do_nothing(index_elements=["name"])
_OF = sources.c.name == bindparam("of_name")
_SILENT = update(sources).where(_OF).values(silent_since=bindparam("since"))
_SPEAKS = update(sources).where(_OF).values(silent_since=None, spoke_at=bindparam("now"))
_NAMES: BindParameter[str] = bindparam("names", expanding=True)
_QUIET = select(sources.c.name, sources.c.silent_since, sources.c.spoke_at).where(
    sources.c.name.in_(_NAMES), or_(sources.c.silent_since.is_not(None), sources.c.spoke_at.is_not(None))
)
_LAST_ABSENCE = select(absences.c.began_at, absences.c.ended_at).order_by(absences.c.ended_at.desc()).limit(1)
_ABSENCES = (
    select(absences.c.began_at, absences.c.ended_at)
    .where(absences.c.ended_at > bindparam("since"))
    .order_by(absences.c.ended_at)
)


def watched(connection: Connection, *, names: Collection[str]) -> Watched:
    """What deadlines of jobs of these sources are looked at with; inside a caller's transaction."""
    last = connection.execute(_LAST_ABSENCE).one_or_none()
    rows = connection.execute(_QUIET, {"names": sorted(names)}).all() if names else ()
    return Watched(
        absence=Absence(began_at=last.began_at, ended_at=last.ended_at) if last is not None else None,
        silent=frozenset(row.name for row in rows if row.silent_since is not None),
        spoke_at={row.name: row.spoke_at for row in rows if row.silent_since is None},
    )


def absences_since(connection: Connection, since: datetime) -> tuple[Absence, ...]:
    """Those that ended after that, the oldest first."""
    return tuple(
        Absence(began_at=row.began_at, ended_at=row.ended_at) for row in connection.execute(_ABSENCES, {"since": since})
    )


class WatchRoom(Part):
    """The part of `bot.store.Storage` that `bot.store.watch.WatchStore` describes."""

    def be_there(self, *, now: datetime, longest: timedelta) -> Absence | None:
        with self._database.transaction() as connection:
            was: datetime | None = connection.execute(_THERE).scalar_one_or_none()
            if was is None:
                connection.execute(_COME, {"id": US, "there_at": now})
                return None
            if now <= was:
                return None
            connection.execute(_STAY, {"now": now})
            if now - was <= longest:
                return None
            connection.execute(insert(absences), {"began_at": was, "ended_at": now})
            connection.execute(_COUNT_FROM, {"now": now})
            return Absence(began_at=was, ended_at=now)

    def heard(self, *, at: dict[str, datetime]) -> None:
        rows = [{"name": name, "watched_from": heard, "heard_at": heard} for name, heard in sorted(at.items())]
        if rows:
            with self._database.transaction() as connection:
                connection.execute(_HEARD_LATER, rows)

    def watch_sources(self, *, names: Collection[str], now: datetime) -> None:
        if names:
            with self._database.transaction() as connection:
                connection.execute(_WATCH, [{"name": name, "watched_from": now} for name in sorted(names)])

    def sources(self) -> tuple[SourceRow, ...]:
        with self._database.read() as connection:
            return tuple(
                SourceRow(
                    name=row.name,
                    watched_from=row.watched_from,
                    heard_at=row.heard_at,
                    silent_since=row.silent_since,
                )
                for row in connection.execute(select(sources).order_by(sources.c.name))
            )

    def mark_silent(self, *, name: str, since: datetime) -> None:
        with self._database.transaction() as connection:
            connection.execute(_SILENT, {"of_name": name, "since": since})

    def mark_heard(self, *, name: str, now: datetime) -> None:
        with self._database.transaction() as connection:
            connection.execute(_SPEAKS, {"of_name": name, "now": now})

    def absences(self, *, since: datetime) -> tuple[Absence, ...]:
        with self._database.read() as connection:
            return absences_since(connection, since)
