"""What our requests to Maestro look like, and by which id we know our own again. Pure; it asks nothing."""

import re
import unicodedata
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import quote
from uuid import UUID, uuid5

import msgspec

from bot.incidents.keys import RunRef

NAMESPACE = UUID("6c1d7f0e-6f0b-5f6e-9d57-0f5d7a0c9b11")
"""Never to change: requests that are under way are known again by it."""
LONGEST_USER = 100
RUN_TS = "RUN_TS"
PLAIN = " !#$&'()*+,/:;=?@[]"
_NUMBER = re.compile(r"[1-9][0-9]{0,17}", re.ASCII)
_CUT_OFF = re.compile(r"%[0-9A-F]?$")


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a stop or an unblocking; not `completed`: it is accepted and will be done soon."""

    workflow_instance_status: str = ""
    completed: bool = False
    info: str = ""


def request_id_of(key: str) -> UUID:
    """The id under which Maestro knows our request; it shows it as the `workflow_uuid` of the run that came of it."""
    return uuid5(NAMESPACE, key.encode("utf-8", "backslashreplace").decode())


def restart_body(key: str, *, from_beginning: bool) -> Mapping[str, Any]:
    policy = "RESTART_FROM_BEGINNING" if from_beginning else "RESTART_FROM_INCOMPLETE"
    return {"restart_policy": policy, "request_id": str(request_id_of(key))}


def start_body(key: str, nominal_time: datetime) -> Mapping[str, Any]:
    """A start of its own that stands for `nominal_time`; one that fails before its first step is kept, to be seen."""
    return {
        "initiator": {"type": "manual"},
        "request_id": str(request_id_of(key)),
        "persist_failed_run": True,
        "run_params": {RUN_TS: {"type": "LONG", "value": milliseconds(nominal_time)}},
    }


def milliseconds(at: datetime) -> int:
    return round(at.timestamp() * 1000)


def instance_of(run: RunRef) -> int | None:
    """The number of the workflow instance; None for a run that Maestro does not know, as one that has not begun."""
    return int(run.run_id) if _NUMBER.fullmatch(run.run_id) else None


def header_of(name: str | None) -> str:
    """A person's name as a header may hold it: printable ASCII in one line, other letters percent-encoded."""
    bare = "".join(one for one in unicodedata.normalize("NFKD", name or "") if not unicodedata.combining(one))
    written = quote(" ".join(bare.split()), safe=PLAIN, errors="replace")
    return _CUT_OFF.sub("", written[:LONGEST_USER])
