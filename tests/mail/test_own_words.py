"""Which words of a mail are its writer's: quotes, signatures, headers of many clients and languages, HTML. No senders here."""

import pytest

from tests.mail.mails import QUOTE, UNMARKED, both, html, mail, said

ATTRIBUTIONS = [
    "On Mon, 30 Nov 2026 at 07:12, ontrack <ontrack@bot.example.com> wrote:",
    "On Mon, Nov 30, 2026 at 7:12 AM ontrack <\nontrack@bot.example.com> wrote:",
    "Am Mo., 30. Nov. 2026 um 07:12 Uhr schrieb ontrack <ontrack@bot.example.com>:",
    "Am 30.11.26 um 07:12 schrieb ontrack:",
    "ontrack schrieb am 30.11.2026 um 07:12:",
    "Op ma 30 nov 2026 om 07:12 schreef ontrack <ontrack@bot.example.com>:",
    "Den man. 30. nov. 2026 kl. 07.12 skrev ontrack <ontrack@bot.example.com>:",
    "ma 30. marrask. 2026 klo 7.12 ontrack (ontrack@bot.example.com) kirjoitti:",
    "po 30. 11. 2026 v 7:12 odesílatel ontrack <ontrack@bot.example.com> napsal:",
    "ontrack <ontrack@bot.example.com>, 30 Kas 2026 Pzt, 07:12 tarihinde şunu yazdı:",
    "ontrack <ontrack@bot.example.com> ezt írta (időpont: 2026. nov. 30., H, 7:12):",
    "Στις Δευ 30 Νοε 2026 στις 7:12 π.μ., ο χρήστης ontrack <ontrack@bot.example.com> έγραψε:",
    "пн, 30 нояб. 2026 г. в 07:12, ontrack <ontrack@bot.example.com>:",
    "пн, 30 лист. 2026 р. о 07:12 ontrack <ontrack@bot.example.com> пише:",
    "2026年11月30日(月) 16:12 ontrack <ontrack@bot.example.com>:",
    "ontrack <ontrack@bot.example.com> 于2026年11月30日周一 15:12写道：",
    "2026년 11월 30일 (월) 오후 4:12, ontrack <ontrack@bot.example.com>님이 작성:",
    "Vào Th 2, 30 thg 11, 2026 vào lúc 14:12 ontrack <ontrack@bot.example.com> đã viết:",
    "Em seg., 30 de nov. de 2026 às 07:12, ontrack <ontrack@bot.example.com> escreveu:",
    "Pe lun., 30 nov. 2026 la 07:12, ontrack <ontrack@bot.example.com> a scris:",
    "Quoting ontrack <ontrack@bot.example.com>:",
]
HEADERS = [
    "From: ontrack <ontrack@bot.example.com>\nSent: Monday, November 30, 2026 7:12 AM\nTo: Ana Ortiz\nSubject: failed",
    "*From:* ontrack <ontrack@bot.example.com>\n*Date:* Monday, 30 November 2026\n*To:* Ana\n*Subject:* failed",
    "Von: ontrack\nGesendet: Montag, 30. November 2026 07:12\nAn: Ana Ortiz\nBetreff: failed",
    "Van: ontrack\nVerzonden: maandag 30 november 2026 07:12\nAan: Ana Ortiz\nOnderwerp: failed",
    "Fra: ontrack\nSendt: mandag 30. november 2026 07:12\nTil: Ana Ortiz\nEmne: failed",
    "Från: ontrack\nSkickat: den 30 november 2026 07:12\nTill: Ana Ortiz\nÄmne: failed",
    "Od: ontrack\nWysłano: poniedziałek, 30 listopada 2026 07:12\nDo: Ana Ortiz\nTemat: failed",
    "Da: ontrack\nInviato: lunedì 30 novembre 2026 07:12\nA: Ana Ortiz\nOggetto: failed",
    "差出人: ontrack\n送信日時: 2026年11月30日 7:12\n宛先: Ana Ortiz\n件名: failed",
    "发件人： ontrack\n发送时间： 2026年11月30日 7:12\n收件人： Ana\n主题： failed",
    "От: ontrack\nОтправлено: 30 ноября 2026 г. 7:12\nКому: Ana\nТема: failed",
    "Nga: ontrack <ontrack@bot.example.com>\nDërguar: e hënë 30 nëntor 2026\nPër: Ana\nTitulli: failed",
]
DIVIDERS = [
    "-----Original Message-----",
    "-------- Forwarded Message --------",
    "-----Oprindelig meddelelse-----",
    "---- On Mon, 30 Nov 2026 07:12:05 +0000 ontrack <ontrack@bot.example.com> wrote ----",
    "________________________________",
    "------------------------------------------------------------",
]


