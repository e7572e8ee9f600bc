"""The tests of significance, held against every possible table, order or split counted one by one."""

import itertools
import math
import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.incidents.comparing import Ranks, counts, durations, first_is_greater, holm, ranked, shares, spread_of

SMALL_NUMBERS = st.lists(st.integers(0, 6), min_size=1, max_size=6)


def rank_sum(before: Sequence[float], after: Sequence[float]) -> float:
    """The sum of the mid-ranks of `before`, by looking each value's place up."""
    ordered = sorted([*before, *after])
    places = {value: [place for place, one in enumerate(ordered, start=1) if one == value] for value in ordered}
    return sum(sum(places[value]) / len(places[value]) for value in before)


def exact_durations(before: Sequence[float], after: Sequence[float]) -> float:
    """The share of all splits of the values whose rank sum lies at least as far from its mean."""
    together = [*before, *after]
    mean = len(before) * (len(together) + 1) / 2
    seen = abs(rank_sum(before, after) - mean)
    ordered = sorted(together)
    midrank = {value: rank_sum([value], _without(ordered, value)) for value in set(ordered)}
    ranks = [midrank[value] for value in together]
    splits = [abs(sum(chosen) - mean) for chosen in itertools.combinations(ranks, len(before))]
    return sum(distance >= seen - 1e-9 for distance in splits) / len(splits)


def _without(ordered: Sequence[float], value: float) -> list[float]:
    left = list(ordered)
    left.remove(value)
    return left


@given(before=SMALL_NUMBERS, after=SMALL_NUMBERS)
def test_ranks_are_those_of_the_sorted_values(before: list[int], after: list[int]) -> None:
    found = ranked(before, after)

    assert (found.before, found.after) == (len(before), len(after))
    assert found.doubled_sum == round(2 * rank_sum(before, after))
    together = [*before, *after]
    assert found.ties == sum(together.count(value) ** 3 - together.count(value) for value in set(together))


def test_durations_by_a_worked_example() -> None:
    before, after = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [6, 8, 9, 10, 11, 12, 13, 14, 15, 16]
    ranks = ranked(before, after)

    assert ranks.doubled_sum == 2 * (1 + 2 + 3 + 4 + 5 + 6.5 + 8 + 9.5 + 11.5 + 13.5)
    assert ranks.ties == 4 * (2**3 - 2)
    variance = 10 * 10 / 12 * (21 - 24 / (20 * 19))
    expected = math.erfc((50 - 9 - 0.5) / math.sqrt(2 * variance))
    assert durations(ranks) == pytest.approx(expected)
    assert durations(ranks) == pytest.approx(0.00217, abs=1e-5)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("values", [5, 1000])
def test_durations_are_close_to_the_exact_chance_from_few_on(seed: int, values: int) -> None:
    chance = random.Random(seed)
    before = [chance.randrange(values) for _ in range(8)]
    after = [chance.randrange(values) + seed * values / 8 for _ in range(8)]

    assert durations(ranked(before, after)) == pytest.approx(exact_durations(before, after), abs=0.025)


def test_durations_say_nothing_of_nothing() -> None:
    assert durations(Ranks()) is None
    assert durations(ranked([], [1.0])) is None
    assert durations(ranked([2.0] * 12, [2.0] * 12)) is None


def test_which_sample_lies_higher() -> None:
    assert first_is_greater(ranked([5, 6, 7], [1, 2]))
    assert not first_is_greater(ranked([1, 2], [5, 6, 7]))
    assert not first_is_greater(ranked([1, 2], [1, 2]))


def exact_shares(before: tuple[int, int], after: tuple[int, int]) -> float:
    """The mid-p value of every table with these margins."""
    (yes, n), (others, m) = before, after
    drawn = yes + others
    weights = {k: math.comb(n, k) * math.comb(m, drawn - k) for k in range(max(0, drawn - m), min(n, drawn) + 1)}
    less = sum(weight for weight in weights.values() if weight < weights[yes])
    same = sum(weight for weight in weights.values() if weight == weights[yes])
    return (less + same / 2) / math.comb(n + m, drawn)


@given(n=st.integers(1, 25), m=st.integers(1, 25), data=st.data())
def test_shares_are_the_tables_counted_one_by_one(n: int, m: int, data: st.DataObject) -> None:
    yes, others = data.draw(st.integers(0, n)), data.draw(st.integers(0, m))
    found = shares(before=(yes, n), after=(others, m))

    if yes + others in (0, n + m):
        assert found is None
    else:
        assert found == pytest.approx(exact_shares((yes, n), (others, m)), rel=1e-6)


