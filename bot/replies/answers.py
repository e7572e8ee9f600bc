"""The rows that answer a mail: what they say, final and JSON-able. How they read is `bot.render.mail`; nothing is sent here.

Beside `kind` and `facts` (an `Answer` or a `Confirm`) a row holds: `door`, `shared` (False: it goes to one person alone),
`answers` (the Message-ID of the mail that it answers); one of kind `confirm` also what its link does: `word`, `sure`,
`argument`, `until` (a day).
"""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from bot.incidents.effects import Told, ToldKind
from bot.incidents.policy import Door
from bot.mail import CommandWord, Verdict
from bot.render.mail import Answer, Confirm, content_of
from bot.render.snapshot import Snapshot
from bot.replies.known import Notice
from bot.replies.saying import offers
from bot.store import NewMail

_MESSAGE_ID = re.compile(r"<[!-;=?-~]{1,900}>")


def told_by_mail(
    told: Told, *, verdict: Verdict, notice: Notice, after: Snapshot | None, key: str, links: bool, now: datetime
) -> NewMail:
    """The answer to a word that the core has judged. `after`: the occurrence as it stands now.

    A warning is answered with the link that says yes to it, where there are `links`.
    """
    wrote = _wrote(verdict)
    if told.kind is ToldKind.CONFIRM_UNKNOWN and links:
        content = {**content_of(Confirm(said=wrote, sure=True)), **_link(verdict, sure=True)}
    else:
        shown = Answer(said=wrote, told=_with_what_is_owed(told, verdict, after), number=notice.proposal)
        content = content_of(shown)
    return _mail(content, to=verdict.sender or "", verdict=verdict, notice=notice, key=key, now=now)


def explained_by_mail(
    verdict: Verdict, *, to: str, notice: Notice | None, outsider: bool, key: str, now: datetime
) -> NewMail:
    """Why a mail did nothing, and what would work; `outsider`: whoever wrote decides nothing, and reads nothing of the record."""
    number = notice.proposal if notice is not None and notice.expired is None else None
    return _mail(
        content_of(Answer(reason=verdict.reason, number=number, outsider=outsider)),
        to=to,
        verdict=verdict,
        notice=notice,
        key=key,
        now=now,
    )


def asked_back_by_mail(verdict: Verdict, *, to: str, notice: Notice, key: str, now: datetime) -> NewMail:
    """Asks the member at their own address whether they wrote it; only the link in it acts."""
    content = {**content_of(Confirm(said=_wrote(verdict), number=notice.proposal)), **_link(verdict, sure=False)}
    return _mail(content, to=to, verdict=verdict, notice=notice, key=key, now=now)


def _mail(
    content: Mapping[str, Any], *, to: str, verdict: Verdict, notice: Notice | None, key: str, now: datetime
) -> NewMail:
    more = {
        "door": Door.EMAIL.value,
        "shared": False,
        "answers": _plain_id(verdict.message_id),
    }
    occurrence = notice.occurrence if notice is not None else None
    return NewMail(key=f"answer:{key}", address=to, content={**content, **more}, due_at=now, occurrence=occurrence)


def _link(verdict: Verdict, *, sure: bool) -> dict[str, Any]:
    """What the link of the mail does; a day stands apart from the words."""
    dated, words = verdict.until_at is not None, (verdict.argument or "").split()
    return {
        "word": verdict.command.value if verdict.command is not None else None,
        "sure": sure,
        "argument": " ".join(words[2:] if dated else words),
        "until": words[1] if dated else "",
    }


def _with_what_is_owed(told: Told, verdict: Verdict, after: Snapshot | None) -> Told:
    """A fix that was said by mail leaves what is owed as it is: the answer says so, and how it would be run."""
    if told.kind is not ToldKind.DONE or verdict.command is not CommandWord.FIXED or after is None:
        return told
    if not after.incident.owed or CommandWord.RERUN not in offers(after, proposal=None):
        return told
    reason = f'{told.reason}; what is owed stays owed, and "rerun" would run it now'
    return Told(kind=told.kind, reason=reason, facts=told.facts, input=told.input)


def _plain_id(message_id: str | None) -> str | None:
    """The Message-ID, where it is one that can stand in a header of ours."""
    return message_id if message_id is not None and _MESSAGE_ID.fullmatch(message_id) else None


def _wrote(verdict: Verdict) -> str:
    word = verdict.command.value if verdict.command is not None else ""
    return f"{word} {verdict.argument or ''}".strip()
