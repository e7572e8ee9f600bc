"""Puts together what is shown and told by team: the Home tab, the digests, reports on owner records. It runs none of it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from bot.digest import Digests
from bot.home import Homes
from bot.owner_reports import OwnerReports
from bot.people import People
from bot.policies import Policies
from bot.ports import Clock
from bot.render.snapshot import Snapshot
from bot.store import Storage
from bot.teams import Teams


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamSide:
    """`homes` is for the door; what is told by itself is told by the process that leads."""

    teams: Teams
    homes: Homes
    digests: Digests
    owner_reports: OwnerReports
    policies: Callable[[], Policies]
    read_for: Callable[[], str | None]
    leads: Callable[[], bool]

    def hand_over(self, now: datetime) -> datetime | None:
        """Write the digests that are due; returns when the next one is."""
        return self.digests.step(now) if self.leads() else None

    def directory_read(self, now: datetime) -> None:
        """Report on owner records, once everybody whom the present policies name was read."""
        if self.leads() and self.read_for() == self.policies().version:
            self.owner_reports.step(now)


def team_side(
    *,
    storage: Storage,
    policies: Callable[[], Policies],
    people: Callable[[], People],
    thread_url: Callable[[str, str], str | None],
    snapshot_of: Callable[[int, int], Snapshot | None],
    clock: Clock,
    written: Callable[[], None],
    read_for: Callable[[], str | None],
    leads: Callable[[], bool],
    mails: bool = False,
) -> TeamSide:
    """`written` is told when a notice waits for delivery; `read_for` names the policies of the last whole directory.

    `mails`: mail is sent.
    """
    teams = Teams(reads=storage.reads, policies=policies, people=people, thread_url=thread_url, mails=mails)
    return TeamSide(
        teams=teams,
        homes=Homes(reads=storage.reads, teams=teams, people=people, snapshot_of=snapshot_of, clock=clock),
        digests=Digests(storage=storage, teams=teams, people=people, written=written, mails=mails),
        owner_reports=OwnerReports(storage=storage, teams=teams, policies=policies, written=written, mails=mails),
        policies=policies,
        read_for=read_for,
        leads=leads,
    )
