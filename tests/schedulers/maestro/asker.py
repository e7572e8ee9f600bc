"""What a test asks of Maestro through the connector. Its clock is Maestro's."""

from datetime import datetime
from typing import Any

from bot.incidents.keys import Action, JobKey, RunRef
from bot.policies.specs import MaestroSpec
from bot.ports import Looked, SchedulerAnswer, SchedulerRequest, Taken
from bot.schedulers.maestro.requests import request_id_of
from bot.schedulers.maestro.scheduler import MaestroScheduler
from tests.maestro.fake.records import Run
from tests.maestro.fake.server import MONDAY, Maestro

NAME = "maestro-prod"
FLOW = "sales.daily"
KEY = "maestro-prod/sales.daily@20261130T060000000000Z.0badcafe#1"
LATE = RunRef(run_id="late__2026-11-30T06:00:00Z", nominal_time=MONDAY)
"""A run that never began, as the core names it."""
OUR_ID = str(request_id_of(KEY))


class Asker:
    """`scheduler` is made anew by `restarts`, as after a crash of ours."""

    def __init__(self, maestro: Maestro, **spec: Any) -> None:
        self.maestro = maestro
        self._spec = spec
        self.scheduler = self.restarts()

    def restarts(self) -> MaestroScheduler:
        given = {"user": "ontrack", "workflows": (FLOW,), **self._spec}
        spec = MaestroSpec(name=NAME, url=self.maestro.url, **given)
        self.scheduler = MaestroScheduler(spec, clock=lambda: self.maestro.clock.now)
        return self.scheduler

    def fails(self, due: datetime = MONDAY, **pushed: Any) -> Run:
        """A scheduled run of a workflow with these properties that failed in its second step."""
        self.maestro.push(FLOW, steps=("load", "publish"), cron="0 6 * * *", **pushed)
        return self.fails_again(due)

    def fails_again(self, due: datetime) -> Run:
        run = self.maestro.scheduled(FLOW, due)
        self.maestro.succeeds(run, "load")
        self.maestro.fails_for_good(run, "publish")
        return run

    def ask(self, run: Run | RunRef | None = None, action: Action = Action.RERUN, **more: Any) -> SchedulerAnswer:
        return self.scheduler.ask(self.request(run, action, **more))

    def look(self, run: Run | RunRef | None = None, action: Action = Action.RERUN, **more: Any) -> Looked:
        return self.scheduler.look(self.request(run, action, **more))

    def request(self, run: Run | RunRef | None = None, action: Action = Action.RERUN, **more: Any) -> SchedulerRequest:
        fields = {
            "key": KEY,
            "run": ref(run) if isinstance(run, Run) else run,
            "nominal_times": (MONDAY,),
            "requested_by": "Ana",
            "reason": "the cause is marked safe",
            **more,
        }
        name = run.workflow.id if isinstance(run, Run) else FLOW
        return SchedulerRequest(action=action, job=JobKey(scheduler=NAME, name=name), **fields)

    def ours(self) -> list[Run]:
        """Every run that came of our key."""
        return [run for run in self.maestro.workflow(FLOW).runs if run.uuid == OUR_ID]

    def changed(self, path: str = "") -> list[tuple[str, str]]:
        """The requests that change something, and whose name they bear."""
        meant = [one for one in self.maestro.asked if one.method != "GET" and path in one.path]
        return [(one.path.removeprefix("/api/v3/workflows/"), one.user or "") for one in meant]


def ref(run: Run) -> RunRef:
    return RunRef(run_id=str(run.instance_id), nominal_time=MONDAY, generation=run.run_id)


def refused(answer: SchedulerAnswer) -> str:
    """Its words, when it is refused for good."""
    assert answer.taken is Taken.REFUSED
    assert answer.retry_after is None
    return answer.message
