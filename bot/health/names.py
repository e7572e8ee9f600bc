"""The names that people may ask about: teams, jobs, schedulers, causes, groups. It must not read a figure."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from bot.evidence.types import UNKNOWN
from bot.incidents.health import Scope
from bot.incidents.keys import JobKey
from bot.incidents.policy import Team
from bot.policies.model import Policies

LATE = ("late.not_started", "late.not_finished")


class Names(Protocol):
    """What is known by name; nothing is read before it is asked for."""

    def teams(self) -> Sequence[str]: ...

    def jobs(self) -> Sequence[JobKey]: ...

    def schedulers(self) -> Sequence[str]: ...

    def causes(self) -> Sequence[str]: ...

    def team_of_group(self, group: str) -> str | None:
        """The team that has this user group of the workspace, as its on-call or as its own."""

    def zone(self, scope: Scope) -> str:
        """The zone of the hours of the team that is meant; UTC without one."""


class KnownNames:
    """Implements `Names` by the policies and the jobs that were heard of; `job_keys` reads them."""

    def __init__(self, *, policies: Callable[[], Policies], job_keys: Callable[[], Sequence[JobKey]]) -> None:
        self._policies = policies
        self._job_keys = job_keys

    def teams(self) -> Sequence[str]:
        return tuple(self._policies().teams)

    def jobs(self) -> Sequence[JobKey]:
        return tuple(dict.fromkeys((*self._job_keys(), *self._policies().declared_jobs())))

    def schedulers(self) -> Sequence[str]:
        return tuple(dict.fromkeys((*self._policies().schedulers, *(job.scheduler for job in self._job_keys()))))

    def causes(self) -> Sequence[str]:
        return (*(rule.id for rule in self._policies().every_rule()), UNKNOWN, *LATE)

    def titles(self) -> Mapping[str, str]:
        return {rule.id: rule.title for rule in self._policies().every_rule()}

    def team_of_group(self, group: str) -> str | None:
        teams = self._policies().teams.values()
        return next((team.name for team in teams if group in (team.usergroup, team.team_usergroup)), None)

    def zone(self, scope: Scope) -> str:
        team = self._policies().team(scope.team) if scope.team is not None else None
        if team is None and scope.job is not None:
            team = self._policies().job(scope.job).team
        return _zone(team)


def _zone(team: Team | None) -> str:
    return team.hours.zone if team is not None and team.hours is not None else "UTC"
