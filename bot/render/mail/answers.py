"""The mails back to somebody who wrote: what became of it and what works now, or a link by which only they can confirm it.

It must not judge what was written: the reader and the core have.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from bot.incidents.effects import Told, ToldKind
from bot.render.mail import sections
from bot.render.mail.commands import offered
from bot.render.mail.model import Answer, Confirm, MailKind, MailLinks, RenderedMail, facts_of
from bot.render.mail.parts import Buttons, Letter, Paragraph, Part, Tone, line, plain, words_of
from bot.render.mail.showing import shown
from bot.render.mail.subjects import subject, subject_of
from bot.render.private import told_line
from bot.render.segments import is_web_address, literal
from bot.render.snapshot import Snapshot
from bot.render.templates import phrase, phrases
from bot.render.text import one_line

MOST_SAID = 500


def answer_mail(content: Mapping[str, Any], snapshot: Snapshot | None, links: MailLinks) -> RenderedMail:
    """The mail with this content (`answer` or `confirm`); `snapshot` is what it is about, as it stands now."""
    if content["kind"] == MailKind.CONFIRM:
        return _confirm(msgspec.convert(facts_of(content), Confirm), snapshot, links)
    return _answer(msgspec.convert(facts_of(content), Answer), snapshot, links)


def _answer(answer: Answer, snapshot: Snapshot | None, links: MailLinks) -> RenderedMail:
    told = answer.told.kind if answer.told else None
    done = told is ToldKind.DONE
    lead = Paragraph(lines=(line(_outcome(answer, snapshot)),), lead=True)
    about: tuple[Part, ...] = ()
    if snapshot is not None and not answer.outsider and told is not ToldKind.NOT_YOURS:
        values = sections.values_for(snapshot)
        words = offered(snapshot, proposal=answer.number)
        works = sections.also_by_reply if done else sections.replies
        about = (
            sections.facts(values, snapshot),
            *sections.decisions(words, snapshot, links),
            *works(words, snapshot),
            *sections.further(snapshot, links),
            sections.remarks(values, snapshot),
        )
    return shown(
        Letter(
            subject=_subject(snapshot),
            title=_title(snapshot) if snapshot is not None and about else "Your mail to ontrack",
            preview=words_of(lead.lines[0]),
            parts=(lead, *_said(answer.said), *about),
            tone=Tone.SETTLED if done else Tone.TELLS,
        )
    )


def _outcome(answer: Answer, snapshot: Snapshot | None) -> Any:
    """What became of it: the words of the core, as Slack shows them, or those of the reader."""
    if answer.told is not None:
        return told_line(answer.told, snapshot)
    return phrase("mail/not_taken", {"reason": answer.reason}, zone="UTC")


def _confirm(confirm: Confirm, snapshot: Snapshot | None, links: MailLinks) -> RenderedMail:
    url = next((url for _, url in links.decisions if is_web_address(url)), None)
    values = {"sure": confirm.sure, "linked": url is not None}
    zone = snapshot.zone if snapshot else "UTC"
    first, *rest = (line(each) for each in phrases("mail/confirm", values, zone=zone))
    unknown = Told(kind=ToldKind.CONFIRM_UNKNOWN, reason="")
    told = (Paragraph(lines=(line(told_line(unknown, snapshot)),)),) if confirm.sure else ()
    about: tuple[Part, ...] = ()
    if snapshot is not None:
        values_about = sections.values_for(snapshot)
        about = (sections.facts(values_about, snapshot), *sections.further(snapshot, links))
    parts: tuple[Part, ...] = (
        Paragraph(lines=(first,), lead=True),
        *_said(confirm.said)[1:],
        *told,
        Paragraph(lines=tuple(each for each in rest if each)),
        *((Buttons(buttons=(("Look and confirm", url),)),) if url else ()),
        *about,
    )
    about_it, preview = _subject(snapshot), words_of(first)
    return shown(Letter(subject=about_it, title="Please confirm", preview=preview, parts=parts, tone=Tone.ASKS))


def _said(said: str) -> tuple[Part, ...]:
    """The line as it was read."""
    words = one_line(said, MOST_SAID)
    return (Paragraph(lines=(plain("You wrote:"),)), Paragraph(lines=(plain(words),), quote=True)) if words else ()


def _subject(snapshot: Snapshot | None) -> str:
    return subject_of(snapshot) if snapshot else subject("your mail")


def _title(snapshot: Snapshot) -> str:
    return literal(phrase("mail/title", sections.values_for(snapshot), zone=snapshot.zone))
