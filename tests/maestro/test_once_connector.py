"""Thousands of deliveries by the connector alone: whatever is answered, each decision brings one run at most, and none unseen."""

import os
import random
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from bot.incidents.keys import Action, JobKey, RunRef
from bot.policies.specs import MaestroSpec
from bot.ports import BY_ITSELF, Looked, SchedulerRequest, Taken
from bot.schedulers.maestro.requests import request_id_of
from bot.schedulers.maestro.scheduler import MaestroScheduler
from tests.maestro.direct import URL, Direct
from tests.maestro.fake.answering import MONDAY, Answering
from tests.maestro.fake.faults import Fault
from tests.maestro.fake.records import Run
from tests.world.clock import Killed

DELIVERIES = int(os.environ.get("MAESTRO_DELIVERIES", "2000"))
EACH = 500
JOB = "sales.daily"
RULES = ("SEQUENTIAL", "PARALLEL", "STRICT_SEQUENTIAL", "FIRST_ONLY", "LAST_ONLY", "SERIAL_LATEST_ONLY")
KINDS = ("lose", "lose", "drop", "drop", "refuse", "late", "garbage", 400, 404, 408, 409, 429, 500, 502)
PATHS = ("/(restart|start)$", "/(restart|start)$", "/runs$", "/latest$", "/overview$", "/instances$", "/unblock$", "")
TRIES = 8


@dataclass(slots=True)
class Decision:
    """A row of the outbox: `uncertain` where it may have been made; `over` when nothing more is asked for it."""

    request: SchedulerRequest
    uncertain: bool = False
    over: bool = False
    taken: bool = False


