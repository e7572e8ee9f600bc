"""Waits downstream: how late a run was made, when what it needs is there, and how many are kept."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.incidents import waits
from bot.incidents.waits import MOST_WAITS, Wait
from tests.incidents.worlds import DAY, HOUR, MINUTE, MONDAY, TUESDAY

WAIT = Wait(job="shop/board", nominal_time=MONDAY + 3 * HOUR, since=MONDAY + 3 * HOUR, cleared_at=MONDAY + 4 * HOUR)


@pytest.mark.parametrize(
    ("after", "lag", "learned_from", "delay"),
    [
        (5 * HOUR, 30 * MINUTE, 3, 90 * MINUTE),
        (5 * HOUR, 30 * MINUTE, 2, 2 * HOUR),
        (5 * HOUR, None, 0, 2 * HOUR),
        (5 * HOUR, 4 * HOUR, 20, timedelta()),
        (5 * HOUR, -10 * MINUTE, 5, 130 * MINUTE),
    ],
)
def test_the_delay_is_what_is_beyond_the_usual_lag_and_never_below_zero(
    after: timedelta, lag: timedelta | None, learned_from: int, delay: timedelta
) -> None:
    done = waits.ended(WAIT, MONDAY + after, lag=lag, learned_from=learned_from)

    assert done.delay == delay
    assert not done.without
    assert not done.open


def test_a_run_before_what_it_needs_was_there_ran_without_it() -> None:
    assert waits.ended(WAIT, MONDAY + 3 * HOUR + MINUTE, lag=None, learned_from=0).without
    assert waits.ended(replace(WAIT, cleared_at=None), MONDAY + 9 * HOUR, lag=None, learned_from=0).without


def test_only_owed_times_up_to_its_own_keep_a_run_waiting() -> None:
    open_wait = replace(WAIT, cleared_at=None)
    now = MONDAY + 5 * HOUR

    def cleared(*owed: object, over: bool = False) -> bool:
        (found,) = waits.cleared((open_wait,), owed, over=over, at=now)  # type: ignore[arg-type]
        return found.cleared_at is not None

    assert not cleared(MONDAY)
    assert not cleared(MONDAY, TUESDAY)
    assert cleared(TUESDAY)
    assert cleared()
    assert not cleared(None)
    assert cleared(MONDAY, over=True)


def test_what_is_owed_again_keeps_it_waiting_again_and_what_has_ended_stays() -> None:
    (again,) = waits.cleared((WAIT,), [MONDAY], over=False, at=TUESDAY)
    done = waits.ended(WAIT, MONDAY + 5 * HOUR, lag=None, learned_from=0)

    assert again.cleared_at is None
    assert waits.cleared((done,), [MONDAY], over=False, at=TUESDAY) == (done,)


@given(known=st.integers(0, MOST_WAITS), more=st.integers(0, 2 * MOST_WAITS))
def test_at_most_so_many_are_kept_and_the_rest_counted(known: int, more: int) -> None:
    before = tuple(replace(WAIT, job=f"shop/{number}") for number in range(known))
    after, beyond = waits.joined(before, (replace(WAIT, job=f"shop/{number}") for number in range(more)))

    assert after[:known] == before
    assert len(after) == min(MOST_WAITS, max(known, more))
    assert len(after) + beyond == max(known, more)


def test_the_same_run_is_awaited_once_and_another_day_apart() -> None:
    tomorrow = replace(WAIT, nominal_time=WAIT.since + DAY, since=WAIT.since + DAY)

    assert waits.joined((WAIT,), (WAIT, tomorrow)) == ((WAIT, tomorrow), 0)
    assert waits.total((replace(WAIT, delay=HOUR), WAIT, replace(tomorrow, delay=MINUTE))) == HOUR + MINUTE
    assert waits.median([HOUR, MINUTE, DAY]) == HOUR
    assert waits.median([]) is None
