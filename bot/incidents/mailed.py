"""Who hears by mail how an occurrence goes on: whoever was mailed about it. Pure; it writes no mail."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bot.incidents.effects import Effect, Reply, ReplyKind
from bot.incidents.model import DecisionKind, Incident
from bot.incidents.people import By, Destination
from bot.incidents.policy import Door

ASKS = frozenset({ReplyKind.ASK, ReplyKind.APPROVAL})
NEWS = frozenset(
    {
        ReplyKind.ACKNOWLEDGED,
        ReplyKind.DECISION,
        ReplyKind.FIXED,
        ReplyKind.RERUN,
        ReplyKind.RESOLVED,
        ReplyKind.RETURNED,
        ReplyKind.UNCONFIRMED,
    }
)
RERUN_ENDS = ("failed", "refused")
OTHERS_SAY = ("in_force", "refused")


def to_hear(incident: Incident, kind: ReplyKind, facts: Mapping[str, Any]) -> tuple[Destination, ...]:
    """Those whom this reply is news to."""
    if kind not in NEWS or (kind is ReplyKind.RERUN and facts.get("state") not in RERUN_ENDS):
        return ()
    said_by = _own_word(kind, facts)
    return tuple(one for one in incident.mailed if said_by is None or not _is(one, said_by))


def without_repeats(effects: Sequence[Effect]) -> tuple[Effect, ...]:
    """Whoever is asked by mail in the same breath reads the news there: it is not mailed by itself as well."""
    asked = {
        one.address
        for effect in effects
        if isinstance(effect, Reply) and effect.kind in ASKS
        for one in effect.elsewhere
        if one.door is Door.EMAIL
    }
    return tuple(
        replace(effect, elsewhere=tuple(one for one in effect.elsewhere if one.address not in asked))
        if isinstance(effect, Reply) and effect.kind in NEWS
        else effect
        for effect in effects
    )


def _own_word(kind: ReplyKind, facts: Mapping[str, Any]) -> By | None:
    """Whose word the reply tells, who need not be told it; None where it tells what became of a word."""
    by = facts.get("by")
    if kind is ReplyKind.RERUN or not isinstance(by, By):
        return None
    answered = kind is ReplyKind.DECISION and facts.get("state") in OTHERS_SAY
    return None if answered and facts.get("decision") != DecisionKind.LEFT else by


def _is(one: Destination, by: By) -> bool:
    return not one.shared and by.person.id.lower() in (one.person.lower(), one.address.lower())
