"""The `health` command: what `/job-health` answers, for a terminal, a program or a spreadsheet."""

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from bot.cli.common import BAD_INPUT, AsJson, policy_file, refusals, refuse, settings
from bot.compose.health_side import opened_health
from bot.health.answering import Answered, HealthAnswers
from bot.incidents.health import HealthReport, Verdict
from bot.render.health import BaselineShown, HealthHelp, baseline_message, csv_text, health_message, help_message
from bot.render.plain import plain

WORSE, NO_DATA = 1, 3


def health(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[WORDS]...", help="A team or job, 7d or since 2026-11-01, vs previous or vs baseline."),
    ] = None,
    as_json: AsJson = False,
    csv: Annotated[
        Path | None,
        typer.Option("--csv", metavar="FILE", help="Write the occurrences behind it there; - for standard output."),
    ] = None,
) -> None:
    """Tell how the jobs do, as /job-health does.

    Exits 0; 1 where a comparison says that something got worse, 2 for words that are not understood, 3 where nothing is
    known of it.
    """
    found, text, now = settings(), " ".join(words or ()), datetime.now(UTC)
    policies = policy_file(found).current
    with (
        refusals(),
        opened_health(found.database_url, policies, public_url=found.public_url, now=now) as answers,
    ):
        code = _rows(answers, text, csv, now) if csv is not None else _told(answers, text, as_json, now)
    raise typer.Exit(code)


def _told(answers: HealthAnswers, text: str, as_json: bool, now: datetime) -> int:
    told = answers.tell(text, by=None, now=now)
    match told:
        case HealthHelp():
            _help(told)
            return BAD_INPUT if told.problem else 0
        case BaselineShown():
            print(msgspec.json.encode(told.baseline).decode() if as_json else plain(baseline_message(told)))
            return BAD_INPUT if told.refused else 0
        case Answered():
            report = told.answer.report
            print(msgspec.json.encode(report).decode() if as_json else plain(health_message(told.answer)))
            return _code(report)


def _rows(answers: HealthAnswers, text: str, file: Path, now: datetime) -> int:
    rows = answers.rows(text, now=now)
    if isinstance(rows, HealthHelp):
        _help(rows)
        return BAD_INPUT if rows.problem else 0
    content = csv_text(rows)
    if str(file) == "-":
        sys.stdout.write(content)
        return 0 if rows else NO_DATA
    try:
        file.write_bytes(content.encode("utf-8", "replace"))
    except OSError as failed:
        refuse(f"--csv: {file} cannot be written: {failed.strerror}")
    print(f"{file}: 1 occurrence." if len(rows) == 1 else f"{file}: {len(rows)} occurrences.")
    return 0 if rows else NO_DATA


def _help(told: HealthHelp) -> None:
    said = plain(help_message(told)).replace("/job-health", "python -m bot health")
    print(said, file=sys.stderr if told.problem else sys.stdout)


def _code(report: HealthReport) -> int:
    health = report.health
    if not health.occurrences and not health.completed and not health.unresolved.n:
        return NO_DATA
    worse = any(one.verdict is Verdict.WORSE for one in report.comparisons)
    return WORSE if worse else 0