@pytest.mark.parametrize("attribution", ATTRIBUTIONS)
class TestAttributions:
    def test_the_word_above_a_marked_quote_acts(self, attribution: str) -> None:
        assert said(mail(f"ack\n\n{attribution}\n\n{QUOTE}\n")) == "ack"

    def test_the_word_above_an_unmarked_quote_acts(self, attribution: str) -> None:
        assert said(mail(f"ack\n\n{attribution}\n\n{UNMARKED}\n")) == "ack"

    def test_the_word_below_a_marked_quote_acts(self, attribution: str) -> None:
        assert said(mail(f"{attribution}\n{QUOTE}\n\nack\n\n-- \nAna\n")) == "ack"

    def test_an_unmarked_quote_alone_does_nothing(self, attribution: str) -> None:
        assert said(mail(f"\n{attribution}\n\nack\n")) == "explanation"

    def test_a_marked_quote_alone_does_nothing(self, attribution: str) -> None:
        assert said(mail(f"\n{attribution}\n\n{QUOTE}\n")) == "explanation"


@pytest.mark.parametrize("introduction", [*HEADERS, *DIVIDERS])
class TestBlocksAndDividers:
    def test_the_word_above_acts(self, introduction: str) -> None:
        assert said(mail(f"decline\n\n{introduction}\n\n{UNMARKED}\n")) == "decline"

    def test_what_stands_below_never_acts(self, introduction: str) -> None:
        assert said(mail(f"\n{introduction}\n\napprove\n")) == "explanation"

    def test_the_same_in_html(self, introduction: str) -> None:
        shown = introduction.replace("<", "&lt;").replace("\n", "<br>")
        assert said(html(f"<p>decline</p><p>{shown}</p><p>approve</p>")) == "decline"
        assert said(html(f"<p></p><p>{shown}</p><p>approve</p>")) == "explanation"


@pytest.mark.parametrize(
    ("body", "does"),
    [
        ("ack\n-- \napprove\n", "ack"),
        ("ack\n--\napprove\n", "ack"),
        ("-- \napprove\n", "explanation"),
        ("ack\n\nKind regards,\nAna\n\napprove\n", "ack"),
        ("Kind regards,\napprove\n", "explanation"),
        ("ack\n\nSent from my iPhone\n", "ack"),
        ("ack\n\nThanks\napprove\n", "explanation"),
        ("> approve\n", "explanation"),
        (">approve\n>> decline\n", "explanation"),
        (f"I do not agree.\n{QUOTE}\napprove\n", "explanation"),
        (f"At ten you said this:\n{QUOTE}\napprove\n", "explanation"),
        (f"ack\n{QUOTE}\ndecline\n", "explanation"),
        ("\u200b\n\ufeffack\n", "ack"),
        ("\u202eack\n", "explanation"),
        ("ack", "ack"),
        ("ack\n\n----- Forwarded message -----\nFrom: x <x@example.org>\n\napprove\n", "ack"),
        ("---------- Forwarded message ---------\nFrom: x <x@example.org>\n\napprove\n", "explanation"),
        ("-------- Forwarded message --------\nFrom: x <x@example.org>\n\n> is it well?\n\napprove\n", "explanation"),
        (f"On 30/11/2026 07:12 Ben wrote, do not approve:\n{QUOTE}\napprove\n", "explanation"),
    ],
)
def test_own_lines_of_plain_text(body: str, does: str) -> None:
    assert said(mail(body)) == does


