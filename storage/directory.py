"""People, groups and policies: what delivery and intake keep between two decisions."""

from collections.abc import Sequence
from datetime import datetime
from operator import itemgetter

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from bot.store import GroupRow, PersonRow
from storage.part import Part
from storage.queue_tables import people, people_groups, policies

_PERSON = insert(people)
_SAVE_PERSON = _PERSON.on_conflict_do_update(
    index_elements=["id"],
    set_={name: _PERSON.excluded[name] for name in ("name", "email", "active", "read_at")},
)
_GROUP = insert(people_groups)
_SAVE_GROUP = _GROUP.on_conflict_do_update(
    index_elements=["id"],
    set_={name: _GROUP.excluded[name] for name in ("members", "exists", "read_at")},
)
_ID = itemgetter("id")
_PUBLISH = insert(policies).on_conflict_do_nothing(index_elements=["version"])


class Directory(Part):
    """The part of `bot.store.Storage` about people and policies."""

    def save_people(self, *, people: Sequence[PersonRow], groups: Sequence[GroupRow], now: datetime) -> None:
        persons = [
            {
                "id": person.id,
                "name": person.name,
                "email": person.email,
                "active": person.active,
                "read_at": person.read_at,
            }
            for person in people
        ]
        teams = [
            {"id": group.id, "members": group.members, "exists": group.exists, "read_at": group.read_at}
            for group in groups
        ]
        with self._database.transaction() as connection:
            if persons:
                connection.execute(_SAVE_PERSON, sorted(persons, key=_ID))
            if teams:
                connection.execute(_SAVE_GROUP, sorted(teams, key=_ID))

    def load_people(self) -> tuple[tuple[PersonRow, ...], tuple[GroupRow, ...]]:
        with self._database.read() as connection:
            persons = connection.execute(select(people).order_by(people.c.id)).all()
            groups = connection.execute(select(people_groups).order_by(people_groups.c.id)).all()
        return (
            tuple(
                PersonRow(id=row.id, name=row.name, email=row.email, active=row.active, read_at=row.read_at)
                for row in persons
            ),
            tuple(GroupRow(id=row.id, members=row.members, exists=row.exists, read_at=row.read_at) for row in groups),
        )

    def publish_policies(self, *, version: str, text: str, now: datetime) -> None:
        with self._database.transaction() as connection:
            connection.execute(_PUBLISH, {"version": version, "text": text, "published_at": now})
