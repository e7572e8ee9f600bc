"""Runs the examples that each rule carries, and refuses rules that cannot work."""

from collections.abc import Mapping
from typing import Any

import pytest

from bot.evidence import UNKNOWN, ErrorReport, RetryHint, RuleError, RuleSet, load_rules, read_failure, tried_rules
from bot.evidence.engine import check_pattern
from bot.evidence.rules import packaged_rules

RAW = {raw["id"]: raw for raw in packaged_rules()}


def report(example: Mapping[str, Any]) -> ErrorReport:
    return ErrorReport(
        type=example.get("type"),
        message=example.get("message"),
        exit_code=example.get("exit"),
        signal=example.get("signal"),
        log=example.get("log", ""),
    )


def named(example: Mapping[str, Any], rules: RuleSet) -> set[str]:
    cause = read_failure(error=report(example), facts={}, last_good=None, rules=rules).cause
    return {cause.id, *cause.also, *cause.ruled_out_by}


MATCHING = [(rule_id, one) for rule_id, raw in RAW.items() for one in raw["examples"].get("match", ())]
NOT_MATCHING = [(rule_id, one) for rule_id, raw in RAW.items() for one in raw["examples"].get("no_match", ())]


@pytest.mark.parametrize(
    ("rule_id", "example"), MATCHING, ids=[f"{rule_id}-{at}" for at, (rule_id, _) in enumerate(MATCHING)]
)
def test_a_rule_matches_its_examples(rule_id: str, example: Mapping[str, Any], rules: RuleSet) -> None:
    assert rule_id in named(example, rules)


@pytest.mark.parametrize(
    ("rule_id", "example"), NOT_MATCHING, ids=[f"{rule_id}-{at}" for at, (rule_id, _) in enumerate(NOT_MATCHING)]
)
def test_a_rule_leaves_its_counterexamples_alone(rule_id: str, example: Mapping[str, Any], rules: RuleSet) -> None:
    found = read_failure(error=report(example), facts={}, last_good=None, rules=rules).cause

    assert found.id != rule_id
    assert found.retry_hint is not RetryHint.LIKELY or rules.rule(rule_id).retry_hint is not RetryHint.LIKELY


def test_every_rule_has_an_example() -> None:
    assert [rule_id for rule_id, raw in RAW.items() if not raw["examples"].get("match")] == []


PATTERNS = [
    (rule_id, text)
    for rule_id, raw in RAW.items()
    for field in ("when", "unless")
    for clause in ([raw[field]] if isinstance(raw.get(field), Mapping) else raw.get(field, ()))
    for name in ("message", "near", "log")
    for text in ([clause[name]] if isinstance(clause.get(name), str) else clause.get(name, ()))
]


def test_the_packaged_patterns_keep_the_limits_that_those_of_companies_keep() -> None:
    assert len(PATTERNS) > 300
    for _, text in PATTERNS:
        check_pattern(text)


def test_ids_name_causes_only(rules: RuleSet) -> None:
    assert "network.connection_reset" in rules.ids()
    assert UNKNOWN not in rules.ids()
    assert not any(rule_id.startswith("sign.") for rule_id in rules.ids())
    assert rules.rule("platform.worker_lost").never_safe


def test_a_company_adds_a_cause_of_its_own() -> None:
    own = {
        "id": "finance.ledger_locked",
        "title": "Ledger closed for the night",
        "when": {"message": "ledger .* is closed until"},
        "platform_team": "finance-data",
    }
    error = ErrorReport(type="acme.LedgerError", message="ledger EU is closed until 06:00")

    cause = read_failure(error=error, facts={}, last_good=None, rules=load_rules([own])).cause

    assert (cause.id, cause.group, cause.platform_team) == ("finance.ledger_locked", "finance", "finance-data")
    assert cause.retry_hint is RetryHint.DEPENDS


