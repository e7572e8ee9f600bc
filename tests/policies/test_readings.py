"""Durations, sizes and days as a person writes them."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.policies import Misread, read_duration, written_duration
from bot.policies.readings import LONGEST, read_days, read_size

UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}


@given(number=st.integers(0, 10**6), unit=st.sampled_from(sorted(UNITS)))
def test_a_duration_is_its_number_of_units(number: int, unit: str) -> None:
    milliseconds = number * UNITS[unit]
    if milliseconds <= LONGEST // timedelta(milliseconds=1):
        assert read_duration(f"{number}{unit}") == timedelta(milliseconds=milliseconds)
    else:
        with pytest.raises(Misread):
            read_duration(f"{number}{unit}")


@given(milliseconds=st.integers(0, LONGEST // timedelta(milliseconds=1)))
def test_what_is_written_is_read_back(milliseconds: int) -> None:
    duration = timedelta(milliseconds=milliseconds)

    assert read_duration(written_duration(duration)) == duration


@given(text=st.one_of(st.text(), st.from_regex(r"[-+]?[0-9.]{0,15} ?(ms|s|m|h|d|w|y){0,3}", fullmatch=True)))
def test_any_text_is_read_or_misread(text: str) -> None:
    try:
        duration = read_duration(text)
    except Misread:
        return

    assert timedelta(0) <= duration <= LONGEST


@pytest.mark.parametrize(
    ("text", "size"),
    [("10B", 10), ("1K", 1024), ("1KB", 1000), ("512M", 512 * 1024**2), ("2GiB", 2 * 1024**3), ("3 TB", 3 * 1000**4)],
)
def test_sizes(text: str, size: int) -> None:
    assert read_size(text) == size


@pytest.mark.parametrize("text", ["", "10", "G", "1.5G", "-1G", "1GG", "1 iB"])
def test_no_sizes(text: str) -> None:
    with pytest.raises(Misread):
        read_size(text)


@pytest.mark.parametrize(
    ("parts", "days"),
    [
        (["mon-fri"], (0, 1, 2, 3, 4)),
        (["sat", " Sun"], (5, 6)),
        (["fri-mon"], (0, 4, 5, 6)),
        (["wed", "mon-tue"], (0, 1, 2)),
        (["mon-sun"], (0, 1, 2, 3, 4, 5, 6)),
    ],
)
def test_days(parts: list[str], days: tuple[int, ...]) -> None:
    assert read_days(parts) == days
