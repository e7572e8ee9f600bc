"""The `policies` commands: check and show policies.yaml."""

import json
import os
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from bot.cli.common import BAD_INPUT, job_key, path_of, refusals
from bot.policies import check as problems_of
from bot.policies import load, read_policies, void_marks
from bot.policies import schema as json_schema
from bot.policies import show as layers_of

app = typer.Typer(help="Check and show policies.yaml.", no_args_is_help=True)

PolicyPath = Annotated[Path | None, typer.Argument(help="The file; POLICIES or policies.yaml without it.")]


@app.command(name="check")
def check(file: PolicyPath = None) -> None:
    """Check the file: every error with line and column; exits 2 when there is one."""
    with refusals():
        text = read_policies(path_of(file))
        problems = problems_of(text, env=os.environ)
    for problem in problems:
        print(f"{path_of(file)}:{problem}")
    if problems:
        raise typer.Exit(BAD_INPUT)
    for warning in void_marks(load(text, env=os.environ)):
        print(f"{path_of(file)}:{warning} (a warning)")
    print(f"{path_of(file)}: fine")


@app.command(name="show")
def show(
    job: Annotated[str, typer.Argument(help="scheduler/job")],
    file: Annotated[Path | None, typer.Option(help="The file; POLICIES or policies.yaml without it.")] = None,
) -> None:
    """Show what holds for a job, and from which line of the file each value comes."""
    key = job_key(job, "JOB")
    with refusals():
        policies = load(read_policies(path_of(file)), env=os.environ)
    print(json.dumps(msgspec.to_builtins(layers_of(policies, key)), indent=2))


@app.command(name="schema")
def schema() -> None:
    """Print the JSON Schema of policies.yaml, for editors."""
    print(json.dumps(json_schema(), indent=2))
