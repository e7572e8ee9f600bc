"""The fake's state and the way to find things in it; what becomes of them stands in the files beside it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from uuid import UUID, uuid5

from tests.maestro.fake.records import Clock, Json, No, Run, Version, Workflow

_NAMES = UUID("6f1f7a4e-3c1d-5b3a-9a53-0d3c5e0f7f10")


@dataclass(slots=True)
class Signal:
    name: str
    seq: int
    params: Json
    payload: Json
    created_at: int
    request_id: str


@dataclass(slots=True)
class Engine:
    """`events`: everything published so far, oldest first."""

    clock: Clock
    workflows: dict[str, Workflow] = field(default_factory=dict)
    signals: dict[str, list[Signal]] = field(default_factory=dict)
    seen_signals: dict[tuple[str, int], dict[str, int]] = field(default_factory=dict)
    events: list[Json] = field(default_factory=list)
    counted: int = 0

    def new_uuid(self) -> str:
        self.counted += 1
        return str(uuid5(_NAMES, str(self.counted)))

    def workflow(self, name: str) -> Workflow:
        if name not in self.workflows:
            raise No(404, f"Cannot find workflow [{name}]")
        return self.workflows[name]

    def version(self, name: str, which: str) -> Version:
        """`active`, `latest`, `default` (active, else latest) or a number."""
        if name not in self.workflows or not self.workflows[name].versions:
            raise No(404, f"Workflow [{name}] version [{which}] not found")
        workflow = self.workflows[name]
        number = {"latest": workflow.latest.number, "default": workflow.active or workflow.latest.number}.get(
            which.lower(), workflow.active
        )
        if which.lower() not in ("active", "latest", "default"):
            if not which.isdecimal():
                raise No(400, f'For input string: "{which}"')
            number = int(which)
        for version in workflow.versions:
            if version.number == number:
                return version
        raise No(404, f"Workflow [{name}] version [{which}] not found")

    def runs_of(self, name: str, instance: int) -> list[Run]:
        """Oldest first."""
        runs = self.workflows[name].instances.get(instance) if name in self.workflows else None
        if not runs:
            raise No(404, f"workflow instance [{name}][{instance}][0] not found (either not created or deleted)")
        return runs

    def run(self, name: str, instance: int, which: str = "latest") -> Run:
        runs = self.runs_of(name, instance)
        if which.lower() == "latest":
            return runs[-1]
        if not which.isdecimal():
            raise No(400, f'For input string: "{which}"')
        if not 1 <= int(which) <= len(runs):
            raise No(404, f"workflow instance [{name}][{instance}][{which}] not found (either not created or deleted)")
        return runs[int(which) - 1]

    def alive(self) -> Iterator[Run]:
        """Every run that is queued or running, in the order in which Maestro would take them up."""
        for workflow in list(self.workflows.values()):
            for instance in sorted(workflow.instances):
                run = workflow.instances[instance][-1]
                if run.alive:
                    yield run
