"""Patterns that are compiled in a thread: nobody waits for them but the first match, which has all they would have had."""

import hyperscan
import pytest

from bot.evidence.engine import Matcher


def test_the_first_match_waits_for_the_patterns() -> None:
    patterns = [f"error {number} of [a-z]+ in line [0-9]+" for number in range(300)]

    assert Matcher(patterns, beside=True).find(b"error 299 of orders in line 7") == {299: 29}


def test_what_the_engine_says_of_a_bad_pattern_is_raised_by_the_match() -> None:
    matcher = Matcher(["("], beside=True)

    for _ in range(2):
        with pytest.raises(hyperscan.HyperscanError):
            matcher.find(b"text")


def test_no_patterns_find_nothing() -> None:
    assert Matcher([], beside=True).find(b"text") == {}
