"""What holds for any mail: nothing raises, time grows with size alone, nothing but an own line acts. It knows no client."""

import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.mail import Answer
from tests.mail.corpus_cases import load_cases, message
from tests.mail.mails import both, html, mail, read, said

COMMANDS = [
    "ack",
    "approve",
    "decline",
    "fixed by hand",
    "retire it is old",
    "pause until 2026-12-05 x",
    "leave until 2026-12-05 x",
]
SMALL = [case.id for case in load_cases() if not case.label.get("generate")]
WORDS = (
    *(
        "ack",
        "approve",
        ">",
        "--",
        "--b1",
        "--b1--",
        "On",
        "wrote:",
        "From:",
        "x@y.example",
        ":",
        "=",
        "=20",
        "(",
        ")",
        ";",
    ),
    *("<p>", "</p>", "<blockquote>", "<", "&", "&#", "<!--", "\x00", "é", "\n", "\r\n", " ", '"'),
)
PIECES = st.sampled_from(WORDS)

commands = st.sampled_from(COMMANDS)


@settings(deadline=None, max_examples=150)
@given(st.binary(max_size=2_000))
def test_no_bytes_raise_or_act(raw: bytes) -> None:
    verdict = read(raw)

    assert not verdict.acts
    assert verdict.reason


@settings(deadline=None, max_examples=200)
@given(st.sampled_from(SMALL), st.integers(0, 5_000), st.integers(0, 300), st.binary(max_size=20))
def test_no_damaged_mail_raises(id_: str, at: int, gone: int, put: bytes) -> None:
    raw = message(id_)

    assert read(raw[:at] + put + raw[at + gone :]).reason


@settings(deadline=None, max_examples=150)
@given(st.lists(PIECES, max_size=40), st.sampled_from([mail, html]))
def test_no_text_raises(pieces: list[str], make: Callable[[str], bytes]) -> None:
    text = "".join(pieces)

    assert read(make(text)).reason
    assert read(both(text, text)).reason
    assert read(mail("ack", f"X-Any: {text}", f"Content-Type: {text}")).reason


@settings(deadline=None)
@given(commands, st.integers(1, 5), st.booleans())
def test_a_quoted_command_never_acts(command: str, depth: int, spaced: bool) -> None:
    mark = ("> " if spaced else ">") * depth

    assert said(mail(f"{mark}{command}\n")) == "explanation"
    assert said(mail(f"On 30/11/2026 07:12, Ben wrote:\n{mark}{command}\n")) == "explanation"
    assert said(html(f"{'<blockquote>' * depth}{command}{'</blockquote>' * depth}")) == "explanation"


@settings(deadline=None)
@given(commands)
def test_a_signed_or_forwarded_command_never_acts(command: str) -> None:
    forwarded = f"From: Ben <ben@example.com>\nDate: Mon, 30 Nov 2026\nSubject: x\nTo: Ana\n\n{command}\n"

    assert said(mail(f"-- \n{command}\n")) == "explanation"
    assert said(html(f"<div class='gmail_signature'>{command}</div>")) == "explanation"
    assert said(mail(f"---------- Forwarded message ---------\n{forwarded}")) == "explanation"
    assert said(mail(forwarded)) == "explanation"
    assert said(mail(f"{forwarded}\n{command}\n")) == "explanation"


@settings(deadline=None)
@given(commands)
def test_an_attached_message_or_file_never_acts(command: str) -> None:
    for kind in ("message/rfc822", "text/plain; name=x.txt\nContent-Disposition: attachment; filename=x.txt"):
        inner = f"Subject: x\n\n{command}" if kind.startswith("message") else command
        body = f"--b1\nContent-Type: {kind}\n\n{inner}\n--b1--\n"
        assert said(mail(body, kind="multipart/mixed; boundary=b1")) == "explanation"


@settings(deadline=None)
@given(commands, commands)
def test_two_commands_never_act(one: str, other: str) -> None:
    assert said(mail(f"{one}\n\n{other}\n")) == "explanation"


@settings(deadline=None, max_examples=60)
@given(
    commands, st.sampled_from(["Auto-Submitted: auto-replied", "Return-Path: <>", "List-Id: <x>", "Precedence: junk"])
)
def test_a_program_gets_no_answer_whatever_it_says(command: str, header: str) -> None:
    verdict = read(mail(command, header))

    assert (verdict.acts, verdict.answer, verdict.answer_to) == (False, Answer.NONE, None)


HOSTILE: dict[str, Callable[[int], bytes]] = {
    "attribution lines": lambda n: mail("wait\n" + "On 30 Nov 2026 at 10:00 x <a@b.example> wrote:\n" * n),
    "colons": lambda n: mail("wait\n" + "a: b\n" * (10 * n)),
    "one long line": lambda n: mail("On " * (20 * n) + "wrote:"),
    "dashes": lambda n: mail("-" * (50 * n) + "\n" + "- -" * (20 * n)),
    "quote marks": lambda n: mail(">" * (50 * n)),
    "blanks": lambda n: mail("ack" + " " * (50 * n) + "x"),
    "invisible": lambda n: mail("\u200b" * (20 * n) + "ack"),
    "at signs": lambda n: mail("ack", "To: " + "@" * (50 * n)),
    "address without end": lambda n: mail("ack", "To: " + "a" * (50 * n)),
    "quotes in a header": lambda n: mail("ack", 'To: "' + '\\"' * (25 * n)),
    "comments in a header": lambda n: mail("ack", "From: " + "(" * (50 * n)),
    "results": lambda n: mail("ack", passed="mx.example.com" + "; a=b c.d=e" * (5 * n)),
    "references": lambda n: mail("ack", "In-Reply-To: " + "ontrack+" * (6 * n)),
    "open tags": lambda n: html("<div>" * (10 * n)),
    "pairs of tags": lambda n: html("<b></b>" * (7 * n)),
    "attributes": lambda n: html("<a " + "x" * (50 * n) + ">"),
    "styles": lambda n: html(f"<p style='{'/*' * (25 * n)}'>"),
    "style sheets": lambda n: html("<style>{" * (6 * n)),
    "wrong ends": lambda n: html("<p><i><div>" * (2 * n) + "</i></p>" * (3 * n)),
    "big references": lambda n: html("&#" + "9" * (50 * n) + ";"),
    "boundaries": lambda n: mail("--b1\n" * (10 * n), kind="multipart/mixed; boundary=b1"),
    "near boundaries": lambda n: mail("--b1 x\n" * (8 * n), kind="multipart/mixed; boundary=b1"),
    "base64": lambda n: mail("YWNr\n" * (10 * n), "Content-Transfer-Encoding: base64"),
    "flowed": lambda n: mail("a \n" * (20 * n), kind="text/plain; format=flowed"),
    "header lines": lambda n: mail("ack", *(["X-A: b"] * (6 * n))),
    "encoded words": lambda n: mail("ack", "Subject: " + "=?a?q?b?=" * (6 * n)),
}


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE.keys())
def test_time_grows_with_size_alone(hostile: Callable[[int], bytes]) -> None:
    """Forty times the size may take at most about that much longer; measured from 40 kB on, best of three."""

    def seconds(raw: bytes) -> float:
        best = 10.0
        for _ in range(3):
            began = time.perf_counter()
            read(raw)
            best = min(best, time.perf_counter() - began)
        return best

    small, large = seconds(hostile(800)), seconds(hostile(16_000))

    assert large < max(40 * small, 0.2)
    assert large < 2
