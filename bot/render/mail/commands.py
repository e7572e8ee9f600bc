"""What can be written back: which commands work as an occurrence stands, a whole example of each, and what it does.

It must not decide what is allowed: the core judges every word.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from bot.incidents.model import Incident, Status
from bot.mail.commands import CommandWord
from bot.render import offers
from bot.render.actions import ActionId
from bot.render.buttons import one
from bot.render.mail.parts import Line, line
from bot.render.modal_parts import words_of
from bot.render.moments import zone_of
from bot.render.readings import opening
from bot.render.segments import Words
from bot.render.snapshot import Snapshot
from bot.render.templates import phrase

ACTIONS = {
    CommandWord.APPROVE: ActionId.APPROVE,
    CommandWord.DECLINE: ActionId.DECLINE,
    CommandWord.ACK: ActionId.ACK,
    CommandWord.RERUN: ActionId.RERUN,
    CommandWord.FIXED: ActionId.FIXED,
    CommandWord.PAUSE: ActionId.PAUSE,
    CommandWord.RETIRE: ActionId.RETIRE,
    CommandWord.LEAVE: ActionId.LEAVE,
}
_OF_A_PROPOSAL = (CommandWord.APPROVE, CommandWord.DECLINE)
_AHEAD = timedelta(days=7)
_TOMORROW = timedelta(days=1)


def offered(snapshot: Snapshot, *, proposal: int | None) -> tuple[CommandWord, ...]:
    """The commands that work now, in the order in which they are shown; `proposal`: the one that the mail is about."""
    incident = snapshot.incident
    if not incident.status.unresolved:
        return ()
    actions = _actions(snapshot)
    waits = incident.status is Status.AWAITING_APPROVAL and incident.proposal is not None
    gone = {
        CommandWord.ACK: incident.acknowledgement is not None,
        CommandWord.APPROVE: not waits or incident.proposal is None or incident.proposal.number != proposal,
        CommandWord.RERUN: incident.status is Status.AWAITING_APPROVAL,
    }
    gone[CommandWord.DECLINE] = gone[CommandWord.APPROVE]
    return tuple(word for word in ACTIONS if _action(snapshot, word) in actions and not gone.get(word, False))


def _actions(snapshot: Snapshot) -> frozenset[ActionId]:
    return frozenset((*offers.shown(snapshot), *offers.under_more(snapshot)))


def _action(snapshot: Snapshot, word: CommandWord) -> ActionId:
    """The button that does the same: what never started is started, where a failed run is run again."""
    if word is CommandWord.RERUN and ActionId.START_NOW in offers.shown(snapshot):
        return ActionId.START_NOW
    return ACTIONS[word]


def label(snapshot: Snapshot, word: CommandWord) -> str:
    """What the button of this command is called."""
    found: str = one(snapshot, _action(snapshot, word))["text"]["text"]
    return found


def example(snapshot: Snapshot, word: CommandWord) -> str:
    """A whole line that works, with a day ahead where it needs one."""
    day = _day_ahead(snapshot)
    examples: Mapping[CommandWord, str] = {
        CommandWord.FIXED: "fixed raised the memory limit",
        CommandWord.PAUSE: f"pause until {day} the vendor's feed is down",
        CommandWord.RETIRE: "retire another job does this now",
        CommandWord.LEAVE: f"leave until {day} known, and mended next week",
    }
    return examples.get(word, word.value)


def effect(snapshot: Snapshot, word: CommandWord) -> Line:
    """What the command does, in the words of the button."""
    values: dict[str, Any] = {**words_of(snapshot), "action": _action(snapshot, word).value}
    if word in _OF_A_PROPOSAL:
        return line(opening(phrase("mail/proposal_effect", values, zone=snapshot.zone)))
    name, colon, *told = phrase("more", values, zone=snapshot.zone)
    if isinstance(colon, Words) and colon.text.startswith(": "):
        told = [Words(text=colon.text[2:], most=colon.most), *told]
    return line(opening(tuple(told) or (name, colon)))


def commands(snapshot: Snapshot, words: Sequence[CommandWord]) -> tuple[tuple[str, Line], ...]:
    return tuple((example(snapshot, word), effect(snapshot, word)) for word in words)


def _day_ahead(snapshot: Snapshot) -> str:
    """A day after all that the record knows of, so that the example still works when it is read."""
    latest = max(_instants(snapshot.incident, snapshot.next_run_at))
    ahead = max(_TOMORROW, min(_AHEAD, snapshot.policy.limits.leave / 2))
    return (latest + ahead).astimezone(zone_of(snapshot.team_zone)).date().isoformat()


def _instants(incident: Incident, next_run_at: datetime | None) -> tuple[datetime, ...]:
    chase = incident.chase
    known = (
        incident.opened_at,
        incident.failure.at,
        chase.asked_at,
        chase.next.at if chase.next else None,
        next_run_at,
    )
    return tuple(each for each in known if each is not None)
