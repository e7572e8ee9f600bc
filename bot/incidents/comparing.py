"""Whether two periods differ by more than chance: durations, shares and counts, each by a test that asks little of the data.

Pure statistics; it must not know what is measured.

- Durations: H. B. Mann, D. R. Whitney, "On a test of whether one of two random variables is stochastically larger than the
  other", Annals of Mathematical Statistics 18 (1947), by its normal approximation with the variance for ties and a
  correction for continuity (E. L. Lehmann, "Nonparametrics", 1975, chapter 1), which is close from ten of each on.
- Shares: R. A. Fisher, "The logic of inductive inference", Journal of the Royal Statistical Society 98 (1935), two-sided by
  the less probable tables, as its mid-p value (H. O. Lancaster, "Significance tests in discrete distributions", Journal of
  the American Statistical Association 56, 1961), since the exact one is too careful where few are counted.
- Counts: J. Przyborowski, H. Wilenski, "Homogeneity of results in testing samples from Poisson series", Biometrika 31 (1940):
  given their sum, one of two Poisson counts is binomial.
- Several at once: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6
  (1979).
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

ALPHA = 0.05
AS_PROBABLE = 1 + 1e-7
NEGLIGIBLE = 1e-18


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranks:
    """Two samples ranked together: their sizes, twice the sum of the first one's mid-ranks, and the sum of t^3 - t over
    every group of t equal values."""

    before: int = 0
    after: int = 0
    doubled_sum: int = 0
    ties: int = 0


def ranked(before: Iterable[float], after: Iterable[float]) -> Ranks:
    """The ranks of two samples."""
    first, second = Counter(before), Counter(after)
    passed = doubled = ties = 0
    for value in sorted(first.keys() | second.keys()):
        equal = first[value] + second[value]
        doubled += first[value] * (2 * passed + equal + 1)
        ties += equal**3 - equal
        passed += equal
    return Ranks(before=first.total(), after=second.total(), doubled_sum=doubled, ties=ties)


def durations(ranks: Ranks) -> float | None:
    """The chance of ranks that differ as much or more where both are drawn alike; None where nothing differs or is there."""
    n, m = ranks.before, ranks.after
    together = n + m
    if n == 0 or m == 0:
        return None
    variance = n * m / 12 * (together + 1 - ranks.ties / (together * (together - 1)))
    if variance <= 0:
        return None
    u = (ranks.doubled_sum - n * (n + 1)) / 2
    distance = max(0.0, abs(u - n * m / 2) - 0.5)
    return math.erfc(distance / math.sqrt(2 * variance))


def first_is_greater(ranks: Ranks) -> bool:
    """Whether the first sample lies higher, on the whole."""
    return ranks.doubled_sum > ranks.before * (ranks.before + ranks.after + 1)


def shares(*, before: tuple[int, int], after: tuple[int, int]) -> float | None:
    """The chance of shares, each (yes, n), that differ as much or more where they are one; None where it cannot be told."""
    (yes, n), (others, m) = before, after
    drawn = yes + others
    low, high = max(0, drawn - m), min(drawn, n)
    if n == 0 or m == 0 or low == high:
        return None

    def next_to(k: int) -> float:
        return (drawn - k) * (n - k) / ((k + 1) * (m - drawn + k + 1))

    mode = min(high, max(low, (drawn + 1) * (n + 1) // (n + m + 2)))
    return _two_sided(yes, _around(mode, low, high, next_to))


def counts(*, before: int, after: int, lengths: tuple[float, float], spread: float = 1.0) -> float | None:
    """The chance of counts in two periods of these lengths that differ as much or more where they come as often.

    `spread`: how many times more the days vary than chance would have it (see `spread_of`); what comes in clusters, so many
    at once, counts that much less. None where nothing was counted.
    """
    k, total = round(before / spread), round((before + after) / spread)
    share = lengths[0] / sum(lengths)
    k = min(k, total)
    if total == 0 or not 0 < share < 1:
        return None

    def next_to(one: int) -> float:
        return (total - one) / (one + 1) * share / (1 - share)

    mode = min(total, int((total + 1) * share))
    return _two_sided(k, _around(mode, 0, total, next_to))


def spread_of(*series: Sequence[int]) -> float:
    """How much more the days of several periods vary about their own mean than Poisson's would; at least 1.

    A period's days all count, those without any as well. P. McCullagh, J. A. Nelder, "Generalized Linear Models", 1989,
    chapter 6.
    """
    squares, freedom = 0.0, 0
    for days in series:
        mean = sum(days) / len(days) if days else 0.0
        if mean > 0 and len(days) > 1:
            squares += sum((day - mean) ** 2 for day in days) / mean
            freedom += len(days) - 1
    return max(1.0, squares / freedom) if freedom else 1.0


def holm(chances: Sequence[float], *, alpha: float = ALPHA) -> tuple[bool, ...]:
    """Which of these differences are more than chance, so that one of all of them is wrong at most once in 1 / `alpha`."""
    found = [False] * len(chances)
    for rank, index in enumerate(sorted(range(len(chances)), key=chances.__getitem__)):
        if chances[index] > alpha / (len(chances) - rank):
            break
        found[index] = True
    return tuple(found)


def _around(mode: int, low: int, high: int, next_to: Callable[[int], float]) -> dict[int, float]:
    """A distribution with one peak, up to a factor, from how much more probable `k + 1` is than `k`; what is too
    improbable to be added up is left out."""
    found = {mode: 1.0}
    weight = 1.0
    for k in range(mode, high):
        weight *= next_to(k)
        if weight < NEGLIGIBLE:
            break
        found[k + 1] = weight
    weight = 1.0
    for k in range(mode - 1, low - 1, -1):
        weight /= next_to(k)
        if weight < NEGLIGIBLE:
            break
        found[k] = weight
    return found


def _two_sided(seen: int, weights: dict[int, float]) -> float:
    """The mid-p value: what is less probable than what was seen, and half of what is as probable."""
    own = weights.get(seen, 0.0)
    total = math.fsum(weights.values())
    less = math.fsum(weight for weight in weights.values() if weight * AS_PROBABLE < own)
    same = math.fsum(
        weight for weight in weights.values() if weight * AS_PROBABLE >= own and weight <= own * AS_PROBABLE
    )
    return min(1.0, (less + same / 2) / total)
