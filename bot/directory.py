"""Keeps the directory table current: reads from the workspace whom the policies name, outside every transaction.

It decides nothing about anybody; what could not be read stays as it was and grows stale.
"""

import logging
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from bot.incidents.policy import Team
from bot.people import People
from bot.policies.model import Policies
from bot.ports import Clock, FoundPerson, PeopleSource, SendFailed
from bot.store import GroupRow, PersonRow, Storage

log = logging.getLogger(__name__)

EVERY = timedelta(minutes=5)
AFTER_TROUBLE = timedelta(minutes=1)
DOUBLINGS = 5
BELIEVED = timedelta(days=30)
"""How long a mark on an address counts: after that it is tried again."""


class DirectoryRefresher:
    """The use case that fills the table; `people` is the current snapshot, replaced whole.

    `complete_for`: the version of the policies for which the last step read everybody; None while some could not be read.
    """

    def __init__(
        self,
        *,
        source: PeopleSource | None,
        storage: Storage,
        policies: Callable[[], Policies],
        clock: Clock,
    ) -> None:
        self._source = source
        self._storage = storage
        self._policies = policies
        self._clock = clock
        self._people = loaded(storage, clock())
        self.complete_for: str | None = None
        self._failed = 0

    def people(self) -> People:
        """The directory as last read."""
        return self._people

    def step(self, now: datetime) -> datetime | None:
        """Read everybody whom the policies name; returns when to do so again: later and later while it fails."""
        if self._source is None:
            return now + EVERY
        version = self._policies().version
        of_groups, of_persons = _Round(), _Round()
        groups = self._groups(self._source, of_groups, now)
        people = self._persons(self._source, groups, of_persons, now)
        self._storage.save_people(people=people, groups=groups, now=now)
        self._people = loaded(self._storage, now)
        if not (of_groups.troubled or of_persons.troubled):
            self.complete_for, self._failed = version, 0
            return now + EVERY
        self.complete_for = None
        self._failed += 1
        patience = min(AFTER_TROUBLE * (1 << min(self._failed - 1, DOUBLINGS)), EVERY)
        return now + max(patience, of_groups.wish, of_persons.wish)

    def _groups(self, source: PeopleSource, round: "_Round", now: datetime) -> list[GroupRow]:
        found = []
        for group in _named_groups(self._policies().teams.values()):
            try:
                members = source.group_members(group)
            except SendFailed as failed:
                if round.is_over(failed, what=group):
                    break
                continue
            found.append(GroupRow(id=group, members=members or (), exists=members is not None, read_at=now))
        return found

    def _persons(
        self, source: PeopleSource, groups: Iterable[GroupRow], round: "_Round", now: datetime
    ) -> list[PersonRow]:
        found: dict[str, PersonRow] = {}
        in_groups = {member for group in groups for member in group.members}
        for name in sorted(_named_people(self._policies()) | in_groups):
            try:
                person = self._person(source, name, now)
            except SendFailed as failed:
                if round.is_over(failed, what=name):
                    break
                continue
            if person is not None:
                found[person.id] = person
        return list(found.values())

    def _person(self, source: PeopleSource, name: str, now: datetime) -> PersonRow | None:
        """The person as found; whoever was known and is found no more is read by id, since a deactivated user has no address.

        The address stays on file: whoever left is still the one behind it.
        """
        person = source.user_by_email(name) if "@" in name else source.user(name)
        if person is not None:
            return _row(person, now)
        known = self._people.person(name)
        if known is None:
            return None
        person = source.user(known.id) if "@" in name else None
        if person is None:
            return replace(known, active=False, read_at=now)
        return replace(_row(person, now), email=person.email or known.email)


class _Round:
    """One reading of groups or of people: what went wrong, and whether to go on. It must not know Slack's words."""

    def __init__(self) -> None:
        self.troubled = False
        self.wish = timedelta(0)
        self._last = ""

    def is_over(self, failed: SendFailed, *, what: str) -> bool:
        """The workspace wants to be left alone, or says the same twice in a row: it is not about this group or person."""
        log.warning("not read from the workspace", extra={"named": what, "code": failed.code})
        again, self._last = failed.code == self._last, failed.code
        self.troubled = True
        self.wish = max(self.wish, failed.retry_after or timedelta(0))
        return again or failed.retry_after is not None


def _row(person: FoundPerson, now: datetime) -> PersonRow:
    active = not (person.deleted or person.bot or person.guest or person.stranger)
    return PersonRow(id=person.id, name=person.name, email=person.email, active=active, read_at=now)


def loaded(storage: Storage, now: datetime) -> People:
    """The directory table as it stands, with the addresses that are broken."""
    people, groups = storage.load_people()
    return People(people=people, groups=groups, broken=broken_in(storage, now))


def broken_in(storage: Storage, now: datetime) -> frozenset[str]:
    """The addresses, in lower case, at which nobody is reached."""
    return frozenset(one.address.lower() for one in storage.broken_addresses(now=now, lasts=BELIEVED))


def _named_groups(teams: Iterable[Team]) -> list[str]:
    return sorted({group for team in teams for group in (team.usergroup, team.team_usergroup) if group})


def _named_people(policies: Policies) -> set[str]:
    named = set(policies.admins)
    for team in policies.teams.values():
        named.update(team.members)
        named.update(team.rota.members if team.rota else ())
        named.update((team.manager,) if team.manager else ())
    return named
