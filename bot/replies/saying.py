"""What a command word means: the same event as the button's, and which words work on a record as it stands.

It takes nothing in, and judges nobody: the core does.
"""

import re
from datetime import datetime

from bot.incidents.events import (
    Acknowledged,
    Approved,
    Declined,
    FixDeclared,
    LeaveWanted,
    PauseWanted,
    PersonEvent,
    RerunWanted,
    RetireWanted,
)
from bot.incidents.model import Incident
from bot.incidents.people import By
from bot.incidents.storm_events import StormTaken
from bot.mail import CommandWord
from bot.render.mail import offered
from bot.render.segments import is_web_address
from bot.render.snapshot import Snapshot

_UNTIL = re.compile(r"until \d{4}-\d{2}-\d{2} ", re.IGNORECASE)
_ABOUT_A_PROPOSAL = frozenset({CommandWord.APPROVE, CommandWord.DECLINE})


class SaysNothing(Exception):
    """The word lacks what it needs: a proposal, or an instant."""


def said(
    word: CommandWord,
    *,
    argument: str | None,
    until_at: datetime | None,
    by: By,
    incident: Incident,
    proposal: int | None,
    sure: bool,
    for_all: bool = False,
) -> PersonEvent:
    """The event that the word is. `proposal`: the one that it answers; `sure`: they said yes to the warning as well.
    `for_all`: it answers a question about all jobs of a team in a storm.

    Raises SaysNothing for a yes or no to nothing, and for a pause or leave without its end.
    """
    words = argument or ""
    reason = _UNTIL.sub("", words, count=1)
    match word:
        case CommandWord.ACK:
            return StormTaken(by=by) if for_all else Acknowledged(by=by)
        case CommandWord.RERUN:
            return RerunWanted(by=by, confirmed=sure)
        case CommandWord.FIXED:
            link, what = _link_and_words(words)
            return FixDeclared(by=by, what=what, link=link)
        case CommandWord.RETIRE:
            return RetireWanted(by=by, reason=words)
        case CommandWord.APPROVE if proposal is not None:
            return Approved(by=by, proposal=proposal, confirmed=sure)
        case CommandWord.DECLINE if proposal is not None:
            return Declined(by=by, proposal=proposal)
        case CommandWord.PAUSE if until_at is not None:
            return PauseWanted(by=by, until=until_at, reason=reason)
        case CommandWord.LEAVE if until_at is not None:
            return LeaveWanted(by=by, until=until_at, reason=reason)
    raise SaysNothing(f"{word} of {incident.id} lacks what it answers, or its end")


def offers(snapshot: Snapshot, *, proposal: int | None) -> frozenset[CommandWord]:
    """What works now: what a mail about it offers, which is what the message in the chat offers by buttons."""
    return frozenset(offered(snapshot, proposal=proposal))


def meant(snapshot: Snapshot, *, proposal: int | None) -> frozenset[CommandWord]:
    """What is handed to the core, which may refuse it in words; the others can only be a slip.

    A yes or no answers the proposal that its mail was about. A rerun, said to a mail that asks for that yes or no, may be
    meant as either.
    """
    every = frozenset(CommandWord)
    if proposal is None:
        return every - _ABOUT_A_PROPOSAL
    return every - {CommandWord.RERUN} if _waits(snapshot, proposal) else every


def _waits(snapshot: Snapshot, proposal: int | None) -> bool:
    waiting = snapshot.incident.proposal
    return waiting is not None and waiting.number == proposal


def _link_and_words(text: str) -> tuple[str, str]:
    """The first web address of the text, without the marks around it, and the rest."""
    words = text.split()
    for place, word in enumerate(words):
        address = word.strip("<>()[],;").rstrip(".")
        if is_web_address(address):
            return address, " ".join((*words[:place], *words[place + 1 :]))
    return "", text
