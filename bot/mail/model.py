"""What the reader of replies is told and what it answers. Values only."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from bot.mail.bounces import Bounce
from bot.mail.commands import CommandWord


class Answer(StrEnum):
    """Whether the sender is told why nothing happened."""

    NONE = "none"
    EXPLANATION = "explanation"


class TokenState(StrEnum):
    """What is known of a token: made by us and live, expired, already used, or never made."""

    LIVE = "live"
    STALE = "stale"
    USED = "used"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenFact:
    """A token as the record knows it.

    `person`: the address for whom it was made, None when the mail went to a team. `occurrence`: what it is bound to.
    `offers`: what the occurrence takes by mail as it stands. `zone`: its team's, where that is known. `says`: why it no
    longer counts, in words for whoever answers it.
    """

    state: TokenState
    person: str | None = None
    occurrence: str = ""
    offers: frozenset[CommandWord] = frozenset(CommandWord)
    zone: str | None = None
    says: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """The settings of the mailbox.

    `bot`: our own address without token. `authserv_id`: the receiving server that is trusted, None for none.
    `owners`: the addresses that may decide, in lower case. `zone`: for dates, where the token tells none. `confirms`: a
    mail of which the server tells nothing at all is asked back at its owner's own address.
    """

    bot: str
    authserv_id: str | None
    owners: frozenset[str]
    zone: str = "UTC"
    confirms: bool = False


def _nobody(_: str) -> bool:
    return False


def _not_told(_sender: str, _occurrence: str) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the record knows of earlier mail.

    `token`: its fact. `done`: whether a Message-ID was taken before. `told`: whether this sender was given the explanation
    about this occurrence before.
    """

    token: Callable[[str], TokenFact]
    done: Callable[[str], bool] = field(default=_nobody)
    told: Callable[[str, str], bool] = field(default=_not_told)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a mail does.

    `reason` is for the timeline and for the explanation, which goes to `answer_to` alone. `until_at`: the day of a pause or
    leave at 09:00 of the team. `sender` is proven or None. `bounces`: what a report tells of addresses. `confirms`: nobody
    proved the sender, and the command may be asked back at this address of an owner; it must not be carried out.
    """

    acts: bool
    reason: str
    command: CommandWord | None = None
    argument: str | None = None
    until_at: datetime | None = None
    answer: Answer = Answer.NONE
    answer_to: str | None = None
    sender: str | None = None
    token: str | None = None
    occurrence: str | None = None
    message_id: str | None = None
    bounces: tuple[Bounce, ...] = ()
    confirms: str | None = None
