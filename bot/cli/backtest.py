"""The `backtest` command: what would have happened under another policies file."""

import json
import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from bot.backtest.report import Limits, as_object
from bot.backtest.text import as_text
from bot.cli.common import AsJson, path_of, refusals, refuse, settings
from bot.compose.backtest import NothingRecorded, backtested, report_of
from bot.policies import Misread, PolicyError, load, read_duration, read_policies

EXCEEDED, NOTHING = 1, 3
WARM_UP = "30d"
AMOUNT = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z_][\w.-]*)?")


def backtest(
    policies: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The file to try; POLICIES or policies.yaml without it.")
    ] = None,
    since: Annotated[str, typer.Option(metavar="WHEN", help="30d, or an instant such as 2026-11-01T00:00Z.")] = "30d",
    until: Annotated[str | None, typer.Option(metavar="WHEN", help="As --since; now without it.")] = None,
    warm_up: Annotated[
        str, typer.Option(metavar="DURATION", help="What was recorded so long before is played first, and not counted.")
    ] = WARM_UP,
    as_json: AsJson = False,
    max_cost: Annotated[
        str | None, typer.Option(metavar="N[UNIT]", help="Exit 1 when reruns would cost more (run_hours).")
    ] = None,
    max_night_asks: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Exit 1 when people would be asked oftener at night.")
    ] = None,
) -> None:
    """Play what was recorded again under another policies file, and tell the difference to what happened.

    Exits 1 where a limit is exceeded, 2 where arguments or policies are wrong, 3 where nothing is recorded.
    """
    now = datetime.now(UTC)
    begins, ends = _instant(since, now, "--since"), _instant(until, now, "--until") if until is not None else now
    if begins >= ends:
        refuse("--since: the period must begin before it ends")
    before = _duration(warm_up, "--warm-up")
    limits = _limits(max_cost, max_night_asks)
    path = path_of(policies)
    with refusals():
        text = read_policies(path)
    try:
        tried = load(text, env=os.environ)
    except PolicyError as failed:
        refuse(*(f"{path}:{problem}" for problem in failed.problems))
    try:
        with refusals(), backtested(settings(), tried, since=begins, until=ends, warm_up=before) as found:
            report = report_of(found, tried, limits)
    except NothingRecorded as nothing:
        typer.echo(str(nothing), err=True)
        raise typer.Exit(NOTHING) from nothing
    print(json.dumps(as_object(report)) if as_json else as_text(report))
    if report.exceeded:
        raise typer.Exit(EXCEEDED)


def _instant(written: str, now: datetime, option: str) -> datetime:
    try:
        found = datetime.fromisoformat(written)
    except ValueError:
        return now - _duration(written, option)
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def _duration(written: str, option: str) -> timedelta:
    try:
        return read_duration(written)
    except Misread:
        refuse(f"{option}: write a duration such as 30d, or an instant such as 2026-11-01T00:00Z")


def _limits(max_cost: str | None, night_asks: int | None) -> Limits:
    if max_cost is None:
        return Limits(night_asks=night_asks)
    amount = AMOUNT.fullmatch(max_cost.strip())
    if amount is None:
        refuse("--max-cost: write an amount, with its unit where it is none of run_hours: 40, or 40core_hours")
    return Limits(cost=float(amount[1]), unit=amount[2] or "run_hours", night_asks=night_asks)
