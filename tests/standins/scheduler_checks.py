"""Judges a request to the stand-in scheduler, to the letter of what was agreed. It shares no code with who signs it."""

import base64
import hashlib
import hmac
import re
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import unquote

import msgspec

Json = dict[str, Any]
TOLERANCE = timedelta(minutes=5)
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
FIELDS: dict[str, set[str]] = {
    "rerun": {"run", "nominal_times"},
    "stop": {"run", "nominal_times"},
    "start": {"nominal_times"},
    "pause": set(),
    "resume": set(),
    "retire": set(),
}
ALWAYS = {"action", "scheduler", "job", "key", "requested_by", "reason"}


class Bad(Exception):
    """Not a request that may be taken."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


def checked(headers: Json, body: bytes, *, secret: str, now: datetime) -> Json:
    """The request; raises `Bad`."""
    id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not id or not timestamp.isdecimal():
        raise Bad(401, "not signed")
    if abs(now.timestamp() - int(timestamp)) > TOLERANCE.total_seconds():
        raise Bad(401, "signed too long ago, or by a clock that is wrong")
    if not any(hmac.compare_digest(each, expected(secret, id, timestamp, body)) for each in signatures(headers)):
        raise Bad(401, "signed with another secret")
    if headers.get("content-type") != "application/json":
        raise Bad(415, "not application/json")
    try:
        request = msgspec.json.decode(body, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise Bad(400, f"not JSON: {error}") from error
    _check_fields(request)
    if request["key"] != id and request["key"] != unquote(id):
        raise Bad(400, "key: is not the webhook-id")
    return request


def signatures(headers: Json) -> list[str]:
    return str(headers.get("webhook-signature", "")).split(" ")


def expected(secret: str, id: str, timestamp: str, body: bytes) -> str:
    encoded = secret.startswith("whsec_")
    key = base64.b64decode(secret.removeprefix("whsec_")) if encoded else secret.encode()
    made = hmac.new(key, b".".join([id.encode(), timestamp.encode(), body]), hashlib.sha256)
    return "v1," + base64.b64encode(made.digest()).decode()


def _check_fields(request: Json) -> None:
    if request.get("action") not in FIELDS:
        raise Bad(400, "action: not one of those agreed")
    wanted = ALWAYS | FIELDS[request["action"]]
    if request["action"] == "rerun" and request.get("fresh") is True:
        wanted |= {"fresh"}
    if set(request) != wanted:
        raise Bad(400, f"fields: {sorted(set(request) ^ wanted)} missing or too many")
    if not all(isinstance(request[name], str) for name in ALWAYS):
        raise Bad(400, "a text was expected")
    if not all(INSTANT.fullmatch(str(time)) for time in request.get("nominal_times", [])):
        raise Bad(400, "nominal_times: instants such as 2026-11-30T06:00:00Z were expected")
    run = request.get("run", {"id": "", "generation": 0})
    if not isinstance(run, dict) or set(run) != {"id", "generation"} or not isinstance(run["generation"], int):
        raise Bad(400, "run: an id and a generation were expected")
