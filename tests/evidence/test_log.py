"""Holds the quick reader to the slow one: reading only loud lines, and masking only telling ones, changes nothing."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.evidence import ErrorReport, RuleSet, read_failure
from bot.evidence.cleaning import clean, cleaned
from bot.evidence.engine import Spotter
from bot.evidence.findings import find_failures
from bot.evidence.log import Log
from bot.evidence.masking import hide_keys, mask, mask_all
from tests.evidence.cases import Case, load_cases
from tests.evidence.pieces import SAID, SECRETS

NOISE = "2026-06-15T03:00:02Z [info ] row ok\n"


@pytest.mark.parametrize("case", load_cases(), ids=lambda case: case.id)
def test_loud_lines_give_all_findings_of_the_corpus(case: Case) -> None:
    log = Log(cleaned(case.error.log))

    assert find_failures(log) == find_failures(log, loud=range(len(log)))


@pytest.mark.parametrize(
    "line",
    [
        "a.rb:14:in `run': no (A::B)",
        "Store::Gone: x",
        "SlowDown: x",
        "kex_exchange_identification: x",
        "client_loop: send disconnect: x",
        "Connection reset by 1.2.3.4 port 22",
        "psql:a.sql:3: x",
        "slurmstepd: error: x",
        "could not do it",
        "npm error code X",
        "go: a@v1: x",
        "remote: Repository not found.",
        "The connection to the server 1.2.3.4 was refused",
        "upload failed: x",
        "caused by: x",
        "x: driver: bad connection",
        "> Could not get resource",
    ],
)
def test_the_shapes_of_failures_are_loud(line: str) -> None:
    log = Log(cleaned(f"ok\n{line}\nok\n"))

    found = find_failures(log)

    assert [one.first for one in found] == [1]
    assert found == find_failures(log, loud=range(len(log)))


@settings(max_examples=600)
@given(st.lists(st.sampled_from(SAID), max_size=30).map("".join))
def test_loud_lines_give_all_findings(text: str) -> None:
    log = Log(cleaned(text))

    assert find_failures(log) == find_failures(log, loud=range(len(log)))


@settings(max_examples=600)
@given(st.lists(st.sampled_from(SECRETS), max_size=10).map("".join))
def test_telling_lines_hold_all_secrets(text: str) -> None:
    assert mask(text) == mask_all(hide_keys(text))


def test_a_scan_that_fails_masks_and_reads_every_line(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "ok\nKeyError: 'x'\npassword=hunter2\n"
    monkeypatch.setattr(Spotter, "matches", lambda *_, **__: None)

    log = Log(cleaned(text))

    assert list(log.loud) == [0, 1, 2, 3]
    assert [finding.type for finding in find_failures(log)] == ["KeyError"]
    assert "hunter2" not in mask(text)


@given(st.text(alphabet=st.sampled_from("ab\n\r\t\x1b[1m\x00\u202e\ud800\u00e9\u3000"), max_size=300))
def test_cleaning_to_bytes_is_cleaning(text: str) -> None:
    assert cleaned(text) == clean(text).encode()


def test_a_long_text_is_cleaned_in_pieces_as_in_one() -> None:
    text = "10%\r50%\r\u00e9 done\r\n\x1b[31mred\x1b[0m\n" * 40_000

    assert cleaned(text) == clean(text).encode()


@pytest.mark.parametrize("at", [0, 150, 300, 4000, 9999])
def test_a_long_log_keeps_the_numbers_of_what_is_loud(at: int) -> None:
    lines = [NOISE] * 10_000
    lines[at] = "ValueError: bad\n"
    log = Log("".join(lines).encode())

    (finding,) = find_failures(log)

    assert log[finding.first].number == at + 1
    assert log[finding.first].text == "ValueError: bad"
    assert len(log) < 4000


def test_a_loud_log_is_read_at_its_ends() -> None:
    lines = [b"ERROR no\n"] * 300_000
    lines[290_000] = b"ValueError: bad\n"

    log = Log(b"".join(lines))

    assert len(log) < 20_000
    assert {log[at].number for at in log.loud} >= {1, 200, 297_500, 300_000}
    assert log[len(log) - 2].number == 300_000


def test_a_key_in_the_middle_of_a_loud_log_is_hidden(rules: RuleSet) -> None:
    key = "-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEAxqA1b2C3d4A1b2C3d4\n-----END PRIVATE KEY-----\n"
    log = "ERROR no\n" * 150_000 + "ERROR key\n" + key + "ERROR no\n" * 500

    evidence = read_failure(error=ErrorReport(log=log, exit_code=1), facts={}, last_good=None, rules=rules)

    assert "MIIEp" not in repr(evidence)


def test_lines_come_in_order_and_once() -> None:
    text = "".join(f"ERROR {number}\n" if number % 7 == 0 else f"line {number}\n" for number in range(20_000))
    numbers = [line.number for line in Log(text.encode())]

    assert numbers == sorted(set(numbers))
