"""Reads any failure without raising, in linear time, and keeps within its bounds."""

import time
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.evidence import ErrorReport, Evidence, RetryHint, RuleSet, load_rules, read_failure

RULES = load_rules()
ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()), max_size=400)
PIECES = st.lists(
    st.sampled_from(
        [
            "Traceback (most recent call last):\n",
            '  File "a.py", line 3, in f\n',
            "    run()\n",
            "KeyError: 'x'\n",
            "Caused by: ",
            "java.io.IOException: x\n",
            "\tat a.b(C.java:1)\n",
            "During handling of the above exception, another exception occurred:\n",
            "\n",
            "The above exception was the direct cause of the following exception:\n",
            "ERROR ",
            "WARN ",
            "INFO ",
            '{"level":"error","msg":"',
            '"}\n',
            "panic: ",
            "fatal: ",
            "Connection reset by peer",
            "Database Error in model x\n",
            "  Warning  Failed  ",
            "Reason: Evicted\n",
            "2026-01-01T00:00:00Z ",
            "[",
            "]",
            "(",
            ")",
            ": ",
            "=",
            "\x1b[31m",
            "\r",
            "\udcff",
            "#012",
            "password=",
            "-----BEGIN PRIVATE KEY-----\n",
        ]
    ),
    max_size=40,
).map("".join)


def read(error: ErrorReport) -> Evidence:
    return read_failure(error=error, facts={}, last_good=None, rules=RULES)


@given(
    log=ANY_TEXT | PIECES,
    kind=st.none() | ANY_TEXT,
    message=st.none() | ANY_TEXT | PIECES,
    exit_code=st.none() | st.integers(),
    signal=st.none() | ANY_TEXT,
)
def test_any_failure_can_be_read(
    log: str, kind: str | None, message: str | None, exit_code: int | None, signal: str | None
) -> None:
    evidence = read(ErrorReport(type=kind, message=message, exit_code=exit_code, signal=signal, log=log))

    shown = [
        evidence.root.type or "",
        evidence.root.message,
        evidence.log_tail,
        *(line.text for line in evidence.root.lines),
    ]
    assert all(one in "\n\t" or unicodedata.category(one)[0] != "C" for text in shown for one in text)
    assert len(evidence.root.lines) <= 12
    assert len(evidence.log_tail.encode()) <= 8192
    assert len(evidence.fingerprint) == 16
    assert evidence.cause.retry_hint is not RetryHint.LIKELY or not evidence.cause.ruled_out_by


@given(st.binary(max_size=400))
def test_any_bytes_can_be_read(data: bytes) -> None:
    read(ErrorReport(log=data.decode("utf-8", "surrogateescape")))


def test_counts_the_lines() -> None:
    assert [read(ErrorReport(log=log)).log_lines for log in ("", "a", "a\n", "a\nb", "a\n\n")] == [0, 1, 1, 2, 2]


def test_a_tail_of_many_bytes_a_character_stays_within_its_bound() -> None:
    assert 8000 < len(read(ErrorReport(log="\u5168\u91cf\n" * 20_000)).log_tail.encode()) <= 8192


REPEATED: list[Callable[[int], str]] = [
    lambda size: "x" * size,
    lambda size: "error: " * (size // 7),
    lambda size: "error: foo\n" * (size // 11),
    lambda size: "Caused by: java.io.IOException: x\n" * (size // 34),
    lambda size: "Traceback (most recent call last):\n" * (size // 35),
    lambda size: "eyJabcdefgh." * (size // 12),
    lambda size: 'password="' * (size // 10),
    lambda size: "a://b:c" * (size // 7),
    lambda size: "-----BEGIN PRIVATE KEY-----\n" * (size // 28),
    lambda size: "a." * (size // 2),
    lambda size: "(" * size,
    lambda size: " " * size + "x",
    lambda size: '{"a":' * (size // 6) + "}" * (size // 6),
    lambda size: "10%\r" * (size // 4),
    lambda size: "\x1b[" * (size // 2),
    lambda size: "level=error msg=" * (size // 16),
    lambda size: "Database Error in model x\n" * (size // 26),
    lambda size: "  Warning  Failed  x\n" * (size // 21),
]


@pytest.mark.parametrize("text", REPEATED)
def test_no_text_takes_more_than_linear_time(text: Callable[[int], str]) -> None:
    def seconds(size: int) -> float:
        report = ErrorReport(log=text(size), message=text(size // 8), exit_code=1)
        best = float("inf")
        for _ in range(2):
            began = time.perf_counter()
            read(report)
            best = min(best, time.perf_counter() - began)
        return best

    assert seconds(800_000) < 20 * max(seconds(100_000), 0.05)


def test_rules_load_without_extra_rules(rules: RuleSet) -> None:
    assert rules.ids() == RULES.ids()
