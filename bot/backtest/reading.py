"""Reads recorded events: a failure with the evidence that was read of it then, since its log is not kept. It judges nothing anew.

What a rule says of its cause for ever (`never_safe`) is taken from the policies that are tried.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace

from bot.evidence import RuleSet
from bot.evidence.types import UNKNOWN, Cause, Evidence, RetryHint, RootError
from bot.incidents.keys import JobKey
from bot.intake.reading import ReadEvent, evidence_key, failed_with, read_source
from bot.sources import SourceEvent, SourceKind

_NOTHING_KEPT = Evidence(
    root=RootError(type=None, message="nothing is kept of how it failed"),
    cause=Cause(
        id=UNKNOWN,
        title="The failure is not known any more",
        group=UNKNOWN,
        retry_hint=RetryHint.DEPENDS,
        never_safe=True,
        reason="no evidence of it is stored",
    ),
    fingerprint="not kept",
    changes=None,
    facts={},
    log_tail="",
    log_lines=0,
)


class PastReader:
    """Handed to intake in place of the reading of logs; `prepare` it for the failures that come."""

    def __init__(
        self,
        *,
        evidence: Callable[[Collection[str]], Mapping[str, Evidence]],
        rules_of: Callable[[JobKey], RuleSet],
    ) -> None:
        self._look_up = evidence
        self._rules_of = rules_of
        self._stored_as: dict[str, str] = {}
        self._at_hand: dict[str, Evidence] = {}

    def same_as(self, event: SourceEvent, known: str) -> None:
        """The failure that `event` tells is the one whose evidence is stored under `known`."""
        self._stored_as[evidence_key(event)] = known

    def prepare(self, events: Iterable[SourceEvent]) -> None:
        """Have the evidence of these at hand, and of no others."""
        keys = {self.kept_as(event) for event in events if event.kind is SourceKind.RUN_FAILED}
        self._at_hand = dict(self._look_up(keys)) if keys else {}

    def read(self, event: SourceEvent) -> ReadEvent:
        run = event.run
        if run is None or event.kind is not SourceKind.RUN_FAILED:
            return read_source(event, rules=self._rules_of(event.job), good_runs=lambda job: ())
        found = self._at_hand.get(self.kept_as(event), _NOTHING_KEPT)
        read = failed_with(event, run, self._by_the_rules(event.job, found))
        return replace(read, evidence=None, facts={})

    def kept_as(self, event: SourceEvent) -> str:
        """The key under which the evidence of this failure is stored."""
        key = evidence_key(event)
        return self._stored_as.get(key, key)

    def _by_the_rules(self, job: JobKey, found: Evidence) -> Evidence:
        rules = self._rules_of(job)
        if found.cause.id not in rules.ids():
            return found
        never_safe = rules.rule(found.cause.id).never_safe
        return replace(found, cause=replace(found.cause, never_safe=never_safe))
