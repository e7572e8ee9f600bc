"""The incident: one occurrence of a record, with everything that later decisions need. Values only; nothing here decides.

Statuses, their exits and their timers are DESIGN section 5. Instants are aware UTC.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from bot.incidents.asks import Acknowledgement as Acknowledgement
from bot.incidents.asks import Ask as Ask
from bot.incidents.asks import AskKind as AskKind
from bot.incidents.asks import Chase as Chase
from bot.incidents.keys import Action, Cost, JobKey, RunRef
from bot.incidents.measured import Measured
from bot.incidents.people import By, Destination, Handover, Person
from bot.incidents.storm import StormPlace
from bot.incidents.waits import Wait


class Status(StrEnum):
    """What the occurrence waits for."""

    OPEN = "open"
    RERUNNING = "rerunning"
    AWAITING_APPROVAL = "awaiting_approval"
    VERIFYING = "verifying"
    RESOLVED = "resolved"
    PAUSED = "paused"
    RETIRED = "retired"
    LEFT = "left"

    @property
    def unresolved(self) -> bool:
        return self in UNRESOLVED


UNRESOLVED = frozenset({Status.OPEN, Status.RERUNNING, Status.AWAITING_APPROVAL, Status.VERIFYING})


class Outcome(StrEnum):
    """How a resolved occurrence was settled."""

    RECOVERED = "recovered"
    FIXED = "fixed"
    RECOVERED_BY_HAND = "recovered_by_hand"
    RECOVERED_ALONE = "recovered_alone"
    NOT_NEEDED = "not_needed"


class OwedPlan(StrEnum):
    """Which good run pays an owed time: its own, any later one, or the next one after the owner's word."""

    SAME_RUN = "same_run"
    ANY_LATER_RUN = "any_later_run"
    NEXT_RUN = "next_run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """How a run failed, as evidence read it; `evidence` is the key under which the whole evidence is stored.

    `ruled_out_by` non-empty: a signal was seen that no safe mark covers. `late` failures carry a `late.*` cause, and in
    `due_at` the deadline that was missed.
    """

    run: RunRef
    at: datetime
    fingerprint: str
    cause: str
    title: str
    message: str = ""
    evidence: str = ""
    also: tuple[str, ...] = ()
    ruled_out_by: tuple[str, ...] = ()
    never_safe: bool = False
    cost: Cost | None = None
    due_at: datetime | None = None

    @property
    def late(self) -> bool:
        return self.cause.startswith("late.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Owed:
    """A nominal time that still needs a good run (None: the job's runs have no nominal time), with its last failure."""

    nominal_time: datetime | None
    since: datetime
    failure: Failure
    plan: OwedPlan


class RerunPhase(StrEnum):
    """Where a rerun stands. LOST: it may or may not run; only its result or a look can tell."""

    HELD = "held"
    BACKING_OFF = "backing_off"
    REQUESTED = "requested"
    RUNNING = "running"
    LOST = "lost"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerun:
    """A rerun of one owed time: the first of `waiting`; the others, oldest first, follow one by one while they go well.

    `key` is its idempotency key. `automatic`: licensed by a safe mark, booked on the allowance. `due_at`: its timer
    (None when LOST). `by`: the owner who asked for it or approved it. `goes_at`: when its back-off is over.
    `afresh`: the times to run from the beginning.
    """

    key: str
    run: RunRef
    waiting: tuple[datetime | None, ...]
    automatic: bool
    action: Action = Action.RERUN
    cause: str
    phase: RerunPhase
    due_at: datetime | None
    estimate: Cost | None = None
    by: By | None = None
    reason: str = ""
    goes_at: datetime | None = None
    requested_at: datetime | None = None
    looked: bool = False
    afresh: tuple[datetime | None, ...] = ()


class ProposalReason(StrEnum):
    """Why a rerun needs an owner's yes."""

    OVER_BUDGET = "over_budget"
    UNKNOWN_COST = "unknown_cost"
    ASKED_BY_OUTSIDER = "asked_by_outsider"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A rerun that waits for yes or no until `expires_at`; `number` tells one proposal of an occurrence from another."""

    number: int
    reason: ProposalReason
    run: RunRef
    nominal_times: tuple[datetime | None, ...]
    expires_at: datetime
    estimate: Cost | None = None
    left: float | None = None
    asked_by: By | None = None


class DecisionKind(StrEnum):
    """An owner's recorded word on the occurrence."""

    FIXED = "fixed"
    PAUSED = "paused"
    RETIRED = "retired"
    LEFT = "left"


class AtEnd(StrEnum):
    """What happens when a pause ends."""

    RESUME = "resume"
    ASK = "ask"


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerDecision:
    """Recorded when said (`recorded_at`, on our clock), in force when the scheduler confirms (`in_force_at`).

    `silences_only`: the scheduler cannot be asked to.
    """

    kind: DecisionKind
    by: By
    reason: str = ""
    until: datetime | None = None
    at_end: AtEnd = AtEnd.RESUME
    false_alarm: bool = False
    key: str = ""
    recorded_at: datetime | None = None
    in_force_at: datetime | None = None
    silences_only: bool = False
    refused: str | None = None
    resumed_at: datetime | None = None

    @property
    def pending(self) -> bool:
        """Recorded, asked of the scheduler, and not answered yet."""
        return bool(self.key) and self.in_force_at is None and self.refused is None

    @property
    def holds_schedule(self) -> bool:
        """The scheduler has stopped the job at our request, and we have not asked it to go on."""
        return bool(self.key) and self.in_force_at is not None and self.resumed_at is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """What the owner says was wrong and done about it."""

    by: By
    what: str = ""
    cause: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """Why this occurrence follows an earlier one of its record."""

    last_number: int
    last_outcome: str
    last_closed_at: datetime
    times: int
    last_fix: Fix | None = None
    last_decision: OwnerDecision | None = None
    same_thread: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """One occurrence of a record: `record` and `number` name it, `version` rises with every decision.

    `record` is 0 until storage has given it one. `waived` are owed times that a person's word took away. `by_hand` is the
    run started by hand that took the place of a waiting rerun or proposal: its failure asks the owner. `handed`: the way
    that it went from team to team; the last of them answers it, while the job's policy stays. `mailed`: who was asked by
    mail, and is told by mail how it goes on; `unreached`: addresses at which a mail about it could not be delivered. `delay`:
    how much later than its deadline a late run ended well. `waits`: the downstream runs that need what it owes, and
    `waits_beyond` how many more; `dependents`: jobs right downstream that need none of it. `upstream`: the occurrence for
    which the job itself waits. `first_word_at`: the first act of its team; `measured`: what else measures need.
    """

    record: int
    number: int
    job: JobKey
    status: Status
    version: int
    opened_at: datetime
    fingerprint: str
    failure: Failure
    count: int = 1
    fingerprints: tuple[str, ...] = ()
    owed: tuple[Owed, ...] = ()
    waived: tuple[Owed, ...] = ()
    by_hand: str | None = None
    reason: str = ""
    acknowledgement: Acknowledgement | None = None
    first_word_at: datetime | None = None
    watchers: tuple[Person, ...] = ()
    chase: Chase = field(default_factory=Chase)
    rerun: Rerun | None = None
    reruns: int = 0
    licensed: tuple[tuple[datetime | None, str], ...] = ()
    proposal: Proposal | None = None
    proposals: int = 0
    decision: OwnerDecision | None = None
    fix: Fix | None = None
    corrected_cause: str | None = None
    verify_by: datetime | None = None
    verify_after: datetime | None = None
    unconfirmed: bool = False
    outcome: Outcome | None = None
    closed_at: datetime | None = None
    closed_by_run: str | None = None
    returned: Returned | None = None
    linked_record: int | None = None
    observed: bool = False
    noted: int = 0
    storm: StormPlace | None = None
    chronic_at: datetime | None = None
    handed: tuple[Handover, ...] = ()
    mailed: tuple[Destination, ...] = ()
    unreached: tuple[str, ...] = ()
    waits: tuple[Wait, ...] = ()
    waits_beyond: int = 0
    dependents: tuple[str, ...] = ()
    upstream: str = ""
    delay: timedelta | None = None
    measured: Measured = field(default_factory=Measured)

    @property
    def id(self) -> str:
        """The occurrence as people, buttons and links name it."""
        return f"{self.record}.{self.number}"


class TimerKind(StrEnum):
    """The timers of an occurrence, at most one of each kind; RELEASE alone is set from outside, by a canary."""

    ASK = "ask"
    RERUN = "rerun"
    APPROVAL = "approval"
    VERIFY = "verify"
    UNTIL = "until"
    RELEASE = "release"
    CHRONIC = "chronic"


@dataclass(frozen=True, slots=True, kw_only=True)
class Timer:
    """An event that is due at an instant."""

    kind: TimerKind
    due_at: datetime


def timers_of(incident: Incident) -> tuple[Timer, ...]:
    """The timers that must live for `incident`: a projection of its own deadlines, so that none can be forgotten."""
    due: list[tuple[TimerKind, datetime | None]] = []
    if incident.status.unresolved:
        due.append((TimerKind.ASK, incident.chase.next.at if incident.chase.next else None))
        due.append((TimerKind.RERUN, incident.rerun.due_at if incident.rerun else None))
        due.append((TimerKind.APPROVAL, incident.proposal.expires_at if incident.proposal else None))
    due.append((TimerKind.VERIFY, incident.verify_by if incident.status is Status.VERIFYING else None))
    due.append((TimerKind.CHRONIC, incident.chronic_at if incident.status is Status.RESOLVED else None))
    if incident.status in (Status.PAUSED, Status.LEFT):
        due.append((TimerKind.UNTIL, incident.decision.until if incident.decision else None))
    return tuple(Timer(kind=kind, due_at=at) for kind, at in due if at is not None)
