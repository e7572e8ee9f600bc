"""Takes one mail of the mailbox: whatever it says is carried out, answered and put behind us, each once, also across a crash.

It opens no mailbox and sends nothing; who may decide is the core's to say, as for a click.
"""

import hashlib
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.incidents.effects import Told
from bot.incidents.people import By, Person
from bot.incidents.policy import Unproven
from bot.intake import Inbound
from bot.mail import Answer, CommandWord, Door, Known, TokenFact, TokenState, Verdict, read_reply
from bot.people import People
from bot.policies import Policies
from bot.ports import ArrivedMail
from bot.replies.answers import asked_back_by_mail, explained_by_mail, told_by_mail
from bot.replies.bounced import Bounced
from bot.replies.known import Notice, Notices, SnapshotOf
from bot.replies.ledger import outcomes_of
from bot.replies.links import TakeIn, told_of
from bot.replies.persons import deciders, person_at
from bot.replies.saying import said
from bot.signed import Signer
from bot.store import MailboxPlace, NewMail, ReadMail, Storage, StorageDown

log = logging.getLogger(__name__)

DOOR = "email"
MOST_ANSWERS = ((timedelta(hours=1), 30), (timedelta(days=1), 200))
UNREADABLE = "it could not be read"


@dataclass(slots=True, kw_only=True)
class _Reading:
    """One mail while it is read: the notices that its tokens name."""

    message: bytes
    now: datetime
    notices: dict[str, Notice] = field(default_factory=dict)


