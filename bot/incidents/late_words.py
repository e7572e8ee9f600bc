"""Says of a missed deadline which it was and where it came from, in one line. Pure; it works no deadline out."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from bot.incidents.lateness import START_BY, Deadline, SetBy, learned
from bot.incidents.memory import JobMemory
from bot.incidents.policy import LatePolicy

MOST_NAME = 40
MOST_STANDING = 140
NEAR = timedelta(hours=20)


def late_title(deadline: Deadline, memory: JobMemory, policy: LatePolicy, *, scheduler: str, zone: str) -> str:
    """`Not finished by 07:15 (policy: 07:00 Europe/Berlin and 15m grace)`; `zone` is the job's own."""
    what = "Not started" if deadline.kind == START_BY else "Not finished"
    named = _zone_named(deadline, memory, policy)
    by = _clock(deadline, named or zone) + ("" if named else f" {deadline.due_at.astimezone(ZoneInfo(zone)):%Z}")
    stands = f"; it {memory.standing[:MOST_STANDING]}" if memory.standing else ""
    return f"{what} by {by} ({_origin(deadline, memory, policy, scheduler[:MOST_NAME])}){stands}"


def span(duration: timedelta) -> str:
    """A duration as policies.yaml writes it, in its two largest units: `45m`, `1h30m`, `2d`."""
    seconds = max(0, round(duration.total_seconds()))
    units = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))
    largest = next((index for index, (_, size) in enumerate(units) if seconds >= size), 3)
    parts = []
    for unit, size in units[largest : largest + 2]:
        amount, seconds = divmod(seconds, size)
        parts += [f"{amount}{unit}"] if amount else []
    return "".join(parts) or "0s"


def _origin(deadline: Deadline, memory: JobMemory, policy: LatePolicy, scheduler: str) -> str:
    grace = f" and {span(policy.grace)} grace" if policy.grace else ""
    match deadline.set_by:
        case SetBy.START:
            within = policy.start_within or timedelta()
            after = f"{span(within)} after its nominal time" if within else "at its nominal time"
            return f"policy: {after}{grace}"
        case SetBy.FINISH_WITHIN if policy.finish_within is not None:
            return f"policy: {span(policy.finish_within)}{grace}"
        case SetBy.FINISH_BY if policy.finish_by is not None:
            return f"policy: {policy.finish_by:%H:%M} {policy.zone}{grace}"
        case SetBy.TARGET_WITHIN if memory.target is not None and memory.target.finish_within is not None:
            return f"{scheduler}'s own target: {span(memory.target.finish_within)}{grace}"
        case SetBy.TARGET_BY if memory.target is not None and memory.target.finish_by is not None:
            return f"{scheduler}'s own target: {memory.target.finish_by:%H:%M} {memory.target.zone}{grace}"
        case SetBy.LEARNED:
            return _learned(memory, policy)
        case _:
            return f"{scheduler}'s own target for this run{grace}"


def _learned(memory: JobMemory, policy: LatePolicy) -> str:
    usual, most = memory.usual_duration, learned(memory)
    if usual is None or most is None:
        return "learned from its good runs"
    most = max(most, policy.learned_floor)
    grace = f"; grace {span(policy.grace)}" if policy.grace else ""
    return f"learned from {len(memory.samples)} good runs: usually {span(usual)}, at most {span(most)}{grace}"


def _zone_named(deadline: Deadline, memory: JobMemory, policy: LatePolicy) -> str | None:
    """The zone that stands beside the time of day from which the deadline comes."""
    match deadline.set_by:
        case SetBy.FINISH_BY:
            return policy.zone
        case SetBy.TARGET_BY if memory.target is not None:
            return memory.target.zone
    return None


def _clock(deadline: Deadline, zone: str) -> str:
    """The time of day, with the day where it is not near the nominal time."""
    local: datetime = deadline.due_at.astimezone(ZoneInfo(zone))
    day = "" if deadline.due_at - deadline.nominal_time < NEAR else f"{local:%a} {local.day} {local:%b} "
    return f"{day}{local:%H:%M}"
