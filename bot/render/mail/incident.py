"""The mail about an occurrence: what happened, the facts, the evidence, and what can be done, from one snapshot.

It must not look anything up, and offers no word that the occurrence as it stands would refuse.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from bot.incidents.effects import ReplyKind
from bot.incidents.model import AskKind, Status
from bot.mail.commands import CommandWord
from bot.render.mail import sections
from bot.render.mail.commands import offered
from bot.render.mail.evidence import evidence_parts
from bot.render.mail.from_blocks import parts_of
from bot.render.mail.model import MailLinks, RenderedMail
from bot.render.mail.parts import Letter, Paragraph, Part, Tone, line, words_of
from bot.render.mail.showing import shown
from bot.render.mail.subjects import subject_of
from bot.render.readings import field
from bot.render.replies import FACTS
from bot.render.segments import literal
from bot.render.snapshot import Snapshot
from bot.render.templates import draft, phrase, phrases

_ASKING = frozenset(
    {
        ReplyKind.ASK,
        ReplyKind.APPROVAL,
        ReplyKind.JOINED,
        ReplyKind.RETURNED,
        ReplyKind.UNCONFIRMED,
        ReplyKind.STORM_ASK,
    }
)
_MAY_ASK = {
    ReplyKind.RERUN: ("state", ("failed", "refused", "lost")),
    ReplyKind.RESUMED: ("refused", (True,)),
    ReplyKind.DECISION: ("state", ("refused",)),
}
_EVIDENT = frozenset({ReplyKind.EVIDENCE, ReplyKind.CHRONIC})
_SAYS = {
    ReplyKind.APPROVAL: frozenset({"now"}),
    ReplyKind.UNCONFIRMED: frozenset({"now", "fix"}),
    ReplyKind.RETURNED: frozenset({"came back"}),
    ReplyKind.FIXED: frozenset({"fix"}),
    ReplyKind.RESOLVED: frozenset({"fix"}),
}
_OF_THE_THREAD = frozenset({ReplyKind.STORM_ASK, ReplyKind.HANDED, ReplyKind.MOVED})


def incident_mail(
    kind: ReplyKind, facts: Mapping[str, Any], snapshot: Snapshot, *, shared: bool, replies: bool, links: MailLinks
) -> RenderedMail:
    """The mail that tells this reply. `shared`: it goes to a list; `replies`: an answer to it is read."""
    known = dict.fromkeys(FACTS[kind]) | dict(facts)
    wanted = _asks(kind, known)
    asks = wanted and snapshot.incident.status.unresolved
    full = asks or kind in _EVIDENT
    values = sections.values_for(snapshot, f=known, full=full, asks=asks, shared=shared)
    news = (*_news(kind, values, snapshot), *_slack_late(known, snapshot))
    news = news if asks or not wanted else _settled_meanwhile(values, snapshot)
    words = offered(snapshot, proposal=known.get("number"))
    parts = (
        *news,
        sections.facts({**values, "says": _says(kind, known, snapshot)}, snapshot),
        *(sections.decisions(words, snapshot, links) if asks else ()),
        *((*evidence_parts(snapshot, values), *sections.background(values, snapshot)) if full else ()),
        *(_by_reply(words, snapshot, shared=shared, asks=asks) if replies else ()),
        *sections.further(snapshot, links),
        sections.remarks(values, snapshot),
    )
    title = literal(phrase("mail/title", values, zone=snapshot.zone))
    preview = _preview(news, str(values["error"]) if full else "")
    tone = _tone(snapshot, asks=asks)
    return shown(Letter(subject=subject_of(snapshot), title=title, preview=preview, parts=parts, tone=tone))


def _asks(kind: ReplyKind, facts: Mapping[str, Any]) -> bool:
    """Whether it was to want something of its reader; replies that mostly only tell say it in a fact."""
    name, values = _MAY_ASK.get(kind, ("", ()))
    return kind in _ASKING or facts.get(name) in values


def _news(kind: ReplyKind, values: Mapping[str, Any], snapshot: Snapshot) -> tuple[Part, ...]:
    """What the mail is sent for, in the words of the thread; its first paragraph is to be read first."""
    if kind is ReplyKind.EVIDENCE:
        return ()
    if kind is ReplyKind.ASK:
        plea, *rest = (line(each) for each in phrases("mail/ask", values, zone=snapshot.zone))
        told = tuple(each for each in rest if each)
        return (Paragraph(lines=(plea,), lead=True), *((Paragraph(lines=told),) if told else ()))
    first, *others = parts_of(draft(kind, values, zone=snapshot.zone).blocks, zone=snapshot.zone)
    here = (part for part in others if not (kind in _OF_THE_THREAD and isinstance(part, Paragraph) and part.small))
    return (*_led(first), *here)


def _settled_meanwhile(values: Mapping[str, Any], snapshot: Snapshot) -> tuple[Part, ...]:
    """What an ask says that comes when nothing is to be done any more."""
    first, *more = (line(each) for each in phrases("mail/settled_meanwhile", values, zone=snapshot.zone))
    return (Paragraph(lines=(first,), lead=True), Paragraph(lines=tuple(more)))


def _says(kind: ReplyKind, facts: Mapping[str, Any], snapshot: Snapshot) -> frozenset[str]:
    """What the news say already, so that no row of the facts says it again."""
    status = snapshot.incident.status
    opening = kind is ReplyKind.ASK and bool(facts["reason"]) and facts["ask"] in (AskKind.OPENING, None)
    settled = _asks(kind, facts) and not status.unresolved
    return _SAYS.get(kind, frozenset()) | ({"now"} if settled or (opening and status is Status.OPEN) else set())


def _led(part: Part) -> tuple[Part, ...]:
    """The part, the first line of a paragraph standing out."""
    if not isinstance(part, Paragraph) or part.quote or part.small:
        return (part,)
    rest = (Paragraph(lines=part.lines[1:]),) if part.lines[1:] else ()
    return (Paragraph(lines=part.lines[:1], lead=True), *rest)


def _slack_late(facts: Mapping[str, Any], snapshot: Snapshot) -> tuple[Part, ...]:
    """Why what belongs into Slack comes by mail."""
    late = facts.get("slack_late")
    if not late:
        return ()
    told = {"since": field(late, "since"), "code": field(late, "code")}
    return (Paragraph(lines=(line(phrase("mail/slack_late", {"late": told}, zone=snapshot.zone)),)),)


def _by_reply(words: Sequence[CommandWord], snapshot: Snapshot, *, shared: bool, asks: bool) -> tuple[Part, ...]:
    """What can be written back: each whole line where something is asked, else only that it can be."""
    return sections.replies(words, snapshot, shared=shared) if asks else sections.also_by_reply(words, snapshot)


def _preview(news: tuple[Part, ...], error: str) -> str:
    said = [words_of(each) for part in news[:1] if isinstance(part, Paragraph) for each in part.lines]
    return " ".join([*said, error]).strip()


def _tone(snapshot: Snapshot, *, asks: bool) -> Tone:
    if not snapshot.incident.status.unresolved:
        return Tone.SETTLED
    return Tone.ASKS if asks else Tone.TELLS
