"""Each change says in one line what it is, and what the failure speaks of comes first."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.evidence import Change, ErrorReport, RuleSet, read_failure
from bot.evidence.changes import changes_between
from bot.evidence.named import spoken
from bot.evidence.usual import LEAST_RUNS, usual

UNDEFINED = 'psycopg.errors.UndefinedColumn: column "currency" does not exist'


def only(before: Mapping[str, Any], after: Mapping[str, Any], **more: Any) -> Change:
    (change,) = changes_between(before, after, **more)
    return change


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ({"code": {"version": "4f2a9c1"}}, {"code": {"version": "81be07d"}}, "code 4f2a9c1 -> 81be07d"),
        (
            {"code": {"version": "4f2a9c1"}},
            {"code": {"version": "81be07d", "commits": ["81be07d b", "77a10ce a", "4f2a9c1 start"]}},
            "code 4f2a9c1 -> 81be07d, 2 commits",
        ),
        (
            {"code": {"version": "4f2a9c1", "commits": 41}},
            {"code": {"version": "81be07d", "commits": 42}},
            "code 4f2a9c1 -> 81be07d, 1 commit",
        ),
        (
            {"code": {"version": "4f2a9c1d" * 5}},
            {"code": {"version": "81be07d0" * 5}},
            "code 4f2a9c1 -> 81be07d",
        ),
        (
            {"code": {"image": "etl:1.14", "image_digest": "sha256:" + "ab" * 32}},
            {"code": {"image": "etl:1.14", "image_digest": "sha256:" + "cd" * 32}},
            "image tag etl:1.14 moved: sha256:abababa -> sha256:cdcdcdc",
        ),
        (
            {"code": {"image": "etl:1.14@sha256:ab"}},
            {"code": {"image": "etl:1.14@sha256:cd"}},
            "image tag etl:1.14 moved",
        ),
        ({"code": {"image": "etl:1.14"}}, {"code": {"image": "etl:1.15"}}, "image etl:1.14 -> etl:1.15"),
        (
            {"code": {"version": "a", "digest": "sha256:1"}},
            {"code": {"version": "a", "digest": "sha256:2"}},
            "what the command runs was edited, though the commit is the same",
        ),
        ({"config": {"retries": 3}}, {"config": {"retries": 5}}, "config retries 3 -> 5, +67 %"),
        ({"config": {"old": 1}}, {"config": {}}, "config old is gone, it was 1"),
        ({"params": {}}, {"params": {"mode": "full"}}, "param mode is new: full"),
        ({"env": {"python": "3.11.7"}}, {"env": {"python": "3.12.1"}}, "python 3.11.7 -> 3.12.1"),
        (
            {"env": {"packages": ["pandas==1.5", "numpy==1.2"]}},
            {"env": {"packages": ["numpy==1.2", "pandas==2.2"]}},
            "pandas 1.5 -> 2.2",
        ),
        (
            {"inputs": {"in/orders.csv": {"schema": ["id", "currency"]}}},
            {"inputs": {"in/orders.csv": {"schema": ["id"]}}},
            "input orders.csv lost column `currency`",
        ),
        (
            {"inputs": {"t": {"schema": {"a": "int", "b": "text"}}}},
            {"inputs": {"t": {"schema": {"a": "text", "c": "int"}}}},
            "input t lost column `b` and has column `c` that it had not and has `a` as text, it was int",
        ),
        ({"inputs": {"in/a.csv": {"rows": 3}}}, {"inputs": {}}, "input a.csv is missing"),
        ({"inputs": {"in/a.csv": {"rows": 3}}}, {"inputs": {"in/a.csv": {"missing": True}}}, "input a.csv is missing"),
        ({"inputs": {"r.yaml": {"digest": "1"}}}, {"inputs": {"r.yaml": {"digest": "2"}}}, "r.yaml was edited"),
        (
            {"inputs": {"orders.csv": {"rows": 1_204_117}}},
            {"inputs": {"orders.csv": {"rows": 31}}},
            "rows of orders.csv 1.2 M -> 31, -99.997 %",
        ),
        (
            {"inputs": {"orders.csv": {"bytes": 3 * 1024**3}}},
            {"inputs": {"orders.csv": {"bytes": 1024**3}}},
            "bytes of orders.csv 3 GiB -> 1 GiB, -67 %",
        ),
        (
            {"resources": {"memory_limit_bytes": 4 * 1024**3}},
            {"resources": {"memory_limit_bytes": 3.9 * 1024**3}},
            "resources.memory_limit_bytes 4 GiB -> 3.9 GiB, -2.5 %",
        ),
        (
            {"timing": {"duration_seconds": 720}},
            {"timing": {"duration_seconds": 15_000}},
            "ran 4 h 10 min, the last good run 12 min",
        ),
        (
            {"timing": {"duration_seconds": 720}},
            {"timing": {"duration_seconds": 3}},
            "failed after 3 s, the last good run 12 min",
        ),
        (
            {"upstream": [{"job": "load", "version": "1"}]},
            {"upstream": [{"job": "load", "version": "2"}]},
            "upstream.load.version 1 -> 2",
        ),
    ],
)
def test_a_change_says_what_it_is(before: Mapping[str, Any], after: Mapping[str, Any], says: str) -> None:
    assert only(before, after).says == says


def test_what_one_run_does_not_record_has_not_changed() -> None:
    assert changes_between({}, {"code": {"version": "a"}, "config": {"x": 1}}) == ()
    assert changes_between({"code": {"version": "a"}}, {}) == ()


FAILED = {
    "code": {"version": "81be07d"},
    "config": {"batch": 5, "warehouse": "eu-2"},
    "inputs": {"in/orders.csv": {"schema": ["id"], "rows": 31}},
    "env": {"pandas": "2.2"},
}
GOOD = {
    "code": {"version": "4f2a9c1"},
    "config": {"batch": 4, "warehouse": "eu-1"},
    "inputs": {"in/orders.csv": {"schema": ["id", "currency"], "rows": 1000}},
    "env": {"pandas": "1.5"},
}


@pytest.mark.parametrize(
    ("error", "first"),
    [
        ("", "code.version"),
        ("ValueError: no such thing", "code.version"),
        (UNDEFINED, "inputs.in/orders.csv.schema"),
        ("KeyError: 'currency'", "inputs.in/orders.csv.schema"),
        (
            "org.apache.spark.sql.AnalysisException: cannot resolve '`CURRENCY`' given input columns",
            "inputs.in/orders.csv.schema",
        ),
        ("AttributeError: module 'pandas' has no attribute 'Panel'", "env.pandas"),
        ("ConnectionError: eu-2.warehouse.example did not answer", "config.warehouse"),
        ("ValueError: /srv/in/orders.csv: 31 rows, expected 900 at least", "inputs.in/orders.csv.rows"),
        ("RuntimeError: the currency conversion went wrong", "inputs.in/orders.csv.schema"),
        ("RuntimeError: batches overlap", "code.version"),
    ],
)
def test_what_the_error_names_comes_first_and_says_so(error: str, first: str) -> None:
    changes = changes_between(GOOD, FAILED, error=error)

    assert changes[0].path == first
    assert changes[0].says.endswith(", which the error names") is (first != "code.version")


@pytest.mark.parametrize(
    ("error", "named"),
    [
        ('relation "staging.orders" does not exist', False),
        ("no rows in staging.orders", False),
        ("the orders are late", False),
        ('relation "orders" does not exist', True),
        ("cannot read orders.csv", True),
        ("cannot read /srv/in/orders.csv: empty", True),
        ("[Errno 2] No such file or directory: 'in/orders.csv'", True),
    ],
)
def test_an_input_is_named_by_its_file_or_alone_in_quotes(error: str, named: bool) -> None:
    before, after = {"inputs": {"in/orders.csv": {"rows": 1000}}}, {"inputs": {"in/orders.csv": {"rows": 31}}}

    assert only(before, after, error=error).says.endswith(", which the error names") is named


def test_a_short_or_common_word_counts_only_in_quotes() -> None:
    before = {"inputs": {"t": {"schema": ["id", "date"]}}}
    after: dict[str, Any] = {"inputs": {"t": {"schema": []}}}

    assert "error names" not in only(before, after, error="bad date in container id 7").says
    assert "error names" in only(before, after, error="KeyError: 'date'").says
    assert "error names" in only(before, after, error="KeyError: 'id'").says


@pytest.mark.parametrize(("cause", "first"), [("resource.out_of_memory", "inputs.t.rows"), ("unknown", "code.version")])
def test_a_failure_of_resources_puts_what_there_was_to_do_first(cause: str, first: str) -> None:
    before = {"code": {"version": "a"}, "inputs": {"t": {"rows": 1000}}}
    after = {"code": {"version": "b"}, "inputs": {"t": {"rows": 90_000}}}

    assert changes_between(before, after, cause=cause)[0].path == first


def test_what_a_run_used_is_its_effect_and_comes_behind_what_people_changed() -> None:
    before = {"resources": {"max_rss_bytes": 2**25}, "config": {"days": 14}}
    after = {"resources": {"max_rss_bytes": 2**27}, "config": {"days": 1400}}

    changes = changes_between(before, after, cause="resource.out_of_memory")

    assert [change.says for change in changes] == [
        "config days 14 -> 1400, 100 times as much",
        "max rss 32 MiB -> 128 MiB, +300 %",
    ]


def rows(*counts: int) -> list[dict[str, Any]]:
    return [{"inputs": {"t": {"rows": count}}} for count in counts]


STEADY = rows(1000, 1010, 990, 1005, 995, 1000, 1002)
WILD = rows(1000, 9000, 300, 4000, 40_000, 2000, 700)


def told(past: Sequence[Mapping[str, Any]], now: Mapping[str, Any]) -> list[str]:
    return [change.says for change in changes_between(past[0], now, earlier=past[1:])]


def test_a_number_is_judged_by_what_good_runs_usually_had() -> None:
    assert told(STEADY, *rows(31)) == ["rows of t 1000 -> 31, -97 %; usually 1000 (± 5, n = 7)"]
    assert told(STEADY, *rows(1100)) == []
    assert told(WILD, *rows(31)) == []
    assert told(WILD, *rows(900_000)) == ["rows of t 1000 -> 900 k, 450 times as much; usually 2000 (± 1700, n = 7)"]


def test_one_odd_good_run_does_not_make_a_usual_number_look_strange() -> None:
    assert told([*rows(20), *STEADY], *rows(1000)) == []
    assert len(told([*STEADY[:3], *rows(20), *STEADY[3:]], *rows(20))) == 1


def test_a_number_like_the_last_good_run_had_is_no_change_whatever_was_usual() -> None:
    assert told([*rows(32), *STEADY], *rows(31)) == []


def test_durations_say_what_is_usual() -> None:
    past = [{"timing": {"duration_seconds": 720.0 + step}} for step in range(14)]

    assert told(past, {"timing": {"duration_seconds": 15_000}}) == [
        "ran 4 h 10 min, usually 12 min 6 s (± 3.5 s, n = 14)"
    ]
    assert told(past, {"timing": {"duration_seconds": 2}}) == ["failed after 2 s, usually 12 min 6 s (± 3.5 s, n = 14)"]
    assert told(past, {"timing": {"duration_seconds": 735}}) == []


NUMBERS = st.floats(min_value=-1e9, max_value=1e9, allow_nan=False)


@given(st.lists(NUMBERS, min_size=LEAST_RUNS, max_size=20), NUMBERS)
def test_the_middle_is_usual_and_what_lies_far_off_is_not(values: list[float], value: float) -> None:
    known = usual(values)

    assert known is not None
    assert known.n == len(values)
    assert min(values) <= known.middle <= max(values)
    assert not known.unlike(known.middle, step=0.0)
    assert known.unlike(known.middle + 10 * known.deviation + abs(known.middle) + abs(value) + 1, step=0.2)


def test_too_few_good_runs_say_nothing_of_what_is_usual() -> None:
    assert usual([1.0] * (LEAST_RUNS - 1)) is None
    assert usual([1.0, "2", None, True, 3.0, 4.0]) is None


QUERY = "SELECT day\nFROM core.orders\nWHERE day = :day\n"


def test_a_text_is_told_as_a_unified_diff() -> None:
    before, after = {"config": {"q.sql": QUERY}}, {"config": {"q.sql": QUERY.replace("orders", "orders_v2")}}

    change = only(before, after, error='relation "core.orders_v2" does not exist')

    assert change.says == "config q.sql: 1 line added, 1 removed, which the error names"
    assert (change.before, change.after) == ("4 lines", "4 lines")
    assert change.diff is not None
    assert change.diff.split("\n")[1:4] == [" SELECT day", "-FROM core.orders", "+FROM core.orders_v2"]


def test_an_edited_input_is_told_by_its_words_and_by_its_digest_only_where_they_are_not_known() -> None:
    before = {"inputs": {"config/rates.ini": {"digest": "1", "rows": 2, "text": "[rates]\nusd = 1.0841\n"}}}
    after = {"inputs": {"config/rates.ini": {"digest": "2", "rows": 2, "text": "[rates]\nusd = 1.O841\n"}}}
    masked = {"inputs": {"config/rates.ini": {"digest": "3", "rows": 2, "text": "[rates]\nusd = 1.0841\n"}}}

    change = only(before, after, error="ValueError: could not convert string to float: '1.O841'")

    assert change.says == "rates.ini: 1 line added, 1 removed, which the error names"
    assert change.diff == "@@ -1,3 +1,3 @@\n [rates]\n-usd = 1.0841\n+usd = 1.O841\n "
    assert only(before, masked).says == "rates.ini was edited"


def test_a_long_diff_is_cut_in_its_middle() -> None:
    before = {"config": {"q.sql": "\n".join(f"old {number}" for number in range(500))}}
    after = {"config": {"q.sql": "\n".join(f"new {number}" for number in range(500))}}

    diff = only(before, after).diff or ""

    assert len(diff.split("\n")) == 400
    assert diff.split("\n")[200] == "... 602 lines left out ..."
    assert diff.endswith("+new 499")


def test_a_secret_in_a_text_is_not_in_its_diff(rules: RuleSet) -> None:
    secret = "Zq8xK2mPw94LtRb7Vd3NhJ6c"
    before = {"config": {"app.ini": f"[db]\nhost=a\npassword={secret}\n"}}
    after = {"config": {"app.ini": f"[db]\nhost=b\npassword={secret}9\nurl=postgresql://etl:{secret}@db/x\n"}}

    evidence = read_failure(error=ErrorReport(log="ValueError: x"), facts=after, last_good=before, rules=rules)

    (change,) = evidence.changes or ()
    assert "+host=b" in (change.diff or "")
    assert secret not in repr(evidence)


@given(st.text(max_size=200), st.lists(st.text(max_size=20), max_size=5))
def test_any_error_can_be_asked_what_it_names(error: str, things: list[str]) -> None:
    found = spoken(error).names(things)

    assert found is None or found in things
