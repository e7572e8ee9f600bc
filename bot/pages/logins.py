"""Whom a trusted login proxy means by the name that it gives. It must not judge whether the proxy is to be trusted.

Every active user of the workspace may read, and everybody whom policies.yaml names; nobody else, however they are called.
"""

import re
from collections.abc import Callable, Iterator

from bot.incidents.people import Person
from bot.people import People
from bot.policies.model import Policies

_NAME = re.compile(r"[^\s,;<>\"\x00-\x1f\x7f]{1,254}")


class Logins:
    """Knows people as they were last read; asked for every request that comes by a login."""

    def __init__(self, *, policies: Callable[[], Policies], people: Callable[[], People]) -> None:
        self._policies = policies
        self._people = people

    def person(self, login: str) -> Person | None:
        """The person behind an address, a chat id or a user name; None when they are nobody of ours.

        A bare user name counts as the front of an address, where all addresses of policies.yaml have one and the same domain.
        """
        name = login.strip()
        if not _NAME.fullmatch(name):
            return None
        found = self._known(name)
        if found is not None or "@" in name:
            return found
        domain = self._only_domain()
        return self._known(f"{name}@{domain}") if domain is not None else None

    def _known(self, name: str) -> Person | None:
        row = self._people().person(name)
        if row is not None:
            return Person(id=row.id, name=row.name) if row.active else None
        named = next((each for each in self._named() if "@" in each and each.lower() == name.lower()), None)
        return Person(id=named, name=named) if named is not None else None

    def _only_domain(self) -> str | None:
        domains = {name.rpartition("@")[2].lower() for name in self._named() if "@" in name}
        return domains.pop() if len(domains) == 1 else None

    def _named(self) -> Iterator[str]:
        """Whom policies.yaml names, as it writes them."""
        policies = self._policies()
        yield from policies.admins
        for team in policies.teams.values():
            yield from team.members
            yield from team.rota.members if team.rota else ()
            if team.manager:
                yield team.manager
