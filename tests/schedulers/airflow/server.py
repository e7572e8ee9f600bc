"""A stand-in for an Airflow 3 server on loopback: strict about what it is asked, and it fails where the test says so."""

import base64
import json
import re
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.schedulers.airflow.asked import Asked, instant, only, paged
from tests.schedulers.airflow.asked import Fault as Fault
from tests.schedulers.airflow.records import LONGEST_NOTE, No, Records, Run, written

USER, PASSWORD = "ontrack", "in the vault"
MONDAY = datetime(2026, 11, 30, 6, tzinfo=UTC)
RUN = r"/api/v2/dags/([^/]+)/dagRuns/([^/]+)"


class Airflow:
    """`records` is its database; `asked` what came in, in order."""

    def __init__(self) -> None:
        self.records = Records(now=MONDAY)
        self.faults: list[Fault] = []
        self.asked: list[Asked] = []
        self.page_limit = 100
        self.audit_hidden = False
        self.assets_hidden = False
        self.token_lasts = timedelta(hours=24)
        self.tokens: dict[str, datetime] = {}
        self.given = 0
        self.lock = threading.RLock()
        self.released = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()

    def calls(self, method: str, path: str) -> list[Asked]:
        return [one for one in self.asked if one.method == method and re.search(path, one.path)]

    def clears(self) -> list[Asked]:
        """The requests that were meant."""
        return [one for one in self.calls("POST", "/clear$") if one.body.get("dry_run") is False]

    def fails(self, kind: str | int, path: str = "", **more: Any) -> None:
        self.faults.append(Fault(kind=kind, path=path, **more))

    def fault_for(self, asked: Asked) -> Fault | None:
        for fault in self.faults:
            fits = fault.times > 0 and fault.method in ("", asked.method) and re.search(fault.path, asked.path)
            if fits and fault.body_holds in json.dumps(asked.body):
                fault.times -= 1
                return fault
        return None

    def answer(self, asked: Asked, authorization: str) -> tuple[int, Any]:
        if asked.path == "/auth/token":
            return 201, {"access_token": self.grant(asked)}
        token = authorization.removeprefix("Bearer ")
        if token not in self.tokens:
            raise No(403, "Invalid JWT token")
        if self.tokens[token] <= self.records.now:
            raise No(401, "Token Expired")
        for method, pattern, act in ROUTES:
            found = re.fullmatch(pattern, asked.path)
            if method == asked.method and found:
                return 200, act(self, asked, *map(unquote, found.groups()))
        raise No(404, "Not Found")

    def grant(self, asked: Asked) -> str:
        only(asked.body, {"username", "password"})
        if (asked.body.get("username"), asked.body.get("password")) != (USER, PASSWORD):
            raise No(401, "Invalid credentials")
        self.given += 1
        now = self.records.now
        claims = {"sub": USER, "iat": now.timestamp(), "exp": (now + self.token_lasts).timestamp(), "n": self.given}
        middle = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
        token = f"head.{middle}.signature"
        self.tokens[token] = now + self.token_lasts
        return token

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        airflow = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1

            def log_message(self, format: str, *args: Any) -> None:
                return

            def date_time_string(self, timestamp: float | None = None) -> str:
                return format_datetime(airflow.records.now, usegmt=True)

            def do_GET(self) -> None:
                serve(airflow, self)

            do_POST = do_PATCH = do_GET

        return Handler


def serve(airflow: Airflow, handler: BaseHTTPRequestHandler) -> None:
    size = int(handler.headers.get("Content-Length") or 0)
    split = urlsplit(handler.path)
    body = json.loads(handler.rfile.read(size)) if size else {}
    asked = Asked(handler.command, split.path, parse_qsl(split.query, keep_blank_values=True), body)
    with airflow.lock:
        airflow.asked.append(asked)
        fault = airflow.fault_for(asked)
    kind = fault.kind if fault else ""
    if kind == "hang":
        airflow.released.wait()
    if kind in ("drop", "hang"):
        handler.close_connection = True
        return
    if isinstance(kind, int):
        say(handler, kind, json.dumps({"detail": f"fault {kind}"}), fault.headers if fault else {})
        return
    try:
        with airflow.lock:
            status, answer = airflow.answer(asked, handler.headers.get("Authorization", ""))
    except No as no:
        status, answer = no.status, {"detail": no.detail}
    if kind == "lose":
        handler.close_connection = True
        return
    if kind == "late":
        status, answer = 500, {"detail": "Internal Server Error"}
    say(handler, status, "<html>not what you think" if kind == "garbage" else json.dumps(answer), {})


