"""The stand-in mail system: what it keeps, and that its replies act through the product's reader exactly when they are proven."""

import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from email.policy import default

import pytest

from bot.mail import CommandWord, Door, Known, TokenFact, TokenState, Verdict, read_reply
from bot.ports import MailMessage, SendFailed
from bot.sandbox.mail.office import ADDRESS, AUTHSERV_ID, NotSent, PostOffice
from bot.sandbox.mail.reading import offered_lines, opened

NOW = datetime(2026, 11, 30, 6, 0, tzinfo=UTC)
ANA, BEN, LIST = "ana@example.com", "ben@example.com", "finance-data@example.com"
TOKEN = "7-abcdefghijklmnopqrst"
ASK = MailMessage(
    key="ask/1.1",
    message_id=f"<ontrack+{TOKEN}@sandbox.example>",
    to=ANA,
    subject="[ontrack] shop/exchange_rates: “1.O841” is no number",
    text="shop/exchange_rates failed at 06:00.\n\nAnswer with one of these lines:\n\n  ack\n  fixed wrote the rate with a zero\n",
    html="<html><head><meta charset=utf-8></head><body><p>shop/exchange_rates <b>failed</b></p><pre>ack</pre></body></html>",
    references=("<record-1@sandbox.example>",),
    reply_to=f"ontrack+{TOKEN}@sandbox.example",
)
DOOR = Door(bot=ADDRESS, authserv_id=AUTHSERV_ID, owners=frozenset({ANA, BEN}), zone="Europe/Berlin")


def live(token: str) -> TokenFact:
    return TokenFact(state=TokenState.LIVE if token == TOKEN else TokenState.UNKNOWN, occurrence="1.1")


@pytest.fixture
def office() -> PostOffice:
    made = PostOffice(people={ANA: "Ana", BEN: "Ben"}, lists=(LIST,), clock=lambda: NOW)
    made.mail.send(ASK)
    return made


def verdict_of(office: PostOffice) -> Verdict:
    (arrived,) = office.mailbox.after(0, limit=10)
    return read_reply(arrived.message, door=DOOR, known=Known(token=live), now=NOW)


@pytest.mark.parametrize("quoting", [True, False])
@pytest.mark.parametrize(
    ("line", "command", "argument"),
    [
        ("ack", CommandWord.ACK, None),
        ("Approve.", CommandWord.APPROVE, None),
        ("fixed wrote the rate with a zero", CommandWord.FIXED, "wrote the rate with a zero"),
        ("leave until 2026-12-05 <the bank> mends it & tells us", CommandWord.LEAVE, None),
    ],
)
def test_a_reply_acts(
    office: PostOffice, line: str, command: CommandWord, argument: str | None, *, quoting: bool
) -> None:
    office.reply(1, f"{line}\n\nAna", as_address=ANA, quoting=quoting)
    verdict = verdict_of(office)

    assert (verdict.acts, verdict.command, verdict.sender) == (True, command, ANA), verdict.reason
    assert argument in (None, verdict.argument)


def test_a_reply_whose_sender_is_not_proven_does_nothing_and_is_not_answered(office: PostOffice) -> None:
    office.reply(1, "approve", as_address=ANA, forged=True)
    verdict = verdict_of(office)

    assert (verdict.acts, verdict.answer_to) == (False, None)
    assert "DMARC failed" in verdict.reason


def test_plain_words_do_nothing_and_are_explained(office: PostOffice) -> None:
    office.reply(1, "go ahead", as_address=ANA)
    verdict = verdict_of(office)

    assert (verdict.acts, verdict.answer_to) == (False, ANA)


def test_two_answers_have_names_of_their_own(office: PostOffice) -> None:
    for _ in range(2):
        office.reply(1, "ack", as_address=ANA)
    verdicts = [
        read_reply(one.message, door=DOOR, known=Known(token=live), now=NOW)
        for one in office.mailbox.after(0, limit=10)
    ]

    assert len({one.message_id for one in verdicts}) == 2


