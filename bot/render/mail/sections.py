"""The sections that mails about an occurrence share: its facts, what can be done about it, where to read on, small print."""

from collections.abc import Mapping, Sequence
from typing import Any

from bot.mail.commands import CommandWord
from bot.render.mail.commands import commands, label
from bot.render.mail.model import MailLinks
from bot.render.mail.parts import Buttons, Commands, Facts, Heading, Paragraph, Part, Piece, line
from bot.render.root import values_of
from bot.render.segments import is_web_address, literal
from bot.render.snapshot import Snapshot
from bot.render.templates import phrase, phrases

_DATED = (CommandWord.PAUSE, CommandWord.LEAVE)
_WORDY = (CommandWord.FIXED, CommandWord.PAUSE, CommandWord.RETIRE, CommandWord.LEAVE)


def values_for(snapshot: Snapshot, **more: Any) -> dict[str, Any]:
    """What the templates of mails about an occurrence may say."""
    plainly = {"full": False, "asks": False, "shared": False, "says": frozenset()}
    same_cause = tuple(key.name for key in snapshot.same_cause)
    return {**values_of(snapshot), **plainly, "same_cause": same_cause, "mention": (), "would_ask": (), **more}


def facts(values: Mapping[str, Any], snapshot: Snapshot) -> Facts:
    """What somebody needs to know first, a row each; `full` in the values: who has to decide."""
    return _rows("mail/facts", values, snapshot)


def background(values: Mapping[str, Any], snapshot: Snapshot) -> tuple[Part, ...]:
    """What helps to decide."""
    return (Heading(text="Background"), _rows("mail/background", values, snapshot))


def decisions(words: Sequence[CommandWord], snapshot: Snapshot, links: MailLinks) -> tuple[Part, ...]:
    """The links that act with one of these words, as buttons called as those in Slack are."""
    urls = {word: url for word, url in links.decisions if is_web_address(url)}
    buttons = tuple((label(snapshot, word), urls[word]) for word in words if word in urls)
    if not buttons:
        return ()
    said = phrases("mail/decisions", {"s": snapshot}, zone=snapshot.zone)
    return (Buttons(buttons=buttons), Paragraph(lines=tuple(map(line, said)), small=True))


def replies(words: Sequence[CommandWord], snapshot: Snapshot, *, shared: bool = False) -> tuple[Part, ...]:
    """What can be written back: a whole line of each command, and what it does."""
    if not words:
        return ()
    values = {
        "s": snapshot,
        "shared": shared,
        "wordy": tuple(word.value for word in words if word in _WORDY),
        "dated": any(word in _DATED for word in words),
    }
    how_to = tuple(line(each) for each in phrases("mail/how_to", values, zone=snapshot.zone) if each)
    return (
        Heading(text="Reply with one of these lines"),
        Commands(commands=commands(snapshot, words)),
        Paragraph(lines=how_to, small=True),
    )


def also_by_reply(words: Sequence[CommandWord], snapshot: Snapshot) -> tuple[Part, ...]:
    """That something can be written back, in a mail that only tells."""
    if not words:
        return ()
    said = phrase("mail/also", {"words": tuple(word.value for word in words)}, zone=snapshot.zone)
    return (Paragraph(lines=(line(said),), small=True),)


def further(snapshot: Snapshot | None, links: MailLinks) -> tuple[Part, ...]:
    """Where to read on, a link a line."""
    runbook = snapshot.policy.runbook if snapshot else None
    known = (("The whole record", links.page), ("The thread in Slack", links.thread), ("Runbook", runbook))
    lines = tuple((Piece(text=name, url=url),) for name, url in known if url and is_web_address(url))
    return (Paragraph(lines=lines),) if lines else ()


def remarks(values: Mapping[str, Any], snapshot: Snapshot) -> Paragraph:
    lines = tuple(line(each) for each in phrases("mail/remark", values, zone=snapshot.zone) if each)
    return Paragraph(lines=lines, small=True)


def _rows(name: str, values: Mapping[str, Any], snapshot: Snapshot) -> Facts:
    written = phrases(name, values, zone=snapshot.zone)
    rows = zip(written[::2], written[1::2], strict=True)
    return Facts(rows=tuple((literal(name), line(value)) for name, value in rows if value))
