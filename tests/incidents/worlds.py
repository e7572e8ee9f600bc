"""Small builders for tests of the core, and `Play`, which lets events and time pass over one occurrence.

Nothing here is a rule: a test that needs another world says so in its own words.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from bot.incidents.decide import decide
from bot.incidents.effects import AskScheduler, Effect, Reply, ReplyKind, Reserve, Told
from bot.incidents.events import (
    AnswerKind,
    Event,
    HandBackWanted,
    HandOverWanted,
    RunFailed,
    RunLate,
    RunStarted,
    RunSucceeded,
    SchedulerAnswered,
    TimerDue,
)
from bot.incidents.keys import Action, Capability, Cost, JobKey, RunRef, Trigger
from bot.incidents.lateness import NOT_STARTED
from bot.incidents.model import Failure, Incident, Status, timers_of
from bot.incidents.people import By, Destination, Directory, Mention, MentionKind, Person
from bot.incidents.policy import Door, Fallback, JobPolicy, Rota, SafeMark, Team
from bot.incidents.situation import Allowance, Answering, Decision, Situation

MONDAY = datetime(2026, 11, 30, 3, 0, tzinfo=UTC)
TUESDAY = MONDAY + timedelta(days=1)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)

JOB = JobKey(scheduler="airflow-prod", name="finance.daily_revenue")
ANA, BEN = Person(id="U0ANA", name="Ana"), Person(id="U0BEN", name="Ben")
ONCALL = Person(id="U0ONCALL", name="Olga")
ADMIN = Person(id="U0ROOT", name="Rosa")
STRANGER = Person(id="U0OUT", name="Sam")
BOT = Person(id="U0BOT", name="a bot")
ONCALL_MENTION = Mention(kind=MentionKind.GROUP, id="S0FINONCALL", name="finance on-call")
TEAM_MENTION = Mention(kind=MentionKind.GROUP, id="S0FINDATA", name="finance data")

FINANCE_LIST = Destination(door=Door.EMAIL, address="finance-data@example.com", shared=True)
MARIA = Person(id="U0MARIA", name="Maria")

SAFE, OTHER_SAFE, UNSAFE, UNKNOWN = "network.connection_reset", "service.throttled", "data.schema_changed", "unknown"
TEAM = Team(
    name="finance-data",
    channel="C0FINANCE",
    usergroup="S0FINONCALL",
    members=(ANA.id, BEN.id),
    rota=Rota(members=(ANA.id, BEN.id), every=timedelta(weeks=1), since=MONDAY - 60 * DAY, zone="Europe/Berlin"),
)
GIL = Person(id="U0GIL", name="Gil")
PLATFORM_MENTION = Mention(kind=MentionKind.GROUP, id="S0PLATFORM", name="platform on-call")
PLATFORM = Team(name="platform", channel="C0PLATFORM", usergroup="S0PLATFORM", members=(GIL.id,))
POLICY = JobPolicy(team=TEAM, fallback=Fallback(channel="C0JOBS", email="data-oncall@example.com"))
ALL = frozenset(
    {Capability.RERUN, Capability.START, Capability.PAUSE, Capability.RESUME, Capability.RETIRE, Capability.STOP}
)
EffectT = TypeVar("EffectT", bound=Effect)


def mark(cause: str, team: str = TEAM.name, void: str | None = None, since: datetime = MONDAY - 30 * DAY) -> SafeMark:
    return SafeMark(cause=cause, team=team, by=ANA.id, since=since, void=void)


def own_address(person: Person) -> Destination:
    """The mail address of one person."""
    address = person.id if "@" in person.id else f"{person.name.lower()}@example.com"
    return Destination(door=Door.EMAIL, address=address, person=person.id)


def directory(now: datetime, **changes: Any) -> Directory:
    fresh = Directory(
        owners=frozenset({ANA.id, BEN.id}),
        oncall=frozenset({ONCALL.id}),
        admins=frozenset({ADMIN.id}),
        inactive=frozenset({BOT.id}),
        oncall_mentions=(ONCALL_MENTION,),
        team_mentions=(TEAM_MENTION,),
        oncall_mail=(own_address(ONCALL),),
        team_mail=(FINANCE_LIST,),
        manager_mail=(own_address(MARIA),),
        read_at=now,
    )
    return replace(fresh, **changes)


def answering(team: Team, now: datetime) -> Answering:
    """That team with its people."""
    if team == TEAM:
        return Answering(team=TEAM, directory=directory(now))
    theirs = directory(
        now,
        owners=frozenset({GIL.id}),
        oncall=frozenset({GIL.id}),
        oncall_mentions=(PLATFORM_MENTION,),
        team_mentions=(PLATFORM_MENTION,),
        oncall_mail=(own_address(GIL),),
        team_mail=(own_address(GIL),),
        manager_mail=(),
    )
    return Answering(team=team, directory=theirs)


def answered_by(incident: Incident | None, event: Event, now: datetime) -> dict[str, Any]:
    """What intake says of teams: which answers the occurrence now, and which a hand-over names."""
    found: dict[str, Any] = {}
    if incident is not None and incident.handed:
        there = answering(PLATFORM, now)
        found = {"handed": there.team, "directory": there.directory}
    match event:
        case HandOverWanted():
            team = {TEAM.name: TEAM, PLATFORM.name: PLATFORM}.get(event.team)
            found["other"] = answering(team, now) if team else None
        case HandBackWanted():
            found["other"] = answering(TEAM, now)
    return found


def run(at: datetime | None = MONDAY, **changes: Any) -> RunRef:
    """The run of a nominal time; its id is the scheduler's for that time unless said otherwise."""
    given: dict[str, Any] = {"run_id": f"scheduled__{at:%Y-%m-%dT%H:%M}" if at else "run-7", "nominal_time": at}
    return RunRef(**{**given, **changes})


