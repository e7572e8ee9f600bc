"""What a decision asks for; storage writes each as a row, delivery performs them. Values only.

Keys are given by intake: `<record>.<number>/<version>/<index>`, so that the same decision yields the same keys.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from bot.incidents.canary import Stage
from bot.incidents.keys import Action, Cost, RunRef
from bot.incidents.people import By, Destination, Mention
from bot.incidents.storm import Held, StormPlace


class ReplyKind(StrEnum):
    """The replies of an incident thread, one template each (`bot/render/templates`). Their facts:

    evidence: evidence, downstream · ask: ask, status, owed, next_run_at, rerun_phase, reason, broken_owner, slack_late ·
    holder_note: until, next_run_at, owed · approval: number, reason, estimate, left, expires_at, owed, asked_by, beside
    (strategy, others: what a rerun does to other runs of the job), slack_late (since, code: the ask is not in the thread, so
    it is mailed) ·
    joined: cause, title, message, evidence, count, while_verifying, different, fix · owed_remains: ran, owed, paid ·
    rerun: state (planned, held, requested, started, failed, refused, lost, stopped, not stopped, cancelled, not_started), action,
    automatic, nominal_times, fresh, by, at, cause, message, reason · acknowledged: by, until, changed, taken_from, waits ·
    released: by, held_by · watching: by · decision: decision (a DecisionKind, a Status that was undone, fixed, declined), by,
    until, reason, at_end, false_alarm, state (recorded, in_force, changed, refused, silences_only, undone), message ·
    fixed: by, what, cause, link, verify_by, owed, not_needed, rerun_now · not_needed: by, nominal_times, reason, back ·
    unconfirmed: verify_by, fix · resumed: by, was, by_hand, refused, message, verify_by · resolved: outcome, run, nominal_time,
    delay, by, hand, fix, downstream · returned: times, last_outcome, last_number, last_closed_at, last_fix, last_decision,
    held · run: what (by_hand, started, cancelled, skipped), run, by, nominal_time, reason, withdrew ·
    cause: by, cause, was, note, marked, revoked, back · handed: by, to, was, note, back, asked ·
    moved: left (a channel), url, code · storm_ask: team, ask, reason, platform · chronic: times, days ·
    storm_taken: by, team, until · downstream: what (hung, done), job, hung, since, jobs, delay ·
    changed: reason.
    """

    EVIDENCE = "evidence"
    ASK = "ask"
    HOLDER_NOTE = "holder_note"
    APPROVAL = "approval"
    JOINED = "joined"
    OWED_REMAINS = "owed_remains"
    RERUN = "rerun"
    ACKNOWLEDGED = "acknowledged"
    RELEASED = "released"
    WATCHING = "watching"
    DECISION = "decision"
    FIXED = "fixed"
    NOT_NEEDED = "not_needed"
    UNCONFIRMED = "unconfirmed"
    RESUMED = "resumed"
    RESOLVED = "resolved"
    RETURNED = "returned"
    RUN = "run"
    CAUSE = "cause"
    HANDED = "handed"
    MOVED = "moved"
    STORM_ASK = "storm_ask"
    CHRONIC = "chronic"
    STORM_TAKEN = "storm_taken"
    DOWNSTREAM = "downstream"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenThread:
    """A new occurrence needs its root message in the team's channel (the fallback's when `channel` is None).

    `same_thread`: the record's last thread is recent, so that the occurrence goes on there, told by a broadcast reply.
    """

    channel: str | None
    same_thread: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A message in the occurrence's thread with frozen facts; `elsewhere` also sends it there (direct message, mail).

    `storm`: it stands in the thread of that storm instead.
    """

    kind: ReplyKind
    facts: Mapping[str, Any] = field(default_factory=dict)
    mention: tuple[Mention, ...] = ()
    broadcast: bool = False
    elsewhere: tuple[Destination, ...] = ()
    thread: bool = True
    storm: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinStorm:
    """A new occurrence is a row of its channel's storm instead of having a thread of its own."""

    place: StormPlace


@dataclass(frozen=True, slots=True, kw_only=True)
class StormAsked:
    """Somebody was asked in the storm's thread: nobody else of the storm asks them the same soon after."""

    channel: str
    who: str
    step: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldStorm:
    """Somebody is on it for all of a team: they are not asked in the storm meanwhile."""

    channel: str
    held: Held


@dataclass(frozen=True, slots=True, kw_only=True)
class AskScheduler:
    """Ask the scheduler under `key`; a rerun or start is asked at most once, ever. `fresh`: a rerun from the beginning."""

    action: Action
    key: str
    run: RunRef | None = None
    nominal_times: tuple[datetime | None, ...] = ()
    by: By | None = None
    reason: str = ""
    fresh: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LookFor:
    """Look whether the request with `key` took effect; answers STARTED, NOT_STARTED or CANNOT_TELL."""

    key: str
    action: Action
    run: RunRef | None = None
    nominal_times: tuple[datetime | None, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reserve:
    """Book a rerun: on the automatic allowance of job and team, or apart when an owner approved it.

    `stage` is where an automatic one stands to the canary of its cause.
    """

    key: str
    nominal_times: tuple[datetime | None, ...]
    cause: str
    automatic: bool
    estimate: Cost | None
    by: By | None = None
    stage: Stage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StageRerun:
    """An automatic rerun stands there to the canary of its cause from now on; None: nobody can tell what becomes of it."""

    key: str
    cause: str
    stage: Stage | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TellTeam:
    """The owning team is asked about reruns that the canary of this cause held; about others of it nobody asks again."""

    cause: str


class RerunResult(StrEnum):
    """How a rerun ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settle:
    """The rerun ended: book what it cost (None: not reported) and how it went."""

    key: str
    cost: Cost | None
    result: RerunResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """The rerun surely never ran: give its reservation back. `taken_back`: we did not want it any more."""

    key: str
    taken_back: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkCause:
    """Record or revoke the owning team's safe mark on a cause of this job."""

    cause: str
    by: By
    safe: bool


Effect = (
    OpenThread
    | JoinStorm
    | StormAsked
    | HoldStorm
    | Reply
    | AskScheduler
    | LookFor
    | Reserve
    | StageRerun
    | TellTeam
    | Settle
    | Release
    | MarkCause
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A row of the timeline: what happened and why it led to what it led to."""

    kind: str
    reason: str
    by: By | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


class ToldKind(StrEnum):
    """The private answer to a person who said something."""

    DONE = "done"
    NOT_YOURS = "not_yours"
    UNSURE = "unsure"
    SETTLED = "settled"
    OTHER_STATE = "other_state"
    TAKEN = "taken"
    EXPIRED = "expired"
    CONFIRM_UNKNOWN = "confirm_unknown"
    CANNOT = "cannot"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What the person is told; `input` names the field to mend for INVALID. Facts by kind:

    not_yours: can · settled: status, run, by · other_state: status · taken: by, until · confirm_unknown: estimate.
    """

    kind: ToldKind
    reason: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    input: str | None = None
