"""The mail as bytes: headers that cannot be broken out of, texts that every server takes, the same mail each time."""

from dataclasses import replace
from email import message_from_bytes, policy
from email.message import EmailMessage

import pytest

from bot.adapters.smtp_letter import Letter, letter
from bot.ports import MailMessage, SendFailed
from tests.adapters.conftest import NOW

LONG = ".".join(["a-long-label-of-a-domain"] * 4) + ".example"
SENDER = "Øntrack <ontrack@example.com>"
MESSAGE = MailMessage(
    key="k",
    message_id=f"<ontrack+1-abcdefghijabcdefghij@{LONG}>",
    to="ana@example.org",
    subject="s",
    text="t",
    html="<p>h</p>",
)


def made(**fields: object) -> Letter:
    return letter(replace(MESSAGE, **fields), sender=SENDER, at=NOW)  # type: ignore[arg-type]


def read(found: Letter) -> EmailMessage:
    message = message_from_bytes(found.text, policy=policy.default)

    assert isinstance(message, EmailMessage)
    return message


def test_the_same_message_is_the_same_mail() -> None:
    assert made() == made()


def test_names_of_mails_are_never_encoded_however_long() -> None:
    references = tuple(f"<record-{number}@{LONG}>" for number in range(6))
    message = read(made(references=references, answers="<her-mail@example.org>"))

    assert message["Message-ID"] == MESSAGE.message_id
    assert message["References"].split() == [*references, "<her-mail@example.org>"]
    assert message["In-Reply-To"] == "<her-mail@example.org>"
    assert message["Auto-Submitted"] == "auto-replied"
    assert b"=?" not in made(references=references).text.partition(b"References:")[2].partition(b"\r\n\r\n")[0]


@pytest.mark.parametrize("subject", ["plain", "größer " * 15, "\N{PARTY POPPER} done", "a" * 119])
def test_subjects_read_as_they_were_written(subject: str) -> None:
    found = made(subject=subject)

    assert read(found)["Subject"] == subject.strip() or read(found)["Subject"] == subject
    assert max(map(len, found.text.split(b"\r\n"))) < 998


@pytest.mark.parametrize(
    "text", ["From here\n.\n..\nbare\rreturn", "ü" * 3000, "\ud83d half", "x" * 5000, "\u2028 sep"]
)
def test_a_text_travels_in_seven_bits_and_short_lines(text: str) -> None:
    found = made(text=text, html=f"<pre>{text}</pre>")
    plain, html = read(found).iter_parts()
    expected = text.replace("\ud83d", "?").replace("\r", "\n")

    assert found.text.isascii()
    assert max(map(len, found.text.split(b"\r\n"))) <= 200
    assert b"\n" not in found.text.replace(b"\r\n", b"")
    assert plain.get_content().replace("\r\n", "\n").replace("\r", "\n").rstrip("\n") == expected.rstrip("\n")
    assert expected.split("\n")[0] in html.get_content()


@pytest.mark.parametrize(
    "fields",
    [
        {"subject": "s\r\nBcc: eve@example.com"},
        {"subject": "s\u2028t"},
        {"message_id": "<a@b>\n"},
        {"to": "ana@example.org\r\nRCPT TO:<eve@example.com>"},
        {"reply_to": "a@b\nX: y"},
        {"references": ("<a@b>\r\n",)},
        {"answers": "<a@b>\rX"},
    ],
)
def test_no_value_begins_another_line(fields: dict[str, object]) -> None:
    with pytest.raises(SendFailed, match="unsafe_header") as caught:
        made(**fields)

    assert caught.value.permanent


@pytest.mark.parametrize(
    "to", ["nobody", "@example.org", "ana@", "a b@example.org", "<ana@example.org", "änä@example.org"]
)
def test_what_is_no_address_is_not_sent_to(to: str) -> None:
    with pytest.raises(SendFailed, match="no_address"):
        made(to=to)


def test_a_domain_of_any_script_is_written_as_it_travels() -> None:
    assert made(to="ana@bücher.example").to == "ana@xn--bcher-kva.example"


def test_reports_of_failure_name_the_mail_where_answers_are_read() -> None:
    assert made().senders == ("ontrack@example.com",)
    assert made(reply_to="ontrack+1-x@example.com").senders == ("ontrack+1-x@example.com", "ontrack@example.com")