@pytest.mark.parametrize(
    ("body", "does"),
    [
        ("<div>ack</div>", "ack"),
        ("a<b>c</b>k", "ack"),
        ("<!-- approve --><p>ack</p>", "ack"),
        ("<blockquote>approve</blockquote>", "explanation"),
        ("<blockquote>approve</blockquote><p>ack</p>", "ack"),
        ("<div class='x_gmail_quote'>approve</div>", "explanation"),
        ("<div id='Signature'>approve</div>", "explanation"),
        ("<p style='display:none'>approve</p><p>wait</p>", "explanation"),
        ("<p style='display : NONE'>approve</p><p>ack</p>", "ack"),
        ("<p hidden>approve</p><p>ack</p>", "ack"),
        ("<style>.z{display:none}</style><p class=z>approve</p><p>ack</p>", "ack"),
        ("<p style='overflow: hidden auto'>ack</p>", "ack"),
        ("<p style='font-size:1px'>approve</p>", "explanation"),
        ("<p style='font-size:0.9em'>ack</p>", "ack"),
        ("<font color=white>approve</font>", "explanation"),
        ("<p style='color:#fefefe'>approve</p>", "explanation"),
        ("<div style='background:#111'><p style='color:#fff'>ack</p></div>", "ack"),
        ("<body bgcolor='#000000'><font color='#ffffff'>ack</font></body>", "ack"),
        ("<p><s>approve</s></p>", "explanation"),
        ("<bdo dir=rtl>approve</bdo>", "explanation"),
        ("<ul><li>approve</li></ul>", "explanation"),
        ("<img alt='approve'>", "explanation"),
        ("<textarea>approve</textarea>", "explanation"),
        ("<script>approve</script><p>ack</p>", "ack"),
        ("ack<br><hr>approve", "ack"),
        ("<p>fixed see &lt;b&gt; &amp; more</p>", "fixed see <b> & more"),
        ("<p>&#97;ck</p>", "ack"),
        ("<p>ack</p><a href='never closed", "ack"),
        ("ack<br>approve", "explanation"),
        ("<blockquote>x</body></html><body>approve</blockquote><p>ack</p>", "ack"),
        ("<blockquote><html><body>approve</body></html></blockquote>", "explanation"),
    ],
)
def test_own_lines_of_html(body: str, does: str) -> None:
    assert said(html(body)) == does


@pytest.mark.parametrize(
    ("text", "markup", "does"),
    [
        ("ack", "<p>ack</p>", "ack"),
        ("ack", "<p>approve</p>", "explanation"),
        ("", "<p>approve</p>", "approve"),
        ("approve", "<p>approve, but later</p>", "explanation"),
        ("approve", "<p style='display:none'>approve</p><p>please wait</p>", "explanation"),
        (
            "retire the export is replaced by another\none since May",
            "<p>retire the export is replaced by another one since May</p>",
            "retire the export is replaced by another one since May",
        ),
        ("> approve", "<p>approve</p>", "explanation"),
        (
            "fixed #4 <https://x.example/4>",
            "<p>fixed <a href='https://x.example/4'>#4</a></p>",
            "fixed #4 <https://x.example/4>",
        ),
        ("ack <https://x.example/4>", "<p><a href='https://x.example/4'>ack</a></p>", "explanation"),
        ("ack\napprove", "<p>ack</p>", "explanation"),
    ],
)
def test_plain_text_and_html_must_say_the_same(text: str, markup: str, does: str) -> None:
    assert said(both(text, markup)) == does
