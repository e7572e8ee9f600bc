"""The same failure has the same name tomorrow; another failure has another one."""

from datetime import UTC, datetime

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
    ("user ana@example.com not found", "user ben.x@mail.example.org not found"),
    (
        "Could not read gs://b/raw/dt=20261129/hour=03/part-1.json",
        "Could not read gs://b/raw/dt=20261130/hour=14/part-22.json",
    ),
    ("partition 2026/11/29/03 is missing", "partition 2026/11/30/14 is missing"),
    ("file orders_2026_11_29.csv not found", "file orders_2026_11_30.csv not found"),
    ("file orders-2026-11-29T03:00:00Z.csv not found", "file orders-2026-11-30T04:00:00Z.csv not found"),
    (
        "Request ID: 7XQ2JX9V1K0PZ3RB; S3 Extended Request ID: q8fXk/2lA9=",
        "Request ID: A1B2C3D4E5F6G7H8; S3 Extended Request ID: zzQ1/9kd0=",
    ),
    (
        "RequestId: 5f1c7a52-1f0f-4c19-b2f0-92f6f0a0a111, Time: 2026-11-29T01:02:03.123456Z",
        "RequestId: 9f1c7a52-1f0f-4c19-b2f0-92f6f0a0a112, Time: 2026-11-30T11:12:13.5Z",
    ),
    ("pod etl-nightly-28391820-x7k2p was evicted", "pod etl-nightly-28391999-b9wqz was evicted"),
    ("pod spark-exec-7d9f8b6c4-abc12 failed", "pod spark-exec-5c6f7d8e9-zz9qq failed"),
    ("container_1612345678901_0001_01_000003 exited", "container_1699999999999_0107_02_000012 exited"),
    ("Job job_20261129_030000_abcd1234 failed", "Job job_20261130_040000_ef567890 failed"),
    ("took 1h 12m 3s", "took 2h 1m 59s"),
    ("timed out after 00:10:00", "timed out after 01:12:33"),
    ("worker-17.prod.internal:8080 refused", "worker-3.prod.internal:8081 refused"),
    ("host db-3.eu-west-1.rds.amazonaws.com closed", "host db-7.us-east-2.rds.amazonaws.com closed"),
    ("at com.acme.Foo$$Lambda$14/0x0000000800c8a840.apply", "at com.acme.Foo$$Lambda$977/0x00007f00aa.apply"),
    ("thread 'worker-12' panicked", "thread 'worker-3' panicked"),
    ("Expected 1,204,117 rows but got 31", "Expected 999 rows but got 1"),
    ("duplicate key (order_id)=(12, 'x y')", "duplicate key (order_id)=(13, 'q')"),
    ("could not convert string to float: 'abc'", "could not convert string to float: 'n/a'"),
    ("time data '2026-11-29' does not match format", "time data 'foo' does not match format"),
    ("Row 17: bad value 'x'", "Row 99991: bad value 'yy zz'"),
    (
        "Failed to fetch https://api.example.com/v1/orders?cursor=abc123&page=7",
        "Failed to fetch https://api.example.com/v1/orders?cursor=zzz999&page=12",
    ),
    ("query_id: 01b2c3d4-0000-1111-0000-00012345abcd", "query_id: 01ffffff-0000-2222-0000-00099999dcba"),
    ("Query 20261129_030102_00017_abcde failed", "Query 20261130_040102_00999_zz9qq failed"),
    ("pid 4711 killed", "pid 99 killed"),
    ("attempt_202611290300_0001_m_000003_0 failed", "attempt_202611300400_0107_m_000012_1 failed"),
    ("/home/airflow/.cache/tmpab12cd/x.py", "/home/airflow/.cache/tmpzz99qq/x.py"),
    ("/var/lib/jenkins/workspace/etl@2/run.sh: not found", "/var/lib/jenkins/workspace/etl@7/run.sh: not found"),
    ("no space left: 98.7% of 100GB used", "no space left: 99.9% of 250GB used"),
    ("s3://bucket/tmp/9b2e1c/data", "s3://bucket/tmp/77aa01/data"),
    ("Mon Nov 30 03:12:00 UTC 2026 failed", "Tue Dec 1 04:01:59 UTC 2026 failed"),
    ("[2026-11-30T03:12:00.123+01:00] failed", "[2026-12-01T03:12:00+02:00] failed"),
    ("2001:db8::1 unreachable", "fe80::1ff:fe23:4567:890a unreachable"),
    ("commit 4f2a9c1 is bad", "commit 81be07d is bad"),
    ("Got status 503 from upstream after 3 tries", "Got status 503 from upstream after 12 tries"),
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
    ("HTTP 503 Service Unavailable", "HTTP 404 Not Found"),
    ("ORA-00942: x", "ORA-01555: x"),
    ("SQLSTATE 40001", "SQLSTATE 23505"),
    ("exit code 1", "exit code 137"),
    ("Error 1205: Lock", "Error 1213: Lock"),
    ('column "q1" missing', 'column "q2" missing'),
    ("/app/load.py missing", "/app/store.py missing"),
    ("table sales_v2 is locked", "table sales_v3 is locked"),
    ("Errno 13", "Errno 28"),
    ("status 503", "status 500"),
    ("NoSuchKey: orders.csv", "NoSuchKey: prices.csv"),
    ("python3.11 not found", "python3.12 not found"),
    ("HTTPError: 429 Client Error", "HTTPError: 401 Client Error"),
    ("IndexError: index 0 on axis 0", "ValueError: index 0 on axis 0"),
    ("column 'value' in table a.b", "column 'value' in table a.c"),
    ('invalid input value for enum color: "a"', 'invalid input value for enum shape: "a"'),
    ("got unexpected keyword argument 'x'", "got unexpected keyword argument 'y'"),
    ('type "geo" does not exist', 'type "geom" does not exist'),
    ("input 'orders' is missing", "input 'prices' is missing"),
    ("No such record 'orders' in schema", "No such record 'prices' in schema"),
    ("token 'SELECT' unexpected", "token 'FROM' unexpected"),
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