def say(handler: BaseHTTPRequestHandler, status: int, text: str, headers: dict[str, str]) -> None:
    handler.send_response(status)
    for name, value in {"Content-Type": "application/json", "Content-Length": str(len(text)), **headers}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(text.encode())


def list_runs(airflow: Airflow, asked: Asked) -> Any:
    since = instant(dict(asked.query).get("updated_at_gte", "1970-01-01T00:00:00+00:00"))
    found = [run for run in airflow.records.runs if run.updated_at >= since and ended_within(airflow, asked, run)]
    if dict(asked.query).get("order_by") == "end_date":
        found.sort(key=lambda run: (run.end_date is not None, run.end_date or run.queued_at, run.id))
    names = {"updated_at_gte", "end_date_gte", "end_date_lt"}
    page, total = paged(asked, found, limit=airflow.page_limit, orders={"id", "updated_at", "end_date"}, names=names)
    return {"dag_runs": [run.shown() for run in page], "total_entries": total}


def ended_within(airflow: Airflow, asked: Asked, run: Run) -> bool:
    """As `NullableDatetimeRangeFilter`: a run that has not ended meets every lower bound, and an upper one as if it ended now."""
    query = dict(asked.query)
    since, until = query.get("end_date_gte"), query.get("end_date_lt")
    late_enough = since is None or run.end_date is None or run.end_date >= instant(since)
    return late_enough and (until is None or (run.end_date or airflow.records.now) < instant(until))


def get_run(airflow: Airflow, asked: Asked, dag: str, run_id: str) -> Any:
    return airflow.records.run(dag, run_id).shown()


def patch_run(airflow: Airflow, asked: Asked, dag: str, run_id: str) -> Any:
    only(asked.body, {"state", "note"})
    run = airflow.records.run(dag, run_id)
    if asked.body.get("state") not in (None, "queued", "success", "failed"):
        raise No(422, [{"loc": ["body", "state"], "msg": "Input should be 'queued', 'success' or 'failed'"}])
    check_note(asked.body)
    airflow.records.patch(run, asked.body, user=USER)
    return run.shown()


def clear_run(airflow: Airflow, asked: Asked, dag: str, run_id: str) -> Any:
    body = asked.body
    only(body, {"dry_run", "only_failed", "only_new", "run_on_latest_version", "note"})
    check_note(body)
    run, only_failed = airflow.records.run(dag, run_id), body.get("only_failed", False)
    if body.get("dry_run", True):
        tasks = [shown_task(run, task) for task in airflow.records.concerned(run, only_failed=only_failed)]
        return {"task_instances": tasks, "total_entries": len(tasks)}
    airflow.records.clear(run, user=USER, only_failed=only_failed, note=body.get("note"))
    return run.shown()


def trigger_run(airflow: Airflow, asked: Asked, dag: str) -> Any:
    body = asked.body
    names = {"dag_run_id", "logical_date", "data_interval_start", "data_interval_end", "run_after", "conf", "note"}
    only(body, names)
    if "logical_date" not in body:
        raise No(422, [{"loc": ["body", "logical_date"], "msg": "Field required"}])
    if ("data_interval_start" in body) != ("data_interval_end" in body):
        raise No(
            422, [{"loc": ["body"], "msg": "Either both data_interval_start and data_interval_end must be provided"}]
        )
    if not re.fullmatch(r"[A-Za-z0-9_.~:+-]+", body.get("dag_run_id", "manual")):
        raise No(400, "The run_id provided does not match regex pattern")
    for name in names & body.keys() - {"dag_run_id", "conf", "note"}:
        instant(body[name])
    check_note(body)
    if dag not in airflow.records.dags:
        raise No(404, f"Dag with dag_id: '{dag}' not found")
    return airflow.records.trigger(dag, body, user=USER).shown()


def check_note(body: dict[str, Any]) -> None:
    if len(body.get("note") or "") > LONGEST_NOTE:
        raise No(422, [{"loc": ["body", "note"], "msg": "String should have at most 1000 characters"}])


def shown_task(run: Any, task: Any) -> dict[str, Any]:
    return {
        "task_id": task.task_id,
        "dag_id": run.dag_id,
        "dag_run_id": run.run_id,
        "map_index": -1,
        "state": task.state,
        "try_number": task.try_number,
        "max_tries": task.max_tries,
        "start_date": written(task.start_date or run.start_date),
        "end_date": written(task.end_date),
    }


