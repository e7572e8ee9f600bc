"""Everything that a policies file says, as one frozen value that answers for any job. It reads no file."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from bot.evidence import Rule, RuleSet
from bot.incidents.keys import JobKey
from bot.incidents.policy import Fallback, JobPolicy, MailPolicy, Team
from bot.policies.building import job_policy, our_team
from bot.policies.layers import OURS, Layers, merged
from bot.policies.specs import LocalSpec, SchedulerSpec

REMEMBERED_JOBS = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Policies:
    """A policies file; `version` is a hash of its text, `causes` are the company's own rules, `rules` all of them, compiled.

    `rules_of_layers` are the rules of the entries of `jobs` that bring causes of their own, by the entry's origin. Safe
    among threads: what it remembers of a job is worked out from the file alone, so it never goes stale.
    """

    version: str
    teams: Mapping[str, Team]
    schedulers: Mapping[str, SchedulerSpec]
    admins: tuple[str, ...]
    fallback: Fallback
    causes: tuple[Mapping[str, Any], ...]
    rules: RuleSet = field(repr=False, compare=False)
    layers: Layers = field(repr=False, compare=False)
    mail: MailPolicy = field(default_factory=MailPolicy)
    rules_of_layers: Mapping[str, RuleSet] = field(default_factory=dict, repr=False, compare=False)
    _by_job: dict[JobKey, JobPolicy] = field(default_factory=dict, init=False, repr=False, compare=False)
    _rules_by_job: dict[JobKey, RuleSet] = field(default_factory=dict, init=False, repr=False, compare=False)
    _by_layers: dict[tuple[int, ...], JobPolicy] = field(default_factory=dict, init=False, repr=False, compare=False)

    def job(self, key: JobKey) -> JobPolicy:
        """What holds for the job, known or not: `defaults`, then every matching entry of `jobs` in order."""
        if (known := self._by_job.get(key)) is not None:
            return known
        layers = self.layers.of(key)
        signature = tuple(id(layer) for layer in layers)
        policy = self._by_layers.get(signature)
        if policy is None:
            policy = job_policy(merged(layers), teams=self.teams, fallback=self.fallback, admins=self.admins)
            if key.scheduler == OURS and policy.team is None:
                policy = replace(policy, team=our_team(self.fallback, self.admins))
            self._by_layers[signature] = policy
        if len(self._by_job) >= REMEMBERED_JOBS:
            self._by_job.clear()
        self._by_job[key] = policy
        return policy

    def rules_of(self, key: JobKey) -> RuleSet:
        """The rules by which a failure of the job is read: the company's, with those of the last matching entry that has any."""
        if not self.rules_of_layers:
            return self.rules
        if (known := self._rules_by_job.get(key)) is not None:
            return known
        bringing = [layer.origin for layer in self.layers.of(key) if "causes" in layer.settings]
        rules = self.rules_of_layers.get(bringing[-1], self.rules) if bringing else self.rules
        if len(self._rules_by_job) >= REMEMBERED_JOBS:
            self._rules_by_job.clear()
        self._rules_by_job[key] = rules
        return rules

    def every_rule(self) -> tuple[Rule, ...]:
        """The causes that some job of the company may have, each id once, the company's own reading of it first."""
        found: dict[str, Rule] = {}
        for rules in (self.rules, *self.rules_of_layers.values()):
            for name in rules.ids():
                found.setdefault(name, rules.rule(name))
        return tuple(found.values())

    def team(self, name: str) -> Team | None:
        """The team of that name, if there is one."""
        return self.teams.get(name)

    def declared_jobs(self) -> tuple[JobKey, ...]:
        """The jobs that the file itself declares: those of its local schedulers."""
        return tuple(
            JobKey(scheduler=name, name=job)
            for name, spec in self.schedulers.items()
            if isinstance(spec, LocalSpec)
            for job in spec.jobs
        )
