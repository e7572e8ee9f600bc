"""What need not be sent any more: it could not leave in time, and what it asks or tells is no longer so. Pure."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from bot.incidents.effects import ReplyKind
from bot.incidents.model import Incident, Status
from bot.store import EffectRow

OUTAGE = timedelta(minutes=10)
"""What waited for longer did not wait for its turn: the chat could not be written to."""

SHOWN_BY_THE_ROOT = frozenset(
    {
        ReplyKind.ACKNOWLEDGED,
        ReplyKind.HOLDER_NOTE,
        ReplyKind.JOINED,
        ReplyKind.OWED_REMAINS,
        ReplyKind.RELEASED,
        ReplyKind.RERUN,
        ReplyKind.RUN,
        ReplyKind.UNCONFIRMED,
        ReplyKind.WATCHING,
    }
)
"""Steps on the way: the root shows where they led, the record's page and timeline each of them."""


def asks_in_vain(row: EffectRow, incident: Incident) -> bool:
    """An ask whose occurrence is settled or taken since, or that a newer ask overtook; an approval that is not waited for."""
    kind, facts = _kind_and_facts(row)
    if row.created_at is None:
        return False
    if kind == ReplyKind.APPROVAL:
        waits = incident.proposal if incident.status is Status.AWAITING_APPROVAL else None
        return waits is None or waits.number != facts.get("number", waits.number)
    if kind != ReplyKind.ASK:
        return False
    asked_at, held = incident.chase.asked_at, incident.acknowledgement
    overtaken = asked_at is not None and row.created_at < asked_at
    taken = held is not None and row.created_at < held.by.at
    return not incident.status.unresolved or overtaken or taken


def is_replay(row: EffectRow, now: datetime) -> bool:
    """A step on the way that an outage of the chat held up: the thread begins where things stand now.

    One that mentions somebody still has to reach them.
    """
    kind, _ = _kind_and_facts(row)
    if kind not in SHOWN_BY_THE_ROOT or row.content.get("mention") or row.created_at is None:
        return False
    return now - row.created_at > OUTAGE


def _kind_and_facts(row: EffectRow) -> tuple[str, Mapping[str, Any]]:
    facts = row.content.get("facts")
    return str(row.content.get("kind", "")), facts if isinstance(facts, Mapping) else {}
