"""The links of a mail that act: looking shows what one would do, acting does it, once, as the person the mail was sent to.

It must not read a request; whatever is not exactly a link of ours is refused without a word about the record.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from bot.incidents.effects import Told, ToldKind
from bot.incidents.people import By, Person
from bot.intake import Inbound, Outcome, Result
from bot.mail import Command, CommandWord, NoCommand, command_of
from bot.people import People
from bot.policies import Policies
from bot.render.snapshot import Snapshot
from bot.replies.known import Notice, Notices, SnapshotOf
from bot.replies.ledger import outcomes_of
from bot.replies.saying import meant, offers, said
from bot.signed import ActingLink, Signer
from bot.store import Storage

DOOR = "web"
MOST_TRIES = 20
FORGOTTEN = timedelta(days=30)
"""A link that is older leads nowhere, not even to its record: else it would be a key to that for ever."""

NOT_USED_UP = frozenset({ToldKind.UNSURE, ToldKind.INVALID, ToldKind.CONFIRM_UNKNOWN})
DATED = frozenset({CommandWord.PAUSE, CommandWord.LEAVE})
WORDS = frozenset(word.value for word in CommandWord)
WORDY = DATED | {CommandWord.FIXED, CommandWord.RETIRE}

TakeIn = Callable[[Sequence[Inbound]], list[Outcome]]


class LinkTrouble(StrEnum):
    """Why a link leads nowhere."""

    UNKNOWN = "unknown"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRefused:
    """Nothing was done. `snapshot`: the occurrence that an expired link is about; None of one that is not ours."""

    trouble: LinkTrouble
    says: str
    snapshot: Snapshot | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkView:
    """What the link would do, for whom.

    `argument` and `until` (a date) stand in the form to begin with; `wants_words` and `wants_day`: what it asks for. A day
    begins at 09:00 in `zone`. `done`: what was told when the link was used before. `works`: whether the record takes the
    word as it stands; the core judges all the same. `number` is the proposal that a yes or no answers.
    """

    word: CommandWord
    sure: bool
    person: Person
    snapshot: Snapshot
    zone: str
    number: int | None
    argument: str = ""
    until: str = ""
    works: bool = True
    done: Told | None = None

    @property
    def wants_words(self) -> bool:
        return self.word in WORDY

    @property
    def wants_day(self) -> bool:
        return self.word in DATED


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkDone:
    """What the core told about it. `again`: the link was used before, and this is what was told then.

    `sure`: the name of the link that says yes to the warning that was told. `snapshot` is the occurrence as it stands now.
    """

    word: CommandWord
    told: Told
    person: Person
    snapshot: Snapshot
    again: bool = False
    sure: str | None = None


class Links:
    """The use case behind `/d/<name>/<word>`."""

    def __init__(
        self,
        *,
        storage: Storage,
        take_in: TakeIn,
        snapshot_of: SnapshotOf,
        policies: Callable[[], Policies],
        people: Callable[[], People],
        signer: Signer,
    ) -> None:
        self._storage = storage
        self._take_in = take_in
        self._snapshot_of = snapshot_of
        self._signer = signer
        self._notices = Notices(
            storage=storage, snapshot_of=snapshot_of, policies=policies, people=people, signer=signer
        )

    def look(self, name: str, word: str, *, sure: bool, now: datetime) -> LinkView | LinkRefused:
        """What the link would do; it changes nothing. Raises `StorageDown`."""
        found = self._found(name, word, sure=sure, now=now)
        if isinstance(found, LinkRefused):
            return found
        link, notice, person = found
        command = CommandWord(link.word)
        earlier = self._earlier(link)
        if earlier is None and notice.expired is not None:
            return _expired(notice)
        content = notice.row.content
        own = content.get("word") == link.word
        return LinkView(
            word=command,
            sure=sure,
            person=person,
            snapshot=notice.snapshot,
            zone=notice.zone,
            number=notice.proposal,
            argument=str(content.get("argument", "")) if own else "",
            until=str(content.get("until", "")) if own else "",
            works=command in offers(notice.snapshot, proposal=notice.proposal),
            done=earlier,
        )

    def act(
        self, name: str, word: str, *, argument: str, until: str, sure: bool, now: datetime
    ) -> LinkDone | LinkRefused:
        """Do it, or tell again what was told. `until` is a date as its field gives it. Raises `StorageDown`."""
        found = self._found(name, word, sure=sure, now=now)
        if isinstance(found, LinkRefused):
            return found
        link, notice, person = found
        command = CommandWord(link.word)
        earlier = self._earlier(link)
        if earlier is not None:
            return self._done(link, notice, person, earlier, again=True)
        if notice.expired is not None:
            return _expired(notice)
        if command not in meant(notice.snapshot, proposal=notice.proposal):
            told = Told(kind=ToldKind.CANNOT, reason="the mail of this link asked for something else")
            return self._done(link, notice, person, told)
        try:
            said_so = _read(command, argument=argument, until=until, zone=notice.zone, now=now)
        except NoCommand as wrong:
            told = Told(kind=ToldKind.INVALID, reason=str(wrong), input="until" if command in DATED else "argument")
            return self._done(link, notice, person, told)
        told, again = self._taken(link, notice, By(person=person, at=now, door=DOOR), said_so)
        return self._done(link, notice, person, told, again=again)

    def _taken(self, link: ActingLink, notice: Notice, by: By, command: Command) -> tuple[Told, bool]:
        event = said(
            command.word,
            argument=command.argument,
            until_at=command.until_at,
            by=by,
            incident=notice.snapshot.incident,
            proposal=notice.proposal,
            sure=link.sure,
            for_all=notice.for_all,
        )
        told, again = Told(kind=ToldKind.CANNOT, reason="it was tried too often"), False
        for key in _keys(link):
            (outcome,) = self._take_in([Inbound(key=key, event=event, occurrence=notice.occurrence)])
            told, again = told_of(outcome), outcome.result is Result.DUPLICATE
            if not (again and told.kind in NOT_USED_UP):
                break
        return told, again

    def _earlier(self, link: ActingLink) -> Told | None:
        """What was told when the link was used up. A passing reason, a form to be mended, a question: those leave it as it was."""
        stored = outcomes_of(self._storage.reads, _keys(link))
        used_up = (
            told for key in _keys(link) if key in stored if (told := told_of(stored[key])).kind not in NOT_USED_UP
        )
        return next(used_up, None)

    def _found(
        self, name: str, word: str, *, sure: bool, now: datetime
    ) -> tuple[ActingLink, Notice, Person] | LinkRefused:
        """The link, its mail and for whom it acts; a mail to a list has no acting link."""
        unknown = LinkRefused(trouble=LinkTrouble.UNKNOWN, says="this is no link of ours, or not the whole of one")
        if word not in WORDS:
            return unknown
        link = self._signer.read_link(name, word=word, sure=sure)
        notice = self._notices.numbered(link.mail, now) if link is not None else None
        if link is None or notice is None or notice.person is None:
            return unknown
        created_at = notice.row.created_at
        if created_at is not None and now - created_at > FORGOTTEN:
            return LinkRefused(trouble=LinkTrouble.EXPIRED, says=f"it is older than {FORGOTTEN.days} days")
        return link, notice, notice.person

    def _done(self, link: ActingLink, notice: Notice, person: Person, told: Told, *, again: bool = False) -> LinkDone:
        after = self._snapshot_of(*notice.occurrence) or notice.snapshot
        unsure = told.kind is ToldKind.CONFIRM_UNKNOWN and not link.sure
        sure = self._signer.link(ActingLink(mail=link.mail, word=link.word, sure=True)) if unsure else None
        return LinkDone(word=CommandWord(link.word), told=told, person=person, snapshot=after, again=again, sure=sure)


def told_of(outcome: Outcome) -> Told:
    """What the person is told about a word that was taken in."""
    if outcome.told is not None:
        return outcome.told
    kind = ToldKind.CANNOT if outcome.result is Result.REJECTED else ToldKind.DONE
    return Told(kind=kind, reason=outcome.reason or "done")


def _keys(link: ActingLink) -> tuple[str, ...]:
    """The idempotency keys of the link: the next one counts only where the one before was not used up."""
    key = f"{DOOR}:{link.mail}:{link.word}{':sure' if link.sure else ''}"
    return (key, *(f"{key}:{number}" for number in range(2, MOST_TRIES + 1)))


def _expired(notice: Notice) -> LinkRefused:
    return LinkRefused(trouble=LinkTrouble.EXPIRED, says=notice.expired or "", snapshot=notice.snapshot)


def _read(word: CommandWord, *, argument: str, until: str, zone: str, now: datetime) -> Command:
    """The fields of the form as the line that a mail would hold. Raises NoCommand."""
    if word not in WORDY:
        return Command(word=word)
    if word in DATED and not until:
        raise NoCommand("choose a day")
    day = f"until {until} " if word in DATED else ""
    return command_of(f"{word} {day}{' '.join(argument.split())}", zone=zone, now=now)
