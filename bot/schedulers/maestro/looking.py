"""Which of a workflow's instances must be looked at, by its overview and by what is remembered of them. Pure."""

from datetime import UTC, datetime, timedelta

from bot.schedulers.maestro.memory import Seen, WorkflowSeen
from bot.schedulers.maestro.reading import instant
from bot.schedulers.maestro.runs import is_over
from bot.schedulers.maestro.shapes import FAILED, OPEN, STOPPED, Instance, Overview

CLOSE, SELDOM = timedelta(minutes=1), timedelta(minutes=10)
"""Between two readings of a workflow's instances where its overview stays the same: something may happen; nothing does."""
MAY_COME_BACK = timedelta(days=1)
MOST_AGAIN = 3


def is_due(seen: WorkflowSeen, overview: Overview, at: datetime) -> bool:
    """Whether the instances must be read. Where nothing changed in sum, one may still have failed, run again and failed."""
    if seen.read_at is None:
        return True
    known = (seen.latest, seen.failed, seen.living)
    if known != (overview.latest_instance_id, overview.failed_instances, overview.nonterminal_instances):
        return True
    living = any(overview.nonterminal_instances.values())
    back = any(_may_come_back(one, at) for one in seen.instances.values())
    return at - seen.read_at >= (CLOSE if living or back else SELDOM)


def lives_alone(seen: Seen, now: datetime, after: timedelta) -> bool:
    """Whether it lives for so long that somebody may ask why, and is told of by itself."""
    return seen.status in OPEN and now - seen.since >= after and not seen.part


def _may_come_back(seen: Seen, at: datetime) -> bool:
    return (seen.status in FAILED or seen.status == STOPPED) and at - seen.at <= MAY_COME_BACK


def unseen(seen: WorkflowSeen, found: dict[int, Instance], now: datetime) -> list[int]:
    """Instances that are known and were on none of the pages, though something may have become of them.

    Those that failed are looked at in turn.
    """
    others = [(number, one) for number, one in seen.instances.items() if number not in found]
    living = [number for number, one in others if one.status in OPEN]
    back = sorted(number for number, one in others if _may_come_back(one, now))
    turn = int(now.timestamp() // CLOSE.total_seconds()) * MOST_AGAIN % len(back) if back else 0
    return living + (back[turn:] + back[:turn])[:MOST_AGAIN]


def matters(instance: Instance, seen: WorkflowSeen, since: datetime) -> bool:
    known = seen.instances.get(instance.workflow_instance_id)
    if known is not None:
        same = (known.run, known.status) == (instance.workflow_run_id, instance.status)
        return not same or (is_over(instance.status) and not known.knows(known.run, "ended"))
    if instance.status in OPEN:
        return True
    new = seen.read_to is not None and instance.workflow_instance_id > seen.read_to
    return new or changed_at(instance) >= since


def changed_at(instance: Instance) -> datetime:
    """When something last happened to it."""
    times = (instance.modify_time, instance.end_time, instance.start_time, instance.create_time)
    return max(filter(None, map(instant, times)), default=datetime.min.replace(tzinfo=UTC))
