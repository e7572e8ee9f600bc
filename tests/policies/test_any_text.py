"""Whatever stands in the file: policies come out of it, or a `PolicyError` with places, in bounded time."""

import random
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.incidents.keys import JobKey
from bot.policies import PolicyError, check, load
from tests.policies.texts import ENV, SKETCH

KEYS = [
    *("a", "type", "jobs", "match", "team", "rerun", "budget", "limit", "ladder", "causes", "by", "cron", "command"),
    *("hours", "from", "to", "late", "chase", "safe_to_retry", "when", "id", "rate", "unit"),
]
LINES = SKETCH.splitlines()


def outcome(text: str) -> str:
    """What `load` makes of the text; every place that an error names must be in the text."""
    problems = check(text, env=ENV)
    if not problems:
        load(text, env=ENV).job(JobKey(scheduler="any", name="job"))
    lines = re.split(r"\r\n|[\n\r\x85\u2028\u2029]", text)
    for problem in problems:
        assert 1 <= problem.line <= len(lines) + 1
        assert problem.column >= 1
        assert problem.message
    return str(PolicyError(problems))


@given(text=st.text())
@example(text="\udcff")
@example(text="version: 1\x00")
@example(text="\ufeffversion: 1")
@example(text="? [a]\n: b")
@example(text="version: 1\nteams: {<<: 3}")
@example(text="version: 1\nteams: {? *x : 1}")
@example(text="version: 99999999999999999999999999999999999999")
@example(text="version: 1\nadmins: [!!binary aGk=]")
@settings(deadline=None)
def test_any_text_is_taken_or_refused(text: str) -> None:
    outcome(text)


@given(
    value=st.recursive(
        st.sampled_from(
            ["null", "true", "7", "1.5", "x", "'*'", "5m", "run_hours", "'${A}'", "2026-11-02", "local", "''"]
        ),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
            st.dictionaries(
                st.sampled_from(KEYS),
                inner,
                max_size=4,
            ).map(lambda items: "{" + ", ".join(f"{name}: {value}" for name, value in items.items()) + "}"),
        ),
        max_leaves=12,
    ),
    section=st.sampled_from(["schedulers", "teams", "defaults", "jobs", "fallback", "admins"]),
)
@settings(max_examples=300, deadline=None)
def test_any_shape_is_taken_or_refused(value: str, section: str) -> None:
    outcome(f"version: 1\n{section}: {value}\n")


@given(line=st.integers(0, len(LINES) - 1), seed=st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_any_slip_in_a_good_file_is_taken_or_refused(line: int, seed: int) -> None:
    slips = random.Random(seed)
    text = LINES[line] or "x"
    at = slips.randrange(len(text))
    changed = (
        text[:at] + slips.choice(["", " ", ":", "{", "]", '"', "'", "\t", "#", "é", "&a ", "*a", "7"]) + text[at + 1 :]
    )

    outcome("\n".join([*LINES[:line], changed, *LINES[line + 1 :]]))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param("[" * 1_000_000, "exceeded maximum nesting depth", id="open brackets"),
        pytest.param("[" * 100, "nested deeper than 32 levels", id="some brackets"),
        pytest.param(
            "\n".join(" " * depth + "a:" for depth in range(3000)), "nested deeper than 32 levels", id="steps"
        ),
        pytest.param("- " * 100_000, "nested deeper than 32 levels", id="dashes on one line"),
        pytest.param(
            "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
            + "\n".join(f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]" for level in range(1, 9)),
            "more than 1,000,000 values, aliases unfolded",
            id="laughs",
        ),
        pytest.param(
            "a0: &a0 [x]\n" + "\n".join(f"a{level}: &a{level} [*a{level - 1}]" for level in range(1, 5000)),
            "nested deeper than 32 levels, aliases unfolded",
            id="a long chain of aliases",
        ),
        pytest.param("a: " + "x" * (5 * 1024 * 1024), "the file is larger than 5 MiB", id="too big"),
        pytest.param("a: " + "é" * (3 * 1024 * 1024), "the file is larger than 5 MiB", id="too big in bytes"),
    ],
)
def test_a_bomb_is_refused(text: str, told: str) -> None:
    assert told in outcome(text)


def test_many_aliases_of_something_big_stay_small() -> None:
    big = ", ".join(["x"] * 1000)
    text = f"big: &big [{big}]\n" + "\n".join(f"k{at}: *big" for at in range(2000))

    assert "more than 1,000,000 values" in outcome(text)
