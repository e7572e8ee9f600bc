"""The same failure has the same name tomorrow; another failure has another one."""

from datetime import datetime
from ipaddress import IPv4Address, IPv6Address
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.evidence import ErrorReport, RuleSet, read_failure
from bot.evidence.fingerprint import fingerprint

FRAMES = 'Traceback (most recent call last):\n  File "/app/load.py", line 4, in <module>\n    run()\n'


def name_of(message: str, *, error_type: str = "acme.Failure", exit_code: int | None = 1) -> str:
    return fingerprint(cause_id="unknown", error_type=error_type, message=message, exit_code=exit_code, signal=None)


SAME = [
    ("run scheduled__2026-11-29T06:00:00+00:00 failed", "run scheduled__2026-11-30T06:00:00+00:00 failed"),
    ("job 8d3f1c2a-1b2c-4d5e-8f90-a1b2c3d4e5f6 failed", "job 11111111-2222-4333-8444-555555555555 failed"),
    ("object at 0x7f00aa00bb00 is gone", "object at 0x7f11cc11dd11 is gone"),
    ("cannot open /tmp/job.x7Qa/in.csv", "cannot open /tmp/job.b81z/in.csv"),
    ("cannot open /var/folders/ab/cd/T/x1", "cannot open /var/folders/zz/yy/T/q9"),
    ("no answer from 10.0.7.12:8080", "no answer from 10.0.8.13:9090"),
    ("no answer from ip-10-0-0-1.eu-west-1.compute.internal", "no answer from ip-10-0-9-7.eu-west-1.compute.internal"),
    ("31 rows rejected after 12.5 s", "1204 rows rejected after 900 s"),
    ("Got 105 results, configured to fail if != 0", "Got 7 results, configured to fail if != 0"),
    ("partition date=2026-11-29 is missing", "partition date=2026-11-30 is missing"),
    ("table events_20261129 is locked", "table events_20261130 is locked"),
    ("Key (id)=(17) already exists", "Key (id)=(18) already exists"),
    ("Key (name)=(Ann) already exists", "Key (name)=(Bob) already exists"),
    ('invalid input syntax for type integer: "abc"', 'invalid input syntax for type integer: "xyz"'),
    ("Numeric value 'abc' is not recognized", "Numeric value 'qq' is not recognized"),
    ("lost task 3.0 in stage 1.0 (TID 8)", "lost task 12.1 in stage 9.0 (TID 4411)"),
    (
        "read s3://b/day=2026-11-29/part-00000-96b0700b.parquet",
        "read s3://b/day=2026-11-30/part-00007-aa12bb34.parquet",
    ),
    ("Process 7157 waits for ShareLock on transaction 74489828", "Process 99 waits for ShareLock on transaction 5"),
    ("at 12:31:05 the server stopped", "at 03:02:59 the server stopped"),
]
OTHER = [
    ('column "amount" does not exist', 'column "currency" does not exist'),
    ("KeyError: 'net'", "KeyError: 'gross'"),
    ('relation "core.orders" does not exist', 'relation "core.prices" does not exist'),
    ("table orders1 is gone", "table orders2 is gone"),
    (
        'duplicate key value violates unique constraint "a_key"',
        'duplicate key value violates unique constraint "b_key"',
    ),
    ("No module named 'x'", "No module named 'y'"),
]


@pytest.mark.scenario(26)
@pytest.mark.parametrize(("message", "again"), SAME)
def test_what_differs_from_run_to_run_does_not_count(message: str, again: str) -> None:
    assert name_of(message) == name_of(again)


@pytest.mark.scenario(26)
@pytest.mark.parametrize(("message", "other"), OTHER)
def test_another_column_or_table_is_another_failure(message: str, other: str) -> None:
    assert name_of(message) != name_of(other)


def test_another_class_exit_code_signal_or_cause_is_another_failure() -> None:
    names = {
        fingerprint(cause_id=cause_id, error_type=error_type, message="x", exit_code=exit_code, signal=signal)
        for cause_id in ("unknown", "code.exception")
        for error_type in ("KeyError", "ValueError", None)
        for exit_code in (1, 2, None)
        for signal in ("SIGKILL", None)
    }

    assert len(names) == 2 * 3 * 3 * 2


NOISE = st.tuples(
    st.uuids(),
    st.datetimes(),
    st.integers(0, 10**9),
    st.ip_addresses(v=4),
    st.from_regex(r"[a-z0-9]{8}", fullmatch=True),
)


def told(noise: tuple[UUID, datetime, int, IPv4Address | IPv6Address, str]) -> str:
    run, instant, count, host, folder = noise
    return f"run {run} at {instant.isoformat(timespec='seconds')}: {count} rows of orders from {host}, see /tmp/{folder}/log"


@given(NOISE, NOISE)
def test_generated_noise_does_not_count(
    noise: tuple[UUID, datetime, int, IPv4Address | IPv6Address, str],
    again: tuple[UUID, datetime, int, IPv4Address | IPv6Address, str],
) -> None:
    assert name_of(told(noise)) == name_of(told(again))


def test_a_whole_failure_keeps_its_name(rules: RuleSet) -> None:
    def name(stamp: str, row: int) -> str:
        log = f"{stamp} INFO start\n" + FRAMES + f"acme.LoadError: {row} rows of orders lost, see /tmp/x{row}/log\n"
        return read_failure(error=ErrorReport(log=log, exit_code=1), facts={}, last_good=None, rules=rules).fingerprint

    assert name("2026-11-29T06:00:00Z", 17) == name("2026-11-30T06:00:01Z", 40_000)


@given(st.text(max_size=400))
def test_any_message_has_a_name(message: str) -> None:
    assert len(name_of(message)) == 16
