"""Who is on call for a team: the user group that its policy names, or the turn of its rota. More kinds may follow.

Answers from memory, and reads no workspace; it must not know what being on call permits.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from bot.incidents.calendar import on_shift
from bot.incidents.policy import Team
from bot.ports import OnCallNow
from bot.store import GroupRow


@dataclass(frozen=True, slots=True)
class GroupOnCall:
    """Implements `bot.ports.OnCall`: everybody who is in the team's on-call group, as last read."""

    groups: Mapping[str, GroupRow]

    def on_call(self, team: Team, at: datetime) -> OnCallNow | None:
        row = self.groups.get(team.usergroup) if team.usergroup else None
        if row is None or not row.exists:
            return None
        return OnCallNow(people=frozenset(row.members), handle=row.id)


@dataclass(frozen=True, slots=True)
class RotaOnCall:
    """Implements `bot.ports.OnCall`: the person whose turn it is in the team's rota."""

    def on_call(self, team: Team, at: datetime) -> OnCallNow | None:
        person = on_shift(team.rota, at) if team.rota else None
        return OnCallNow(people=frozenset({person}), named=True) if person else None
