"""Airflow's REST API v2 in calls that we make. It must not decide what is asked, or ask anything again by itself
but once more with a new token where the old one was not taken."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.parse import quote

import msgspec

from bot.evidence.cleaning import clean
from bot.evidence.masking import mask
from bot.ports import Clock
from bot.schedulers.airflow.shapes import (
    AssetPage,
    AuditPage,
    Dag,
    DagPage,
    DagRun,
    LogPage,
    Release,
    RunPage,
    Slot,
    TaskInstance,
    TaskPage,
)
from bot.schedulers.airflow.tokens import NoToken, Tokens
from bot.schedulers.webhook import wish
from bot.wire.exchange import Answered, JsonWire, NoAnswer, NotSent, Params, Refused, Unwell

API = "/api/v2"
PAGE = 100
LONGEST_MESSAGE = 500
LIMITED = frozenset({HTTPStatus.TOO_MANY_REQUESTS})

_Shape = TypeVar("_Shape")


class AirflowClient:
    """Every method raises `Refused`, `Unwell`, `NotSent` or `NoAnswer`, and nothing else."""

    def __init__(self, wire: JsonWire, tokens: Tokens, *, clock: Clock) -> None:
        self._wire = wire
        self._tokens = tokens
        self._clock = clock
        self._of_thread = threading.local()

    @contextmanager
    def within(self, allowed: timedelta) -> Iterator[None]:
        """All calls of this thread in the block together are over after `allowed`."""
        with self._wire.within(allowed):
            yield

    @property
    def server_time(self) -> str | None:
        """The `Date` that came with this thread's last answer."""
        found: str | None = getattr(self._of_thread, "date", None)
        return found

    def run(self, dag: str, run_id: str) -> DagRun:
        return self._read(self._call("GET", _run(dag, run_id)), DagRun)

    def dag(self, dag: str) -> Dag:
        return self._read(self._call("GET", f"/dags/{_quoted(dag)}"), Dag)

    def would_clear(self, dag: str, run_id: str, *, only_failed: bool) -> tuple[TaskInstance, ...]:
        """The tasks that a clear would run again."""
        body = {"dry_run": True, "only_failed": only_failed}
        return self._read(self._call("POST", f"{_run(dag, run_id)}/clear", body=body), TaskPage).task_instances

    def clear(self, dag: str, run_id: str, *, only_failed: bool, latest: bool, note: str) -> None:
        """Run the tasks again and put the note on the run, both or neither. `latest`: by the newest version of the DAG;
        else which version it is stays with Airflow's own setting."""
        body: dict[str, Any] = {"dry_run": False, "only_failed": only_failed, "note": note}
        body |= {"run_on_latest_version": True} if latest else {}
        self._call("POST", f"{_run(dag, run_id)}/clear", body=body)

    def start(self, dag: str, run_id: str, slot: Slot, *, note: str) -> None:
        """Begin the run of this slot of the schedule under that id, with the note; Airflow has no second run of either."""
        body = {
            "dag_run_id": run_id,
            "logical_date": slot.logical_date.isoformat(),
            "data_interval_start": slot.starts_at.isoformat(),
            "data_interval_end": slot.ends_at.isoformat(),
            "run_after": slot.run_after.isoformat(),
            "note": note,
        }
        self._call("POST", f"/dags/{_quoted(dag)}/dagRuns", body=body)

    def mark_failed(self, dag: str, run_id: str, *, note: str) -> None:
        self._call("PATCH", _run(dag, run_id), body={"state": "failed", "note": note})

    def pause(self, dag: str, *, paused: bool) -> None:
        self._call("PATCH", f"/dags/{_quoted(dag)}", body={"is_paused": paused})

    def changed_runs(self, since: datetime, *, offset: int) -> RunPage:
        """A page of all DAGs' runs that changed since; by their own order, which no change shifts."""
        params = [
            ("updated_at_gte", since.isoformat()),
            ("order_by", "id"),
            ("limit", str(PAGE)),
            ("offset", str(offset)),
        ]
        return self._read(self._call("GET", "/dags/~/dagRuns", params=params), RunPage)

    def ended_runs(self, since: datetime, *, until: datetime, offset: int) -> RunPage:
        """A page of all DAGs' runs that ended in `[since, until)`, by their ends; `until` is past, so that none that
        still runs is among them."""
        params = [
            ("end_date_gte", since.isoformat()),
            ("end_date_lt", until.isoformat()),
            ("order_by", "end_date"),
            ("limit", str(PAGE)),
            ("offset", str(offset)),
        ]
        return self._read(self._call("GET", "/dags/~/dagRuns", params=params), RunPage)

    def tasks(self, dag: str, run_id: str, *, offset: int) -> TaskPage:
        params = [("limit", str(PAGE)), ("offset", str(offset))]
        return self._read(self._call("GET", f"{_run(dag, run_id)}/taskInstances", params=params), TaskPage)

    def tries(self, dag: str, run_id: str, task: TaskInstance) -> TaskPage:
        """Every try of the task in that run, also those before a clear."""
        mapped = f"/{task.map_index}" if task.map_index >= 0 else ""
        path = f"{_run(dag, run_id)}/taskInstances/{_quoted(task.task_id)}{mapped}/tries"
        return self._read(self._call("GET", path), TaskPage)

    def failed_tasks(self, dag: str, run_id: str) -> TaskPage:
        params = [("state", "failed"), ("limit", str(PAGE))]
        return self._read(self._call("GET", f"{_run(dag, run_id)}/taskInstances", params=params), TaskPage)

    def log(self, dag: str, run_id: str, task: TaskInstance, token: str | None) -> LogPage:
        params = [("map_index", str(task.map_index))] + ([("token", token)] if token else [])
        path = f"{_run(dag, run_id)}/taskInstances/{_quoted(task.task_id)}/logs/{task.try_number}"
        return self._read(self._call("GET", path, params=params), LogPage)

    def audited(
        self, events: tuple[str, ...], *, after: datetime, offset: int, run: tuple[str, str] | None = None
    ) -> AuditPage:
        """A page of the audit log; `run`: of that DAG and run alone."""
        params = [("included_events", event) for event in events]
        params += [("after", after.isoformat()), ("order_by", "event_log_id")]
        params += [("limit", str(PAGE)), ("offset", str(offset))]
        if run is not None:
            params += [("dag_id", run[0]), ("run_id", run[1])]
        return self._read(self._call("GET", "/eventLogs", params=params), AuditPage)

    def dags(self, *, offset: int) -> DagPage:
        params = [("order_by", "dag_id"), ("limit", str(PAGE)), ("offset", str(offset))]
        return self._read(self._call("GET", "/dags", params=params), DagPage)

    def assets(self, *, offset: int) -> AssetPage:
        """A page of the assets that some DAG speaks of, with those DAGs."""
        params = [("order_by", "id"), ("limit", str(PAGE)), ("offset", str(offset))]
        return self._read(self._call("GET", "/assets", params=params), AssetPage)

    def release(self) -> str:
        """Which version of Airflow answers."""
        return self._read(self._call("GET", "/version"), Release).version

    def _call(self, method: str, path: str, *, params: Params = (), body: Any = None) -> Answered:
        token = self._token()
        answered = self._exchange(method, path, params, body, token)
        if self._tokens.renewable and _token_refused(answered):
            self._tokens.refused(token)
            answered = self._exchange(method, path, params, body, self._token())
        self._of_thread.date = answered.headers.get("date")
        if 200 <= answered.status < 300:
            return answered
        message, wait = message_of(answered), wish(answered.headers.get("retry-after"), now=self._clock())
        if answered.status in LIMITED:
            raise Refused(answered.status, message, retry_after=wait or timedelta(seconds=10))
        if 400 <= answered.status < 500 and answered.status != HTTPStatus.REQUEST_TIMEOUT:
            raise Refused(answered.status, message)
        raise Unwell(message, retry_after=wait)

    def _exchange(self, method: str, path: str, params: Params, body: Any, token: str) -> Answered:
        headers = {"Authorization": f"Bearer {token}"}
        return self._wire.exchange(method, f"{API}{path}", params=params, body=body, headers=headers)

    def _token(self) -> str:
        """Without a token nothing was asked, whatever became of asking for one."""
        try:
            return self._tokens.current()
        except NoToken as none:
            passing = none.status >= 500 or none.status in LIMITED
            wait = timedelta(seconds=10) if passing else None
            raise Refused(none.status, str(none), retry_after=wait) from none
        except NoAnswer as none:
            raise NotSent(f"Airflow gave no token: {none}") from none

    def _read(self, answered: Answered, shape: type[_Shape]) -> _Shape:
        try:
            return msgspec.json.decode(answered.content, type=shape)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise Unwell("its answer cannot be read") from error


def _token_refused(answered: Answered) -> bool:
    """Airflow says 401 of a token that has ended, 403 of one that it does not know; of what is not allowed also 403."""
    unknown = answered.status == HTTPStatus.FORBIDDEN and b"token" in answered.content.lower()
    return answered.status == HTTPStatus.UNAUTHORIZED or unknown


def message_of(answered: Answered) -> str:
    """What Airflow says in words, masked and short: its `detail`, which is a text, or what was wrong with which field."""
    try:
        detail = msgspec.json.decode(answered.content).get("detail")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, AttributeError):
        detail = None
    if isinstance(detail, list):
        detail = "; ".join(str(one.get("msg", one)) if isinstance(one, dict) else str(one) for one in detail)
    said = " ".join(mask(clean(detail)).split())[:LONGEST_MESSAGE] if isinstance(detail, str) else ""
    return f"Airflow answered {answered.status}" + (f": {said}" if said else "")


def _run(dag: str, run_id: str) -> str:
    return f"/dags/{_quoted(dag)}/dagRuns/{_quoted(run_id)}"


def _quoted(name: str) -> str:
    return quote(name, safe="", errors="replace")
