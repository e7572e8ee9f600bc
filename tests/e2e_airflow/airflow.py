"""A real Airflow 3 on loopback: its processes, and its API as a person uses it. It knows nothing of ontrack but an address."""

import json
import os
import secrets
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.kills.town import free_port

LOOPBACK = "127.0.0.1"
PARTS = ("api-server", "scheduler", "dag-processor")
LOOK_EVERY = 0.5
STARTING, ENDING = 180.0, 10.0
USERS = {"ontrack": "user", "maria": "admin"}

Json = dict[str, Any]


class NotSoInTime(AssertionError):
    """Something did not come to pass within its time."""


def waited_for(look: Callable[[], Any], *, within: float, what: str) -> Any:
    """What `look` finds, asked again and again; raises `NotSoInTime`."""
    ends = time.monotonic() + within
    while True:
        found = look()
        if found:
            return found
        if time.monotonic() > ends:
            raise NotSoInTime(f"not within {within:.0f} s: {what}")
        time.sleep(LOOK_EVERY)


@dataclass(slots=True, kw_only=True)
class Airflow:
    """`venv` is where it is installed; `lineage` the address of ontrack with the token for it."""

    venv: Path
    home: Path
    logs: Path
    lineage: tuple[str, str]
    port: int = field(default_factory=free_port)
    passwords: Mapping[str, str] = field(default_factory=lambda: {name: secrets.token_hex(12) for name in USERS})
    _parts: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)
    _secret: str = field(default_factory=lambda: secrets.token_hex(32))
    _http: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        self.dags.mkdir(parents=True)
        self.logs.mkdir(exist_ok=True)
        (self.home / "passwords.json").write_text(json.dumps(self.passwords))
        self._http = httpx.Client(base_url=self.url, timeout=30, trust_env=False)

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    @property
    def dags(self) -> Path:
        return self.home / "dags"

    def start(self, *parts: str) -> None:
        """Start these parts (all of them, the first time with its database), and wait until they are well."""
        if not (self.home / "airflow.db").exists():
            self._run("db", "migrate")
        for part in parts or PARTS:
            with (self.logs / f"airflow-{part}.log").open("ab") as log:
                self._parts[part] = subprocess.Popen(
                    [self.venv / "bin" / "airflow", part],
                    env=self._environment(),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
        waited_for(self._is_well, within=STARTING, what=f"Airflow is well; its logs are in {self.logs}")

    def stop(self, *parts: str) -> None:
        """End these parts (all of them) with everything that they began."""
        going = [self._parts.pop(part) for part in parts or tuple(self._parts)]
        for process in going:
            _signal(process.pid, signal.SIGTERM)
        for process in going:
            with suppress(subprocess.TimeoutExpired):
                process.wait(ENDING)
            _kill_session(process.pid)
            process.wait()

    def close(self) -> None:
        """End it at once, whatever it does."""
        for process in self._parts.values():
            _kill_session(process.pid)
        self.stop()
        self._http.close()

    def writes(self, dag: str, text: str) -> None:
        """Put the file of a DAG in place, as a deployment does."""
        passing = self.home / f"{dag}.new"
        passing.write_text(text)
        passing.replace(self.dags / f"{dag}.py")

    def call(self, method: str, path: str, *, body: Json | None = None, user: str = "maria", **query: Any) -> Json:
        """One call of its API as that user; raises for what it refuses."""
        token = self._http.post("/auth/token", json={"username": user, "password": self.passwords[user]})
        token.raise_for_status()
        headers = {"Authorization": f"Bearer {token.json()['access_token']}"}
        answer = self._http.request(method, f"/api/v2{path}", json=body, params=query, headers=headers)
        assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text}"
        return dict(answer.json())

    def knows(self, dag: str) -> Json | None:
        """The DAG once its file was read."""
        found = self.call("GET", "/dags", dag_id_pattern=dag, exclude_stale=True)["dags"]
        return next((one for one in found if one["dag_id"] == dag), None)

    def is_paused(self, dag: str) -> bool:
        return bool(self.call("GET", f"/dags/{dag}")["is_paused"])

    def begins(self, dag: str) -> None:
        """Take it off the pause in which Airflow puts what is new."""
        waited_for(lambda: self.knows(dag), within=60, what=f"Airflow has read {dag}.py")
        self.call("PATCH", f"/dags/{dag}", body={"is_paused": False})

    def runs(self, dag: str) -> list[Json]:
        """Its runs, the oldest first."""
        return list(self.call("GET", f"/dags/{dag}/dagRuns", order_by="run_after")["dag_runs"])

    def run_is(self, dag: str, state: str, *, number: int = -1, within: float = 90) -> Json:
        """That run of the DAG (the newest), once it is in this state."""

        def look() -> Json | None:
            runs = self.runs(dag)[number:]
            return runs[0] if runs and runs[0]["state"] == state else None

        found: Json = waited_for(look, within=within, what=f"run {number} of {dag} is {state}")
        return found

    def clears(self, dag: str, run_id: str) -> list[str]:
        """Who cleared the run, by the audit log, the first one first."""
        rows = self.call("GET", "/eventLogs", dag_id=dag, run_id=run_id, event="clear_dag_run", order_by="when")
        meant = [row for row in rows["event_logs"] if not json.loads(row["extra"]).get("dry_run", True)]
        return [str(row["owner"]) for row in meant]

    def clears_by_hand(self, dag: str, run_id: str) -> None:
        """What the button "Clear run" of its UI sends, by Maria."""
        body = {"dry_run": False, "only_failed": True}
        self.call("POST", f"/dags/{dag}/dagRuns/{run_id}/clear", body=body)

    def _is_well(self) -> bool:
        for part, process in self._parts.items():
            if process.poll() is not None:
                raise NotSoInTime(f"{part} of Airflow ended by itself; its log is in {self.logs}")
        try:
            health = self._http.get("/api/v2/monitor/health").raise_for_status().json()
        except httpx.HTTPError:
            return False
        wanted = {"metadatabase", *(part.replace("-", "_") for part in self._parts if part != "api-server")}
        return all(health[part]["status"] == "healthy" for part in wanted)

    def _run(self, *command: str) -> None:
        with (self.logs / "airflow-db.log").open("ab") as log:
            subprocess.run(
                [self.venv / "bin" / "airflow", *command], env=self._environment(), stdout=log, stderr=log, check=True
            )

    def _environment(self) -> Mapping[str, str]:
        address, token = self.lineage
        transport = {
            "type": "http",
            "url": address,
            "endpoint": "api/v1/lineage",
            "auth": {"type": "api_key", "apiKey": token},
            "compression": "gzip",
        }
        inherited = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
        return {
            **inherited,
            "PATH": f"{self.venv / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "AIRFLOW_HOME": str(self.home),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "AIRFLOW__CORE__EXECUTOR": "LocalExecutor",
            "AIRFLOW__CORE__PARALLELISM": "4",
            "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": ",".join(f"{name}:{role}" for name, role in USERS.items()),
            "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(self.home / "passwords.json"),
            "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{self.url}/execution/",
            "AIRFLOW__API__BASE_URL": self.url,
            "AIRFLOW__API__HOST": LOOPBACK,
            "AIRFLOW__API__PORT": str(self.port),
            "AIRFLOW__API__WORKERS": "1",
            "AIRFLOW__API__SECRET_KEY": self._secret,
            "AIRFLOW__API_AUTH__JWT_SECRET": self._secret,
            "AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL": "3",
            "AIRFLOW__DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": "3",
            "AIRFLOW__OPENLINEAGE__TRANSPORT": json.dumps(transport),
            "AIRFLOW__OPENLINEAGE__NAMESPACE": "airflow",
        }


def _signal(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, number)


def _kill_session(leader: int) -> None:
    """Everything that this process began: tasks have process groups of their own, but its session."""
    listed = subprocess.run(["ps", "-A", "-o", "pid="], capture_output=True, text=True, check=True).stdout
    for pid in map(int, listed.split()):
        with suppress(ProcessLookupError, PermissionError):
            if os.getsid(pid) == leader:
                os.kill(pid, signal.SIGKILL)
