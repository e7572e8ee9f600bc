"""The people of a job as decisions need them: the directory table and the policies, put together in memory.

No look-ups over the network: `bot.delivery`'s refresher reads the workspace and fills the table.
"""

from collections.abc import Iterable
from datetime import datetime

from bot.incidents.calendar import on_shift
from bot.incidents.people import Directory, Mention, MentionKind
from bot.incidents.policy import JobPolicy, Team
from bot.store import GroupRow, PersonRow


class People:
    """An immutable snapshot of the directory table; replaced whole when it was read anew."""

    def __init__(self, *, people: Iterable[PersonRow] = (), groups: Iterable[GroupRow] = ()) -> None:
        self._by_id = {person.id: person for person in people}
        self._by_email = {person.email.lower(): person for person in people if person.email}
        self._groups = {group.id: group for group in groups}

    def directory(self, policy: JobPolicy, now: datetime) -> Directory:
        """Who owns, is on call and decides for a job with this policy at `now`."""
        team = policy.team
        admins = self._ids(policy.admins)
        if team is None:
            return Directory(admins=admins, literal=admins, inactive=self._inactive(), read_at=self._read_at(()))
        members, shift = self._ids(team.members), self._ids(self._on_shift(team, now))
        groups = tuple(filter(None, (team.usergroup, team.team_usergroup)))
        manager = self._ids((team.manager,) if team.manager else ())
        return Directory(
            owners=members | self._members(team.team_usergroup),
            oncall=self._members(team.usergroup) | shift,
            admins=admins,
            literal=members | shift | admins,
            inactive=self._inactive(),
            oncall_mentions=self._group_mention(team.usergroup) or self._mentions(shift),
            team_mentions=self._group_mention(team.team_usergroup) or self._mentions(members),
            manager_mentions=self._mentions(manager),
            emails=(team.email,) if team.email else (),
            names=tuple((person.id, person.name) for person in self._by_id.values() if person.active),
            read_at=self._read_at(groups),
        )

    def name(self, person_id: str) -> str:
        """The display name of a person, or the id itself."""
        person = self._by_id.get(person_id) or self._by_email.get(person_id.lower())
        return person.name if person else person_id

    def deciders(self, directory: Directory) -> tuple[str, ...]:
        """The names of those who can decide, in order; groups whose members are unknown are left out."""
        who = (directory.owners | directory.oncall | directory.admins) - directory.inactive
        return tuple(sorted(self.name(person_id) for person_id in who))

    def id_of(self, name: str) -> str | None:
        """The chat id behind an id or e-mail address of policies.yaml; None while nobody is known by it."""
        if name in self._by_id:
            return name
        person = self._by_email.get(name.lower())
        return person.id if person else None

    def _ids(self, names: Iterable[str]) -> frozenset[str]:
        """Chat ids; an e-mail address that resolves to nobody stays itself (it may still decide by mail)."""
        return frozenset(self.id_of(name) or name for name in names)

    def _members(self, group: str | None) -> frozenset[str]:
        row = self._groups.get(group) if group else None
        return frozenset(row.members) if row and row.exists else frozenset()

    def _inactive(self) -> frozenset[str]:
        return frozenset(person.id for person in self._by_id.values() if not person.active)

    def _group_mention(self, group: str | None) -> tuple[Mention, ...]:
        """A group is mentioned while somebody active is in it."""
        active = self._members(group) - self._inactive()
        return (Mention(kind=MentionKind.GROUP, id=group),) if group and active else ()

    def _mentions(self, ids: Iterable[str]) -> tuple[Mention, ...]:
        known = sorted(ids, key=self.name)
        people = [self._by_id[person_id] for person_id in known if person_id in self._by_id]
        return tuple(
            Mention(kind=MentionKind.PERSON, id=person.id, name=person.name) for person in people if person.active
        )

    def _on_shift(self, team: Team, now: datetime) -> tuple[str, ...]:
        member = on_shift(team.rota, now) if team.rota else None
        return (member,) if member else ()

    def _read_at(self, groups: tuple[str, ...]) -> datetime | None:
        """When the oldest of the rows that speak for the job was read; without groups nothing can be stale."""
        read = [self._groups[group].read_at for group in groups if group in self._groups]
        if groups and len(read) < len(groups):
            return None
        everyone = [person.read_at for person in self._by_id.values()]
        return min(read) if read else max(everyone, default=None)
