"""ontrack as it is run, beside a stand-in workspace: what a person reads in a thread and presses there.

It looks into nothing but the workspace and `python -m bot incidents`.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from bot.sandbox.slack.client import Workspace
from bot.sandbox.witness import mentioned
from tests.e2e_airflow.airflow import NotSoInTime, waited_for
from tests.e2e_airflow.policies import FINANCE

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """A thread as it reads now."""

    ts: str
    root: str
    replies: tuple[str, ...]
    mentions: frozenset[str]

    def says(self, *words: str) -> bool:
        """Whether one of its messages holds all these words."""
        return any(all(word in text for word in words) for text in (self.root, *self.replies))

    def __str__(self) -> str:
        return "\n--\n".join((self.root, *self.replies))


@dataclass(slots=True, kw_only=True)
class Office:
    """`place` holds policies.yaml, the database and the state; `env` is the service's whole environment."""

    place: Path
    logs: Path
    env: Mapping[str, str]
    slack: Workspace
    _service: "subprocess.Popen[bytes] | None" = None
    _http: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        self._http = httpx.Client(base_url=self.env["PUBLIC_URL"], timeout=10, trust_env=False)

    def start(self) -> None:
        """`python -m bot run`, until it is ready."""
        with (self.logs / "ontrack.log").open("ab") as log:
            self._service = subprocess.Popen(
                [sys.executable, "-m", "bot", "run"],
                cwd=ROOT,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        waited_for(self._is_ready, within=PATIENCE, what=f"ontrack is ready; its log is in {self.logs}")

    def kill(self) -> None:
        """SIGKILL, at once."""
        if self._service is not None:
            self._service.kill()
            self._service.wait()
            self._service = None

    def close(self) -> None:
        self.kill()
        self._http.close()

    def thread(self, job: str) -> Thread | None:
        """The newest thread whose root names the job."""
        roots = [one for one in self.slack.messages(FINANCE) if job in self.slack.text_of(one)]
        if not roots:
            return None
        messages = self.slack.thread(FINANCE, str(roots[-1]["ts"]))
        texts = [self.slack.text_of(one) for one in messages]
        called = frozenset(who for one in messages for who in mentioned(one))
        return Thread(ts=str(roots[-1]["ts"]), root=texts[0], replies=tuple(texts[1:]), mentions=called)

    def sees(self, job: str, what: str, look: Callable[[Thread], bool], *, within: float = PATIENCE) -> Thread:
        """The thread of the job, once it reads like that."""
        seen: list[Thread] = []

        def there() -> Thread | None:
            thread = self.thread(job)
            seen[:] = [thread] if thread is not None else []
            return thread if thread is not None and look(thread) else None

        try:
            found: Thread = waited_for(there, within=within, what=what)
        except NotSoInTime as late:
            raise AssertionError(f"{job}: {late}\nthe thread reads:\n{seen[0] if seen else 'nothing'}") from None
        return found

    def incident(self, job: str) -> Json:
        """The newest occurrence of the job, as the command line shows it."""
        command = [sys.executable, "-m", "bot", "incidents", "--all", "--json", "--job", f"airflow/{job}"]
        told = subprocess.run(command, cwd=ROOT, env=self._environment(), capture_output=True, text=True, check=True)
        rows = [json.loads(line) for line in told.stdout.splitlines()]
        assert rows, f"no incident of {job}"

        return dict(rows[0])

    def presses(self, person: str, button: str, thread: Thread) -> None:
        """A button of the root message."""
        self.slack.click(user=person, action_id=button, channel=FINANCE, ts=thread.ts)

    def fills(self, person: str, button: str, thread: Thread, values: Mapping[str, Any], *, more: bool = False) -> None:
        """Open a modal (through More if it stands there), fill it in and submit it; the name of a field may be its begin."""
        if more:
            self.presses(person, "more", thread)
            self.slack.click(user=person, action_id=button, view_id=self._modal(person, "modal_more")["id"])
        else:
            self.presses(person, button, thread)
        view = self._modal(person, f"modal_{button}")
        fields = [block["block_id"] for block in view["blocks"] if block["type"] == "input"]
        entered = {field: value for begin, value in values.items() for field in fields if field.startswith(begin)}
        answer = self.slack.submit(user=person, values=entered, view_id=view["id"])
        assert answer["ok"], f"{button} of {person} was not taken: {answer}"

    def _modal(self, person: str, called: str) -> Json:
        def look() -> Json | None:
            view = self.slack.view_of(person)
            return view if view is not None and view["callback_id"] == called else None

        found: Json = waited_for(look, within=15, what=f"{called} is open for {person}")
        return found

    def _is_ready(self) -> bool:
        if self._service is not None and self._service.poll() is not None:
            raise NotSoInTime(f"ontrack ended by itself; its log is in {self.logs}")
        try:
            return self._http.get("/readyz").status_code == 200
        except httpx.TransportError:
            return False

    def _environment(self) -> Mapping[str, str]:
        inherited = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        return {**inherited, **self.env}
