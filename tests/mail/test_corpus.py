"""Every mail of the corpus does what its label says, within its time; it repeats no rule of the reader."""

import time
from typing import Any

import pytest

from bot.mail import Verdict
from tests.mail.corpus_cases import Case, load_cases, message, read_case

CASES = load_cases()
SECONDS = 1.0


def done(verdict: Verdict) -> dict[str, Any]:
    return {
        "acts": verdict.acts,
        "command": verdict.command.value if verdict.command else None,
        "argument": verdict.argument,
        "answer": verdict.answer.value,
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_mail_does_what_its_label_says(case: Case) -> None:
    message(case.id)
    began = time.perf_counter()

    verdict = read_case(case)

    assert time.perf_counter() - began < case.label.get("seconds", SECONDS)
    accepted = [{key: label[key] for key in ("acts", "command", "argument", "answer")} for label in case.accepted]
    assert done(verdict) in accepted, verdict.reason
    assert verdict.reason
    if "until" in case.label["expect"] and verdict.acts:
        assert verdict.until_at is not None
        assert verdict.until_at.isoformat() == f"{case.label['expect']['until']}T09:00:00+00:00"
    if (only := case.label["expect"].get("answer_to")) is not None:
        assert verdict.answer_to == only


@pytest.mark.parametrize("case", [one for one in CASES if "bounce" in one.label["expect"]], ids=lambda case: case.id)
def test_a_report_tells_of_the_address_that_it_names(case: Case) -> None:
    verdict = read_case(case)

    told = [{"kind": one.kind.value, "recipient": one.recipient, "status": one.status} for one in verdict.bounces]
    expected = case.label["expect"]["bounce"]
    assert told == ([expected] if expected else [])


def test_the_whole_corpus_is_there() -> None:
    assert len({case.id for case in CASES}) == 282
