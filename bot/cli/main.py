"""The command line: one thin command each. What a command does lives in `bot.compose`, `bot.policies` and `bot.sandbox`."""

from collections.abc import Callable
from typing import Annotated

import typer

from bot.cli import importing, mail, policies, reports, service
from bot.cli.backtest import backtest
from bot.cli.health import health
from bot.cli.pings import pings
from bot.exec import main as exec_main

app = typer.Typer(
    name="ontrack",
    help="Keeps scheduled jobs on track: every failed or late job is carried to a rerun, a fix or a decision.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
COMMANDS: tuple[Callable[..., None], ...] = (
    service.run,
    service.web,
    service.worker,
    service.clock,
    service.demo,
    service.migrate,
    service.doctor,
    reports.explain,
    reports.incidents,
    reports.outbox,
    health,
    backtest,
    service.manifest,
    pings,
)
for command in COMMANDS:
    app.command()(command)
app.command(name="import")(importing.bring_in_the_past)
app.add_typer(policies.app, name="policies")
app.add_typer(mail.app, name="mail")


@app.command(name="exec", add_help_option=False, context_settings={"ignore_unknown_options": True})
def run_and_report(
    arguments: Annotated[list[str] | None, typer.Argument(metavar="--job NAME -- COMMAND")] = None,
) -> None:
    """Run a command as cron would and report how it went; its output and exit code stay its own."""
    raise typer.Exit(exec_main(arguments or []))


def main() -> None:
    app(prog_name="python -m bot")
