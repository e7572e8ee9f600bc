"""What `exec` is told on its command line and by its environment. It runs nothing."""

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from bot import cron
from bot.incidents.policy import Schedule

DESCRIPTION = """Run a command as it is and tell ontrack how it went: that it began, its exit code, the end of its output,
how long it took and what it used. Output and exit code are passed through unchanged. When ontrack cannot be
reached the report is kept on disk and sent by the next `exec`, or by `exec --flush`."""

EPILOGUE = """environment:
  ONTRACK_URL        where ontrack answers, as in https://ontrack.example.com
  ONTRACK_TOKEN      the source token of the scheduler (SOURCE_TOKENS of the service)
  ONTRACK_SCHEDULER  the scheduler's name (default: cron)
  ONTRACK_SPOOL      where unsent reports wait (default: ~/.local/state/ontrack/spool)

exit status: that of the command; 128 + N when signal N ended it; 127 when there is no such command, 126 when it
cannot be run; 2 when these options are wrong (nothing is run then)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """`nominal_time`: the instant at which the run was due, None where nothing tells it. `facts` by dotted name."""

    job: str
    command: tuple[str, ...]
    scheduler: str
    url: str | None
    token: str | None = field(repr=False)
    spool: Path
    nominal_time: datetime | None = None
    facts: tuple[tuple[str, str], ...] = ()
    keeps_log: bool = True
    only_flush: bool = False


def options_of(arguments: Sequence[str], env: Mapping[str, str], *, now: datetime) -> Options:
    """Read the command line; ends the process with status 2 and words on standard error when it is wrong."""
    parser = _parser()
    told = parser.parse_args(arguments)
    command = tuple(told.command[1:] if told.command[:1] == ["--"] else told.command)
    if not told.flush and not told.job:
        parser.error("--job: name the job, as in --job nightly_load")
    if not told.flush and not command:
        parser.error("name the command after --, as in exec --job nightly_load -- ./load.sh")
    facts = []
    for fact in told.fact:
        name, equals, value = fact.partition("=")
        if not equals or name.partition(".")[0] not in ("code", "params", "config", "inputs", "env"):
            parser.error(f"--fact {fact!r}: write code.version=4f2a9c1 (code, params, config, inputs or env)")
        facts.append((name, value))
    return Options(
        job=told.job or "",
        command=command,
        scheduler=told.scheduler or env.get("ONTRACK_SCHEDULER") or "cron",
        url=(told.url or env.get("ONTRACK_URL") or "").rstrip("/") or None,
        token=env.get("ONTRACK_TOKEN") or None,
        spool=Path(env["ONTRACK_SPOOL"]) if env.get("ONTRACK_SPOOL") else _state(env) / "ontrack" / "spool",
        nominal_time=_nominal_time(parser, told, now),
        facts=tuple(facts),
        keeps_log=not told.no_log,
        only_flush=told.flush,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bot exec",
        description=DESCRIPTION,
        epilog=EPILOGUE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="python -m bot exec --job NAME [options] -- COMMAND [ARGUMENT ...]",
        allow_abbrev=False,
    )
    parser.add_argument("--job", help="the job's name at ontrack", metavar="NAME")
    parser.add_argument("--scheduler", help="the scheduler that the job belongs to", metavar="NAME")
    parser.add_argument("--url", help="where ontrack answers (ONTRACK_URL)", metavar="URL")
    parser.add_argument(
        "--cron", help='the line of the crontab, as in "30 2 * * *": tells which run this is', metavar="FIELDS"
    )
    parser.add_argument("--timezone", help="the zone of --cron (default: UTC)", default="UTC", metavar="ZONE")
    parser.add_argument("--nominal-time", help="the instant at which the run was due, with its zone", metavar="INSTANT")
    parser.add_argument(
        "--fact",
        action="append",
        default=[],
        help="a fact about the run, as in code.version=4f2a9c1",
        metavar="NAME=VALUE",
    )
    parser.add_argument("--no-log", action="store_true", help="do not send the end of the output")
    parser.add_argument("--flush", action="store_true", help="send what waits on disk, and run nothing")
    parser.add_argument("command", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def _nominal_time(parser: argparse.ArgumentParser, told: argparse.Namespace, now: datetime) -> datetime | None:
    if told.nominal_time:
        try:
            instant = datetime.fromisoformat(told.nominal_time)
        except ValueError:
            parser.error(f"--nominal-time {told.nominal_time!r}: write an instant, as in 2026-11-30T02:30:00+01:00")
        if instant.tzinfo is None:
            parser.error(f"--nominal-time {told.nominal_time!r}: add its zone, as in 2026-11-30T02:30:00+01:00")
        return instant.astimezone(UTC)
    if not told.cron:
        return None
    schedule = Schedule(cron=told.cron, zone=told.timezone)
    if (wrong := cron.check(schedule)) is not None:
        parser.error(f"--cron: {wrong}")
    return cron.latest_at_or_before(schedule, now)


def _state(env: Mapping[str, str]) -> Path:
    return Path(env.get("XDG_STATE_HOME") or Path(os.path.expanduser("~")) / ".local" / "state")
