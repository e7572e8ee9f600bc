"""What goes wrong on the way to the fake, where a test says so; the fake itself knows nothing of it."""

import json
import re
from dataclasses import dataclass, field

from tests.maestro.fake.records import Json

CODES = {
    400: "BAD_REQUEST",
    401: "UNAUTHORIZED",
    403: "FORBIDDEN",
    404: "NOT_FOUND",
    408: "REQUEST_TIMEOUT",
    409: "CONFLICT",
    410: "GONE",
    412: "PRECONDITION_FAILED",
    422: "UNPROCESSABLE_ENTITY",
    500: "INTERNAL_ERROR",
    502: "BAD_GATEWAY",
}


@dataclass(slots=True)
class Fault:
    """The next `times` requests that match fail so.

    `lose`: it takes effect and the connection is cut before the answer. `drop`: cut before it takes effect. `hang`: no
    effect and no answer until the fake closes. `hang_after`: it takes effect, then no answer. `late`: it takes effect and
    answers 500. `garbage`: it takes effect and answers no JSON. A number: that answer, and no effect.
    """

    kind: str | int
    path: str = ""
    method: str = ""
    times: int = 1
    headers: dict[str, str] = field(default_factory=dict)
    body_holds: str = ""
    after: int = 0


@dataclass(slots=True)
class Asked:
    """A request as it came in; `user` is the header that names the person."""

    method: str
    path: str
    query: dict[str, str]
    body: Json
    user: str | None
    headers: dict[str, str]


def fault_for(faults: list[Fault], asked: Asked) -> Fault | None:
    """The first one that matches; one with `after` lets so many matching requests pass."""
    for fault in faults:
        fits = fault.times > 0 and fault.method in ("", asked.method) and re.search(fault.path, asked.path)
        if fits and fault.body_holds in json.dumps(asked.body):
            if fault.after:
                fault.after -= 1
                continue
            fault.times -= 1
            return fault
    return None


def error_body(status: int, message: str, errors: tuple[str, ...] = ()) -> Json:
    """As Maestro's exception handler writes it."""
    body: Json = {"status": CODES.get(status, "INTERNAL_ERROR"), "message": message}
    return body | ({"errors": list(errors)} if errors else {})
