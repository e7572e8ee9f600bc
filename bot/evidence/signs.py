"""What the patterns found in a failure, and which rules that speaks for; it chooses none of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

from bot.evidence.rule import Clause, Rule


class Place(IntEnum):
    """How near to the root error a rule matched."""

    ROOT = 0
    CHAIN = 1
    BESIDE = 2
    LOG = 3
    ENDING = 4
    EARLIER = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What the patterns found in one finding: at the start of what it says (`strict`), or anywhere in it (`loose`).

    `raised`: it is an error that a program raised, not one that is only spoken of.
    """

    place: Place
    type: str | None
    raised: bool
    types: Set[int]
    strict: Set[int]
    loose: Set[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """All that was found; `log` also tells where each pattern was found first."""

    findings: tuple[Heard, ...]
    near: Mapping[int, int]
    log: Mapping[int, int]
    exit_code: int | None
    signal: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    rule: Rule
    place: Place
    ruled_out: bool
    order: int


class RuleIndex:
    """Rules by the patterns without which they cannot match, so that only those with a chance are tried."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = tuple(rules)
        self._by_message: dict[int, list[int]] = {}
        self._by_type: dict[int, list[int]] = {}
        self._by_line: dict[int, list[int]] = {}
        self._by_ending: dict[int | str, list[int]] = {}
        self._untyped: list[int] = []
        for order, rule in enumerate(self.rules):
            for clause in rule.when:
                self._enter(clause, order)

    def _enter(self, clause: Clause, order: int) -> None:
        if clause.messages:
            _note(self._by_message, clause.messages, order)
        elif clause.types:
            _note(self._by_type, clause.types, order)
            if clause.untyped:
                self._untyped.append(order)
        elif clause.log or clause.near:
            _note(self._by_line, clause.log or clause.near, order)
        else:
            _note(self._by_ending, clause.exits or clause.signals, order)

    def matches(self, signs: Signs) -> Iterator[Match]:
        """Return the rules of which all signs are there, and whether one rules them out again."""
        for order in sorted(set(self._candidates(signs))):
            rule = self.rules[order]
            places = _places(rule, rule.when, signs)
            if not places:
                continue
            ruled_out = rules_out(rule, signs)
            if ruled_out and not rule.passes and (spared := _spared(rule, signs)):
                places, ruled_out = spared, False
            yield Match(rule=rule, place=min(places), ruled_out=ruled_out, order=order)

    def knows(self, heard: Heard) -> bool:
        """Whether any rule speaks of an error, were it alone."""
        alone = Signs(findings=(heard,), near={}, log={}, exit_code=None, signal=None)
        return any(_places(self.rules[order], self.rules[order].when, alone) for order in self._candidates(alone))

    def saying(self, messages: Iterable[int]) -> Iterator[Rule]:
        """Return the rules that name one of these patterns of messages."""
        orders = {order for message in messages for order in self._by_message.get(message, ())}
        return (self.rules[order] for order in sorted(orders))

    def _candidates(self, signs: Signs) -> Iterator[int]:
        for heard in signs.findings:
            yield from _noted(self._by_message, heard.loose)
            yield from _noted(self._by_type, heard.types)
            if heard.type is None:
                yield from self._untyped
        yield from _noted(self._by_line, signs.log)
        yield from _noted(self._by_line, signs.near)
        yield from self._by_ending.get(signs.exit_code, ()) if signs.exit_code is not None else ()
        yield from self._by_ending.get(signs.signal, ()) if signs.signal is not None else ()


def _note(index: dict[Any, list[int]], keys: Iterable[int | str], order: int) -> None:
    for key in keys:
        index.setdefault(key, []).append(order)


def _noted(index: Mapping[int, list[int]], found: Iterable[int]) -> Iterator[int]:
    for key in found:
        yield from index.get(key, ())


def _places(rule: Rule, clauses: Iterable[Clause], signs: Signs) -> list[Place]:
    return [place for clause in clauses if (place := place_of(clause, signs, strict=rule.passes)) is not None]


def _spared(rule: Rule, signs: Signs) -> list[Place]:
    """Return where errors speak for a rule of which no sign against it is theirs or their chain's.

    What one error says against a cause that stays does not clear another error of it.
    """
    chain = tuple(heard for heard in signs.findings if heard.place <= Place.CHAIN)
    others = ((heard,) for heard in signs.findings if heard.place > Place.CHAIN)
    alone = (replace(signs, findings=findings) for findings in (chain, *others) if findings)
    clauses = [clause for clause in rule.when if clause.speaks_of_error]
    return [place for part in alone if not rules_out(rule, part) for place in _places(rule, clauses, part)]


def rules_out(rule: Rule, signs: Signs) -> bool:
    """Whether a sign is there that the rule names against itself."""
    return any(place_of(clause, signs, strict=False, now=True) is not None for clause in rule.unless)


def place_of(clause: Clause, signs: Signs, *, strict: bool, now: bool = False) -> Place | None:
    """Return how near to the root all signals of a clause are there, or None when they are not."""
    if clause.exits and signs.exit_code not in clause.exits:
        return None
    if clause.signals and signs.signal not in clause.signals:
        return None
    if clause.near and not any(one in signs.near for one in clause.near):
        return None
    if clause.log and not any(one in signs.log for one in clause.log):
        return None
    if not clause.speaks_of_error:
        return Place.LOG if clause.log or clause.near else Place.ENDING
    places = [heard.place for heard in signs.findings if _speaks(clause, heard, strict=strict)]
    return min((place for place in places if not (now and place is Place.EARLIER)), default=None)


def _speaks(clause: Clause, heard: Heard, *, strict: bool) -> bool:
    if clause.messages and (heard.strict if strict else heard.loose).isdisjoint(clause.messages):
        return False
    if not clause.types:
        return True
    return not heard.types.isdisjoint(clause.types) or (clause.untyped and heard.type is None)
