"""The reader of replies: a message's bytes, the door's settings and what is known make one verdict. It raises on no mail.

The order is fixed: robots, author, proof, token, person, then the text. Who is not proven is never answered, and no text is
read for one, unless the door asks owners back of whose mails the server says nothing.
"""

from dataclasses import replace
from datetime import datetime

from bot.mail.addresses import one_mailbox
from bot.mail.bounces import bounces_of
from bot.mail.commands import Command, CommandWord, NoCommand
from bot.mail.decoding import Unreadable
from bot.mail.model import Answer, Door, Known, TokenFact, TokenState, Verdict
from bot.mail.parts import Parts, parts_of
from bot.mail.proof import proof_of
from bot.mail.raw import Headers, split_entity
from bot.mail.reading import said_in
from bot.mail.robots import forbids_answer, robot_reason
from bot.mail.tokens import FoundToken, token_of

MOST_BYTES = 50 * 1024 * 1024
LONGEST_ID = 998

_STATES = {
    TokenState.STALE: "the notification that the mail answers has expired",
    TokenState.USED: "the notification that the mail answers was answered before",
    TokenState.UNKNOWN: "the mail names a notification that was never sent",
}


def read_reply(message: bytes, *, door: Door, known: Known, now: datetime) -> Verdict:
    """What the mail does: one command of a proven owner with a live token, or nothing and why."""
    entity = split_entity(message[:MOST_BYTES])
    headers = entity.headers
    parts = parts_of(entity)
    sender = _author(headers)
    verdict = Verdict(acts=False, reason="", message_id=_message_id(headers))
    if (reason := robot_reason(headers, parts, sender=sender, bot=door.bot)) is not None:
        found = bounces_of(headers, parts, sender=sender, bot=door.bot)
        return replace(verdict, reason=f"a program sent it: {reason}", bounces=found)
    if sender is None:
        return replace(verdict, reason="it does not name exactly one valid sender")
    proof = proof_of(headers, domain=sender.rpartition("@")[2], authserv_id=door.authserv_id)
    if not proof.proven:
        verdict = replace(verdict, reason=f"the sender is not proven: {proof.says}")
        if proof.reported or not door.confirms:
            return verdict
        return _asked_back(headers, parts, len(message), verdict, sender, door, known, now)
    return _of_a_person(
        headers, parts, len(message), replace(verdict, sender=sender, reason=proof.says), door, known, now
    )


def _of_a_person(
    headers: Headers, parts: Parts, size: int, verdict: Verdict, door: Door, known: Known, now: datetime
) -> Verdict:
    """What the mail of a proven sender does."""
    sender = verdict.sender or ""
    token = token_of(headers, bot=door.bot)
    fact = known.token(token.token) if token.token else None
    if token.token and fact:
        verdict = replace(verdict, token=token.token, occurrence=fact.occurrence or None)
    if sender not in door.owners:
        live = fact is not None and fact.state is TokenState.LIVE
        reason = f"{sender} is no owner who may decide by mail"
        return _refused(verdict, reason, headers, known) if live else replace(verdict, reason=reason)
    if verdict.message_id is not None and known.done(verdict.message_id):
        return replace(verdict, reason="this mail was taken before")
    if (barred := _not_entitled(headers, sender, token, fact)) is not None:
        return _refused(verdict, barred, headers, known)
    if size > MOST_BYTES:
        return _refused(verdict, "the mail is too large", headers, known)
    try:
        command = _said(parts, door, fact, now)
    except (NoCommand, Unreadable) as failed:
        return _refused(verdict, str(failed), headers, known)
    if fact is not None and command.word not in fact.offers:
        return _refused(verdict, _not_offered(command.word), headers, known)
    return replace(
        verdict,
        acts=True,
        reason=f"{sender} says so: {verdict.reason}",
        command=command.word,
        argument=command.argument,
        until_at=command.until_at,
    )


def _asked_back(
    headers: Headers,
    parts: Parts,
    size: int,
    verdict: Verdict,
    sender: str,
    door: Door,
    known: Known,
    now: datetime,
) -> Verdict:
    """What an owner is asked back whom nobody proved: a whole command that could be carried out. All else is silence."""
    token = token_of(headers, bot=door.bot)
    fact = known.token(token.token) if token.token else None
    if fact is None or sender not in door.owners or size > MOST_BYTES:
        return verdict
    if _not_entitled(headers, sender, token, fact) is not None:
        return verdict
    try:
        command = _said(parts, door, fact, now)
    except (NoCommand, Unreadable):
        return verdict
    if command.word not in fact.offers:
        return verdict
    return replace(
        verdict,
        reason=f"{verdict.reason}; {sender} is asked back",
        command=command.word,
        argument=command.argument,
        until_at=command.until_at,
        token=token.token,
        occurrence=fact.occurrence or None,
        confirms=sender,
    )


def _said(parts: Parts, door: Door, fact: TokenFact | None, now: datetime) -> Command:
    """The command of the text. Raises NoCommand or Unreadable."""
    zone = fact.zone if fact is not None and fact.zone is not None else door.zone
    return said_in(parts, bot=door.bot.partition("@")[0].lower(), zone=zone, now=now)


def _author(headers: Headers) -> str | None:
    values = headers.all("from")
    return one_mailbox(values[0]) if len(values) == 1 else None


def _not_entitled(headers: Headers, sender: str, token: FoundToken, fact: TokenFact | None) -> str | None:
    """Why a proven owner may not act with this mail, None where nothing speaks against it."""
    if any(one_mailbox(value) != sender for value in headers.all("sender")):
        return "somebody else sent it on behalf of its author"
    if fact is None:
        return token.says
    if fact.state is not TokenState.LIVE:
        return f"{_STATES[fact.state]}: {fact.says}" if fact.says else _STATES[fact.state]
    if fact.person is not None and fact.person.lower() != sender:
        return "the notification that the mail answers was made for somebody else"
    return None


def _not_offered(word: CommandWord) -> str:
    if word is CommandWord.RERUN:
        return 'a rerun waits for a yes or no already: answer "approve" or "decline"'
    return f'"{word}" is not possible as the record stands'


def _refused(verdict: Verdict, reason: str, headers: Headers, known: Known) -> Verdict:
    """Nothing happens, and the sender is told why, once for each occurrence, unless the mail forbids an answer."""
    sender = verdict.sender or ""
    silent = forbids_answer(headers) or known.told(sender, verdict.occurrence or "")
    if silent:
        return replace(verdict, reason=reason)
    return replace(verdict, reason=reason, answer=Answer.EXPLANATION, answer_to=sender)


def _message_id(headers: Headers) -> str | None:
    values = headers.all("message-id")
    return values[0].strip()[:LONGEST_ID] or None if values else None