class Delivery:
    """One or two decisions of one failed instance, delivered as the outbox does it, while others act as well."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.maestro = Answering()
        self.rule = self.chance.choice(RULES)
        self.wire = Direct(self.maestro)
        self.decisions: list[Decision] = []
        self.told: list[str] = []
        self._begins()

    def plays(self) -> None:
        self.maestro.push(JOB, strategy=self.rule)
        run = self.maestro.scheduled(JOB, MONDAY)
        self.maestro.fails_for_good(run)
        for number in range(self.chance.randint(1, 2)):
            last = self.maestro.run(JOB)
            if last.alive or last.status == "SUCCEEDED":
                return
            self._delivered(Decision(request=self._decided(number + 1, last)))
            self.maestro.works()
            for ours in self.ours():
                if ours.alive and not ours.queued:
                    self.maestro.fails_for_good(ours)

    def ours(self) -> list[Run]:
        return [run for run in self.maestro.workflow(JOB).runs if run.initiator.get("user") in ("ontrack", "ana")]

    def _decided(self, number: int, last: Run) -> SchedulerRequest:
        return SchedulerRequest(
            action=Action.RERUN,
            key=f"prod/{JOB}@20261130T060000Z#{number}",
            job=JobKey(scheduler="prod", name=JOB),
            run=RunRef(run_id=str(last.instance_id), nominal_time=MONDAY, generation=last.run_id),
            nominal_times=(MONDAY,),
            requested_by=self.chance.choice((BY_ITSELF, "ana")),
            fresh=self.chance.random() < 0.3,
            fixed=self.chance.random() < 0.3,
        )

    def _delivered(self, decision: Decision) -> None:
        self.decisions.append(decision)
        for _ in range(TRIES):
            self._others_act()
            try:
                self._tried(decision)
            except Killed:
                self.told.append("dies")
                decision.uncertain = True
                self._begins()
            if decision.over:
                return

    def _tried(self, decision: Decision) -> None:
        """Looked at where it may have been made; never asked again where that cannot be told."""
        if decision.uncertain:
            looked = self.scheduler.look(decision.request)
            self.told.append(looked)
            if looked is Looked.STARTED:
                decision.over = decision.taken = True
            if looked is not Looked.NOT_STARTED:
                decision.over = True
                return
        answer = self.scheduler.ask(decision.request)
        self.told.append(f"{answer.taken}: {answer.message}")
        decision.taken = answer.taken in (Taken.TAKEN, Taken.ALREADY)
        decision.over = decision.taken or (answer.taken is Taken.REFUSED and answer.retry_after is None)
        decision.uncertain = answer.taken is Taken.UNCERTAIN or decision.uncertain

    def _others_act(self) -> None:
        for _ in range(self.chance.randint(0, 2)):
            match self.chance.choice(("fault", "fault", "death", "person", "tick", "push", "slow", "works", "ends")):
                case "fault":
                    kind, path = self.chance.choice(KINDS), self.chance.choice(PATHS)
                    times, after = self.chance.randint(1, 2), self.chance.randint(0, 1)
                    self.maestro.faults.append(Fault(kind=kind, path=path, times=times, after=after))
                    self.told.append(f"{kind} at {path}")
                case "death":
                    self.wire.dies_in, self.wire.dies_after = self.chance.randint(1, 8), self.chance.random() < 0.5
                case "person" if not self.maestro.run(JOB).alive:
                    self.maestro.restarts(self.maestro.run(JOB), user="maria")
                case "tick":
                    days = self.maestro.workflow(JOB).newest_instance
                    self.maestro.scheduled(JOB, MONDAY + timedelta(days=days))
                case "push":
                    self.maestro.push(JOB, strategy=self.rule)
                case "slow":
                    self.maestro.prompt = False
                case "works":
                    self.maestro.works()
                case "ends":
                    for run in self.ours():
                        if run.alive and not run.queued:
                            self.maestro.fails_for_good(run)

    def _begins(self) -> None:
        self.wire.lets_live()
        spec = MaestroSpec(name="prod", url=URL, user="ontrack", workflows=(JOB,))
        self.scheduler = MaestroScheduler(spec, clock=lambda: self.maestro.now, wire=self.wire)


def wrong(delivery: Delivery) -> list[str]:
    keys = {str(request_id_of(one.request.key)): one for one in delivery.decisions}
    ours = delivery.ours()
    found = [f"{run.identity} belongs to no decision" for run in ours if run.uuid not in keys]
    if len({run.uuid for run in ours}) != len(ours):
        found.append("two runs of one decision")
    began = {run.uuid for run in ours if run.status != "STOPPED" or run.started_at != run.ended_at}
    for uuid, decision in keys.items():
        if decision.taken and uuid not in {run.uuid for run in ours}:
            found.append(f"{decision.request.key} counts as taken, and there is no run of it")
        if decision.over and not decision.taken and not decision.uncertain and uuid in began:
            found.append(f"{decision.request.key} counts as refused, and a run of it began")
    return found


@pytest.mark.parametrize("first", range(0, DELIVERIES, EACH))
def test_each_decision_brings_one_run_at_most_and_none_unseen(first: int) -> None:
    for seed in range(first, first + EACH):
        delivery = Delivery(seed)
        delivery.plays()

        assert wrong(delivery) == [], f"seed {seed}, {delivery.rule}: {delivery.told}"


def test_the_deliveries_are_about_something() -> None:
    played = [Delivery(seed) for seed in range(300)]
    for delivery in played:
        delivery.plays()
    told = [line for delivery in played for line in delivery.told]

    assert sum(len(delivery.ours()) for delivery in played) > 100
    assert told.count("dies") > 20
    assert {Looked.STARTED, Looked.NOT_STARTED, Looked.CANNOT_TELL} <= set(told)
    assert any(line.startswith("uncertain") for line in told)


def test_a_second_run_of_one_decision_would_be_seen() -> None:
    delivery = Delivery(0)
    delivery.plays()
    twin = replace(delivery.maestro.workflow(JOB).runs[-1], initiator={"type": "MANUAL", "depth": 0, "user": "ana"})
    delivery.maestro.workflow(JOB).instances[1].append(twin)

    assert wrong(delivery)
