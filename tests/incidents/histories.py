"""Random histories: a world, then events that mostly could happen; a seed names one, so that a failure can be played again.

Hypothesis draws seed and length; the draws inside a history are `random`'s, since long histories exhaust a shrinking one.
"""

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import Any

from bot.incidents.decide import decide
from bot.incidents.effects import AskScheduler, Release, Reserve, Settle
from bot.incidents.events import (
    Acknowledged,
    AnswerKind,
    Approved,
    CauseCorrected,
    CauseMarked,
    Declined,
    DeliveryBuried,
    DeliveryLate,
    Event,
    FixDeclared,
    HandBackWanted,
    HandOverWanted,
    LeaveWanted,
    NotFixed,
    NotNeeded,
    OwedChoice,
    PauseWanted,
    Released,
    RerunWanted,
    RetireWanted,
    RunCancelled,
    RunSkipped,
    RunStarted,
    RunSucceeded,
    ScheduleChanged,
    SchedulerAnswered,
    StartWanted,
    StillNeeded,
    StopRerunWanted,
    ThreadMoved,
    TimerDue,
    UndoWanted,
    WaitWanted,
)
from bot.incidents.keys import Action, Capability, Cost, Trigger
from bot.incidents.lateness import NOT_FINISHED, NOT_STARTED
from bot.incidents.model import AtEnd, Incident, RerunPhase, Status, Timer, TimerKind, timers_of
from bot.incidents.policy import Door, Hours, JobPolicy, Mode, RecoversBy, RerunPolicy, Urgency
from bot.incidents.situation import Allowance, Decision, Situation
from bot.incidents.strategy import RunStrategy
from tests.incidents.worlds import (
    ALL,
    ANA,
    BEN,
    BOT,
    DAY,
    GIL,
    HOUR,
    MINUTE,
    MONDAY,
    ONCALL,
    OTHER_SAFE,
    PLATFORM,
    POLICY,
    SAFE,
    STRANGER,
    TEAM,
    UNKNOWN,
    UNSAFE,
    World,
    answered_by,
    by,
    directory,
    failed,
    late,
    mark,
    run,
)

ADDRESSES = ("finance-data@example.com", "olga@example.com", "data-oncall@example.com", "pia@example.com")
CAUSES = (SAFE, SAFE, SAFE, OTHER_SAFE, UNSAFE, UNKNOWN)
TIMES = (MONDAY, MONDAY, MONDAY, MONDAY + DAY, MONDAY + 2 * DAY, None)
MOMENT = timedelta(milliseconds=1)
"""Two occurrences of a job never open at one instant: a batch that would do so is halved (`KeyTaken`)."""
PAUSES = (timedelta(), timedelta(), MINUTE, MINUTE, 6 * MINUTE, 40 * MINUTE, 7 * HOUR, 2 * DAY)
HOURS = Hours(
    days=(0, 1, 2, 3, 4), starts=(MONDAY + 5 * HOUR).time(), ends=(MONDAY + 15 * HOUR).time(), zone="Europe/Berlin"
)


def any_policy(rng: Random) -> JobPolicy:
    return replace(
        POLICY,
        mode=rng.choice([Mode.ACT] * 5 + [Mode.ASK, Mode.OBSERVE]),
        urgency=rng.choice(list(Urgency)),
        recovers_by=rng.choice([None, RecoversBy.SAME_RUN, RecoversBy.ANY_LATER_RUN]),
        team=replace(TEAM, hours=HOURS),
        rerun=replace(RerunPolicy(), max=rng.choice([0, 1, 2, 3, 9]), forbid_overlap=rng.random() < 0.2),
    )


def any_world(rng: Random) -> World:
    if rng.random() < 0.6:
        return World(
            policy=replace(any_policy(rng), mode=rng.choice([Mode.ACT] * 4 + [Mode.ASK, Mode.OBSERVE])),
            every=rng.choice([None, HOUR, DAY]),
        )
    marks = [mark(SAFE)] * 3 + [
        mark(OTHER_SAFE),
        mark(UNSAFE, team="strangers"),
        mark(UNKNOWN),
        mark(SAFE, void="left"),
    ]
    rich = Allowance(unit="run_hours", job=2.0)
    changes = {
        "can": rng.choice(
            [ALL, ALL, ALL, ALL - {Capability.PAUSE, Capability.RESUME}, ALL - {Capability.RESUME}, frozenset()]
        ),
        "allowance": rng.choice([None, rich, rich, Allowance(unit="run_hours", job=9.0, team=0.4)]),
        "estimate": rng.choice(
            [None, Cost(amount=0.3), Cost(amount=0.5), Cost(amount=2.5), Cost(amount=0.1, unit="core_hours")]
        ),
        "marks": tuple(rng.sample(marks, rng.randint(0, len(marks)))),
        "suspended": rng.choice([frozenset()] * 5 + [frozenset({SAFE})]),
    }
    return World(policy=any_policy(rng), every=rng.choice([None, MINUTE, HOUR, DAY, DAY, 30 * DAY]), changes=changes)