def test_an_answer_to_a_list_is_its_writers_own(office: PostOffice) -> None:
    office.mail.send(replace(ASK, to=LIST))
    sent = office.reply(2, "ack", as_address=BEN)

    assert sent.box == LIST
    assert verdict_of(office).sender == BEN


def test_a_mail_lies_in_its_mailbox_as_it_was_written(office: PostOffice) -> None:
    (letter,) = office.boxes.letters()
    parsed, mail = message_from_bytes(letter.message, policy=default), opened(letter.message)

    assert (letter.box, mail.address, mail.subject) == (ANA, ADDRESS, ASK.subject)
    assert (mail.text, mail.html) == (ASK.text, ASK.html)
    assert (parsed["auto-submitted"], parsed["message-id"]) == ("auto-generated", ASK.message_id)
    assert (mail.reply_to, mail.conversation) == (ASK.reply_to, ASK.references[0])


def test_a_conversation_holds_the_answers(office: PostOffice) -> None:
    office.reply(1, "ack", as_address=ANA)

    assert len({opened(each.message).conversation for each in office.boxes.letters()}) == 1


def test_an_address_that_nobody_has_is_refused_for_good(office: PostOffice) -> None:
    with pytest.raises(SendFailed) as failed:
        office.mail.send(replace(ASK, to="nobody@example.com"))

    assert (failed.value.code, failed.value.permanent) == ("5.1.1", True)


@pytest.mark.parametrize(
    ("mail", "text", "writer"),
    [(9, "ack", ANA), (0, "ack", ANA), (1, " \n", ANA), (1, "ack", LIST), (1, "ack", "x@example.com")],
)
def test_an_answer_that_makes_no_sense_is_not_sent(office: PostOffice, mail: int, text: str, writer: str) -> None:
    with pytest.raises(NotSent):
        office.reply(mail, text, as_address=writer)

    assert office.mailbox.after(0, limit=10) == ()


def test_what_a_mail_offers_are_the_lines_that_would_act() -> None:
    assert offered_lines(ASK.text, now=NOW) == ("ack", "fixed wrote the rate with a zero")
    assert offered_lines("You wrote:\n\n  rerun\n\nReply with:\n\n  - ack\n", now=NOW) == ("ack",)


def test_uids_go_up_and_nothing_is_given_twice(office: PostOffice) -> None:
    for _ in range(3):
        office.reply(1, "ack", as_address=ANA)

    assert [one.uid for one in office.mailbox.after(0, limit=2)] == [1, 2]
    assert [one.uid for one in office.mailbox.after(2, limit=2)] == [3]
    assert office.mailbox.after(3, limit=2) == ()


def test_another_life_has_uids_of_its_own() -> None:
    lives = [PostOffice(people={}, clock=lambda at=at: at) for at in (NOW, NOW + timedelta(seconds=1))]  # type: ignore[misc]

    assert len({each.mailbox.open() for each in lives}) == 2


def test_waiting_ends_when_something_comes(office: PostOffice) -> None:
    office.mailbox.after(0, limit=10)
    waiting = threading.Thread(target=office.mailbox.wait, args=(timedelta(seconds=30),))
    waiting.start()
    office.reply(1, "ack", as_address=ANA)
    waiting.join(5)

    assert not waiting.is_alive()


def test_what_came_between_looking_and_waiting_is_not_waited_for(office: PostOffice) -> None:
    office.mailbox.after(0, limit=10)
    office.reply(1, "ack", as_address=ANA)
    waiting = threading.Thread(target=office.mailbox.wait, args=(timedelta(seconds=30),), daemon=True)
    waiting.start()
    waiting.join(5)

    assert not waiting.is_alive()


def test_closing_ends_a_wait(office: PostOffice) -> None:
    waiting = threading.Thread(target=office.mailbox.wait, args=(timedelta(seconds=30),))
    waiting.start()
    office.mailbox.close()
    waiting.join(5)

    assert not waiting.is_alive()