def test_shares_by_fishers_own_example() -> None:
    """Of 13 criminals 10 had a convicted identical twin, of 17 others 2 had a fraternal one (Fisher 1935): 619 / 1,330,665
    on one side, 0.0005367 on both; the mid-p value takes half of the table itself off."""
    found = shares(before=(10, 13), after=(2, 17))

    tables = math.comb(30, 12)
    one_sided = sum(math.comb(13, k) * math.comb(17, 12 - k) for k in (10, 11, 12)) / tables
    assert one_sided == pytest.approx(619 / 1_330_665)
    assert found == pytest.approx(0.0005367 - math.comb(13, 10) * math.comb(17, 2) / tables / 2, abs=1e-7)


def test_shares_of_many_are_worked_out_soon_and_agree_with_the_normal_distribution() -> None:
    n = m = 40_000
    found = shares(before=(20_000, n), after=(20_300, m))

    pooled = 40_300 / 80_000
    z = 300 / 40_000 / math.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))
    assert found == pytest.approx(math.erfc(z / math.sqrt(2)), rel=0.01)


def exact_counts(before: int, after: int, lengths: tuple[float, float]) -> float:
    total, share = before + after, lengths[0] / sum(lengths)
    weights = {k: math.comb(total, k) * share**k * (1 - share) ** (total - k) for k in range(total + 1)}
    near = {k: weight for k, weight in weights.items() if math.isclose(weight, weights[before], rel_tol=1e-7)}
    less = sum(weight for k, weight in weights.items() if weight < weights[before] and k not in near)
    return less + sum(near.values()) / 2


@given(before=st.integers(0, 40), after=st.integers(0, 40), lengths=st.tuples(st.integers(1, 90), st.integers(1, 90)))
def test_counts_are_the_binomial_counted_one_by_one(before: int, after: int, lengths: tuple[int, int]) -> None:
    found = counts(before=before, after=after, lengths=(float(lengths[0]), float(lengths[1])))

    if before + after == 0:
        assert found is None
    else:
        assert found == pytest.approx(exact_counts(before, after, (float(lengths[0]), float(lengths[1]))), rel=1e-6)


def test_what_comes_in_clusters_counts_less() -> None:
    steady = [10] * 30
    storms = [0] * 20 + [30] * 10

    assert spread_of(steady, steady) == 1.0
    assert spread_of(storms) == pytest.approx((20 * 10**2 + 10 * 20**2) / 10 / 29)
    plain = counts(before=300, after=360, lengths=(30.0, 30.0))
    clustered = counts(before=300, after=360, lengths=(30.0, 30.0), spread=spread_of(storms))
    assert plain is not None
    assert clustered is not None
    assert plain < 0.02 < 0.4 < clustered


@pytest.mark.parametrize("days", [[], [5], [0, 0, 0]])
def test_a_spread_of_nothing_is_that_of_chance(days: list[int]) -> None:
    assert spread_of(days) == 1.0


def test_holm_by_a_worked_example() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == (True, False, False, True)
    assert holm([0.04]) == (True,)
    assert holm([0.04, 0.04]) == (False, False)
    assert holm([]) == ()


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_lies_between_bonferroni_and_no_correction(chances: list[float]) -> None:
    found = holm(chances)

    for chance, real in zip(chances, found, strict=True):
        assert real or chance > 0.05 / len(chances)
        assert chance <= 0.05 or not real


def test_nothing_is_found_too_often_where_nothing_changed() -> None:
    """Of 400 comparisons of two halves of the same, about one in twenty says that they differ."""
    chance = random.Random(7)
    wrong = {"durations": 0, "shares": 0, "counts": 0}
    for _ in range(400):
        halves = [[round(chance.lognormvariate(5, 1)) for _ in range(30)] for _ in range(2)]
        wrong["durations"] += (durations(ranked(*halves)) or 1) <= 0.05
        yes = [sum(chance.random() < 0.3 for _ in range(60)) for _ in range(2)]
        wrong["shares"] += (shares(before=(yes[0], 60), after=(yes[1], 60)) or 1) <= 0.05
        seen = [sum(chance.random() < 0.04 for _ in range(1000)) for _ in range(2)]
        wrong["counts"] += (counts(before=seen[0], after=seen[1], lengths=(1.0, 1.0)) or 1) <= 0.05

    assert all(5 <= times <= 35 for times in wrong.values()), wrong
