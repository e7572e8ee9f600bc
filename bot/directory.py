"""Keeps the directory table current: reads from the workspace whom the policies name, outside every transaction.

It decides nothing about anybody; what could not be read stays as it was and grows stale.
"""

import logging
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from bot.incidents.policy import Team
from bot.people import People
from bot.policies.model import Policies
from bot.ports import Clock, FoundPerson, PeopleSource, SendFailed
from bot.store import GroupRow, PersonRow, Storage

log = logging.getLogger(__name__)

EVERY = timedelta(minutes=5)
AFTER_TROUBLE = timedelta(minutes=1)


class DirectoryRefresher:
    """The use case that fills the table; `people` is the current snapshot, replaced whole."""

    def __init__(
        self, *, source: PeopleSource | None, storage: Storage, policies: Callable[[], Policies], clock: Clock
    ) -> None:
        self._source = source
        self._storage = storage
        self._policies = policies
        self._clock = clock
        self._people = _loaded(storage)

    def people(self) -> People:
        """The directory as last read."""
        return self._people

    def step(self, now: datetime) -> datetime | None:
        """Read everybody whom the policies name; returns when to do so again."""
        if self._source is None:
            return now + EVERY
        groups, trouble = self._groups(self._source, now)
        people, more_trouble = self._persons(self._source, groups, now)
        self._storage.save_people(people=people, groups=groups, now=now)
        self._people = _loaded(self._storage)
        return now + (AFTER_TROUBLE if trouble or more_trouble else EVERY)

    def _groups(self, source: PeopleSource, now: datetime) -> tuple[list[GroupRow], bool]:
        found, trouble = [], False
        for group in _named_groups(self._policies().teams.values()):
            try:
                members = source.group_members(group)
            except SendFailed as failed:
                log.warning("group not read", extra={"group": group, "code": failed.code})
                trouble = True
                continue
            found.append(GroupRow(id=group, members=members or (), exists=members is not None, read_at=now))
        return found, trouble

    def _persons(self, source: PeopleSource, groups: Iterable[GroupRow], now: datetime) -> tuple[list[PersonRow], bool]:
        found: dict[str, PersonRow] = {}
        trouble = False
        in_groups = {member for group in groups for member in group.members}
        for name in sorted(_named_people(self._policies()) | in_groups):
            try:
                person = source.user_by_email(name) if "@" in name else source.user(name)
            except SendFailed as failed:
                log.warning("person not read", extra={"person": name, "code": failed.code})
                trouble = True
                continue
            if person is not None:
                found[person.id] = _row(person, now)
        return list(found.values()), trouble


def _row(person: FoundPerson, now: datetime) -> PersonRow:
    active = not (person.deleted or person.bot or person.guest or person.stranger)
    return PersonRow(id=person.id, name=person.name, email=person.email, active=active, read_at=now)


def _loaded(storage: Storage) -> People:
    people, groups = storage.load_people()
    return People(people=people, groups=groups)


def _named_groups(teams: Iterable[Team]) -> list[str]:
    return sorted({group for team in teams for group in (team.usergroup, team.team_usergroup) if group})


def _named_people(policies: Policies) -> set[str]:
    named = set(policies.admins)
    for team in policies.teams.values():
        named.update(team.members)
        named.update(team.rota.members if team.rota else ())
        named.update((team.manager,) if team.manager else ())
    return named
