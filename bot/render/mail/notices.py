"""The mails that ontrack writes of itself: a team's hand-over, and troubles of its own. It must not look anything up."""

from collections.abc import Mapping
from typing import Any

import msgspec

from bot.render.digest import Digest, NoticeKind, digest, owners
from bot.render.evidence import told as saying
from bot.render.lines import OwnerFault
from bot.render.mail.from_blocks import line_of, parts_of
from bot.render.mail.model import Fault, MailKind, RenderedMail, facts_of
from bot.render.mail.parts import Heading, Items, Letter, Paragraph, Part, Tone, line, words_of
from bot.render.mail.showing import shown
from bot.render.mail.subjects import subject
from bot.render.moments import written
from bot.render.rendered import Rendered
from bot.render.templates import phrase, phrases
from bot.render.text import one_line

MOST_LINES = 20


def notice_mail(content: Mapping[str, Any]) -> RenderedMail:
    """The mail with this content: `digest` (facts as a notice in Slack has them), `owners`, or `fault`."""
    facts = facts_of(content)
    match content["kind"]:
        case MailKind.DIGEST:
            found = msgspec.convert(facts, Digest)
            about = f"Hand-over for {one_line(found.team, 60)}, {written(found.at, found.zone)}"
            return _of_a_message(digest(found), about=about, zone=found.zone)
        case NoticeKind.OWNERS:
            return _owners(msgspec.convert(facts, tuple[OwnerFault, ...]))
        case _:
            return _fault(msgspec.convert(facts, Fault))


def _owners(faults: tuple[OwnerFault, ...]) -> RenderedMail:
    about = "Owner records that lead to nobody"
    preview = words_of(line_of(owners(faults).text, zone="UTC"))
    letter = Letter(subject=subject(about), title=about, preview=preview, parts=_about_owners(faults), tone=Tone.ASKS)
    return shown(letter)


def _about_owners(faults: tuple[OwnerFault, ...]) -> tuple[Part, ...]:
    """The records, as the message in Slack lists them, and what follows from it for who reads mail."""
    listed = tuple(part for part in parts_of(owners(faults).blocks, zone="UTC") if isinstance(part, Items))
    said = line(phrase("mail/owners", {}, zone="UTC"))
    return (*listed, Paragraph(lines=(said,), small=True))


def _of_a_message(message: Rendered, *, about: str, zone: str) -> RenderedMail:
    """The mail that says what the message says; its header is the title, and lines in bold are headings."""
    title, *parts = parts_of(message.blocks, zone=zone)
    heading = title.text if isinstance(title, Heading) else about
    preview = words_of(line_of(message.text, zone=zone))
    letter = Letter(subject=subject(about), title=heading, preview=preview, parts=tuple(map(_heading, parts)))
    return shown(letter)


def _heading(part: Part) -> Part:
    bold = isinstance(part, Paragraph) and len(part.lines) == 1 and all(piece.bold for piece in part.lines[0])
    return Heading(text=words_of(part.lines[0])) if isinstance(part, Paragraph) and bold else part


def _fault(fault: Fault) -> RenderedMail:
    """A trouble of ontrack itself, and what follows from it."""
    if fault.owners and not (fault.code or fault.lines or fault.title):
        return _owners(fault.owners)
    title, *told = (line(each) for each in phrases("mail/fault", {"fault": fault}, zone="UTC"))
    told = [each for each in told if each]
    lines = tuple(line(saying(each)) for each in fault.lines[:MOST_LINES])
    parts: tuple[Part, ...] = (
        *((Paragraph(lines=tuple(told), lead=True),) if told else ()),
        *((Items(items=lines),) if lines else ()),
        *(_about_owners(fault.owners) if fault.owners else ()),
    )
    about = words_of(title)
    preview = " ".join(map(words_of, (*told, *lines)))
    return shown(Letter(subject=subject(about), title=about, preview=preview, parts=parts, tone=Tone.ASKS))
