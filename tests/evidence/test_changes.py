"""Says what changed since the last good run, what most plausibly matters first."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.evidence import Change, ChangeKind, ErrorReport, RuleSet, read_failure, read_run_facts
from bot.evidence.changes import changes_between

GOOD: dict[str, Any] = {
    "code": {"version": "4f2a9c1", "image": "etl:1.14"},
    "params": {"day": "2026-11-29", "mode": "full"},
    "config": {"retries": 3, "tables": ["a", "b"]},
    "inputs": {
        "data/orders.csv": {
            "schema": ["id", "amount"],
            "rows": 1000,
            "bytes": 52_000,
            "updated_at": "2026-11-29T05:00:00Z",
        }
    },
    "env": {"python": "3.11.7", "host": "node-1"},
    "timing": {"duration": 700},
}


def changed(**namespaces: Any) -> tuple[Change, ...]:
    return changes_between(GOOD, {**GOOD, **namespaces})


def test_nothing_found_is_an_empty_answer() -> None:
    assert changes_between(GOOD, GOOD) == ()


@pytest.mark.scenario(23)
def test_no_last_good_run_is_not_nothing_changed(rules: RuleSet) -> None:
    evidence = read_failure(error=ErrorReport(), facts=GOOD, last_good=None, rules=rules)

    assert evidence.changes is None


@pytest.mark.parametrize(
    ("name", "before", "after", "shown"),
    [
        ("waited_seconds", 0.06, 0.13, None),
        ("waited_seconds", 0, 0.9, None),
        ("waited_seconds", 0.01, 4.9, None),
        ("waited_seconds", 0.012345, 45.123456, ("0.01 s", "45.1 s")),
        ("duration_seconds", 0.046123, 0.118456, None),
        ("duration_seconds", 100.0, 140.0, None),
        ("duration_seconds", 720.4, 15_012.7, ("12 min", "4 h 10 min")),
        ("duration_ms", 900, 2000, None),
        ("duration_ms", 1000, 61_000, ("1 s", "1 min 1 s")),
    ],
)
def test_timing_counts_only_when_it_is_telling(
    name: str, before: float, after: float, shown: tuple[str, str] | None
) -> None:
    changes = changes_between({"timing": {name: before}}, {"timing": {name: after}})

    assert [(change.before, change.after) for change in changes] == ([shown] if shown else [])


def test_a_timing_that_was_not_taken_before_is_no_change() -> None:
    assert changes_between({"timing": {}}, {"timing": {"waited_seconds": 0.2}}) == ()


def test_a_duration_that_people_chose_is_a_change_however_small() -> None:
    (change,) = changes_between({"config": {"timeout_seconds": 10}}, {"config": {"timeout_seconds": 12}})

    assert (change.path, change.note) == ("config.timeout_seconds", "+20 %")


def test_a_lost_column_is_named() -> None:
    (change,) = changed(inputs={"data/orders.csv": {**GOOD["inputs"]["data/orders.csv"], "schema": ["id"]}})

    assert change.path == "inputs.data/orders.csv.schema"
    assert (change.kind, change.before, change.after) == (ChangeKind.CHANGED, "id, amount", "id")
    assert change.note == "column amount removed"


def test_columns_with_types_are_compared_by_name() -> None:
    before = {"inputs": {"t": {"schema": [{"name": "a", "type": "int"}, {"name": "b", "type": "text"}]}}}
    after = {"inputs": {"t": {"schema": [{"name": "b", "type": "date"}, {"name": "c", "type": "int"}]}}}

    (change,) = changes_between(before, after)

    assert change.note == "column a removed; column c added; column b changed type from text to date"


def test_a_header_line_is_a_schema() -> None:
    (change,) = changes_between({"inputs": {"x": {"header": "id,amount"}}}, {"inputs": {"x": {"header": "id,total"}}})

    assert change.note == "column amount removed; column total added"


def test_volume_tells_its_share_and_small_steps_are_left_out() -> None:
    (change,) = changed(inputs={"data/orders.csv": {**GOOD["inputs"]["data/orders.csv"], "rows": 620, "bytes": 50_000}})

    assert (change.path, change.note) == ("inputs.data/orders.csv.rows", "-38 %")


def test_an_empty_and_a_missing_input_say_so() -> None:
    (empty,) = changed(inputs={"data/orders.csv": {**GOOD["inputs"]["data/orders.csv"], "rows": 0}})
    (missing,) = changed(inputs={})

    assert empty.note == "empty now"
    assert (missing.kind, missing.note) == (ChangeKind.REMOVED, "input missing")


def test_the_order_is_code_config_params_schema_volume_env_timing() -> None:
    changes = changed(
        timing={"duration": 9000},
        env={"python": "3.12.1", "host": "node-9"},
        inputs={"data/orders.csv": {"schema": ["id"], "rows": 10, "bytes": 520}},
        params={"day": "2026-11-30", "mode": "delta"},
        config={"retries": 5, "tables": ["a", "c"]},
        code={"version": "81be07d", "image": "etl:1.14"},
    )

    assert [change.path for change in changes] == [
        "code.version",
        "config.retries",
        "config.tables",
        "params.mode",
        "inputs.data/orders.csv.schema",
        "inputs.data/orders.csv.bytes",
        "inputs.data/orders.csv.rows",
        "env.python",
        "timing.duration",
    ]
    assert [change.rank for change in changes] == list(range(9))


def test_lists_tell_what_came_and_went() -> None:
    (change,) = changed(config={"retries": 3, "tables": ["b", "c"]})

    assert change.note == "removed a; added c"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"env": {"host": "node-1", "pid": 1}}, {"env": {"host": "node-2", "pid": 2}}),
        ({"params": {"run_id": "a", "day": "2026-11-29"}}, {"params": {"run_id": "b", "day": "2026-11-30"}}),
        ({"config": {"folder": "/tmp/a1"}}, {"config": {"folder": "/tmp/b2"}}),
        ({"timing": {"duration": 100}}, {"timing": {"duration": 120}}),
        (
            {"inputs": {"x": {"updated_at": "2026-11-29T01:00:00Z"}}},
            {"inputs": {"x": {"updated_at": "2026-11-30T01:00:00Z"}}},
        ),
        (
            {"env": {"x": "8d3f1c2a-1b2c-4d5e-8f90-a1b2c3d4e5f6"}},
            {"env": {"x": "11111111-2222-4333-8444-555555555555"}},
        ),
    ],
)
def test_noise_is_left_out(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert changes_between(before, after) == ()


def test_a_value_that_came_and_one_that_went() -> None:
    came, went = changes_between({"config": {"old": 1}}, {"config": {"new": None}})

    assert (came.path, came.kind, came.before, came.after) == ("config.new", ChangeKind.ADDED, None, "none")
    assert (went.path, went.kind, went.before, went.after) == ("config.old", ChangeKind.REMOVED, "1", None)


@pytest.mark.scenario(24)
def test_huge_facts_are_capped() -> None:
    huge = {"config": {f"k{number}": "x" * 10_000 for number in range(3000)}, "deep": nested(50)}

    changes = changes_between({"config": {}, "deep": {}}, read_run_facts(huge))

    assert len(changes) == 100
    assert all(len(change.after or "") <= 200 for change in changes)


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"a": value}
    return value


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=20,
)
FACTS = st.dictionaries(
    st.sampled_from(["code", "params", "config", "inputs", "env", "timing", "resources", "other"]), JSON, max_size=5
)


@given(FACTS, FACTS)
def test_any_facts_can_be_compared(before: dict[str, Any], after: dict[str, Any]) -> None:
    changes = changes_between(read_run_facts(before), read_run_facts(after))

    assert [change.rank for change in changes] == list(range(len(changes)))


@given(FACTS)
def test_facts_compared_with_themselves_show_nothing(facts: dict[str, Any]) -> None:
    kept = read_run_facts(facts)

    assert changes_between(kept, kept) == ()


@given(FACTS)
def test_keeping_facts_twice_changes_nothing(facts: dict[str, Any]) -> None:
    assert read_run_facts(read_run_facts(facts)) == read_run_facts(facts)
