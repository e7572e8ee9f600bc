"""The values that a cause rule is made of; they match nothing and check nothing."""

from dataclasses import dataclass

from bot.evidence.types import RetryHint


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """Signals that must all be there; each tuple holds alternatives (indices of patterns)."""

    types: tuple[int, ...] = ()
    messages: tuple[int, ...] = ()
    near: tuple[int, ...] = ()
    log: tuple[int, ...] = ()
    exits: tuple[int, ...] = ()
    signals: tuple[str, ...] = ()
    untyped: bool = False

    @property
    def speaks_of_error(self) -> bool:
        return bool(self.types or self.messages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A cause, or an exclusion (`excludes`): a sign that forbids to call a failure passing.

    A `generic` cause counts only on the root error and yields to any other that is not passing; a `fallback` is
    taken when no other rule is sure. `implies` names more general causes that say nothing beside this one.
    """

    id: str
    title: str
    group: str
    retry_hint: RetryHint
    never_safe: bool
    excludes: bool
    generic: bool
    fallback: bool
    implies: tuple[str, ...]
    platform_team: str | None
    when: tuple[Clause, ...]
    unless: tuple[Clause, ...]
    matching: tuple[str, ...]
    not_matching: tuple[str, ...]

    @property
    def passes(self) -> bool:
        """Whether a rerun alone would probably do."""
        return self.retry_hint is RetryHint.LIKELY
