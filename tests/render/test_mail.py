"""Mails: each reads as its golden file, plain text and HTML say the same, and only what would work is offered."""

import re
from dataclasses import replace
from datetime import time

import pytest

from bot.incidents.effects import ReplyKind
from bot.incidents.policy import Hours, JobPolicy, Team
from bot.mail.commands import CommandWord, command_of
from bot.render.mail import MailLinks, RenderedMail, answer_mail, notice_mail, offered
from bot.render.mail.commands import example
from bot.render.mail.parts import Heading, Letter, Paragraph, Verbatim, plain
from bot.render.mail.showing import shown
from bot.render.private import told_line
from bot.render.segments import literal
from tests.render import cases
from tests.render.cases import NOW
from tests.render.mail_cases import (
    ANSWERS,
    APPROVAL,
    DECISIONS,
    FIRST_OF_KIND,
    INCIDENTS,
    NOTICES,
    OPEN,
    TO_A_LIST,
    TO_ONE,
    mail_of,
)
from tests.render.mail_checking import golden_mail, seen_in, words
from tests.render.replies import REPLIES, TOLD

MAILS: dict[str, RenderedMail] = {
    **{name: mail_of(case) for name, case in INCIDENTS.items()},
    "ask to a list": mail_of(REPLIES["ask opening"], shared=True, links=TO_A_LIST),
    "ask without replies": mail_of(REPLIES["ask opening"], replies=False),
    "approval to a list": mail_of(APPROVAL, shared=True, links=TO_A_LIST),
    **{name: answer_mail(content, snapshot, TO_ONE) for name, (content, snapshot) in ANSWERS.items()},
    **{name: notice_mail(content) for name, content in NOTICES.items()},
}
IN_HTML = {*FIRST_OF_KIND.values(), "ask rich", "ask to a list", "confirm", "explanation", "digest full", "fault slack"}
ASK = MAILS["ask opening"]


@pytest.mark.parametrize("name", MAILS)
def test_a_mail_reads_as_its_golden_file(name: str) -> None:
    golden_mail(name, MAILS[name], html=name in IN_HTML)


@pytest.mark.parametrize("name", MAILS)
def test_plain_text_and_html_say_the_same_words_in_the_same_order(name: str) -> None:
    seen = seen_in(MAILS[name])
    links = {f"  {url}" for url in seen.links}
    text = "\n".join(line for line in MAILS[name].text.split("\n") if line[line.find("  http") :] not in links)

    assert words(text) == words("".join(seen.texts))
    assert re.findall(r"^\s+(https?://\S+)$", MAILS[name].text, re.MULTILINE) == seen.links


@pytest.mark.parametrize("name", MAILS)
def test_a_mail_is_sound_html_without_anything_from_elsewhere(name: str) -> None:
    seen = seen_in(MAILS[name])

    assert seen.wrong == []
    assert seen.headings[0] == "h1"
    assert seen.headings.count("h1") == 1
    assert len("".join(seen.hidden)) <= 140
    assert len(MAILS[name].html.encode()) <= 100_000
    assert not re.search(r"<(?:img|script|link|iframe|object)|url\(|src=|http-equiv", MAILS[name].html)


@pytest.mark.parametrize("name", MAILS)
def test_plain_text_is_narrow_except_where_a_word_is_longer(name: str) -> None:
    for line in MAILS[name].text.split("\n"):
        verbatim = line.startswith("    ")
        assert len(line) <= 76 or verbatim or max(map(len, line.split())) > 60


def test_every_kind_of_reply_has_a_golden_mail() -> None:
    assert set(FIRST_OF_KIND) == set(ReplyKind)


@pytest.mark.parametrize("name", INCIDENTS)
def test_all_mails_of_a_record_have_one_subject_of_one_short_line(name: str) -> None:
    subject = MAILS[name].subject

    assert len(subject) <= 120
    assert subject.isprintable()
    if INCIDENTS[name].snapshot.incident.job == cases.incident().job and "late" not in name:
        assert subject == "[ontrack] finance.daily_revenue failed (#12)"


def test_a_late_record_says_so_in_its_subject_for_as_long_as_it_lives() -> None:
    then_failed = cases.snapshot(cases.incident(fingerprint="late.not_started"))

    mail = mail_of(replace(REPLIES["ask opening"], snapshot=then_failed))

    assert mail.subject == "[ontrack] finance.daily_revenue is late (#12)"


@pytest.mark.parametrize("name", INCIDENTS)
def test_a_mail_that_nobody_reads_an_answer_to_asks_for_none(name: str) -> None:
    mail = mail_of(INCIDENTS[name], replies=False)

    assert "reply" not in mail.text.lower()
    assert "reply" not in mail.html.lower()


