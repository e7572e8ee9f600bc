"""Who may decide for some team, by mail address, and who stands behind an address. It looks nobody up outside of memory."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from bot.incidents.keys import JobKey
from bot.incidents.people import Person, Standing
from bot.incidents.policy import Team
from bot.people import People
from bot.policies import Policies
from bot.render.snapshot import Snapshot

ANY_JOB = JobKey(scheduler="any", name="any")


def deciders(policies: Policies, people: People, now: datetime) -> Mapping[str, Person]:
    """Everybody who may decide for some team, or is an admin, by their address in lower case."""
    any_job = policies.job(ANY_JOB)
    teams: tuple[Team | None, ...] = (None, *policies.teams.values())
    found: dict[str, Person] = {}
    for team in teams:
        directory = people.directory(replace(any_job, team=team), now)
        for name in sorted((directory.owners | directory.oncall | directory.admins) - directory.inactive):
            known = people.person(name)
            address = known.email if known is not None else name
            if address is not None and "@" in address:
                found[address.lower()] = Person(id=name, name=known.name if known is not None else "")
    return found


def person_at(address: str, people: People) -> Person:
    """Whoever the address is of, as the chat knows them; else the address stands for itself."""
    known = people.person(address)
    return Person(id=known.id, name=known.name) if known is not None else Person(id=people.known_as(address))


def left_out(snapshot: Snapshot, person: Person, policies: Policies, people: People, now: datetime) -> bool:
    """The occurrence was handed to another team, and the person is surely none of those who decide there."""
    if not snapshot.incident.handed:
        return False
    team = policies.teams.get(snapshot.team)
    directory = people.directory(replace(snapshot.policy, team=team or snapshot.policy.team), now)
    standing = directory.standing(person, now)
    return not standing.decides and standing is not Standing.UNSURE
