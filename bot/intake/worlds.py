"""What holds for a job outside a transaction: its policy, its people, what its scheduler can do. From memory; no I/O."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime

from bot.evidence import RuleSet
from bot.incidents.events import Event, HandBackWanted, HandOverWanted
from bot.incidents.keys import JobKey
from bot.incidents.model import Incident
from bot.incidents.policy import Door, JobPolicy, Schedule
from bot.incidents.situation import Answering, Platform
from bot.intake.surroundings import World
from bot.people import People
from bot.policies.model import Policies
from bot.policies.specs import only_pushes
from bot.ports import Scheduler


class Worlds:
    """Puts worlds together from what is current: policies, directory and schedulers may each be replaced while it lives."""

    def __init__(
        self,
        *,
        policies: Callable[[], Policies],
        people: Callable[[], People],
        schedulers: Callable[[], Mapping[str, Scheduler]],
        doors: frozenset[Door],
    ) -> None:
        self._policies = policies
        self._people = people
        self._schedulers = schedulers
        self._doors = doors

    def of(self, job: JobKey, now: datetime) -> World:
        """The job's world at `now`."""
        policies = self._policies()
        policy = policies.job(job)
        scheduler = self._schedulers().get(job.scheduler)
        return World(
            policy=policy,
            policies_version=policies.version,
            directory=self._people().directory(policy, now),
            can=scheduler.can if scheduler else frozenset(),
            doors=self._doors,
            schedule=self.schedule_of(job, policy),
            platform=lambda cause: self._platform(job, cause, now),
            pushes=only_pushes(policies.schedulers.get(job.scheduler)),
        )

    def around(self, world: World, incident: Incident, event: Event | None, now: datetime) -> World:
        """`world` as it is for an occurrence: the team that it was handed to answers it, while the job's policy stays.

        With the event of a hand-over also the team that it names. A team that is gone from the policies answers nothing.
        """
        own, handed = world.policy.team, incident.handed
        if handed and (there := self._answering(world.policy, handed[-1].team, now)) and there.team != own:
            world = replace(world, handed=there.team, directory=there.directory)
        match event:
            case HandOverWanted():
                return replace(world, other=self._answering(world.policy, event.team, now))
            case HandBackWanted() if handed:
                home = Answering(team=own, directory=self._people().directory(world.policy, now))
                came_from = handed[-1].came_from if len(handed) > 1 else ""
                return replace(world, other=self._answering(world.policy, came_from, now) or home)
        return world

    def _platform(self, job: JobKey, cause: str, now: datetime) -> Platform | None:
        """The team that the cause's rule names beside the owner, if it is not the owner."""
        policies = self._policies()
        rules = policies.rules_of(job)
        name = rules.rule(cause).platform_team if cause in rules.ids() else None
        policy = policies.job(job)
        there = self._answering(policy, name, now) if name else None
        if there is None or there.team is None or there.team == policy.team:
            return None
        return Platform(team=there.team.name, mentions=there.directory.oncall_mentions)

    def teams(self) -> tuple[str, ...]:
        """The names of all teams, in order."""
        return tuple(sorted(self._policies().teams))

    def _answering(self, policy: JobPolicy, name: str, now: datetime) -> Answering | None:
        team = self._policies().teams.get(name)
        if team is None:
            return None
        return Answering(team=team, directory=self._people().directory(replace(policy, team=team), now))

    def policy_of(self, job: JobKey) -> JobPolicy:
        return self._policies().job(job)

    def rules_of(self, job: JobKey) -> RuleSet:
        """The cause rules by which the job's failures are read."""
        return self._policies().rules_of(job)

    def schedule_of(self, job: JobKey, policy: JobPolicy) -> Schedule | None:
        """The scheduler's own word on when the job runs, else the policy's; what a source told is on the job itself."""
        scheduler = self._schedulers().get(job.scheduler)
        return (scheduler.schedule_of(job) if scheduler else None) or policy.schedule