def list_tasks(airflow: Airflow, asked: Asked, dag: str, run_id: str) -> Any:
    run, state = airflow.records.run(dag, run_id), dict(asked.query).get("state")
    found = [task for task in run.tasks if state in (None, task.state)]
    page, total = paged(asked, found, limit=airflow.page_limit, orders={"id", "map_index"}, names={"state"})
    return {"task_instances": [shown_task(run, task) for task in page], "total_entries": total}


def list_tries(airflow: Airflow, asked: Asked, dag: str, run_id: str, task_id: str) -> Any:
    only(dict(asked.query), set())
    run = airflow.records.run(dag, run_id)
    found = [one for task in run.tasks if task.task_id == task_id for one in (*task.earlier, task)]
    if not found:
        raise No(404, "The Task Instance was not found")
    return {"task_instances": [shown_task(run, one) for one in found], "total_entries": len(found)}


def list_assets(airflow: Airflow, asked: Asked) -> Any:
    if airflow.assets_hidden:
        raise No(403, "Forbidden")
    page, total = paged(
        asked, airflow.records.assets, limit=airflow.page_limit, orders={"id", "name", "uri"}, names={"only_active"}
    )
    return {"assets": page, "total_entries": total}


def release(airflow: Airflow, asked: Asked) -> Any:
    return {"version": "3.3.2", "git_version": None}


def get_log(airflow: Airflow, asked: Asked, dag: str, run_id: str, task_id: str, number: str) -> Any:
    only(dict(asked.query), {"map_index", "token", "full_content"})
    tasks = airflow.records.run(dag, run_id).tasks
    for task in (tried for one in tasks for tried in (*one.earlier, one)):
        if (task.task_id, task.try_number) == (task_id, int(number)):
            return {"content": task.log, "continuation_token": None}
    raise No(404, "TaskInstance not found")


def list_audit(airflow: Airflow, asked: Asked) -> Any:
    if airflow.audit_hidden:
        raise No(403, "Forbidden")
    query, events = dict(asked.query), {value for name, value in asked.query if name == "included_events"}
    after = instant(query.get("after", "1970-01-01T00:00:00+00:00"))
    found = [
        row
        for row in airflow.records.audit
        if (not events or row["event"] in events)
        and datetime.fromisoformat(row["when"]) > after
        and query.get("dag_id", row["dag_id"]) == row["dag_id"]
        and query.get("run_id", row["run_id"]) == row["run_id"]
    ]
    names = {"included_events", "after", "dag_id", "run_id"}
    page, total = paged(asked, found, limit=airflow.page_limit, orders={"event_log_id", "when"}, names=names)
    return {"event_logs": page, "total_entries": total}


def list_dags(airflow: Airflow, asked: Asked) -> Any:
    found = [dag for _, dag in sorted(airflow.records.dags.items())]
    page, total = paged(asked, found, limit=airflow.page_limit, orders={"dag_id"}, names=set())
    return {"dags": page, "total_entries": total}


def dag_of(airflow: Airflow, asked: Asked, name: str) -> Any:
    if name not in airflow.records.dags:
        raise No(404, f"Dag with id: {name} was not found")
    if asked.method == "PATCH":
        only(asked.body, {"is_paused"})
        airflow.records.dags[name]["is_paused"] = asked.body["is_paused"]
    return airflow.records.dags[name]


ROUTES: list[tuple[str, str, Callable[..., Any]]] = [
    ("GET", "/api/v2/dags/~/dagRuns", list_runs),
    ("POST", "/api/v2/dags/([^/]+)/dagRuns", trigger_run),
    ("GET", RUN, get_run),
    ("PATCH", RUN, patch_run),
    ("POST", f"{RUN}/clear", clear_run),
    ("GET", f"{RUN}/taskInstances", list_tasks),
    ("GET", f"{RUN}/taskInstances/([^/]+)/tries", list_tries),
    ("GET", f"{RUN}/taskInstances/([^/]+)/logs/([0-9]+)", get_log),
    ("GET", "/api/v2/assets", list_assets),
    ("GET", "/api/v2/version", release),
    ("GET", "/api/v2/eventLogs", list_audit),
    ("GET", "/api/v2/dags", list_dags),
    ("GET", "/api/v2/dags/([^/]+)", dag_of),
    ("PATCH", "/api/v2/dags/([^/]+)", dag_of),
]
