"""What a test says of the fake: a workflow is pushed, its tick comes, a step fails, a person kills; in the words of a story."""

from datetime import datetime, timedelta
from itertools import pairwise

from tests.maestro.fake import acting, definitions
from tests.maestro.fake.crons import Tick, tick_uuid, trigger_uuid
from tests.maestro.fake.engine import Engine, Signal
from tests.maestro.fake.records import Attempt, Clock, Json, Run, Workflow, log_entry, millis
from tests.maestro.fake.running import ticked, timed_out, works
from tests.maestro.fake.signals import produced
from tests.maestro.fake.starting import BEGINNING, INCOMPLETE, restart, start
from tests.maestro.fake.steps import ended, ended_well, failed, tried_again


class Playing:
    """Every verb leaves the engine at rest: whatever follows at once has happened."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    @property
    def clock(self) -> Clock:
        return self.engine.clock

    @property
    def now(self) -> datetime:
        return self.engine.clock.now

    @property
    def events(self) -> list[Json]:
        """All that was published, oldest first."""
        return self.engine.events

    def works(self) -> None:
        """The workers do what is due: ticks, queues, retries."""
        works(self.engine)

    def moves(self, by: timedelta) -> None:
        self.moves_to(self.now + by)

    def moves_to(self, at: datetime) -> None:
        """Time passes, and what falls due is done."""
        self.clock.moves_to(at)
        self.works()

    def push(
        self,
        name: str,
        *,
        steps: tuple[str | Json, ...] = ("load", "publish"),
        cron: str | None = None,
        timezone: str = "UTC",
        strategy: str | Json | None = None,
        author: str = "ann",
        git: Json | None = None,
        active: bool = True,
        workflow: Json | None = None,
        **properties: object,
    ) -> Workflow:
        """A version of a workflow: steps named follow each other; a step given as a map stands as it is."""
        body: Json = {"id": name, "steps": chained(steps), "params": {}}
        if cron:
            key = {"type": "PREDEFINED", "expression": cron} if cron[0] == "@" else {"type": "CRON", "cron": cron}
            body["time_triggers"] = [key | {"timezone": timezone}]
        given: Json = dict(properties)
        if name not in self.engine.workflows:
            given.setdefault("owner", "data-sales")
        if strategy is not None:
            given["run_strategy"] = strategy
        return definitions.pushed(
            self.engine, body | (workflow or {}), author=author, properties=given or None, git=git, active=active
        )

    def workflow(self, name: str) -> Workflow:
        return self.engine.workflow(name)

    def run(self, name: str, instance: int = 1) -> Run:
        """The latest run of an instance."""
        return self.engine.run(name, instance)

    def scheduled(self, name: str, due: datetime) -> Run:
        """The tick of `due` starts its instance; the same tick starts no second one."""
        workflow = self.engine.workflow(name)
        triggers = self.engine.version(name, "active").workflow.get("time_triggers") or [{"cron": "-"}]
        trigger = {"timezone": "UTC"} | triggers[0]
        tick = Tick(due, trigger_uuid(workflow), trigger["timezone"], tick_uuid(workflow, trigger, due))
        run = ticked(self.engine, workflow, millis(due), tick.uuid, tick.timezone, tick.request_id)
        workflow.watermark = max(workflow.watermark or due, due)
        self.works()
        return run

    def started(self, name: str, *, user: str = "ann", run_params: Json | None = None) -> Run:
        """A person starts it by hand."""
        initiator: Json = {"type": "MANUAL", "user": user, "depth": 0}
        version = self.engine.version(name, "default")
        run = start(self.engine, self.engine.workflow(name), version, initiator, run_params=run_params).run
        self.works()
        return run

    def succeeds(self, run: Run, step: str | None = None) -> None:
        """The step ends well; without a step all of them do, one after the other."""
        while run.alive:
            going = [attempts[-1] for attempts in run.attempts.values() if attempts[-1].status == "RUNNING"]
            wanted = [attempt for attempt in going if step in (None, attempt.step_id)]
            if not wanted:
                return
            for child in wanted[0].children:
                self.succeeds(child)
            if not wanted[0].children:
                ended_well(self.engine, wanted[0])
            self.works()
            if step is not None:
                return

    def fails(
        self,
        run: Run,
        step: str = "load",
        *,
        kind: str = "user",
        message: str = "Step failed",
        errors: tuple[str, ...] = (),
        artifacts: Json | None = None,
    ) -> Attempt:
        """The step's attempt fails once; the engine tries again later where it has tries left."""
        attempt = self.running(run, step)
        attempt.artifacts |= artifacts or {}
        failed(self.engine, attempt, kind, message, errors)
        self.works()
        return attempt

    def tries_again(self, run: Run, step: str = "load") -> Attempt:
        """The engine's next attempt, without waiting for its time."""
        attempt = tried_again(self.engine, run.attempts[step][-1])
        self.works()
        return attempt

    def fails_for_good(self, run: Run, step: str = "load", *, kind: str = "user", **how: object) -> Attempt:
        """It fails until the engine gives up; what comes after it ends."""
        while True:
            attempt = self.fails(run, step, kind=kind, **how)  # type: ignore[arg-type]
            if attempt.over:
                return attempt
            self.tries_again(run, step)

    def running(self, run: Run, step: str) -> Attempt:
        attempt = run.newest(step)

        assert attempt is not None, f"{step} has not begun"
        assert attempt.status == "RUNNING", f"{step} is {attempt.status}"

        return attempt

    def logs(self, run: Run, step: str, message: str, *, level: str = "INFO") -> None:
        self.running(run, step).timeline.add(log_entry(message, self.clock.tick(), level))

    def waits_for_permits(self, run: Run, step: str) -> None:
        ended(self.engine, self.running(run, step), "WAITING_FOR_PERMITS")
        self.running_or_not(run, step).ended_at = None

    def running_or_not(self, run: Run, step: str) -> Attempt:
        return run.attempts[step][-1]

    def child(self, run: Run, step: str, number: int = 1) -> Run:
        """The newest run of a sub-workflow or of a loop's iteration."""
        child = run.attempts[step][-1].children[number - 1]
        return child.workflow.instances[child.instance_id][-1]

    def times_out(self, run: Run) -> None:
        timed_out(self.engine, run)
        self.works()

    def kills(self, run: Run, *, user: str = "ann") -> None:
        acting.terminated_run(self.engine, run.workflow, run.instance_id, "latest", "KILL", user)
        self.works()

    def stops(self, run: Run, *, user: str = "ann") -> None:
        acting.terminated_run(self.engine, run.workflow, run.instance_id, "latest", "STOP", user)
        self.works()

    def unblocks(self, run: Run, *, user: str = "ann") -> None:
        acting.unblocked(self.engine, run.workflow, run.instance_id, "latest", user)
        self.works()

    def restarts(self, run: Run, *, user: str = "ann", beginning: bool = False) -> Run:
        """A person restarts the instance by hand."""
        body: Json = {"restart_policy": BEGINNING if beginning else INCOMPLETE}
        acting.restarted(self.engine, run.workflow.instances[run.instance_id][-1], body, user)
        self.works()
        return self.run(run.workflow.id, run.instance_id)

    def runs_only(self, run: Run, *steps: str, user: str = "ann") -> Run:
        """A customised run of some steps: it may end well beside what is still failed."""
        again = restart(
            self.engine, self.run(run.workflow.id, run.instance_id), policy=INCOMPLETE, user=user, only=steps
        )
        self.works()
        return again.run

    def announces(self, name: str, params: Json | None = None, **payload: object) -> Signal | None:
        signal = produced(self.engine, name, params or {}, payload=payload)
        self.works()
        return signal

    def changes(self, name: str, *, user: str = "ann", **properties: object) -> None:
        """A person changes the workflow's properties."""
        definitions.properties_changed(self.engine, self.engine.workflow(name), properties, author=user)
        self.works()

    def breaks(self, name: str, why: str = "param [region] cannot be evaluated") -> None:
        """Its parameters cannot be evaluated any more: a run fails before it begins."""
        self.engine.workflow(name).broken_params = why

    def reruns(self, name: str) -> list[Run]:
        """Every run after an instance's first, by whomever."""
        return [run for run in self.engine.workflow(name).runs if run.run_id > 1]


def chained(steps: tuple[str | Json, ...]) -> list[Json]:
    """Named steps in a row; maps (`{"step": {...}}`, `{"subworkflow": {...}}`) as they are, but linked where nothing is said."""
    wrapped: list[Json] = [
        {"step": {"id": one, "type": "Kubernetes"}} if isinstance(one, str) else dict(one) for one in steps
    ]
    bodies = [next(iter(one.values())) for one in wrapped]
    for body, after in pairwise(bodies):
        body.setdefault("transition", {"successors": {after["id"]: "true"}})
    return wrapped


def subworkflow(step_id: str, name: str, **more: object) -> Json:
    """A step that runs another workflow."""
    params = {
        "subworkflow_id": {"type": "STRING", "value": name},
        "subworkflow_version": {"type": "STRING", "value": "latest"},
    }
    return {"subworkflow": {"id": step_id, "sync": True, "params": params, **more}}


def foreach(step_id: str, count: int, *steps: str) -> Json:
    """A loop over `count` items."""
    params = {"loop_params": {"type": "LONG", "value": count}}
    return {"foreach": {"id": step_id, "params": params, "steps": chained(steps or ("each",))}}