@pytest.mark.parametrize("name", cases.SNAPSHOTS)
@pytest.mark.parametrize("word", CommandWord)
def test_an_example_is_a_command_that_works_when_it_is_read(name: str, word: CommandWord) -> None:
    snapshot = cases.SNAPSHOTS[name]

    command = command_of(example(snapshot, word), zone="Europe/Berlin", now=NOW)

    assert command.word is word


def test_a_day_is_that_of_the_team_wherever_the_jobs_own_clock_stands() -> None:
    hours = Hours(days=tuple(range(5)), starts=time(8), ends=time(18), zone="Asia/Tokyo")
    snapshot = replace(OPEN, policy=JobPolicy(team=Team(name="finance-data", hours=hours)))
    mail = mail_of(replace(REPLIES["ask opening"], snapshot=snapshot))

    for form in (mail.text, mail.html):
        assert "a date means 09:00 of that day (Asia/Tokyo)" in " ".join(form.split())


@pytest.mark.parametrize("name", cases.SNAPSHOTS)
def test_only_what_a_button_offers_as_well_is_offered(name: str) -> None:
    snapshot = cases.SNAPSHOTS[name]
    found = offered(snapshot, proposal=2)

    assert (found == ()) is not snapshot.incident.status.unresolved
    assert (CommandWord.APPROVE in found) is name.startswith("awaiting")
    assert (CommandWord.APPROVE in found) is (CommandWord.DECLINE in found)
    assert CommandWord.APPROVE not in offered(snapshot, proposal=1)
    assert not (snapshot.incident.failure.late and CommandWord.FIXED in found)
    assert not (snapshot.incident.failure.late and CommandWord.RERUN in found) or name == "late not started"


def test_a_mail_to_a_list_holds_no_link_that_acts_and_says_for_whom_it_counts() -> None:
    mail = MAILS["ask to a list"]

    assert not [url for url in seen_in(mail).links if "/d/" in url]
    assert "everybody on this list" in mail.text
    assert "whoever of the team sends it" in mail.text


def test_buttons_lead_where_they_say_and_only_to_what_would_work() -> None:
    acting = [url for url in seen_in(MAILS["approval"]).links if "/d/" in url]

    assert [url.rpartition("/")[2] for url in acting] == [
        "approve",
        "decline",
        "ack",
        "fixed",
        "pause",
        "retire",
        "leave",
    ]
    assert not [url for url in seen_in(MAILS["resolved fixed"]).links if "/d/" in url]
    assert len(DECISIONS) == len(CommandWord)


def test_a_settled_record_offers_nothing() -> None:
    mail = MAILS["ask resolved meanwhile"]

    assert "Reply with" not in mail.text
    assert "Nothing to do" in mail.text


def test_an_outsider_sees_nothing_of_the_record() -> None:
    for name in ("explanation to an outsider", "told not yours"):
        mail = MAILS[name]

        assert seen_in(mail).links == []
        assert "psycopg" not in mail.text
        assert "Run:" not in mail.text


def test_an_address_that_is_no_web_address_is_no_link() -> None:
    bad = MailLinks(page="javascript:alert(1)", thread="http://a b", decisions=((CommandWord.ACK, "data:text/html,x"),))

    assert all(url.startswith("https://") for url in seen_in(mail_of(REPLIES["ask opening"], links=bad)).links)


def test_the_words_of_an_answer_are_those_of_the_chat() -> None:
    for name, (answer, snapshot) in TOLD.items():
        said = literal(told_line(answer, snapshot))
        if "CET" not in said:
            assert said in " ".join(MAILS[f"told {name}"].text.split())


def test_a_mail_that_is_too_large_loses_its_verbatim_lines_first_and_says_the_same_in_both_forms() -> None:
    long = Verbatim(text="\n".join("x" * 100 for _ in range(900)))
    parts = (Paragraph(lines=(plain("first"),), lead=True), long, Heading(text="last"))
    letter = Letter(subject="[ontrack] a", title="A", preview="a", parts=parts)

    small, large = shown(letter), shown(replace(letter, parts=(parts[0], long, long, parts[2])))

    assert "xxx" in small.html
    assert large == small
    assert "last" in large.text
    assert len(large.html.encode()) <= 100_000


def test_without_a_link_a_mail_says_where_else_to_confirm() -> None:
    content, snapshot = ANSWERS["confirm"]

    assert "please do it in Slack" in " ".join(answer_mail(content, snapshot, TO_A_LIST).text.split())
