"""The `import` command: bring in what schedulers tell of the time before anybody listened."""

import json
import sys
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from bot.cli.common import AsJson, policy_file, print_rows, refusals, refuse, settings
from bot.compose.importing import NoHistorian, bring_in, historians, row_of
from bot.compose.service import utc_now
from bot.importing import Progress
from bot.importing.span import BadSince, since_of

SAID_EVERY = timedelta(seconds=2)
COLUMNS = ("scheduler", "jobs", "runs", "failures", "occurrences", "known", "listened", "unpaid", "rejected", "trouble")


def bring_in_the_past(
    since: Annotated[str, typer.Option(help="How far back: 30d, 12h, or a date such as 2026-11-01.")],
    scheduler: Annotated[str | None, typer.Option(metavar="NAME", help="Only this one of policies.yaml.")] = None,
    as_json: AsJson = False,
) -> None:
    """Fill in runs, durations, costs and past occurrences from schedulers that can tell; nobody is told or asked.

    Importing again changes nothing. Exits 1 when a scheduler's past could not be read to its end.
    """
    found = settings()
    policies = policy_file(found).current
    try:
        begin = since_of(since, now=datetime.now(UTC))
    except BadSince as bad:
        refuse(f"--since: {bad}")
    try:
        telling = historians(policies, only=scheduler)
    except NoHistorian as none:
        refuse(str(none))
    said = _Said()
    rows = []
    with refusals():
        for done in bring_in(found, policies, telling, since=begin, clock=utc_now, said=said):
            rows.append(row_of(done))
            if done.trouble:
                print(f"{done.scheduler}: {done.trouble}", file=sys.stderr)
            if as_json:
                print(json.dumps(rows[-1]), flush=True)
    if not as_json:
        print_rows(rows, False, COLUMNS)
    if any(row["trouble"] for row in rows):
        raise typer.Exit(1)


class _Said:
    """Says on standard error how far it is, now and then."""

    def __init__(self) -> None:
        self._next_at: datetime | None = None

    def __call__(self, progress: Progress) -> None:
        now = utc_now()
        if self._next_at is not None and now < self._next_at:
            return
        self._next_at = now + SAID_EVERY
        where = f", up to {progress.at:%Y-%m-%d %H:%M}" if progress.at is not None else ""
        print(f"{progress.scheduler}: {progress.events} read{where}", file=sys.stderr)