def rerun_of(at: datetime | None = MONDAY, generation: int = 1, trigger: Trigger = Trigger.RERUN) -> RunRef:
    return run(at, generation=generation, trigger=trigger)


def failure(of: RunRef | None = None, cause: str = SAFE, at: datetime | None = None, **changes: Any) -> Failure:
    of = of or run()
    given: dict[str, Any] = {
        "run": of,
        "at": at or (of.nominal_time or MONDAY) + 20 * MINUTE,
        "fingerprint": f"fp-{cause}",
        "cause": cause,
        "title": f"It failed: {cause}",
        "message": "Connection reset by peer",
        "evidence": f"evidence-{of.run_id}-{of.generation}",
    }
    return Failure(**{**given, **changes})


def failed(of: RunRef | None = None, cause: str = SAFE, at: datetime | None = None, **changes: Any) -> RunFailed:
    """A failure that is final; `will_retry` and `rerun_key` belong to the event, everything else to the failure."""
    of_event = {name: changes.pop(name) for name in ("will_retry", "rerun_key") if name in changes}
    how = failure(of, cause, at, **changes)
    return RunFailed(failure=how, at=how.at, **of_event)


def late(at: datetime = MONDAY, cause: str = NOT_STARTED) -> RunLate:
    how = failure(run(at), cause, at + 15 * MINUTE, due_at=at + 15 * MINUTE)
    return RunLate(failure=how, at=how.at, deadline_at=how.at)


def succeeded(of: RunRef | None = None, at: datetime | None = None, **changes: Any) -> RunSucceeded:
    of = of or run()
    return RunSucceeded(run=of, at=at or (of.nominal_time or MONDAY) + HOUR, **changes)


def started(of: RunRef | None = None, at: datetime | None = None, **changes: Any) -> RunStarted:
    of = of or run()
    return RunStarted(run=of, at=at or (of.nominal_time or MONDAY) + MINUTE, **changes)


def by(person: Person = ANA, at: datetime = MONDAY + 30 * MINUTE) -> By:
    return By(person=person, at=at)