def test_a_cause_that_another_implies_is_no_alternative_to_it_but_any_other_is() -> None:
    told = {"message": "ledger .* is closed"}
    raws = [
        {"id": "finance.ledger_locked", "when": told, "implies": "finance.ledger_trouble"},
        {"id": "finance.ledger_trouble", "when": told},
        {"id": "finance.year_end", "when": told},
    ]
    error = ErrorReport(type="acme.LedgerError", message="ledger EU is closed")

    cause = read_failure(error=error, facts={}, last_good=None, rules=load_rules(raws)).cause

    assert (cause.id, cause.also) == ("finance.ledger_locked", ("finance.year_end",))


def test_a_company_replaces_a_packaged_cause() -> None:
    own = {"id": "code.exception", "title": "Ours", "group": "code", "when": [{"type": "KeyError"}]}
    rules = load_rules([own])

    assert rules.rule("code.exception").title == "Ours"
    assert rules.ids().count("code.exception") == 1


@pytest.mark.parametrize(
    ("raw", "field", "column"),
    [
        ({"id": "a.b", "when": {"message": "ab(c"}}, "when[0].message", 3),
        ({"id": "a.b", "when": {"message": "(?=x)y"}}, "when[0].message", 1),
        ({"id": "a.b", "when": {"message": "x{1,5000}"}}, "when[0].message", 2),
        ({"id": "a.b", "when": {"message": ""}}, "when[0].message", 1),
        ({"id": "a.b", "when": {"log": ["ok", "[z-a]"]}}, "when[0].log", 4),
        ({"id": "a.b", "when": {"type": "a b"}}, "when[0].type", 1),
        ({"id": "a.b", "when": {"mesage": "x"}}, "when[0].mesage", 1),
        ({"id": "a.b", "when": {"exit": ["1"]}}, "when[0].exit", 1),
        ({"id": "a.b", "when": {"signal": "kill"}}, "when[0].signal", 1),
        ({"id": "a.b", "when": {}}, "when[0]", 1),
        ({"id": "a.b", "when": []}, "when", 1),
        ({"id": "a.b"}, "when", 1),
        ({"id": "a.b", "when": {"message": "x"}, "unless": {"message": "("}}, "unless[0].message", 1),
        ({"id": "a.b", "when": {"message": "x"}, "retry_hint": "always"}, "retry_hint", 1),
        ({"id": "a.b", "when": {"log": "x"}, "retry_hint": "likely"}, "when[0]", 1),
        ({"id": "a.b", "when": {"message": "x"}, "never_safe": "yes"}, "never_safe", 1),
        ({"id": "a.b", "when": {"message": "x"}, "examples": ["x"]}, "examples", 1),
        ({"id": "unknown", "when": {"message": "x"}}, "id", 1),
        ({"id": "A b", "when": {"message": "x"}}, "id", 1),
        ({"when": {"message": "x"}}, "id", 1),
        ({"id": "a.b", "when": {"message": "x"}, "implies": "no.such"}, "implies", 1),
        ({"id": "a.b", "when": {"message": "x"}, "implies": [1]}, "implies", 1),
    ],
)
def test_a_bad_rule_is_refused_by_field_and_column(raw: Mapping[str, Any], field: str, column: int) -> None:
    with pytest.raises(RuleError) as refused:
        load_rules([raw])

    assert (refused.value.field, refused.value.column) == (field, column)
    assert refused.value.message


def test_the_rules_tried_are_told_with_what_became_of_them(rules: RuleSet) -> None:
    log = (
        "[job-wrapper] same statement also failed in the 13 runs before\n"
        'Traceback (most recent call last):\n  File "a.py", line 4, in f\n    run()\n'
        "ConnectionResetError: [Errno 104] Connection reset by peer\n"
    )

    tried = tried_rules(error=ErrorReport(log=log, exit_code=1), rules=rules) or ()

    told = {one.id: (one.excludes, one.ruled_out) for one in tried}
    assert told["network.connection_reset"] == (False, False)
    assert told["sign.keeps_failing"] == (True, False)
    assert tried[0].reason == "the root error says so"


def test_a_rule_that_was_ruled_out_is_told_too(rules: RuleSet) -> None:
    error = ErrorReport(exit_code=137, log="the node was preempted\n")

    tried = tried_rules(error=error, rules=rules) or ()

    assert [one.id for one in tried if one.ruled_out] == ["resource.killed"]
