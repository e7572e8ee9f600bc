"""The policies, events and logs that the measurements use."""

from datetime import UTC, datetime, timedelta
from typing import Any

TOKEN = "bench-token-0123456789"
CHANNELS = 200
SECRET = "bench-signing-secret"

_TRACE = """Traceback (most recent call last):
  File "/srv/jobs/load.py", line 41, in main
    rows = read(source)
  File "/srv/jobs/load.py", line 17, in read
    return [row[column] for row in source]
KeyError: 'amount_{number}'
"""


def policies(channels: int = CHANNELS) -> str:
    """One team a channel, so that no channel's pace is what is measured."""
    teams = "\n".join(f"  team{n}: {{slack: {{channel: C{n:04}}}, members: [U{n % 50:04}]}}" for n in range(channels))
    jobs = "\n".join(f"  - {{match: bench/*-{n:04}, team: team{n}}}" for n in range(channels))
    return f"version: 1\nschedulers:\n  bench: {{type: events}}\nteams:\n{teams}\njobs:\n{jobs}\n"


def event(number: int, *, kind: str = "run.failed", channels: int = CHANNELS) -> dict[str, Any]:
    """A distinct job's run that ended; failures carry a short trace."""
    at = datetime(2026, 11, 30, 6, tzinfo=UTC) + timedelta(seconds=number)
    data: dict[str, Any] = {
        "scheduler": "bench",
        "job": f"job{number}-{number % channels:04}",
        "run": {"id": f"run-{number}", "nominal_time": at.isoformat(), "started_at": at.isoformat()},
    }
    if kind == "run.failed":
        data["error"] = {"exit_code": 1, "log": _TRACE.format(number=number)}
    return {
        "specversion": "1.0",
        "id": f"e{number}",
        "source": "bench",
        "type": f"io.ontrack.{kind}",
        "time": (at + timedelta(minutes=1)).isoformat(),
        "data": data,
    }


def log_of(size: int) -> str:
    """A log of about `size` characters whose error stands at its end."""
    line = "2026-11-30T06:00:{second:02}Z INFO  loader: chunk {n} of orders read, 1000 rows, {n} ms\n"
    lines, length, n = [], 0, 0
    while length < size:
        lines.append(line.format(second=n % 60, n=n))
        length += len(lines[-1])
        n += 1
    return "".join(lines) + _TRACE.format(number=n)
