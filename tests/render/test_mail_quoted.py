"""Our own mails as clients quote them below or above an answer: only what the person wrote counts, never our examples."""

import re

import pytest

from bot.render.mail import RenderedMail
from tests.mail.mails import both, html, mail, said
from tests.render.mail_cases import APPROVAL, mail_of
from tests.render.replies import REPLIES

SENT = {"ask": mail_of(REPLIES["ask opening"]), "approval": mail_of(APPROVAL), "told": mail_of(REPLIES["acknowledged"])}
WROTE = "On Mon, 30 Nov 2026 at 07:12, ontrack <ontrack@bot.example.com> wrote:"
OUTLOOK = (
    "From: ontrack <ontrack@bot.example.com>\nSent: Monday, November 30, 2026 7:12 AM\nTo: Ana Ortiz\nSubject: failed"
)
BODY = re.compile(r"<body[^>]*>(.*)</body>", re.DOTALL)


def quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.rstrip().split("\n"))


def below(own: str, sent: RenderedMail, *, layout: str) -> bytes:
    """An answer whose writer wrote `own` above what was sent, or below it."""
    markup = BODY.search(sent.html)

    assert markup is not None
    match layout:
        case "marked below":
            return mail(f"{own}\n\n{WROTE}\n\n{quoted(sent.text)}\n")
        case "unmarked below":
            return mail(f"{own}\n\n{WROTE}\n\n{sent.text}\n")
        case "headers below":
            return mail(f"{own}\n\n{OUTLOOK}\n\n{sent.text}\n")
        case "marked above":
            return mail(f"{WROTE}\n\n{quoted(sent.text)}\n\n{own}\n")
        case "gmail":
            quote = f'<div class="gmail_quote"><div class="gmail_attr">{WROTE}</div><blockquote>{markup[1]}</blockquote></div>'
            return both(f"{own}\n\n{WROTE}\n\n{quoted(sent.text)}\n", f"<div>{own}</div><br>{quote}")
        case _:
            quote = f'<blockquote type="cite">{markup[1]}</blockquote>'
            return html(f"<div>{own}</div><br>{quote}")


LAYOUTS = ("marked below", "unmarked below", "headers below", "marked above", "gmail", "cited")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", SENT)
class TestQuotedMails:
    def test_the_writers_own_line_acts(self, name: str, layout: str) -> None:
        assert said(below("ack", SENT[name], layout=layout)) == "ack"

    def test_no_line_of_ours_acts_for_somebody_who_wrote_nothing(self, name: str, layout: str) -> None:
        assert said(below("", SENT[name], layout=layout)) == "explanation"

    def test_plain_words_above_or_below_it_are_asked_back(self, name: str, layout: str) -> None:
        assert said(below("go ahead", SENT[name], layout=layout)) == "explanation"


@pytest.mark.parametrize("name", SENT)
def test_a_mail_that_comes_back_whole_does_nothing(name: str) -> None:
    assert said(mail(SENT[name].text)) == "explanation"
    assert said(both(SENT[name].text, SENT[name].html)) == "explanation"