INSTANTS = st.integers(6 * 10**8, 4 * 10**9).map(lambda second: datetime.fromtimestamp(second, UTC))
COUNTS = st.integers(0, 10**12)
HEXES = st.text("0123456789abcdef", min_size=12, max_size=40).filter(
    lambda text: text.strip("0123456789") and text.strip("abcdef")
)
NAMES = st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=4, max_size=12)
LETTERS = st.text("abcdefghijklmnopqrstuvwxyz", min_size=3, max_size=10)
NOISE: dict[str, st.SearchStrategy[str]] = {
    "uuid": st.uuids().map(str),
    "instant": INSTANTS.map(lambda at: at.strftime("%Y-%m-%dT%H:%M:%S")),
    "instant with a zone": INSTANTS.map(lambda at: at.strftime("%Y-%m-%d %H:%M:%S.%f+00:00")),
    "log time": INSTANTS.map(lambda at: at.strftime("%Y/%m/%d %H:%M:%S")),
    "date": INSTANTS.map(lambda at: at.strftime("%Y-%m-%d")),
    "date of digits": INSTANTS.map(lambda at: at.strftime("%Y%m%d")),
    "time of day": INSTANTS.map(lambda at: at.strftime("%H:%M:%S")),
    "count": COUNTS.map(str),
    "big count": COUNTS.map(lambda count: f"{count:,}"),
    "share": st.floats(0, 100).map(lambda share: f"{share:.1f}%"),
    "duration": st.floats(0, 1e5).map(lambda took: f"{took:.2f} s"),
    "size": st.integers(1, 10**6).map(lambda size: f"{size} MiB"),
    "address": st.ip_addresses(v=4).map(str),
    "address and port": st.tuples(st.ip_addresses(v=4), st.integers(1, 65535)).map(lambda two: f"{two[0]}:{two[1]}"),
    "long address": st.ip_addresses(v=6).map(lambda address: f"[{address.exploded}]:5432"),
    "pointer": st.integers(2**20, 2**48).map(hex),
    "hash": HEXES,
    "host": st.tuples(LETTERS, st.integers(1, 99)).map(lambda two: f"{two[0]}-{two[1]}.prod.internal"),
    "cloud host": st.tuples(LETTERS, st.integers(1, 9)).map(lambda two: f"{two[0]}.eu-west-{two[1]}.rds.amazonaws.com"),
    "temporary file": NAMES.map(lambda name: f"/tmp/{name}/part.csv"),
    "mac's temporary file": NAMES.map(lambda name: f"/var/folders/zz/{name}/T/x"),
    "mail address": st.tuples(LETTERS, LETTERS).map(lambda two: f"{two[0]}@{two[1]}.com"),
    "yarn container": st.integers(10**12, 10**13 - 1).map(lambda number: f"container_{number}_0001_01_000003"),
    "trino query": INSTANTS.map(lambda at: at.strftime("%Y%m%d_%H%M%S_00017_abcde")),
    "row": NAMES.map(lambda name: f"value '{name}'"),
    "key": NAMES.map(lambda name: f"(id)=({name})"),
    "airflow run": INSTANTS.map(lambda at: f"scheduled__{at.isoformat()}"),
}
AROUND = [
    "{noise}: orders could not be loaded",
    "orders could not be loaded: {noise}",
    "loading of orders ({noise}) failed, see the log",
    "gave up on {noise} while it read orders",
]


