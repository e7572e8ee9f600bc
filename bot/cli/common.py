"""What every command of the CLI needs: the settings, what is opened, and how a refusal is said. It holds no command."""

import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, BinaryIO, NoReturn

import typer

from bot.compose.roles import NeedsPostgres
from bot.compose.running import PortTaken
from bot.evidence import RuleError
from bot.incidents.keys import JobKey
from bot.policies import PolicyError, PolicyFile
from bot.settings import Settings, SettingsError
from bot.store import Reads, StorageDown
from storage.leases import DatabaseTaken
from storage.migrating import SchemaMismatch
from storage.opening import open_storage

BAD_INPUT = 2

AsJson = Annotated[bool, typer.Option("--json", help="One JSON object a line, for programs.")]


def settings() -> Settings:
    try:
        return Settings.from_env(os.environ)
    except SettingsError as failed:
        refuse(*failed.problems)


def policy_file(found: Settings) -> PolicyFile:
    with refusals():
        return PolicyFile(found.policies, env=os.environ)


def path_of(file: Path | None) -> Path:
    return file or Path(os.environ.get("POLICIES", "policies.yaml"))


@contextmanager
def reads() -> Iterator[Reads]:
    url = settings().database_url
    with refusals():
        storage = open_storage(url, instance="cli", read_only=True)
        try:
            yield storage.reads
        finally:
            storage.close()


@contextmanager
def refusals() -> Iterator[None]:
    """What a person can mend is said in words, not as a traceback."""
    try:
        yield
    except PolicyError as failed:
        refuse(*(str(problem) for problem in failed.problems))
    except (StorageDown, SchemaMismatch, DatabaseTaken, NeedsPostgres, PortTaken, RuleError) as failed:
        refuse(str(failed))


def refuse(*lines: str) -> NoReturn:
    for line in lines:
        print(line, file=sys.stderr)
    raise typer.Exit(BAD_INPUT)


@contextmanager
def log_of(path: Path | None) -> Iterator[BinaryIO]:
    if path is None:
        yield sys.stdin.buffer
        return
    try:
        file = path.open("rb")
    except OSError as failed:
        refuse(f"LOG: {path} cannot be read: {failed.strerror}")
    with file:
        yield file


def job_key(job: str, option: str) -> JobKey:
    scheduler, slash, name = job.partition("/")
    if not (scheduler and slash and name):
        refuse(f"{option}: write scheduler/job")
    return JobKey(scheduler=scheduler, name=name)


def print_rows(rows: Iterable[dict[str, Any]], as_json: bool, columns: tuple[str, ...]) -> None:
    if as_json:
        for row in rows:
            print(json.dumps(row))
        return
    table = [columns, *([str(row[column] or "-") for column in columns] for row in rows)]
    widths = [max(len(row[index]) for row in table) for index in range(len(columns))]
    for cells in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip())
