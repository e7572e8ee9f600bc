"""The replies of an incident thread, one template each; their facts are frozen, their buttons are those of now.

It must not choose who is mentioned: the effect says so.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from bot.incidents.effects import ReplyKind
from bot.incidents.people import Mention
from bot.render import buttons, offers
from bot.render.actions import ActionId
from bot.render.bounds import bounded
from bot.render.evidence import evidence
from bot.render.readings import instant
from bot.render.rendered import Rendered
from bot.render.root import values_of
from bot.render.snapshot import Snapshot
from bot.render.templates import draft

FACTS: dict[ReplyKind, tuple[str, ...]] = {
    ReplyKind.EVIDENCE: ("evidence", "downstream"),
    ReplyKind.ASK: ("ask", "status", "owed", "next_run_at", "rerun_phase", "reason", "broken_owner"),
    ReplyKind.HOLDER_NOTE: ("until", "next_run_at", "owed"),
    ReplyKind.APPROVAL: ("number", "reason", "estimate", "left", "expires_at", "owed", "asked_by", "beside"),
    ReplyKind.JOINED: ("cause", "title", "message", "evidence", "count", "while_verifying", "different", "fix"),
    ReplyKind.OWED_REMAINS: ("ran", "owed", "paid"),
    ReplyKind.RERUN: (
        "state",
        "action",
        "automatic",
        "nominal_times",
        "fresh",
        "by",
        "at",
        "cause",
        "message",
        "reason",
    ),
    ReplyKind.ACKNOWLEDGED: ("by", "until", "changed", "taken_from", "waits"),
    ReplyKind.RELEASED: ("by", "held_by"),
    ReplyKind.WATCHING: ("by",),
    ReplyKind.DECISION: ("decision", "by", "until", "reason", "at_end", "false_alarm", "state", "message"),
    ReplyKind.FIXED: ("by", "what", "cause", "link", "verify_by", "owed", "not_needed", "rerun_now"),
    ReplyKind.NOT_NEEDED: ("by", "nominal_times", "reason", "back"),
    ReplyKind.UNCONFIRMED: ("verify_by", "fix"),
    ReplyKind.RESUMED: ("by", "was", "by_hand", "refused", "message", "verify_by"),
    ReplyKind.RESOLVED: ("outcome", "run", "nominal_time", "delay", "by", "hand", "fix", "downstream"),
    ReplyKind.RETURNED: ("times", "last_outcome", "last_number", "last_closed_at", "last_fix", "last_decision", "held"),
    ReplyKind.RUN: ("what", "run", "by", "nominal_time", "reason", "withdrew"),
    ReplyKind.CHRONIC: ("times", "days"),
    ReplyKind.STORM_TAKEN: ("by", "team", "until"),
    ReplyKind.STORM_ASK: ("team", "ask", "reason", "platform"),
    ReplyKind.CAUSE: ("by", "cause", "was", "note", "marked", "revoked", "reason", "back"),
    ReplyKind.HANDED: ("by", "to", "was", "note", "back", "asked"),
    ReplyKind.MOVED: ("left", "url", "code"),
    ReplyKind.CHANGED: ("reason",),
    ReplyKind.DOWNSTREAM: ("what", "job", "hung", "since", "jobs", "delay"),
}
_ALWAYS = {
    ReplyKind.ACKNOWLEDGED: (ActionId.ACK_1H, ActionId.ACK_4H, ActionId.ACK_MORNING, ActionId.RELEASE),
    ReplyKind.HOLDER_NOTE: (ActionId.ACK_4H, ActionId.ACK_MORNING, ActionId.RELEASE),
}
_AS_ROOT = frozenset({ReplyKind.ASK, ReplyKind.UNCONFIRMED})


def reply(
    kind: ReplyKind, facts: Mapping[str, Any], *, mention: Sequence[Mention] = (), snapshot: Snapshot
) -> Rendered:
    """The reply of that kind with these facts (JSON builtins, or the core's own values)."""
    if kind is ReplyKind.EVIDENCE:
        return evidence(snapshot)
    values = {
        **values_of(snapshot),
        "f": dict.fromkeys(FACTS[kind]) | dict(facts),
        "mention": () if snapshot.observing else tuple(mention),
        "would_ask": tuple(mention) if snapshot.observing else (),
    }
    drafted = draft(kind, values, zone=snapshot.zone)
    row = buttons.row(snapshot, _offered(kind, facts, snapshot), name=kind)
    return bounded(Rendered(text=drafted.text, blocks=(*drafted.blocks, *row)))


def _offered(kind: ReplyKind, facts: Mapping[str, Any], snapshot: Snapshot) -> tuple[ActionId, ...]:
    """The buttons beside a reply: none that the occurrence as it stands now would refuse."""
    incident = snapshot.incident
    if kind is ReplyKind.STORM_ASK:
        return (ActionId.TAKE_STORM,) if not facts.get("platform") and incident.storm is not None else ()
    on_root = offers.shown(snapshot)
    if not incident.status.unresolved:
        return ()
    if kind in _ALWAYS:
        held = incident.acknowledgement
        same = held is not None and held.until == instant(facts.get("until"))
        return _ALWAYS[kind] if same else ()
    if kind in _AS_ROOT:
        return on_root
    wanted: tuple[ActionId, ...] = ()
    if kind is ReplyKind.APPROVAL and incident.proposal and incident.proposal.number == facts.get("number"):
        wanted = (ActionId.APPROVE, ActionId.DECLINE)
    if kind is ReplyKind.OWED_REMAINS:
        wanted = (ActionId.RERUN, ActionId.NOT_NEEDED)
    return tuple(action for action in wanted if action in (*on_root, ActionId.NOT_NEEDED))