@dataclass(slots=True)
class World:
    """What surrounds the occurrence; the schedule is `every` from Monday on, or none."""

    policy: JobPolicy = POLICY
    every: timedelta | None = DAY
    changes: dict[str, Any] = field(default_factory=dict)

    def situation(self, now: datetime) -> Situation:
        next_run_at = MONDAY + self.every * ((now - MONDAY) // self.every + 1) if self.every else None
        given: dict[str, Any] = {
            "job": JOB,
            "policy": self.policy,
            "directory": directory(now),
            "can": ALL,
            "doors": frozenset(Door),
            "next_run_at": next_run_at,
            "following_run_at": next_run_at + self.every if next_run_at and self.every else None,
            "interval": self.every,
            "usual_duration": 30 * MINUTE,
            "estimate": Cost(amount=0.5),
            "allowance": Allowance(unit="run_hours", job=4.0),
            "marks": (mark(SAFE), mark(OTHER_SAFE)),
        }
        return Situation(**{**given, **self.changes})


class Play:
    """One occurrence under events: `after` lets time pass and fires what is due, `tell` lets something happen now."""

    def __init__(self, world: World | None = None, *, now: datetime = MONDAY + 20 * MINUTE) -> None:
        self.world = world or World()
        self.now = now
        self.current: Incident | None = None
        self.decisions: list[tuple[datetime, Decision]] = []

    @property
    def incident(self) -> Incident:
        assert self.current is not None, "nothing was opened"
        return self.current

    @property
    def status(self) -> Status:
        return self.incident.status

    def tell(self, event: Event, **situation: Any) -> Decision:
        """Something happens now; `situation` replaces parts of the surroundings for this decision only."""
        surroundings = replace(
            self.world.situation(self.now), **{**answered_by(self.current, event, self.now), **situation}
        )
        decision = decide(self.current, event, surroundings, self.now)
        self.decisions.append((self.now, decision))
        self.current = decision.incident
        if self.current is not None and self.current.record == 0:
            self.current = replace(self.current, record=1)
        return decision

    def after(self, wait: timedelta, **situation: Any) -> list[Decision]:
        """Time passes: every timer that comes due meanwhile fires at its instant, each decision is returned."""
        return self.until(self.now + wait, **situation)

    def until(self, instant: datetime, **situation: Any) -> list[Decision]:
        fired: list[Decision] = []
        while self.current is not None and len(fired) < 2000:
            due = min(timers_of(self.current), key=lambda timer: timer.due_at, default=None)
            if due is None or due.due_at > instant:
                break
            self.now = max(self.now, due.due_at)
            fired.append(self.tell(TimerDue(timer=due), **situation))
        assert len(fired) < 2000, "timers fire without end"
        self.now = max(self.now, instant)
        return fired

    def answer(self, kind: AnswerKind, action: Action = Action.RERUN, message: str = "", key: str = "") -> Decision:
        """The scheduler answers the newest request of that kind."""
        key = key or [one.key for one in self.all(AskScheduler) if one.action is action][-1]
        return self.tell(SchedulerAnswered(key=key, action=action, answer=kind, at=self.now, message=message))

    def all(self, kind: type[EffectT]) -> list[EffectT]:
        return effects(kind, (decision for _, decision in self.decisions))

    @property
    def mentions(self) -> list[tuple[datetime, tuple[Mention, ...]]]:
        """Every message that notified somebody, and when."""
        return [
            (at, reply.mention)
            for at, decision in self.decisions
            for reply in effects(Reply, [decision])
            if reply.mention
        ]

    @property
    def reserved(self) -> list[Reserve]:
        return self.all(Reserve)


def effects(kind: type[EffectT], decisions: Iterable[Decision]) -> list[EffectT]:
    return [effect for decision in decisions for effect in decision.effects if isinstance(effect, kind)]


def replies(decision: Decision) -> list[ReplyKind]:
    return [reply.kind for reply in effects(Reply, [decision])]


def mentioned(decision: Decision) -> list[str]:
    return [mention.id for reply in effects(Reply, [decision]) for mention in reply.mention]


def told(decision: Decision) -> Told:
    assert decision.told is not None, "nobody was answered"
    return decision.told
