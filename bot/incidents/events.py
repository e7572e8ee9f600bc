"""Everything that can happen to an incident, as facts in the past tense. Values only; nothing here decides."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from bot.incidents.absence import NotObserved as NotObserved
from bot.incidents.delivery_events import DeliveryBuried as DeliveryBuried
from bot.incidents.delivery_events import DeliveryLate as DeliveryLate
from bot.incidents.delivery_events import ThreadMoved as ThreadMoved
from bot.incidents.downstream_events import DownstreamEvent
from bot.incidents.keys import Action, Cost, RunRef
from bot.incidents.model import AtEnd, Failure, Timer
from bot.incidents.people import By
from bot.incidents.storm_events import StormTaken, ThreadWanted


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """A run began. `rerun_key` is ours when we asked for it, `by` a person's name where the source tells one."""

    run: RunRef
    at: datetime
    rerun_key: str | None = None
    by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSucceeded:
    """A run ended well."""

    run: RunRef
    at: datetime
    cost: Cost | None = None
    rerun_key: str | None = None
    by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFailed:
    """A run failed; `will_retry`: the scheduler itself tries again, so nothing is final yet."""

    failure: Failure
    at: datetime
    will_retry: bool = False
    rerun_key: str | None = None

    @property
    def run(self) -> RunRef:
        return self.failure.run


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCancelled:
    """Someone stopped a run."""

    run: RunRef
    at: datetime
    by: str | None = None
    rerun_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSkipped:
    """The scheduler left a run out."""

    run: RunRef
    at: datetime
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLate:
    """A run has not started, or not finished, by its deadline; `failure.cause` is `late.not_started` or `late.not_finished`."""

    failure: Failure
    at: datetime
    deadline_at: datetime

    @property
    def run(self) -> RunRef:
        return self.failure.run


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleChanged:
    """The job's next runs, owner or policy are not what they were: deadlines that hang on them are worked out anew.

    `gone`: its scheduler says that the job is there no more. `told`: the thread says so as well.
    """

    at: datetime
    reason: str = ""
    gone: bool = False
    told: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerDue:
    """A timer of the occurrence came due; one that the incident no longer holds is stale and changes nothing."""

    timer: Timer


class AnswerKind(StrEnum):
    """What became of something that we asked of a scheduler."""

    TAKEN = "taken"
    REFUSED = "refused"
    UNCERTAIN = "uncertain"
    STARTED = "started"
    NOT_STARTED = "not_started"
    CANNOT_TELL = "cannot_tell"


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerAnswered:
    """The scheduler's answer to the request `key`, or what a look for it found. `message`: its own words."""

    key: str
    action: Action
    answer: AnswerKind
    at: datetime
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledged:
    """`lasts` None: the policy's default. `take_over`: also from somebody who holds it."""

    by: By
    lasts: timedelta | None = None
    take_over: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """The holder lets go of the acknowledgement."""

    by: By


@dataclass(frozen=True, slots=True, kw_only=True)
class RerunWanted:
    """A person asks for a rerun of owed times (empty: all that are owed, oldest first).

    `confirmed`: they said yes to the warning that the cause is unknown. `fresh`: from the beginning, where the scheduler
    tells that from going on where it failed.
    """

    by: By
    nominal_times: tuple[datetime, ...] = ()
    confirmed: bool = False
    reason: str = ""
    fresh: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRerunWanted:
    """A person asks that a rerun that we started be stopped."""

    by: By


@dataclass(frozen=True, slots=True, kw_only=True)
class Approved:
    """Yes to the proposal of that number. `confirmed`: also to the warning that the cause is unknown."""

    by: By
    proposal: int
    confirmed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Declined:
    """No to the proposal of that number."""

    by: By
    proposal: int


class OwedChoice(StrEnum):
    """What an owner says about one owed time when it is fixed."""

    RERUN_NOW = "rerun_now"
    FRESH_START = "fresh_start"
    NEXT_RUN = "next_run"
    NOT_NEEDED = "not_needed"


@dataclass(frozen=True, slots=True, kw_only=True)
class FixDeclared:
    """`choices` pairs each owed time with what it needs; those not named keep what they have."""

    by: By
    what: str = ""
    cause: str = ""
    link: str = ""
    choices: tuple[tuple[datetime | None, OwedChoice], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NotFixed:
    """The owner takes "fixed" back."""

    by: By


@dataclass(frozen=True, slots=True, kw_only=True)
class NotNeeded:
    """The owner declares owed times not needed (empty: all)."""

    by: By
    nominal_times: tuple[datetime | None, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StillNeeded:
    """The owner takes "not needed" back: those times are owed again (empty: all that a word took away)."""

    by: By
    nominal_times: tuple[datetime | None, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseWanted:
    """Also "change until" on a paused occurrence."""

    by: By
    until: datetime
    reason: str = ""
    at_end: AtEnd = AtEnd.RESUME


@dataclass(frozen=True, slots=True, kw_only=True)
class RetireWanted:
    by: By
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveWanted:
    by: By
    until: datetime
    reason: str = ""
    false_alarm: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitWanted:
    """The owner of a late run waits until that instant before being asked again."""

    by: By
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class StartWanted:
    """The owner of a run that did not start asks the scheduler to start it now."""

    by: By


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoWanted:
    """The owner takes a settled decision back: Reopen, Resume, Un-retire, Not left; the status says which."""

    by: By
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseCorrected:
    """The owner names the true cause, or on a settled record what fixed it."""

    by: By
    cause: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseMarked:
    """The owner marks the failure's cause safe to rerun automatically, or revokes the mark (`safe` False)."""

    by: By
    cause: str
    safe: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOverWanted:
    """The owner says that another team has to answer this occurrence: a correction of "whose is it"."""

    by: By
    team: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandBackWanted:
    """The last hand-over is taken back."""

    by: By
    note: str = ""


RunEvent = RunStarted | RunSucceeded | RunFailed | RunCancelled | RunSkipped | RunLate | NotObserved | ScheduleChanged
PersonEvent = (
    Acknowledged
    | Released
    | RerunWanted
    | StopRerunWanted
    | Approved
    | Declined
    | FixDeclared
    | NotFixed
    | NotNeeded
    | StillNeeded
    | PauseWanted
    | RetireWanted
    | LeaveWanted
    | WaitWanted
    | StartWanted
    | UndoWanted
    | CauseCorrected
    | CauseMarked
    | HandOverWanted
    | HandBackWanted
    | ThreadWanted
    | StormTaken
)
Event = (
    RunEvent
    | PersonEvent
    | TimerDue
    | SchedulerAnswered
    | DeliveryBuried
    | DeliveryLate
    | ThreadMoved
    | DownstreamEvent
)
