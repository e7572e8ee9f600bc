"""Owner records of policies.yaml that lead to nobody: unknown or deactivated people, groups that are gone or empty.

It looks nothing up: the directory of people was read before.
"""

from collections.abc import Iterator
from dataclasses import replace

from bot.incidents.policy import Team
from bot.people import People
from bot.policies.model import Policies
from bot.render.lines import OwnerFault, OwnerPlace, OwnerTrouble


def faults(policies: Policies, people: People, *, mails: bool = False) -> tuple[OwnerFault, ...]:
    """Every owner record that leads to nobody, by team; nothing while nobody was read at all.

    `mails`: mail is sent, so that an address leads to somebody whom the workspace does not know.
    """
    if people.read_at is None:
        return ()
    admins = (_person("", OwnerPlace.ADMINS, name, people, mails) for name in policies.admins)
    found = [fault for fault in admins if fault is not None]
    for team in policies.teams.values():
        found += team_faults(team, people, mails=mails)
    return tuple(found)


def team_faults(team: Team, people: People, *, mails: bool = False) -> tuple[OwnerFault, ...]:
    """Those of one team."""
    if people.read_at is None:
        return ()
    found = tuple(dict.fromkeys(_of_team(team, people, mails)))
    alone = bool(found) and not any(_reachable(team, people, mails))
    return tuple(replace(fault, alone=alone) for fault in found)


def _of_team(team: Team, people: People, mails: bool) -> Iterator[OwnerFault]:
    rota = team.rota.members if team.rota else ()
    manager = (team.manager,) if team.manager else ()
    named = ((OwnerPlace.MEMBERS, team.members), (OwnerPlace.ROTA, rota), (OwnerPlace.MANAGER, manager))
    for place, names in named:
        for name in names:
            if (fault := _person(team.name, place, name, people, mails)) is not None:
                yield fault
    for place, group in ((OwnerPlace.USERGROUP, team.usergroup), (OwnerPlace.TEAM_USERGROUP, team.team_usergroup)):
        if group is not None and (why := _group_trouble(group, people)) is not None:
            yield OwnerFault(team=team.name, place=place, name=group, why=why)


def _person(team: str, place: OwnerPlace, name: str, people: People, mails: bool) -> OwnerFault | None:
    why = person_trouble(name, people, mails=mails)
    return OwnerFault(team=team, place=place, name=name, why=why) if why is not None else None


def person_trouble(name: str, people: People, *, mails: bool = False) -> OwnerTrouble | None:
    """Why nobody is reached by this id or e-mail address; None when somebody is."""
    row = people.person(name)
    if row is None:
        return None if mails and people.takes_mail(name) else OwnerTrouble.UNKNOWN
    return None if row.active else OwnerTrouble.INACTIVE


def _group_trouble(group: str, people: People) -> OwnerTrouble | None:
    row = people.group(group)
    if row is None or not row.exists:
        return OwnerTrouble.NO_GROUP
    active = any(person_trouble(member, people) is None for member in row.members)
    return None if active else OwnerTrouble.EMPTY


def _reachable(team: Team, people: People, mails: bool) -> Iterator[bool]:
    """Whether each of those who could be asked for the team can be."""
    for name in (*team.members, *(team.rota.members if team.rota else ())):
        yield person_trouble(name, people, mails=mails) is None
    for group in filter(None, (team.usergroup, team.team_usergroup)):
        yield _group_trouble(group, people) is None
