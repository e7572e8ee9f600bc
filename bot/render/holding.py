"""The modals by which an owner puts an occurrence aside: pause, retire, leave, wait. Each says what will happen first.

It must not read an answer; `bot.render.forms` does.
"""

from datetime import datetime, timedelta
from enum import StrEnum

from bot.incidents.keys import Capability
from bot.incidents.model import AtEnd
from bot.render.actions import CallbackId
from bot.render.blocks import Block, field, option, radio, select, text_input
from bot.render.modal_parts import framed, full_hour, reason_field, until_field
from bot.render.snapshot import Snapshot


class LeaveReason(StrEnum):
    """Why an owner leaves a failure as it is."""

    FALSE_ALARM = "false_alarm"
    KNOWN = "known"
    ELSEWHERE = "elsewhere"
    NOT_WORTH_IT = "not_worth_it"
    OTHER = "other"


LEAVE_REASONS = {
    LeaveReason.FALSE_ALARM: "False alarm: nothing is wrong",
    LeaveReason.KNOWN: "Known and accepted",
    LeaveReason.ELSEWHERE: "Somebody else has to fix it",
    LeaveReason.NOT_WORTH_IT: "Not worth a fix",
    LeaveReason.OTHER: "Another reason, given below",
}


def modal_pause(snapshot: Snapshot, *, now: datetime) -> Block:
    """Pause: until when, why, and what happens then; without the capability it only silences, and says so."""
    pauses = Capability.PAUSE in snapshot.can
    fields = [until_field(full_hour(now + timedelta(days=1))), *([_at_end(AtEnd.RESUME)] if pauses else [])]
    fields.append(reason_field())
    title, submit = ("Pause", "Pause") if pauses else ("Silence", "Silence")
    return framed(snapshot, CallbackId.PAUSE, title=title, fields=fields, submit=submit)


def modal_change_until(snapshot: Snapshot, *, now: datetime) -> Block:
    """Another end of a pause that is in force."""
    decision = snapshot.incident.decision
    until = decision.until if decision and decision.until and decision.until > now else now + timedelta(days=1)
    silences = decision is not None and decision.silences_only
    fields = [until_field(until if until.second == 0 else full_hour(until))]
    if not silences:
        fields.append(_at_end(decision.at_end if decision else AtEnd.RESUME))
    fields.append(reason_field(optional=True))
    return framed(snapshot, CallbackId.CHANGE_UNTIL, title="Change until", fields=fields, submit="Change")


def modal_retire(snapshot: Snapshot) -> Block:
    """Retire: why."""
    return framed(snapshot, CallbackId.RETIRE, title="Retire", fields=[reason_field()], submit="Retire")


def modal_leave(snapshot: Snapshot, *, now: datetime) -> Block:
    """Leave: until when, and why."""
    most = snapshot.policy.limits.leave
    until = full_hour(now + min(timedelta(days=7), most / 2))
    why = select([option(reason, label) for reason, label in LEAVE_REASONS.items()])
    fields = [
        field("why", "Why", why),
        until_field(until, hint=f"In your own time zone, at most {most.days} days from now." if most.days else ""),
        field("reason", "In your own words", text_input(multiline=True, most=500), optional=True),
    ]
    return framed(snapshot, CallbackId.LEAVE, title="Leave as it is", fields=fields, submit="Leave")


def modal_wait(snapshot: Snapshot, *, now: datetime) -> Block:
    """Wait for a late run until an instant."""
    fields = [until_field(full_hour(now + timedelta(minutes=30)))]
    return framed(snapshot, CallbackId.WAIT, title="Wait until", fields=fields, submit="Wait")


def _at_end(chosen: AtEnd) -> Block:
    options = {
        AtEnd.RESUME: option(
            AtEnd.RESUME, "It resumes by itself", "The schedule goes on; the next good run closes it."
        ),
        AtEnd.ASK: option(AtEnd.ASK, "The owner is asked", "Nothing runs before somebody decides."),
    }
    return field("at_end", "Then", radio([*options.values()], initial=options[chosen]))
