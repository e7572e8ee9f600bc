"""The people of a replay: as the directory knows them now, but whoever spoke then is what they were then. No look-ups."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime

from bot.incidents.people import Directory, Standing
from bot.incidents.policy import JobPolicy
from bot.people import People


class PastPeople(People):
    """`People` that knows what the one who speaks just now was to the team when the word was said."""

    _speaks: str | None = None
    _standing: Standing = Standing.UNSURE
    _steady: dict[int, tuple[JobPolicy, Directory]] | None = None
    """Directories that no rota changes, each with its policy, by whose identity it is found."""

    @contextmanager
    def speaking(self, person_id: str, standing: Standing) -> Iterator[None]:
        """Inside, this person is that to every team that answers."""
        self._speaks, self._standing = person_id, standing
        try:
            yield
        finally:
            self._speaks = None

    def directory(self, policy: JobPolicy, now: datetime) -> Directory:
        found = self._found(policy, now)
        if self._speaks is None or self._standing is Standing.UNSURE:
            return found
        alone, standing = frozenset({self._speaks}), self._standing
        return replace(
            found,
            owners=_with(found.owners, alone, standing is Standing.OWNER),
            oncall=_with(found.oncall, alone, standing is Standing.ONCALL),
            admins=_with(found.admins, alone, standing is Standing.ADMIN),
            inactive=_with(found.inactive, alone, standing is Standing.NOBODY),
            literal=found.literal | alone,
        )

    def _found(self, policy: JobPolicy, now: datetime) -> Directory:
        if policy.team is not None and policy.team.rota is not None:
            return super().directory(policy, now)
        if self._steady is None:
            self._steady = {}
        known = self._steady.get(id(policy))
        if known is None:
            known = self._steady[id(policy)] = (policy, super().directory(policy, now))
        return known[1]


def _with(known: frozenset[str], alone: frozenset[str], there: bool) -> frozenset[str]:
    return known | alone if there else known - alone
