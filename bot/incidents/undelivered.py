"""What becomes of an occurrence whose messages do not arrive: an ask goes by mail instead, the ladder moves on.

Whether a message arrived is told by delivery; nothing here sends one.
"""

from dataclasses import replace

from bot.incidents import asking
from bot.incidents.chase import can_ask_now
from bot.incidents.delivery_events import DeliveryBuried, DeliveryLate, ThreadMoved
from bot.incidents.draft import Draft
from bot.incidents.effects import ReplyKind
from bot.incidents.model import Status
from bot.incidents.policy import Door

ASKS = frozenset({ReplyKind.ASK, ReplyKind.APPROVAL, ReplyKind.STORM_ASK})
ASKED_IN = frozenset({Status.OPEN, Status.AWAITING_APPROVAL})


def late(draft: Draft, event: DeliveryLate) -> None:
    """What was to be said in the thread is not there yet."""
    draft.note("late_message", f"{event.what} to {event.destination} is not sent yet: {event.code}")
    if event.what in ASKS:
        _ask_by_mail(draft, event)


def buried(draft: Draft, event: DeliveryBuried) -> None:
    """A message was given up on."""
    draft.note("not_delivered", f"{event.what} to {event.destination}: {event.code}", door=event.door)
    if event.door is Door.EMAIL:
        _bounced(draft, event)
    elif event.door is Door.CHANNEL and event.what in ASKS:
        _ask_by_mail(draft, event)


def moved(draft: Draft, event: ThreadMoved) -> None:
    """The thread says where it was before, whatever the status."""
    draft.note("moved", f"{event.left} cannot be written to ({event.code}): the thread goes on in {event.to}")
    draft.reply(ReplyKind.MOVED, left=event.left, url=event.url, code=event.code)


def _ask_by_mail(draft: Draft, event: DeliveryBuried | DeliveryLate) -> None:
    since = event.since or draft.incident.chase.asked_at or event.at
    why_not = _not_wanted(draft, event)
    if why_not:
        draft.note("not_mailed", f"the ask needs no mail: {why_not}")
        return
    asking.by_mail_instead(draft, since=since, code=event.code)


def _not_wanted(draft: Draft, event: DeliveryBuried | DeliveryLate) -> str:
    """Why nobody has to be mailed in place of an ask; empty when they have to."""
    incident, chase = draft.incident, draft.incident.chase
    held, since = incident.acknowledgement, event.since or chase.asked_at or event.at
    if incident.status is Status.VERIFYING:
        return "it waits for a good run"
    if incident.status is Status.RERUNNING and chase.asked_before is None:
        return "a rerun is under way since"
    if draft.taken is not None:
        return f"{draft.taken.by.person} is on it"
    if held is not None and held.by.at >= since:
        return f"{held.by.person} is on it since"
    if chase.mailed_at is not None and chase.mailed_at >= since:
        return "it was mailed already"
    return "" if can_ask_now(draft.situation, draft.now) else "it can wait for the team's hours"


def _bounced(draft: Draft, event: DeliveryBuried) -> None:
    """A mail did not arrive. Where the newest ask has reached nobody by mail for it, the ladder moves on at once.

    The address is not mailed about this occurrence again: so it can move the ladder once only.
    """
    incident, address = draft.incident, event.destination.lower()
    known = incident.chase.mailed
    left = tuple(one for one in known if one != address)
    draft.set(
        unreached=tuple(dict.fromkeys((*incident.unreached, address))),
        mailed=tuple(one for one in incident.mailed if one.address.lower() != address),
        chase=replace(incident.chase, mailed=left),
    )
    if address in known and not left and incident.acknowledgement is None and incident.status in ASKED_IN:
        asking.move_on(draft, f"mail to {event.destination} could not be delivered")