@pytest.mark.scenario(26)
@pytest.mark.parametrize("kind", NOISE)
@given(data=st.data(), around=st.sampled_from(AROUND))
def test_generated_noise_does_not_count(kind: str, data: st.DataObject, around: str) -> None:
    one, other = data.draw(NOISE[kind], label="one"), data.draw(NOISE[kind], label="other")

    assert name_of(around.replace("{noise}", one)) == name_of(around.replace("{noise}", other))


WORDS = st.text("abcdefghijklmnopqrstuvwxyz_", min_size=2, max_size=16).filter(lambda word: word.strip("_"))
ABOUT = [
    'column "{word}" does not exist',
    "KeyError: '{word}'",
    'relation "core.{word}" does not exist',
    "No module named '{word}'",
    "Unknown column '{word}' in 'field list'",
    "cannot resolve '`{word}`' given input columns",
    "/app/jobs/{word}.sql: no such file",
    "Table 'shop.{word}' doesn't exist",
    "invalid identifier {word}",
    'violates unique constraint "{word}"',
]


@pytest.mark.scenario(26)
@given(about=st.sampled_from(ABOUT), one=WORDS, other=WORDS)
def test_what_a_failure_is_about_counts(about: str, one: str, other: str) -> None:
    same = name_of(about.replace("{word}", one)) == name_of(about.replace("{word}", other))

    assert same is (one == other)


@given(code=st.integers(400, 599), other=st.integers(400, 599))
def test_the_numbers_that_errors_are_known_by_count(code: int, other: int) -> None:
    for told in ("HTTP {}", "status code {}", "ORA-00{}", "Error {}: x", "errno {}", "SQLSTATE 42{}"):
        assert (name_of(told.format(code)) == name_of(told.format(other))) is (code == other)


def test_a_whole_failure_keeps_its_name(rules: RuleSet) -> None:
    def name(stamp: str, row: int) -> str:
        log = f"{stamp} INFO start\n" + FRAMES + f"acme.LoadError: {row} rows of orders lost, see /tmp/x{row}/log\n"
        return read_failure(error=ErrorReport(log=log, exit_code=1), facts={}, last_good=None, rules=rules).fingerprint

    assert name("2026-11-29T06:00:00Z", 17) == name("2026-11-30T06:00:01Z", 40_000)


@given(st.text(max_size=400))
def test_any_message_has_a_name(message: str) -> None:
    assert len(name_of(message)) == 16
