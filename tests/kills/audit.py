"""What must be true when everything has come to rest, whatever was killed on the way: nothing lost and nothing doubled.

It compares what the world has received with what the database says, and both with what was told to the product.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import cast

from bot.delivery.messages import file_name
from bot.incidents.model import Status
from bot.store import EffectKind, EffectRow, EffectState, RunState
from storage.tables import BookingState
from tests.kills import company
from tests.kills.journals import Seen
from tests.kills.picture import Picture
from tests.kills.stories import ENDS, Kind, Story

DECLARED = (Status.PAUSED, Status.RETIRED, Status.LEFT)


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """All that is compared. `ledger` is what the local job has written: a line for each run."""

    picture: Picture
    seen: Seen
    stories: Sequence[Story]
    ledger: Path


def problems(world: World) -> list[str]:
    """Everything that was lost, doubled or left lying; empty when all is well."""
    return [f"{check.__name__}: {found}" for check in CHECKS for found in check(world)]


def every_story_has_its_end(world: World) -> Iterator[str]:
    taken = {action: Counter(each["job"] for each in world.seen.taken(action)) for action in ("rerun", "pause")}
    for story in world.stories:
        end = ENDS[story.kind]
        found = [one.status for one in world.picture.of(company.SHOP, story.job)]
        several = story.kind is Kind.TWICE and set(found) == {end.status}
        if found != [end.status] * (end.status is not None) and not several:
            yield f"{story.kind} {story.job} stands at {found}"
        if (taken["rerun"][story.job], taken["pause"][story.job]) != (end.reruns, end.pauses):
            yield f"{story.job}: {taken['rerun'][story.job]} reruns, {taken['pause'][story.job]} pauses were taken"


def no_word_of_a_person_is_lost(world: World) -> Iterator[str]:
    for story in world.stories:
        incidents = world.picture.of(company.SHOP, story.job)
        for one in incidents if story.kind is Kind.ACKNOWLEDGED else ():
            if one.acknowledgement is None or one.acknowledgement.by.person.id != company.OWNER:
                yield f"{story.job}: {one.acknowledgement}"
        for one in incidents if story.kind is Kind.PAUSED else ():
            if one.decision is None or one.decision.in_force_at is None:
                yield f"{story.job}: {one.decision}"


def every_unresolved_occurrence_has_a_timer(world: World) -> Iterator[str]:
    timed = {(row.record, row.number) for row in world.picture.timers}
    return (
        one.id for one in world.picture.incidents if one.status.unresolved and (one.record, one.number) not in timed
    )


def no_job_has_two_unresolved(world: World) -> Iterator[str]:
    unresolved = [str(one.job) for one in world.picture.incidents if one.status.unresolved]
    return _doubled(unresolved)


def no_rerun_is_doubled(world: World) -> Iterator[str]:
    taken = world.seen.taken("rerun")
    yield from _doubled(each["key"] for each in taken)
    yield from _doubled(f"{each['job']} {each['nominal_times']} {each['run']['generation']}" for each in taken)


def no_message_is_doubled(world: World) -> Iterator[str]:
    yield from _doubled(post.key for post in world.seen.posts())
    yield from _doubled(world.seen.files())


def every_root_stands_once(world: World) -> Iterator[str]:
    posted = {post.key: post for post in world.seen.posts() if post.thread_ts is None}
    for view in world.picture.views:
        if view.key not in posted:
            yield f"{view.key} was never posted"
        elif posted[view.key].ts != view.root_ts:
            yield f"{view.key} stands at {posted[view.key].ts}, the database says {view.root_ts}"


def what_is_settled_was_received(world: World) -> Iterator[str]:
    posted = {post.key for post in world.seen.posts()}
    shared = set(world.seen.files())
    taken = {each["key"] for action in ("rerun", "pause", "resume") for each in world.seen.taken(action)}
    shop = {(one.record, one.number) for one in world.picture.incidents if one.job.scheduler == company.SHOP}
    for row in world.picture.outbox:
        if row.state != EffectState.SETTLED or row.result.get("sent") is False:
            continue
        match row.kind:
            case EffectKind.REPLY | EffectKind.DIRECT if row.key not in posted:
                yield f"{row.kind} {row.key}"
            case EffectKind.FILE if file_name(cast(EffectRow, row)) not in shared:
                yield f"file {row.key}"
            case EffectKind.REQUEST if (row.record, row.number) in shop and row.content["key"] not in taken:
                yield f"request {row.content['key']}"


def what_was_received_is_known(world: World) -> Iterator[str]:
    """Nothing was said that the database does not know of: no commit was undone after its word had gone out."""
    known = {row.key for row in world.picture.outbox} | {view.key for view in world.picture.views}
    yield from (post.key for post in world.seen.posts() if post.key not in known)
    booked = {row.key for row in world.picture.reruns}
    yield from (each["key"] for each in world.seen.taken("rerun") if each["key"] not in booked)


def threads_are_in_order(world: World) -> Iterator[str]:
    stands = {post.key: post for post in world.seen.posts()}
    threads = defaultdict(list)
    for row in world.picture.outbox:
        if row.kind == EffectKind.REPLY and row.key in stands:
            threads[row.conversation_id].append(stands[row.key])
    for posts in threads.values():
        told = [post.ts for post in posts]
        if told != sorted(told) or any(post.thread_ts is None or post.thread_ts > post.ts for post in posts):
            yield f"{[post.key for post in posts]} at {told}"


def nothing_is_left_lying(world: World) -> Iterator[str]:
    """Of a rerun whose request was in doubt the run itself may have told: then there was nothing to ask any more."""
    wrong = (EffectState.WAITING, EffectState.SENDING, EffectState.BURIED, EffectState.REFUSED)
    ended = {row.key for row in world.picture.reruns if row.state == BookingState.SETTLED}
    for row in world.picture.outbox:
        overtaken = row.state == EffectState.BURIED and row.uncertain_at is not None and row.content.get("key") in ended
        if (row.state in wrong and not overtaken) or row.leased_by is not None:
            yield f"{row.kind} {row.key} is {row.state}, {row.code}, leased by {row.leased_by}"
    for view in world.picture.views:
        if view.wanted_version > view.shown_version or view.leased_by is not None:
            yield f"view {view.key} shows {view.shown_version} of {view.wanted_version}, leased by {view.leased_by}"


def every_owed_time_is_accounted_for(world: World) -> Iterator[str]:
    """Paid by a good run of it, still owed where somebody sees it, or declared by an owner."""
    good = {(row.job_id, row.nominal_time) for row in world.picture.runs if row.state == RunState.SUCCEEDED}
    for row in world.picture.runs:
        if row.state != RunState.FAILED or (row.job_id, row.nominal_time) in good:
            continue
        incidents = world.picture.of(row.scheduler, row.name)
        owed = {each.nominal_time for one in incidents if one.status.unresolved for each in one.owed}
        if row.nominal_time not in owed and not any(one.status in DECLARED for one in incidents):
            yield f"{row.name} at {row.nominal_time} failed, and nobody is told"


def every_failure_told_is_known(world: World) -> Iterator[str]:
    known = {(row.name, row.nominal_time) for row in world.picture.runs if row.scheduler == company.SHOP}
    for story in world.stories:
        yield from (f"{story.job} at {nominal}" for nominal in story.failed if (story.job, nominal) not in known)


def bookings_are_settled_or_have_a_reason(world: World) -> Iterator[str]:
    living = {one.rerun.key for one in world.picture.incidents if one.rerun is not None}
    for row in world.picture.reruns:
        if row.state == BookingState.RESERVED and row.key not in living:
            yield f"{row.key} is reserved for nothing"


def no_evidence_is_lost(world: World) -> Iterator[str]:
    if world.picture.lost_evidence:
        yield f"{world.picture.lost_evidence} occurrences"


def local_runs_are_begun_once_and_told(world: World) -> Iterator[str]:
    """Each due time had one run, and each of its reruns one; all that began are known, and no time was left out."""
    begun = world.ledger.read_text().splitlines() if world.ledger.exists() else []
    yield from _doubled(begun)
    known = {
        (_written(row.nominal_time), row.generation): row.state for row in world.picture.runs if row.scheduler == "cron"
    }
    for line in begun[:-1]:
        nominal, _, generation = line.partition(" ")
        if known.get((nominal, int(generation))) not in (RunState.SUCCEEDED, RunState.FAILED):
            yield f"{line} ran, the database says {known.get((nominal, int(generation)))}"
    due = sorted({row.nominal_time for row in world.picture.runs if row.scheduler == "cron"})
    every = timedelta(seconds=company.LOCAL_EVERY)
    yield from (f"no run after {early}" for early, late in pairwise(due) if late - early != every)


CHECKS: tuple[Callable[[World], Iterator[str]], ...] = (
    every_story_has_its_end,
    no_word_of_a_person_is_lost,
    every_failure_told_is_known,
    every_unresolved_occurrence_has_a_timer,
    no_job_has_two_unresolved,
    no_rerun_is_doubled,
    no_message_is_doubled,
    every_root_stands_once,
    what_is_settled_was_received,
    what_was_received_is_known,
    threads_are_in_order,
    nothing_is_left_lying,
    every_owed_time_is_accounted_for,
    bookings_are_settled_or_have_a_reason,
    no_evidence_is_lost,
    local_runs_are_begun_once_and_told,
)


def _doubled(keys: Iterable[str]) -> Iterator[str]:
    return (f"{key} {count} times" for key, count in Counter(keys).items() if count > 1)


def _written(nominal: datetime) -> str:
    return nominal.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
