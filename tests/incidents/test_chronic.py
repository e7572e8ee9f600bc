"""When a failure that reruns mend is chronic, and when that is new."""

from datetime import timedelta

import pytest

from bot.incidents.chronic import becomes_chronic, times
from tests.incidents.worlds import DAY, MONDAY


@pytest.mark.parametrize(
    ("days_ago", "new"),
    [
        ((), False),
        ((1,), False),
        ((1, 2), True),
        ((1, 6.9), True),
        ((1, 7), False),
        ((1, 2, 3), False),
        ((3, 6, 9), False),
        ((3, 6, 9, 12), False),
        ((1, 7.5, 8, 8.5), False),
        ((1, 2, 8.5, 9), True),
    ],
)
def test_the_third_recovery_within_seven_days_is_news_and_the_fourth_is_not(
    days_ago: tuple[float, ...], new: bool
) -> None:
    recovered = tuple(MONDAY - timedelta(days=days) for days in days_ago)

    assert becomes_chronic(recovered, MONDAY) is new


def test_what_lies_seven_days_back_counts_no_more() -> None:
    assert times((MONDAY, MONDAY - 6 * DAY, MONDAY - 7 * DAY), MONDAY) == 2