class Correspondence:
    """The use case behind the mailbox.

    `bot`: our own address, without token. `links`: whether acting links can be made (there is a public address). `written`
    is called once an answer was stored.
    """

    def __init__(
        self,
        *,
        storage: Storage,
        take_in: TakeIn,
        snapshot_of: SnapshotOf,
        policies: Callable[[], Policies],
        people: Callable[[], People],
        signer: Signer,
        bot: str,
        authserv_id: str | None,
        links: bool,
        written: Callable[[], None] = lambda: None,
    ) -> None:
        self._storage = storage
        self._take_in = take_in
        self._snapshot_of = snapshot_of
        self._policies = policies
        self._people = people
        self._bot = bot.lower()
        self._authserv_id = authserv_id
        self._links = links
        self._written = written
        self._notices = Notices(
            storage=storage, snapshot_of=snapshot_of, policies=policies, people=people, signer=signer
        )
        self._bounced = Bounced(storage=storage, notices=self._notices, take_in=take_in)

    def take(self, arrived: ArrivedMail, *, place: MailboxPlace, mailbox: str, now: datetime) -> None:
        """Be done with the mail; `place`: how far the mailbox is read with it.

        Raises `StorageDown`: then it has to be taken again, and does nothing a second time. A mail over which our code
        stumbles is logged and put behind us, so that it never blocks those behind it.
        """
        try:
            done, answers = self._taken(arrived.message, now)
            new = self._storage.done_with(done, place=place, mailbox=mailbox, answers=answers, now=now)
        except StorageDown:
            raise
        except Exception:
            log.exception("a mail could not be read", extra={"uid": arrived.uid, "mailbox": mailbox})
            unread = ReadMail(key=_by_bytes(arrived.message), at=now, reason=UNREADABLE)
            self._storage.done_with(unread, place=place, mailbox=mailbox, now=now)
            return
        if new and answers:
            self._written()

    def _taken(self, message: bytes, now: datetime) -> tuple[ReadMail, tuple[NewMail, ...]]:
        """What is to be remembered of the mail, and the answer, once it was carried out."""
        reading = _Reading(message=message, now=now)
        persons = deciders(self._policies(), self._people(), now)
        verdict = self._read(reading, frozenset(persons))
        key = _key_of(verdict, message)
        done = _done(key, now, verdict)
        if self._storage.mail_done(key=key):
            return done, ()
        if verdict.sender is not None:
            self._storage.mend_address(address=verdict.sender)
        self._bounced.take(verdict.bounces, now)
        said_so = self._said(reading, verdict, key, persons)
        answer = said_so or self._unsaid(reading, verdict, key, persons)
        if answer is None or not self._may_answer(answer.address, now):
            return done, ()
        explained = said_so is None and verdict.answer is Answer.EXPLANATION
        return replace(done, told=explained), (answer,)

    def _read(self, reading: _Reading, owners: Iterable[str], *, whatever: bool = False) -> Verdict:
        """The verdict; `whatever`: as if every word fitted, for a mail whose word was taken in before."""
        confirms = self._links and self._policies().mail.unproven is Unproven.CONFIRM

        def fact(token: str) -> TokenFact:
            notice = self._notices.answered_by(token, reading.now)
            if notice is None:
                return self._nothing(token)
            reading.notices[token] = notice
            if whatever:
                return replace(notice.fact, state=TokenState.LIVE, offers=frozenset(CommandWord))
            return notice.fact

        known = Known(token=fact, told=lambda by, about: self._storage.explained(sender=by, occurrence=about))
        door = Door(bot=self._bot, authserv_id=self._authserv_id, owners=frozenset(owners), confirms=confirms)
        return read_reply(reading.message, door=door, known=known, now=reading.now)

    def _nothing(self, token: str) -> TokenFact:
        """A token of a mail that no occurrence is behind any more, or never was; or one that we never made."""
        if self._notices.row_of(token) is None:
            return TokenFact(state=TokenState.UNKNOWN)
        return TokenFact(state=TokenState.STALE, says="it was about no single incident")

    def _said(self, reading: _Reading, verdict: Verdict, key: str, persons: Mapping[str, Person]) -> NewMail | None:
        """Carry the word out, and answer with what the core tells; None where there is no word.

        What was carried out before a crash is only answered now, however the record stands by now.
        """
        notice = reading.notices.get(verdict.token or "")
        if notice is None or verdict.sender is None:
            return None
        said_key = f"mail:{key}"
        earlier = outcomes_of(self._storage.reads, {said_key}).get(said_key)
        if earlier is not None:
            verdict, told = self._read(reading, persons, whatever=True), told_of(earlier)
        elif verdict.command is not None and verdict.acts:
            told = self._carried_out(verdict, verdict.command, notice, said_key, persons, reading.now)
        else:
            return None
        after = self._snapshot_of(*notice.occurrence)
        return told_by_mail(
            told, verdict=verdict, notice=notice, after=after, key=key, links=self._links, now=reading.now
        )

    def _carried_out(
        self,
        verdict: Verdict,
        word: CommandWord,
        notice: Notice,
        said_key: str,
        persons: Mapping[str, Person],
        now: datetime,
    ) -> Told:
        sender = verdict.sender or ""
        event = said(
            word,
            argument=verdict.argument,
            until_at=verdict.until_at,
            by=By(person=persons.get(sender) or person_at(sender, self._people()), at=now, door=DOOR),
            incident=notice.snapshot.incident,
            proposal=notice.proposal,
            sure=False,
            for_all=notice.for_all,
        )
        (outcome,) = self._take_in([Inbound(key=said_key, event=event, occurrence=notice.occurrence)])
        return told_of(outcome)

    def _unsaid(self, reading: _Reading, verdict: Verdict, key: str, persons: Mapping[str, Person]) -> NewMail | None:
        """What is answered to a mail that did nothing: an explanation, or the question whether its owner wrote it."""
        notice = reading.notices.get(verdict.token or "")
        if verdict.answer is Answer.EXPLANATION and verdict.answer_to is not None:
            return explained_by_mail(
                verdict,
                to=verdict.answer_to,
                notice=notice,
                outsider=verdict.answer_to not in persons,
                key=key,
                now=reading.now,
            )
        if verdict.confirms is not None and notice is not None:
            return asked_back_by_mail(verdict, to=verdict.confirms, notice=notice, key=key, now=reading.now)
        return None

    def _may_answer(self, address: str, now: datetime) -> bool:
        """Whether it is no loop: whoever got so many answers lately gets no more, whatever they write."""
        answered = all(
            self._storage.mails_to(address=address, since=now - within) < most for within, most in MOST_ANSWERS
        )
        if not answered:
            log.warning("no answer by mail: too many went there lately", extra={"address": address})
        return answered


def _done(key: str, now: datetime, verdict: Verdict) -> ReadMail:
    return ReadMail(
        key=key, at=now, sender=verdict.sender or "", occurrence=verdict.occurrence or "", reason=verdict.reason
    )


def _key_of(verdict: Verdict, message: bytes) -> str:
    """The name of the mail: by its Message-ID, which counts only for whoever is proven, or asked back, to have written it.

    So nobody can use up the Message-ID of another's mail.
    """
    if verdict.message_id is None:
        return _by_bytes(message)
    if verdict.sender is not None:
        return _digest("id", verdict.sender, verdict.message_id)
    if verdict.confirms is not None:
        return _digest("unproven", verdict.confirms, verdict.message_id)
    return _by_bytes(message)


def _by_bytes(message: bytes) -> str:
    return f"bytes:{hashlib.sha256(message).hexdigest()}"


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()
