"""A scheduler at the outer edge: it takes requests by key, or does what a test tells it to. It runs nothing by itself."""

from dataclasses import dataclass, field

from bot.incidents.keys import Action, Capability, JobKey
from bot.incidents.policy import Schedule
from bot.ports import Looked, SchedulerAnswer, SchedulerRequest, Taken

EVERYTHING = frozenset(
    {
        Capability.RERUN,
        Capability.START,
        Capability.PAUSE,
        Capability.RESUME,
        Capability.RETIRE,
        Capability.STOP,
        Capability.NEXT_RUN,
    }
)


@dataclass(slots=True)
class FakeScheduler:
    """Implements `bot.ports.Scheduler`. `asked` holds every call, `taken` the requests that it took, by their keys,
    `asked_again` those that came although their key was taken.

    What it says of `bewitched` jobs breaks its own contract: it raises.
    """

    name: str
    can: frozenset[Capability] = EVERYTHING
    deduplicates: bool = False
    asked: list[SchedulerRequest] = field(default_factory=list)
    looked_for: list[str] = field(default_factory=list)
    taken: dict[str, SchedulerRequest] = field(default_factory=dict)
    asked_again: list[SchedulerRequest] = field(default_factory=list)
    schedules: dict[str, Schedule] = field(default_factory=dict)
    refusals: dict[Action, str] = field(default_factory=dict)
    timing_out: set[Action] = field(default_factory=set)
    takes_before_timing_out: bool = True
    blind: bool = False
    bewitched: set[str] = field(default_factory=set)

    def refuses(self, action: Action, message: str) -> None:
        """From now on it answers this action with a refusal."""
        self.refusals[action] = message

    def times_out(self, action: Action, *, after_taking: bool) -> None:
        """From now on no answer to this action arrives, whether it was taken or not."""
        self.timing_out.add(action)
        self.takes_before_timing_out = after_taking

    def cannot(self, *capabilities: Capability) -> None:
        self.can = self.can - set(capabilities)

    def is_well_again(self) -> None:
        self.refusals.clear()
        self.timing_out.clear()
        self.blind = False

    def requests(self, action: Action) -> list[SchedulerRequest]:
        """What was asked, each call of it."""
        return [request for request in self.asked if request.action is action]

    def ask(self, request: SchedulerRequest) -> SchedulerAnswer:
        self.asked.append(request)
        if request.key in self.taken:
            self.asked_again.append(request)
        if request.action in self.refusals:
            return SchedulerAnswer(taken=Taken.REFUSED, message=self.refusals[request.action])
        if request.action in self.timing_out:
            if self.takes_before_timing_out:
                self.taken.setdefault(request.key, request)
            return SchedulerAnswer(taken=Taken.UNCERTAIN, message="no answer within 30 s")
        if request.key in self.taken:
            return SchedulerAnswer(taken=Taken.ALREADY)
        self.taken[request.key] = request
        return SchedulerAnswer(taken=Taken.TAKEN)

    def look(self, request: SchedulerRequest) -> Looked:
        self.looked_for.append(request.key)
        if self.blind:
            return Looked.CANNOT_TELL
        return Looked.STARTED if request.key in self.taken else Looked.NOT_STARTED

    def schedule_of(self, job: JobKey) -> Schedule | None:
        if job.name in self.bewitched:
            raise RuntimeError(f"a bug in the connector, about {job.name}")
        return self.schedules.get(job.name)
