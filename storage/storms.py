"""Statements about storms: their threads, pages and rows, and the views that show them. They run inside a caller's transaction.

A page of rows is a message of the storm's thread, with a conversation and a view of its own.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, bindparam, select

from bot.incidents.storm import StormPlace
from storage.effects import MAIN
from storage.incidents import Known, Name
from storage.queue_tables import conversations, views
from storage.tables import storm_rows, storms

PAGE = "page"
ROOT_PAGE = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Joining:
    """A new occurrence and its row."""

    name: Name
    place: StormPlace
    team: str


_OPEN = conversations.insert().returning(conversations.c.id)
_BEGIN = storms.insert()
_ADD_ROWS = storm_rows.insert()
_ADD_VIEW = views.insert()
_THREADS = select(storms.c.key, storms.c.conversation_id).where(storms.c.key.in_(bindparam("keys", expanding=True)))
_RAISE = (
    views.update()
    .where(views.c.storm == bindparam("of_storm"), views.c.page.in_(bindparam("pages", expanding=True)))
    .values(wanted_version=views.c.wanted_version + 1)
)
_RAISE_ALL = (
    views.update().where(views.c.storm == bindparam("of_storm")).values(wanted_version=views.c.wanted_version + 1)
)


def join(connection: Connection, joining: Collection[Joining], *, now: datetime) -> None:
    """Write the rows, after what they are rows of: a storm that begins, and each page that its first row begins."""
    for one in joining:
        if one.place.row == 1:
            conversation = _conversation(connection, one.place.channel, MAIN, parent=None, now=now)
            storm = {"key": one.place.storm, "channel": one.place.channel, "conversation_id": conversation}
            connection.execute(_BEGIN, {**storm, "began_at": now})
            _add_view(connection, one, conversation, page=ROOT_PAGE, now=now)
        if one.place.begins_page:
            parent = threads_of(connection, [one.place.storm])[one.place.storm]
            conversation = _conversation(connection, one.place.channel, PAGE, parent=parent, now=now)
            _add_view(connection, one, conversation, page=one.place.page, now=now)
    connection.execute(
        _ADD_ROWS,
        [
            {
                "storm": one.place.storm,
                "row": one.place.row,
                "record": one.name[0],
                "number": one.name[1],
                "team": one.team,
            }
            for one in joining
        ],
    )


def threads_of(connection: Connection, keys: Collection[str]) -> dict[str, int]:
    """The conversations of these storms."""
    if not keys:
        return {}
    return {row.key: row.conversation_id for row in connection.execute(_THREADS, {"keys": sorted(keys)})}


def raise_views(connection: Connection, changed: Iterable[Known]) -> bool:
    """What shows these occurrences as rows must show them anew; True when there is any."""
    pages: dict[str, set[int]] = {}
    for known in changed:
        place = known.incident.storm
        if place is not None:
            pages.setdefault(place.storm, {ROOT_PAGE}).add(place.page)
    for storm in sorted(pages):
        connection.execute(_RAISE, {"of_storm": storm, "pages": sorted(pages[storm])})
    return bool(pages)


def raise_all(connection: Connection, keys: Collection[str]) -> bool:
    """All that shows these storms must show them anew; True when there is any."""
    for key in sorted(keys):
        connection.execute(_RAISE_ALL, {"of_storm": key})
    return bool(keys)


def _conversation(connection: Connection, channel: str, kind: str, *, parent: int | None, now: datetime) -> int:
    values = {"destination": kind, "channel": channel, "created_at": now, "parent_id": parent}
    return int(connection.execute(_OPEN, values).scalar_one())


def _add_view(connection: Connection, one: Joining, conversation: int, *, page: int, now: datetime) -> None:
    connection.execute(
        _ADD_VIEW,
        {
            "conversation_id": conversation,
            "record": one.name[0],
            "number": one.name[1],
            "key": f"storm {one.place.storm}/{page}",
            "wanted_version": 0,
            "shown_version": 0,
            "repointed": False,
            "due_at": now,
            "attempt": 0,
            "created_at": now,
            "storm": one.place.storm,
            "page": page,
        },
    )