class History:
    """One random history, event by event; it keeps account of what only a whole history can show."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.world = any_world(self.rng)
        self.now = MONDAY + 20 * MINUTE
        self.incident: Incident | None = None
        self.generation = 0
        self.reserved: Counter[str] = Counter()
        self.ended: Counter[str] = Counter()
        self.asked: Counter[str] = Counter()
        self.actions: dict[str, Action] = {}
        self.replaced: set[str] = set()
        self.unknown_to_the_chat = self.rng.random() < 0.2
        self.run_strategy = Random(f"{seed} run strategy").choice([None, *RunStrategy])

    def step(self) -> tuple[Incident | None, Event, Situation, Decision]:
        """The next event: the incident before it, the event, its surroundings and the decision."""
        self.now += self.rng.choice(PAUSES)
        if self.settled:
            self.now += MOMENT
        event = self.event()
        situation = replace(self.situation(), **answered_by(self.incident, event, self.now))
        before = self.incident
        decision = decide(before, event, situation, self.now)
        self.account(before, event, decision)
        after = decision.incident
        self.incident = replace(after, record=1) if after is not None and after.record == 0 else after
        return before, event, situation, decision

    def situation(self) -> Situation:
        drawn: dict[str, Any] = {
            "live": frozenset(self.rng.choice([()] * 12 + [(MONDAY,), (MONDAY + DAY,)])),
            "run_strategy": self.run_strategy,
            "paid": frozenset(self.rng.choice([()] * 12 + [(MONDAY,)])),
            "reruns": tuple((time, self.rng.choice([0, 0, 0, 1, 2])) for time in TIMES[:1]),
            "unresolved": self.rng.choice([None, None, None, 7]) if self.settled else None,
            "retired": self.rng.random() < 0.04,
            "last_good_at": self.rng.choice([None, self.now]),
        }
        if self.unknown_to_the_chat:
            drawn["directory"] = directory(
                self.now,
                owners=frozenset({ANA.id, BEN.id, "pia@example.com"}),
                oncall_mentions=(),
                team_mentions=(),
                mail_alone=frozenset({"pia@example.com"}),
            )
        return replace(self.world.situation(self.now), **drawn)

    @property
    def settled(self) -> bool:
        return self.incident is not None and not self.incident.status.unresolved

    def event(self) -> Event:
        if self.incident is not None and self.incident.status is Status.RESOLVED and self.rng.random() < 0.3:
            self.replaced |= {self.incident.rerun.key} if self.incident.rerun else set()
            self.incident = None
        if self.incident is None:
            return self.a_failure()
        kinds = [self.a_timer, self.a_timer, self.a_run, self.a_run, self.a_word, self.a_word]
        asked = any(key not in self.ended for key in self.actions)
        return self.rng.choice([*kinds, *([self.an_answer] * 3 if asked else [])])()

    def a_failure(self) -> Event:
        time = self.rng.choice(TIMES)
        if time is not None and self.rng.randint(0, 6) == 0:
            return late(time, self.rng.choice([NOT_STARTED, NOT_FINISHED]))
        self.generation += 1
        trigger = self.rng.choice([Trigger.SCHEDULE, Trigger.SCHEDULE, *Trigger])
        doubt: dict[str, Any] = self.rng.choice([{}, {}, {}, {"ruled_out_by": ("schema",)}, {"also": (UNSAFE,)}])
        of = run(time, generation=self.generation, trigger=trigger)
        retry = self.rng.randint(0, 9) == 0
        cause = self.rng.choice(CAUSES)
        return failed(of, cause, self.now, rerun_key=self.a_key(), will_retry=retry, **doubt)

    def a_key(self) -> str | None:
        rerun = self.incident.rerun if self.incident else None
        asked = rerun is not None and rerun.phase not in (RerunPhase.BACKING_OFF, RerunPhase.HELD)
        return rerun.key if rerun and asked and self.rng.random() < 0.5 else None

    def a_run(self) -> Event:
        kind = self.rng.choice(["failed", "failed", "started", "succeeded", "succeeded", "cancelled", "skipped"])
        if kind == "failed":
            return self.a_failure()
        trigger = self.rng.choice(list(Trigger))
        self.generation += 1
        of = run(self.rng.choice(TIMES), generation=self.generation, trigger=trigger)
        key = self.a_key()
        if key is not None and self.incident and self.incident.rerun:
            of = replace(of, nominal_time=self.incident.rerun.waiting[0], trigger=Trigger.RERUN)
        match kind:
            case "started":
                return RunStarted(run=of, at=self.now, rerun_key=key)
            case "succeeded":
                return RunSucceeded(run=of, at=self.now, rerun_key=key)
            case "cancelled":
                return RunCancelled(run=of, at=self.now, rerun_key=key)
            case _:
                return RunSkipped(run=of, at=self.now)

    def a_timer(self) -> Event:
        live = timers_of(self.incident) if self.incident else ()
        if live and self.rng.randint(0, 8):
            timer = self.rng.choice(live)
            self.now = max(self.now, timer.due_at)
            return TimerDue(timer=timer)
        return TimerDue(timer=Timer(kind=self.rng.choice(list(TimerKind)), due_at=self.now))

    def an_answer(self) -> Event:
        asked = [key for key in self.asked if key not in self.ended] or ["unasked"]
        key = self.rng.choice([*asked, asked[-1], asked[-1]])
        action = self.actions.get(key, Action.RERUN)
        return SchedulerAnswered(key=key, action=action, answer=self.rng.choice(list(AnswerKind)), at=self.now)

    def a_word(self) -> Event:
        who = by(self.rng.choice([ANA, ANA, BEN, ONCALL, GIL, STRANGER, BOT]), self.now)
        until = self.now + self.rng.choice([-HOUR, HOUR, 2 * DAY, 89 * DAY, 200 * DAY])
        times = tuple(owed.nominal_time for owed in self.incident.owed) if self.incident else ()
        choices = tuple((time, self.rng.choice(list(OwedChoice))) for time in times)
        number = self.incident.proposals if self.incident else 0
        named = tuple(time for time in times if time is not None and self.rng.random() < 0.5)
        if self.incident and self.incident.proposal and self.rng.random() < 0.3:
            return Approved(by=by(ANA, self.now), proposal=number, confirmed=True)
        words: list[Event] = [
            Acknowledged(by=who, lasts=self.rng.choice([None, HOUR, -HOUR, 400 * DAY])),
            Acknowledged(by=who, take_over=True),
            Released(by=who),
            RerunWanted(by=who, nominal_times=named, confirmed=self.rng.random() < 0.5),
            StopRerunWanted(by=who),
            Approved(by=who, proposal=number, confirmed=self.rng.random() < 0.5),
            Approved(by=who, proposal=number, confirmed=True),
            Declined(by=who, proposal=number),
            FixDeclared(by=who, choices=choices),
            NotFixed(by=who),
            NotNeeded(by=who, nominal_times=named),
            StillNeeded(by=who),
            HandOverWanted(by=who, team=self.rng.choice([PLATFORM.name, TEAM.name, "nobody"])),
            HandBackWanted(by=who),
            PauseWanted(by=who, until=until, at_end=self.rng.choice(list(AtEnd))),
            RetireWanted(by=who),
            LeaveWanted(by=who, until=until),
            WaitWanted(by=who, until=until),
            StartWanted(by=who),
            UndoWanted(by=who),
            CauseCorrected(by=who, cause="data.late_partner"),
            CauseMarked(by=who, cause=self.rng.choice(CAUSES), safe=self.rng.random() < 0.5),
            ScheduleChanged(at=self.now),
            DeliveryBuried(destination="C0FINANCE", what="ask", code="is_archived", at=self.now),
            DeliveryBuried(
                destination=self.rng.choice(ADDRESSES), what="ask", code="5.1.1", at=self.now, door=Door.EMAIL
            ),
            DeliveryLate(
                destination="C0FINANCE",
                what=self.rng.choice(["ask", "approval", "evidence"]),
                code="ratelimited",
                since=self.now - self.rng.choice([10, 60, 600]) * MINUTE,
                at=self.now,
            ),
            ThreadMoved(left="C0FINANCE", to="C0JOBS", url=None, code="is_archived", at=self.now),
        ]
        return self.rng.choice(words)

    def account(self, before: Incident | None, event: Event, decision: Decision) -> None:
        """Each key is reserved and asked for once, and ended at most once; what is open is the incident's own or lost."""
        for effect in decision.effects:
            match effect:
                case Reserve():
                    self.reserved[effect.key] += 1
                case AskScheduler():
                    self.asked[effect.key] += 1
                    self.actions[effect.key] = effect.action
                case Settle() | Release():
                    self.ended[effect.key] += 1
        assert not self.reserved or max(self.reserved.values()) == 1
        assert (
            not self.asked
            or max(self.asked.values()) == 1
            or {self.actions[key] for key, times in self.asked.items() if times > 1} <= {Action.STOP, Action.UNBLOCK}
        )
        reran = {key for key, action in self.actions.items() if action in (Action.RERUN, Action.START)}
        assert reran <= set(self.reserved), "nothing is asked for that was not booked"
        open_keys = set(self.reserved) - set(self.ended)
        rerun = decision.incident.rerun if decision.incident else None
        lost = {before.rerun.key} if before and before.rerun and before.rerun.phase is RerunPhase.LOST else set()
        self.replaced |= lost if rerun is None or rerun.key not in lost else set()
        assert open_keys <= ({rerun.key} if rerun else set()) | self.replaced, "a booking that nobody ends"
