"""The commands that read: a job's log, incidents, the outbox."""

import json
import os
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.common import BAD_INPUT, AsJson, job_key, log_of, path_of, print_rows, reads, refusals, refuse, settings
from bot.compose.explain import as_object, explainer, named_exit
from bot.compose.explain_text import as_text
from bot.compose.listing import incident_rows, outbox_rows
from bot.evidence import ErrorReport
from bot.policies import load, read_policies

MOST = 200


def explain(
    log: Annotated[Path | None, typer.Argument(help="A job's log; standard input without it.")] = None,
    exit_: Annotated[str | None, typer.Option("--exit", metavar="N", help="The exit code, such as 137 or -9.")] = None,
    signal: Annotated[str | None, typer.Option(metavar="S", help="The signal, such as SIGKILL.")] = None,
    as_json: AsJson = False,
    batch: Annotated[
        bool, typer.Option("--batch", help='JSON lines {"id", "log", "exit"} in, one JSON object a line out.')
    ] = False,
    policies: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A policies file: its causes are tried as well.")
    ] = None,
    job: Annotated[
        str | None, typer.Option(metavar="SCHEDULER/JOB", help="Say also whether ontrack would rerun this job.")
    ] = None,
) -> None:
    """Read a failed job's log as an incident would: root error, cause, what speaks for and against it, fingerprint."""
    key = job_key(job, "--job") if job is not None else None
    with refusals():
        asked = policies is not None or key is not None
        loaded = load(read_policies(path_of(policies)), env=os.environ) if asked else None
    url = settings().database_url if key is not None else ""
    reader = explainer(loaded, key, database_url=url, now=datetime.now(UTC))
    if batch:
        with log_of(log) as lines:
            whole = reader.batch(lines, say=partial(print, flush=True))
        raise typer.Exit(0 if whole else BAD_INPUT)
    ended = named_exit(exit_) if exit_ is not None else (None, None)
    if ended is None:
        refuse("--exit: write a number such as 137, or a signal such as SIGKILL")
    with log_of(log) as file:
        text = file.read().decode("utf-8", "surrogateescape")
    explained = reader.explain(ErrorReport(exit_code=ended[0], signal=signal or ended[1], log=text))
    print(json.dumps(as_object(explained)) if as_json else as_text(explained, job=key))


def incidents(
    everything: Annotated[bool, typer.Option("--all", help="Settled ones too.")] = False,
    jobs: Annotated[str, typer.Option("--job", help="A glob on scheduler/job.")] = "*",
    limit: Annotated[int, typer.Option(min=1, max=10_000)] = MOST,
    as_json: AsJson = False,
) -> None:
    """List occurrences, the newest first: the unresolved ones, or all."""
    with reads() as database:
        rows = list(incident_rows(database, everything=everything, jobs=jobs, limit=limit))
    print_rows(rows, as_json, ("id", "status", "scheduler", "job", "cause", "acknowledged_by", "outcome"))


def outbox(limit: Annotated[int, typer.Option(min=1, max=10_000)] = MOST, as_json: AsJson = False) -> None:
    """List what is still to be sent, and what was given up on."""
    with reads() as database:
        rows = list(outbox_rows(database, limit=limit))
    print_rows(rows, as_json, ("id", "state", "kind", "occurrence", "job", "attempt", "due_at"))
