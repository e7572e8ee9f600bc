"""The people of a job as decisions need them: the directory table and the policies, put together in memory.

No look-ups over the network: `bot.delivery`'s refresher reads the workspace and fills the table.
"""

from collections.abc import Iterable, Sequence
from copy import copy
from datetime import datetime, timedelta

from bot.incidents.people import Destination, Directory, Mention, MentionKind
from bot.incidents.policy import Door, JobPolicy, Team
from bot.oncall import GroupOnCall, RotaOnCall
from bot.ports import OnCall, OnCallNow
from bot.store import GroupRow, PersonRow

STALE_AFTER = timedelta(minutes=15)
MOST_MAILED = 20
"""People of one audience who are mailed one by one; more of them have a list."""


class People:
    """An immutable snapshot of the directory table; replaced whole when it was read anew (`read_at`: the newest row)."""

    def __init__(
        self,
        *,
        people: Iterable[PersonRow] = (),
        groups: Iterable[GroupRow] = (),
        oncall: Sequence[OnCall] = (),
        broken: frozenset[str] = frozenset(),
    ) -> None:
        """`oncall`: further ways of knowing who is on call, beside groups and rotas. `broken`: mail addresses, in lower
        case, at which nobody is reached.
        """
        self._by_id = {person.id: person for person in people}
        self._by_email = {person.email.lower(): person for person in people if person.email}
        self._groups = {group.id: group for group in groups}
        self._broken = broken
        self._oncall: tuple[OnCall, ...] = (GroupOnCall(self._groups), RotaOnCall(), *oncall)
        read = [person.read_at for person in self._by_id.values()] + [group.read_at for group in self._groups.values()]
        self.read_at = max(read, default=None)

    def with_broken(self, broken: frozenset[str]) -> "People":
        """The same people, of whom those at these addresses are not reached there."""
        known = copy(self)
        known._broken = broken
        return known

    def directory(self, policy: JobPolicy, now: datetime) -> Directory:
        """Who owns, is on call and decides for a job with this policy at `now`."""
        team = policy.team
        admins = self._ids(policy.admins)
        if team is None:
            return Directory(admins=admins, literal=admins, inactive=self._inactive(), read_at=self._read_at(()))
        shifts = tuple(shift for each in self._oncall if (shift := each.on_call(team, now)) is not None)
        members, oncall = self._ids(team.members), self._ids(name for shift in shifts for name in shift.people)
        named = self._ids(name for shift in shifts if shift.named for name in shift.people)
        of_team = self._members(team.team_usergroup)
        groups = tuple(filter(None, (team.usergroup, team.team_usergroup)))
        manager = self._ids((team.manager,) if team.manager else ())
        team_mail = self._list_or_each(team, members | of_team)
        return Directory(
            owners=members | of_team,
            oncall=oncall,
            admins=admins,
            literal=members | named | admins,
            inactive=self._inactive(),
            unread=self._unread(of_team | oncall, now),
            oncall_mentions=next((found for shift in shifts if (found := self._called(shift))), ()),
            team_mentions=self._group_mention(team.team_usergroup) or self._mentions(members),
            manager_mentions=self._mentions(manager),
            oncall_mail=self._each(oncall) or team_mail,
            team_mail=team_mail,
            manager_mail=self._each(manager),
            mail_alone=self._mail_alone(members | oncall | manager),
            names=tuple((person.id, person.name) for person in self._by_id.values() if person.active),
            read_at=self._read_at(groups),
        )

    def person(self, name: str) -> PersonRow | None:
        """Whoever goes by this id or e-mail address, as last read; None while nobody does."""
        return self._by_id.get(name) or self._by_email.get(name.lower())

    def takes_mail(self, name: str) -> bool:
        """Whether it is an address at which somebody may be reached: none that a mail system gave up on."""
        return "@" in name and name.lower() not in self._broken

    def group(self, group: str) -> GroupRow | None:
        """The group as last read; None when it never was."""
        return self._groups.get(group)

    def groups_of(self, person_id: str) -> frozenset[str]:
        """The user groups that this person is in."""
        return frozenset(group.id for group in self._groups.values() if group.exists and person_id in group.members)

    def name(self, person_id: str) -> str:
        """The display name of a person, or the id itself."""
        person = self.person(person_id)
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

    def known_as(self, name: str) -> str:
        """By what a person acts: the chat id, else the mail address in lower case (they may still decide by mail)."""
        return self.id_of(name) or (name.lower() if "@" in name else name)

    def _ids(self, names: Iterable[str]) -> frozenset[str]:
        return frozenset(self.known_as(name) for name in names)

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

    def _list_or_each(self, team: Team, everybody: frozenset[str]) -> tuple[Destination, ...]:
        """The team's list, else each of its people."""
        if team.email and self.takes_mail(team.email):
            return (Destination(door=Door.EMAIL, address=team.email, shared=True),)
        return self._each(everybody)

    def _mail_alone(self, ids: frozenset[str]) -> frozenset[str]:
        """Those whom the workspace does not know, by the address that is all that is known of them."""
        return frozenset(one for one in ids if one not in self._by_id and self.takes_mail(one))

    def _each(self, ids: Iterable[str]) -> tuple[Destination, ...]:
        """The own address of each of these people who has one that works."""
        found = ((self._own_address(person_id), person_id) for person_id in sorted(ids, key=self.name))
        return tuple(
            Destination(door=Door.EMAIL, address=address, person=person_id)
            for address, person_id in found
            if address is not None and self.takes_mail(address)
        )[:MOST_MAILED]

    def _own_address(self, person_id: str) -> str | None:
        """As the workspace has it, else as policies.yaml does; None for those who have left."""
        person = self._by_id.get(person_id)
        if person is None:
            return person_id if "@" in person_id else None
        return person.email if person.active else None

    def _called(self, shift: OnCallNow) -> tuple[Mention, ...]:
        """How those on call are called: by their handle, else by name."""
        return self._group_mention(shift.handle) if shift.handle else self._mentions(self._ids(shift.people))

    def _unread(self, ids: Iterable[str], now: datetime) -> frozenset[str]:
        """Those of whom it is not known lately whether they are one of us: nobody decides unseen."""
        known = self._by_id
        return frozenset(each for each in ids if each not in known or now - known[each].read_at > STALE_AFTER)

    def _read_at(self, groups: tuple[str, ...]) -> datetime | None:
        """When the oldest of the rows that speak for the job was read; without groups nothing can be stale."""
        read = [self._groups[group].read_at for group in groups if group in self._groups]
        if groups and len(read) < len(groups):
            return None
        everyone = [person.read_at for person in self._by_id.values()]
        return min(read) if read else max(everyone, default=None)
