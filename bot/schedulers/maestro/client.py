"""Maestro's REST API v3 in calls that we make. It must not decide what is asked, or ask anything again by itself."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.parse import quote

import msgspec

from bot.evidence.cleaning import clean
from bot.evidence.masking import mask
from bot.ports import Clock
from bot.schedulers.maestro.requests import Done, header_of
from bot.schedulers.maestro.shapes import Acted, Changes, Definition, Instance, InstancePage, Overview, Step
from bot.schedulers.webhook import wish
from bot.wire.exchange import Answered, JsonWire, Params, Refused, Unwell

API = "/api/v3"
PAGE = 50
LONGEST_MESSAGE = 500
FOR_THE_MOMENT = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.CONFLICT})
"""Maestro answers 409 while another action on the same thing is under way."""
PERHAPS_DONE = HTTPStatus.REQUEST_TIMEOUT

_Shape = TypeVar("_Shape")


class MaestroClient:
    """Every method raises `Refused`, `Unwell`, `NotSent` or `NoAnswer`, and nothing else.

    Only the HTTP code tells whether a call went well: what succeeds has a `status` of its own in its body. `user` is
    whom Maestro's timelines name where no person decided.
    """

    def __init__(self, wire: JsonWire, *, user: str, token: str | None, clock: Clock) -> None:
        self._wire = wire
        self._user = user
        self._token = token
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

    def overview(self, workflow: str) -> Overview:
        return self._read("GET", f"{_workflow(workflow)}/overview", Overview)

    def definition(self, workflow: str, *, version: int | str = "default", enriched: bool = True) -> Definition:
        """`version`: a number, `active` (404 where none is), `latest`, or `default`: the active one, else the latest."""
        params = [("enriched", _flag(enriched))]
        return self._read("GET", f"{_workflow(workflow)}/versions/{_quoted(version)}", Definition, params=params)

    def changes(self, workflow: str) -> Changes:
        """Who changed what of the workflow, by its own history."""
        return self._read("GET", f"{_workflow(workflow)}/timeline", Changes)

    def instances(
        self, workflow: str, *, first: int = PAGE, cursor: str | None = None, aggregated: bool = False
    ) -> InstancePage:
        """The latest run of each instance, the newest instance first; `cursor` is the `end_cursor` of the page before."""
        params = [*_paged(first, cursor), ("aggregated", _flag(aggregated))]
        return self._read("GET", f"{_workflow(workflow)}/instances", InstancePage, params=params)

    def runs(self, workflow: str, instance: int | str, *, first: int = PAGE, cursor: str | None = None) -> InstancePage:
        """The runs of an instance, the newest first."""
        return self._read("GET", f"{_instance(workflow, instance)}/runs", InstancePage, params=_paged(first, cursor))

    def run(
        self, workflow: str, instance: int | str, *, run: int | str = "latest", aggregated: bool = False
    ) -> Instance:
        params = [("enriched", "true"), ("aggregated", _flag(aggregated))]
        return self._read("GET", f"{_run(workflow, instance, run)}", Instance, params=params)

    def instance(self, workflow: str, instance: int | str) -> Instance:
        """The instance over all of its runs: its `status` is the one that counts."""
        return self._read("GET", _instance(workflow, instance), Instance, params=[("enriched", "true")])

    def steps(self, workflow: str, instance: int | str, *, run: int | str | None) -> tuple[Step, ...]:
        """The newest attempt of each step in a run; `run` None: over all runs."""
        path = _instance(workflow, instance) if run is None else _run(workflow, instance, run)
        return self._read("GET", f"{path}/steps", tuple[Step, ...])

    def step_attempt(
        self, workflow: str, instance: int | str, *, run: int | str, step: str, attempt: int | str = "latest"
    ) -> Step:
        path = f"{_run(workflow, instance, run)}/steps/{_quoted(step)}/attempts/{_quoted(attempt)}"
        return self._read("GET", path, Step, params=[("enriched", "true")])

    def action_map(self) -> Mapping[str, frozenset[str]]:
        """What may be asked of an instance in which status."""
        return self._read("GET", "/workflows/instances/action-map", dict[str, frozenset[str]])

    def restart(self, workflow: str, instance: int | str, body: Mapping[str, Any], *, by: str | None) -> Acted:
        path = f"{_instance(workflow, instance)}/actions/restart"
        return self._read("POST", path, Acted, body=body, by=by)

    def start(self, workflow: str, body: Mapping[str, Any], *, by: str | None) -> Acted:
        """Start the active version."""
        return self._read("POST", f"{_workflow(workflow)}/versions/active/actions/start", Acted, body=body, by=by)

    def stop(self, workflow: str, instance: int | str, *, run: int, by: str | None) -> Done:
        """Stop the run, which must be the latest of its instance; `completed` False: it will be stopped soon."""
        return self._read("PUT", f"{_run(workflow, instance, run)}/actions/stop", Done, by=by)

    def unblock(self, workflow: str, instance: int | str, *, by: str | None) -> Done:
        """Let a failed instance hold up the later ones no more."""
        return self._read("PUT", f"{_instance(workflow, instance)}/actions/unblock", Done, by=by)

    def set_properties(self, workflow: str, properties: Mapping[str, Any], *, by: str | None) -> None:
        """Change these properties of the workflow and no other."""
        self._call("POST", f"{_workflow(workflow)}/properties", body=properties, by=by)

    def activate(self, workflow: str, version: int, *, by: str | None) -> None:
        """Let its triggers start that version."""
        self._call("PUT", f"{_workflow(workflow)}/versions/{version}/actions/activate", by=by)

    def deactivate(self, workflow: str, *, by: str | None) -> None:
        """End its triggers; what runs goes on."""
        self._call("PUT", f"{_workflow(workflow)}/actions/deactivate", by=by)

    def _read(
        self,
        method: str,
        path: str,
        shape: type[_Shape],
        *,
        params: Params = (),
        body: Mapping[str, Any] | None = None,
        by: str | None = None,
    ) -> _Shape:
        answered = self._call(method, path, params=params, body=body, by=by)
        try:
            return msgspec.json.decode(answered.content, type=shape)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise Unwell("its answer cannot be read") from error

    def _call(
        self,
        method: str,
        path: str,
        *,
        params: Params = (),
        body: Mapping[str, Any] | None = None,
        by: str | None = None,
    ) -> Answered:
        headers = {"user": header_of(by) or header_of(self._user)}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        answered = self._wire.exchange(method, f"{API}{path}", params=params, body=body, headers=headers)
        self._of_thread.date = answered.headers.get("date")
        if 200 <= answered.status < 300:
            return answered
        message, wait = message_of(answered), wish(answered.headers.get("retry-after"), now=self._clock())
        if answered.status in FOR_THE_MOMENT:
            raise Refused(answered.status, message, retry_after=wait or timedelta(seconds=10))
        if 400 <= answered.status < 500 and answered.status != PERHAPS_DONE:
            raise Refused(answered.status, message)
        raise Unwell(message, retry_after=wait)


def message_of(answered: Answered) -> str:
    """What Maestro says in words, masked and short: its `message`, and its `errors` where it lists any."""
    try:
        body = msgspec.json.decode(answered.content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        body = None
    if not isinstance(body, dict):
        return f"Maestro answered {answered.status}"
    errors = body.get("errors")
    listed = [one for one in errors if isinstance(one, str)] if isinstance(errors, list) else []
    message = body.get("message")
    texts = [message, *listed] if isinstance(message, str) else listed
    said = " ".join(mask(clean("; ".join(dict.fromkeys(texts)))).split())[:LONGEST_MESSAGE]
    return f"Maestro answered {answered.status}" + (f": {said}" if said else "")


def _paged(first: int, cursor: str | None) -> list[tuple[str, str]]:
    return [("first", str(first))] + ([("cursor", cursor)] if cursor else [])


def _workflow(workflow: str) -> str:
    return f"/workflows/{_quoted(workflow)}"


def _instance(workflow: str, instance: int | str) -> str:
    return f"{_workflow(workflow)}/instances/{_quoted(instance)}"


def _run(workflow: str, instance: int | str, run: int | str) -> str:
    return f"{_instance(workflow, instance)}/runs/{_quoted(run)}"


def _flag(value: bool) -> str:
    return "true" if value else "false"


def _quoted(name: int | str) -> str:
    return quote(str(name), safe="", errors="replace")
