"""Loads cause rules, which are data, and checks every one before it may judge a failure.

It never matches anything itself.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import yaml

from bot.evidence.engine import Matcher, PatternError, Stack, check_pattern
from bot.evidence.rule import Clause, Rule
from bot.evidence.rule_fields import RuleError, flag, numbers, signal_names, strings, text_of, type_name
from bot.evidence.signs import RuleIndex
from bot.evidence.type_names import TypeNames
from bot.evidence.types import UNKNOWN, RetryHint

_ID = re.compile(r"[a-z][a-z0-9_]{0,40}(?:\.[a-z0-9][a-z0-9_]{0,60}){1,3}")
_TOP_CHOICE = re.compile(r"\|\.\*")
_NAMES = "names.yaml"
_FIELDS = ("type", "message", "near", "log", "exit", "signal", "untyped")


class RuleSet:
    """The rules with their compiled patterns; immutable, safe to share among threads."""

    def __init__(self, *, rules: Sequence[Rule], types: TypeNames, messages: Stack, lines: Stack) -> None:
        self._rules = {rule.id: rule for rule in rules}
        self.types = types
        self.messages = messages
        self.lines = lines
        self.causes = RuleIndex([rule for rule in rules if not rule.excludes])
        self.exclusions = RuleIndex([rule for rule in rules if rule.excludes])
        self.near = frozenset(line for rule in rules for clause in (*rule.when, *rule.unless) for line in clause.near)

    def ids(self) -> tuple[str, ...]:
        return tuple(rule.id for rule in self.causes.rules)

    def rule(self, rule_id: str) -> Rule:
        """Return a cause or an exclusion; raises KeyError for any other id."""
        return self._rules[rule_id]


class _Numbers:
    """Gives each text a number, once; it may go on where another one stopped."""

    def __init__(self, known: Sequence[str] = ()) -> None:
        self._index = {text: number for number, text in enumerate(known)}

    def add(self, text: str) -> int:
        return self._index.setdefault(text, len(self._index))

    def texts(self) -> tuple[str, ...]:
        return tuple(self._index)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Packaged:
    """The product's own rules, compiled once a process."""

    rules: tuple[Rule, ...]
    types: tuple[str, ...]
    messages: tuple[str, ...]
    lines: tuple[str, ...]
    message_matcher: Matcher
    line_matcher: Matcher


