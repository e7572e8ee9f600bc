"""Holds the rules to the corpus: never a wrong "likely", and floors for the rest."""

from collections import Counter

import pytest

from bot.evidence import Evidence, RetryHint, RuleSet, read_failure
from tests.evidence.cases import Case, load_cases

CASES = load_cases()
LEAST_LIKELY_OF_PASSING = 0.96
LEAST_RIGHT_GROUPS = 0.93


@pytest.fixture(scope="module")
def evidence(rules: RuleSet) -> tuple[tuple[Case, Evidence], ...]:
    return tuple((case, read_failure(error=case.error, facts={}, last_good=None, rules=rules)) for case in CASES)


def test_no_failure_that_stays_is_called_likely_to_pass(evidence: tuple[tuple[Case, Evidence], ...]) -> None:
    wrong = [
        (case.id, found.cause.id)
        for case, found in evidence
        if case.retryable != "yes" and found.cause.retry_hint is RetryHint.LIKELY
    ]

    assert wrong == []


def test_failures_that_pass_are_mostly_recognised(evidence: tuple[tuple[Case, Evidence], ...]) -> None:
    passing = [(case, found) for case, found in evidence if case.retryable == "yes"]
    likely = sum(found.cause.retry_hint is RetryHint.LIKELY for _, found in passing)

    assert likely >= LEAST_LIKELY_OF_PASSING * len(passing)


def test_groups_are_mostly_right(evidence: tuple[tuple[Case, Evidence], ...]) -> None:
    table = Counter((case.group, found.cause.group) for case, found in evidence)
    print("\n".join(f"{count:4} {truth} -> {said}" for (truth, said), count in sorted(table.items())))
    right = sum(count for (truth, said), count in table.items() if truth == said)

    assert right >= LEAST_RIGHT_GROUPS * len(evidence)


def test_every_case_shows_its_decisive_line(evidence: tuple[tuple[Case, Evidence], ...]) -> None:
    for case, found in evidence:
        assert 1 <= len(found.root.lines) <= 12, case.id
        assert found.root.message or found.root.type, case.id
        assert len(found.fingerprint) == 16, case.id


def test_a_failure_reads_the_same_twice(evidence: tuple[tuple[Case, Evidence], ...], rules: RuleSet) -> None:
    for case, found in evidence[::10]:
        assert read_failure(error=case.error, facts={}, last_good=None, rules=rules) == found
