"""Two periods of one scope, measure by measure: what changed, and whether it is more than chance. Reads nothing.

Which test suits which measure stands in `bot.incidents.comparing`. All measures of one answer share one risk of being wrong.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta

from bot.health.days import daily
from bot.incidents import comparing
from bot.incidents.comparing import Ranks
from bot.incidents.health import SMALL, Comparison, Health, Period, Share, Times, Unit, Verdict
from bot.store.health import Compared, Picture

WEEK = timedelta(days=7)
HIGHER_IS_BETTER = frozenset({"answered", "automatic", "approved", "settled"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """A comparison without its verdict; `rises`: the later period has more of it."""

    comparison: Comparison
    rises: bool


def comparisons(before: Picture, after: Picture, compared: Compared) -> tuple[Comparison, ...]:
    """Every measure that can be compared, in the order in which a reader wants them."""
    changes = tuple(_changes(before, after, compared))
    tested = [change.comparison.p for change in changes if change.comparison.p is not None]
    real = iter(comparing.holm(tested))
    return tuple(
        change.comparison if change.comparison.p is None else _judged(change, more_than_chance=next(real))
        for change in changes
    )


def _changes(before: Picture, after: Picture, compared: Compared) -> Iterator[_Change]:
    was, now = before.health, after.health
    spread = comparing.spread_of(daily(was.period, before.opened), daily(now.period, after.opened))
    yield _duration("acknowledged", was.acknowledged, now.acknowledged, compared.acknowledged)
    yield _share("answered", _answered(before), _answered(after))
    yield _duration("recovery", was.recovery, now.recovery, compared.recovery)
    yield _share("automatic", was.automatic, now.automatic)
    yield _share("approved", was.approved, now.approved)
    yield _rate("occurrences", was, now, was.occurrences, now.occurrences, spread)
    yield _rate("repeats", was, now, was.repeats, now.repeats, spread)
    yield _rate("late", was, now, was.late, now.late, spread)
    yield _delay(was, now, compared.delay)
    yield _share("settled", _settled(before), _settled(after))
    yield _unresolved(was, now, spread)
    yield _share("corrected", _corrected(before), _corrected(after))


def _answered(one: Picture) -> Share:
    return Share(n=one.cohort.needed, yes=one.cohort.answered)


def _settled(one: Picture) -> Share:
    return Share(n=one.health.occurrences, yes=one.cohort.settled)


def _corrected(one: Picture) -> Share:
    return Share(n=one.health.occurrences, yes=one.cohort.corrected)


def _duration(measure: str, was: Times, now: Times, ranks: Ranks) -> _Change:
    few = min(was.n, now.n) < SMALL
    return _change(
        measure,
        Unit.SECONDS,
        (_seconds(was.p50), _seconds(now.p50)),
        (was.n, now.n),
        p=None if few else comparing.durations(ranks),
        few=few,
        rises=not comparing.first_is_greater(ranks),
    )


def _delay(was: Health, now: Health, ranks: Ranks) -> _Change:
    """Downstream delay an occurrence, whether it had any or none."""
    few = min(was.occurrences, now.occurrences) < SMALL
    each = tuple(one.delay.total_seconds() / one.occurrences if one.occurrences else None for one in (was, now))
    return _change(
        "delay",
        Unit.SECONDS,
        (each[0], each[1]),
        (was.occurrences, now.occurrences),
        p=None if few else comparing.durations(ranks),
        few=few,
        rises=not comparing.first_is_greater(ranks),
    )


def _share(measure: str, was: Share, now: Share) -> _Change:
    few = min(was.n, now.n) < SMALL
    before, after = (one.yes / one.n if one.n else None for one in (was, now))
    return _change(
        measure,
        Unit.SHARE,
        (before, after),
        (was.n, now.n),
        p=None if few else comparing.shares(before=(was.yes, was.n), after=(now.yes, now.n)),
        few=few,
        rises=(after or 0.0) > (before or 0.0),
    )


def _rate(measure: str, was: Health, now: Health, before: int, after: int, spread: float) -> _Change:
    few = before + after < SMALL
    lengths = (_weeks(was.period), _weeks(now.period))
    rates = (before / lengths[0], after / lengths[1])
    return _change(
        measure,
        Unit.A_WEEK,
        rates,
        (before, after),
        p=None if few else comparing.counts(before=before, after=after, lengths=lengths, spread=spread),
        few=few,
        rises=rates[1] > rates[0],
    )


def _unresolved(was: Health, now: Health, spread: float) -> _Change:
    """What is open at the end of either period, however long they are."""
    before, after = was.unresolved.n, now.unresolved.n
    few = before + after < SMALL
    return _change(
        "unresolved",
        Unit.COUNT,
        (float(before), float(after)),
        (before, after),
        p=None if few else comparing.counts(before=before, after=after, lengths=(1.0, 1.0), spread=spread),
        few=few,
        rises=after > before,
    )


def _change(
    measure: str,
    unit: Unit,
    values: tuple[float | None, float | None],
    n: tuple[int, int],
    *,
    p: float | None,
    few: bool,
    rises: bool,
) -> _Change:
    comparison = Comparison(
        measure=measure,
        unit=unit,
        before=values[0],
        after=values[1],
        n_before=n[0],
        n_after=n[1],
        verdict=Verdict.TOO_FEW if few else Verdict.NOISE,
        p=p,
    )
    return _Change(comparison=comparison, rises=rises)


def _judged(change: _Change, *, more_than_chance: bool) -> Comparison:
    if not more_than_chance:
        return change.comparison
    good = change.rises == (change.comparison.measure in HIGHER_IS_BETTER)
    return replace(change.comparison, verdict=Verdict.BETTER if good else Verdict.WORSE)


def _weeks(period: Period) -> float:
    return period.length / WEEK


def _seconds(span: timedelta | None) -> float | None:
    return span.total_seconds() if span is not None else None