class _Builder:
    """Turns raw mappings into rules over shared patterns; `trusted` leaves the checks to the final compilation."""

    def __init__(self, *, trusted: bool, known: _Packaged | None = None) -> None:
        self.types = _Numbers(known.types if known is not None else ())
        self.messages = _Numbers(known.messages if known is not None else ())
        self.lines = _Numbers(known.lines if known is not None else ())
        self._trusted = trusted

    def _checked(self, text: str, rule_id: str, field: str) -> str:
        if self._trusted:
            return text
        try:
            check_pattern(text)
        except PatternError as failure:
            raise RuleError(rule_id=rule_id, field=field, message=failure.message, column=failure.column) from failure
        return text

    def rule(self, raw: Mapping[str, Any]) -> Rule:
        rule_id = raw.get("id")
        if not isinstance(rule_id, str) or not _ID.fullmatch(rule_id) or rule_id == UNKNOWN:
            raise RuleError(
                rule_id=str(rule_id), field="id", message="expected a dotted name such as network.connection_reset"
            )
        group = text_of(raw, rule_id, "group", rule_id.partition(".")[0])
        hint = text_of(raw, rule_id, "retry_hint", RetryHint.DEPENDS)
        if hint not in set(RetryHint):
            raise RuleError(rule_id=rule_id, field="retry_hint", message=f"expected one of {', '.join(RetryHint)}")
        when = self._clauses(raw.get("when"), rule_id, "when", passing=hint == RetryHint.LIKELY)
        if not when:
            raise RuleError(rule_id=rule_id, field="when", message="expected at least one signal")
        examples = raw.get("examples") or {}
        if not isinstance(examples, Mapping):
            raise RuleError(rule_id=rule_id, field="examples", message="expected match and no_match")
        return Rule(
            id=rule_id,
            title=text_of(raw, rule_id, "title", rule_id),
            group=group,
            retry_hint=RetryHint(hint),
            never_safe=flag(raw, rule_id, "never_safe"),
            excludes=flag(raw, rule_id, "excludes"),
            generic=flag(raw, rule_id, "generic"),
            fallback=flag(raw, rule_id, "fallback"),
            implies=strings(raw, rule_id, "", "implies"),
            platform_team=text_of(raw, rule_id, "platform_team", "") or None,
            when=when,
            unless=self._clauses(raw.get("unless"), rule_id, "unless", passing=False),
            matching=tuple(examples.get("match", ())),
            not_matching=tuple(examples.get("no_match", ())),
        )

    def _clauses(self, raw: Any, rule_id: str, field: str, *, passing: bool) -> tuple[Clause, ...]:
        if raw is None:
            return ()
        if isinstance(raw, Mapping):
            raw = [raw]
        if not isinstance(raw, Sequence) or isinstance(raw, str):
            raise RuleError(rule_id=rule_id, field=field, message="expected a mapping of signals, or a list of them")
        return tuple(self._clause(one, rule_id, f"{field}[{at}]", passing=passing) for at, one in enumerate(raw))

    def _clause(self, raw: Any, rule_id: str, field: str, *, passing: bool) -> Clause:
        if not isinstance(raw, Mapping) or not raw:
            raise RuleError(rule_id=rule_id, field=field, message="expected a mapping of signals")
        for name in raw:
            if name not in _FIELDS:
                raise RuleError(
                    rule_id=rule_id, field=f"{field}.{name}", message=f"expected one of {', '.join(_FIELDS)}"
                )
        clause = Clause(
            types=tuple(
                self.types.add(type_name(name, rule_id, field)) for name in strings(raw, rule_id, field, "type")
            ),
            messages=tuple(
                self.messages.add(_anchored(self._checked(text, rule_id, f"{field}.message")))
                for text in strings(raw, rule_id, field, "message")
            ),
            near=self._lines(raw, rule_id, field, "near"),
            log=self._lines(raw, rule_id, field, "log"),
            exits=numbers(raw, rule_id, field, "exit"),
            signals=signal_names(raw, rule_id, field),
            untyped=bool(raw.get("untyped", False)),
        )
        if passing and not clause.speaks_of_error:
            raise RuleError(
                rule_id=rule_id,
                field=field,
                message="a cause that a rerun likely heals needs a type or a message of the error",
            )
        return clause

    def _lines(self, raw: Mapping[str, Any], rule_id: str, field: str, name: str) -> tuple[int, ...]:
        return tuple(
            self.lines.add(self._checked(text, rule_id, f"{field}.{name}"))
            for text in strings(raw, rule_id, field, name)
        )


@cache
def packaged_rules() -> tuple[Mapping[str, Any], ...]:
    """Return the rules that come with the product, as they stand in their files."""
    folder = resources.files("bot.evidence").joinpath("rules")
    names = folder.joinpath(_NAMES).read_text(encoding="utf-8")
    found: list[Mapping[str, Any]] = []
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        if entry.name.endswith(".yaml") and entry.name != _NAMES:
            listed = yaml.load(names + entry.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
            found.extend(one for one in listed if isinstance(one, Mapping))
    return tuple(found)


@cache
def _packaged() -> _Packaged:
    builder = _Builder(trusted=True)
    rules = tuple(builder.rule(raw) for raw in packaged_rules())
    return _Packaged(
        rules=rules,
        types=builder.types.texts(),
        messages=builder.messages.texts(),
        lines=builder.lines.texts(),
        message_matcher=Matcher(builder.messages.texts(), beside=True),
        line_matcher=Matcher(builder.lines.texts(), beside=True),
    )


def load_rules(extra: Sequence[Mapping[str, Any]] = ()) -> RuleSet:
    """Return the packaged rules with `extra` ones, which replace those of the same id; raises RuleError."""
    known = _packaged()
    builder = _Builder(trusted=False, known=known)
    merged = {rule.id: rule for rule in known.rules}
    for raw in extra:
        if not isinstance(raw, Mapping):
            raise RuleError(rule_id="?", field="causes", message="expected a mapping")
        rule = builder.rule(raw)
        merged[rule.id] = rule
    for rule in merged.values():
        for implied in rule.implies:
            if implied not in merged:
                raise RuleError(rule_id=rule.id, field="implies", message=f"no cause is named {implied}")
    return RuleSet(
        rules=tuple(merged.values()),
        types=TypeNames(builder.types.texts()),
        messages=Stack(known.message_matcher, Matcher(builder.messages.texts()[len(known.messages) :])),
        lines=Stack(known.line_matcher, Matcher(builder.lines.texts()[len(known.lines) :])),
    )


def _anchored(text: str) -> str:
    """Let a pattern begin only where a message begins; one that starts with `.*` says itself that it need not."""
    return text.removeprefix(".*") if text.startswith(".*") and not _TOP_CHOICE.search(text) else f"^(?:{text})"
