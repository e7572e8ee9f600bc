"""The root message of an occurrence: where it stands, what happens next, and the buttons for it. A view of one snapshot.

It must not tell events; replies do.
"""

from typing import Any

from bot.incidents.keys import Capability
from bot.incidents.model import AskKind, Incident, Status
from bot.incidents.policy import Audience
from bot.render import buttons, offers
from bot.render.bounds import bounded
from bot.render.lifecycle import lifecycle
from bot.render.rendered import Rendered
from bot.render.segments import Words, words
from bot.render.snapshot import Snapshot
from bot.render.templates import draft
from bot.render.text import one_line

MOST_ERROR = 400

_SIGNS = {
    Status.OPEN: "🔴",
    Status.RERUNNING: "🔁",
    Status.AWAITING_APPROVAL: "🟡",
    Status.VERIFYING: "🔵",
    Status.RESOLVED: "✅",
    Status.PAUSED: "⏸",
    Status.RETIRED: "⏹",
    Status.LEFT: "⚪",
}
_ASKED = {Audience.ONCALL: "the on-call", Audience.TEAM: "the team", Audience.MANAGER: "the manager"}


def root(snapshot: Snapshot) -> Rendered:
    """The root message of the occurrence."""
    values = values_of(snapshot)
    drafted = draft("root", values, zone=snapshot.zone)
    blocks = (*drafted.blocks, *buttons.row(snapshot, offers.shown(snapshot)))
    richer = (*blocks[:1], lifecycle(snapshot, values), *blocks[1:])
    return bounded(Rendered(text=drafted.text, blocks=blocks, richer=richer))


def values_of(snapshot: Snapshot) -> dict[str, Any]:
    """What every template about an occurrence may say."""
    incident = snapshot.incident
    return {
        "s": snapshot,
        "r": None,
        "p": incident.proposal,
        "sign": _SIGNS[incident.status],
        "cause_title": cause_title(snapshot),
        "cause_short": cause_title(snapshot) if snapshot.cause_known else words("cause not known"),
        "error": error_line(snapshot),
        "whom": asked_next(snapshot),
        "waiting": tuple(one for one in snapshot.downstream if one.waits),
        "costs": incident.status.unresolved and Capability.RERUN in snapshot.can and not incident.failure.late,
        "again": asked_again(snapshot),
        "under_way": _under_way(incident),
        "closed_for": snapshot.closed_for,
        "left": snapshot.allowance.left if snapshot.allowance else None,
        "cannot": incident.status.unresolved and offers.cannot(snapshot),
    }


def cause_title(snapshot: Snapshot) -> Words:
    """The cause in words: as corrected, else as the rule calls it."""
    incident = snapshot.incident
    if incident.corrected_cause:
        return words(incident.corrected_cause, 80)
    if not snapshot.cause_known:
        return words("not known")
    return words(incident.failure.title or incident.failure.cause, 120)


def error_line(snapshot: Snapshot) -> str:
    """One line of the root error; nothing of a late run, whose title says everything."""
    failure = snapshot.incident.failure
    found = snapshot.evidence.root if snapshot.evidence else None
    if found is None:
        return "" if failure.late else one_line(failure.message, MOST_ERROR)
    kind, message = one_line(found.type or "", MOST_ERROR), one_line(found.message, MOST_ERROR)
    return message if message.startswith(kind) else f"{kind}: {message}".removesuffix(": ")


def asked_next(snapshot: Snapshot) -> Words:
    """Whom the next ask goes to."""
    ask = snapshot.incident.chase.next
    ladder = snapshot.policy.chase.ladder
    if ask is not None and ask.kind is AskKind.LAPSED:
        return words(_holder(snapshot.incident) or "its holder")
    if ask is not None and ask.kind is AskKind.LADDER and ladder:
        return words(_ASKED[ladder[min(ask.step, len(ladder) - 1)].ask])
    return words(_ASKED[Audience.ONCALL])


def asked_again(snapshot: Snapshot) -> bool:
    """Whether whom the next ask goes to has been asked about it before."""
    chase = snapshot.incident.chase
    if chase.asked_at is None or chase.next is None or snapshot.observing:
        return False
    ladder = snapshot.policy.chase.ladder
    asked = {Audience.ONCALL, *(step.ask for step in ladder[: chase.step])}
    climbs = chase.next.kind is AskKind.LADDER and ladder
    return (ladder[min(chase.next.step, len(ladder) - 1)].ask if climbs else Audience.ONCALL) in asked


def _under_way(incident: Incident) -> bool:
    """A run that may pay is awaited, and no ask has said since that it brought nothing in time."""
    chase = incident.chase
    if incident.by_hand is not None:
        return True
    return chase.quiet_until is not None and (chase.asked_at is None or chase.asked_at < chase.quiet_until)


def _holder(incident: Incident) -> str:
    return str(incident.acknowledgement.by.person) if incident.acknowledgement else ""
