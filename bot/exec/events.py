"""What is reported of a run: CloudEvents 1.0 as `POST /api/v1/events` takes them (DESIGN section 7). Pure."""

import platform
import socket
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from bot.exec.command import Ended
from bot.exec.options import Options

PREFIX = "io.ontrack."


def run_id_of(options: Options, started_at: datetime, unique: str) -> str:
    """The run is named by its nominal time, or by its start; `unique` tells two apart that began in the same second."""
    at = options.nominal_time or started_at
    return f"exec__{at:%Y-%m-%dT%H:%M:%SZ}__{unique}"


def started(options: Options, run_id: str, started_at: datetime) -> dict[str, Any]:
    return _event(options, "run.started", run_id, started_at, run={"started_at": _text(started_at)}, more={})


def finished(options: Options, run_id: str, started_at: datetime, ended_at: datetime, ended: Ended) -> dict[str, Any]:
    """The end of the run: `run.succeeded` for status 0, else `run.failed` with the end of the output."""
    run = {"started_at": _text(started_at), "ended_at": _text(ended_at)}
    more: dict[str, Any] = {
        "facts": _facts(options, ended),
        "cost": {"amount": round(ended.seconds / 3600, 6), "unit": "run_hours"},
    }
    if ended.status == 0:
        return _event(options, "run.succeeded", run_id, ended_at, run=run, more=more)
    error = {"exit_code": ended.status, "signal": ended.signal, "message": ended.why}
    if options.keeps_log and ended.log:
        error["log"] = ended.log.decode("utf-8", "replace")
    more["error"] = {name: value for name, value in error.items() if value is not None}
    return _event(options, "run.failed", run_id, ended_at, run=run, more=more)


def _event(
    options: Options, kind: str, run_id: str, at: datetime, *, run: Mapping[str, Any], more: Mapping[str, Any]
) -> dict[str, Any]:
    nominal = {"nominal_time": _text(options.nominal_time)} if options.nominal_time else {}
    return {
        "specversion": "1.0",
        "id": f"{run_id}/{kind}",
        "source": f"/exec/{socket.gethostname()}",
        "type": PREFIX + kind,
        "time": _text(at),
        "data": {
            "scheduler": options.scheduler,
            "job": options.job,
            "run": {"id": run_id, "trigger": "schedule", **nominal, **run},
            **more,
        },
    }


def _facts(options: Options, ended: Ended) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "config": {"command": " ".join(options.command)},
        "env": {"host": socket.gethostname(), "system": f"{platform.system()} {platform.release()}"},
        "resources": {"cpu_seconds": round(ended.cpu_seconds, 3), "peak_memory_bytes": ended.peak_bytes},
        "timing": {"seconds": round(ended.seconds, 3)},
    }
    for name, value in options.facts:
        space, _, inner = name.partition(".")
        facts.setdefault(space, {})[inner or space] = value
    return facts


def _text(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")
