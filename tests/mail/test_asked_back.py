"""Whom the reader would have asked back of whose mail no server tells anything; it repeats no rule of what a line says."""

from dataclasses import replace

import pytest

from bot.mail import Known, TokenFact, TokenState, Verdict, read_reply
from tests.mail.corpus_cases import DOOR, NOW, load_cases, message, read_case
from tests.mail.mails import PASSED, mail

LIVE = TokenFact(state=TokenState.LIVE, person="ana@example.com", occurrence="4127.1")


def read(raw: bytes, *, authserv_id: str | None = "mx.example.com", fact: TokenFact = LIVE) -> Verdict:
    door = replace(DOOR, confirms=True, authserv_id=authserv_id)
    return read_reply(raw, door=door, known=Known(token=lambda _: fact), now=NOW)


def test_a_whole_command_is_asked_back_and_not_carried_out() -> None:
    verdict = read(mail("ack", passed=None))

    assert (verdict.acts, verdict.sender, verdict.answer_to) == (False, None, None)
    assert (verdict.confirms, verdict.command, verdict.occurrence) == ("ana@example.com", "ack", "4127.1")


def test_so_it_is_where_no_server_is_trusted() -> None:
    assert read(mail("ack", passed=None), authserv_id=None).confirms == "ana@example.com"
    assert read(mail("ack", passed=PASSED), authserv_id=None).confirms == "ana@example.com"


@pytest.mark.parametrize(
    ("verdict", "server"),
    [
        ("mx.example.com; dmarc=fail header.from=example.com", "mx.example.com"),
        ("mx.example.com; dkim=fail header.d=example.com", "mx.example.com"),
        ("mx.example.com; none", "mx.example.com"),
        ("mx.example.org; dmarc=fail header.from=example.com", "mx.example.com"),
        ("mx.example.org; dmarc=none header.from=example.com", None),
        ("mx.example.org; spf=softfail smtp.mailfrom=example.com", None),
    ],
)
def test_any_verdict_against_it_is_silence(verdict: str, server: str | None) -> None:
    assert read(mail("ack", passed=verdict), authserv_id=server).confirms is None


def test_a_verdict_of_our_server_that_does_not_count_is_no_lack_of_one() -> None:
    foreign = b"Received: from a.example.org by mail.example.org with ESMTP id 1\r\nAuthentication-Results"
    raw = mail("ack").replace(b"Authentication-Results", foreign)

    assert read(raw).confirms is None


@pytest.mark.parametrize(
    "fact",
    [
        replace(LIVE, person="ben@example.com"),
        replace(LIVE, state=TokenState.STALE),
        replace(LIVE, state=TokenState.UNKNOWN),
        replace(LIVE, offers=frozenset()),
    ],
)
def test_nobody_is_asked_about_what_could_not_be_done(fact: TokenFact) -> None:
    assert read(mail("ack", passed=None), fact=fact).confirms is None


def test_without_the_setting_it_is_silence() -> None:
    raw = mail("ack", passed=None)

    assert read_reply(raw, door=DOOR, known=Known(token=lambda _: LIVE), now=NOW).confirms is None


def test_no_mail_of_the_corpus_is_asked_back_by_default() -> None:
    small = [case for case in load_cases() if not case.label.get("generate")]

    assert [case.id for case in small if read_case(case).confirms] == []


def test_of_the_corpus_only_whole_commands_without_any_verdict_are_asked_back() -> None:
    asked = {}
    for case in load_cases():
        if not case.label.get("generate") and (found := read(message(case.id))).confirms:
            asked[case.id] = found
    assert asked, "the corpus has mails without a verdict"
    assert not any(verdict.acts or verdict.sender or verdict.answer_to for verdict in asked.values())
    assert {verdict.confirms for verdict in asked.values()} <= DOOR.owners


def test_a_token_tells_the_zone_and_why_it_counts_no_more() -> None:
    tokyo = read(mail("leave until 2026-12-04 later"), fact=replace(LIVE, zone="Asia/Tokyo"))
    assert tokyo.until_at is not None
    assert tokyo.until_at.isoformat() == "2026-12-04T00:00:00+00:00"

    stale = read(mail("ack"), fact=replace(LIVE, state=TokenState.STALE, says="it is a fortnight old"))
    assert stale.reason.endswith("has expired: it is a fortnight old")
