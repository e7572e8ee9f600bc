"""When a workflow's next start is expected. Pure; whether a start is late is not decided here.

Maestro only tells the next start from now on: a start that it missed would be forgotten by the next reading. It stays
expected until a run of it was seen, or too long has passed to matter beside the one after it.
"""

from datetime import datetime, timedelta

from bot.schedulers.maestro import crons
from bot.schedulers.maestro.memory import WorkflowSeen
from bot.schedulers.maestro.reading import instant
from bot.schedulers.maestro.shapes import Definition, Extras

LONGEST_HELD = timedelta(hours=6)


def next_start(definition: Definition, now: datetime) -> datetime | None:
    """The next start by Maestro's own reckoning, by ours where it does not tell; None for what is not active, switched off,
    or starts at no time. Maestro shows a next start also of what it will not start.
    """
    disabled = bool(definition.properties_snapshot.time_trigger_disabled)
    if not definition.is_active or disabled or not definition.workflow.time_triggers:
        return None
    extras = definition.enriched_extras or Extras()
    told = [instant(extras.next_execution_time), *(instant(one) for one in extras.next_execution_times)]
    known = min((at for at in told if at is not None and at > now), default=None)
    return known or crons.next_start(definition.workflow.time_triggers, now)


def expected_start(seen: WorkflowSeen, upcoming: datetime | None, now: datetime) -> datetime | None:
    """The start to wait for, given the one that Maestro tells."""
    before = seen.held.expected if seen.held is not None else None
    if upcoming is None or before is None or before > now:
        return upcoming
    begun = seen.latest_due is not None and seen.latest_due >= before
    passed = now - before >= min((upcoming - before) / 2, LONGEST_HELD)
    return upcoming if begun or passed else before
