"""The command line: one thin command each. What a command does lives in `bot.compose`, `bot.policies` and `bot.sandbox`."""

import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any, BinaryIO, NoReturn

import msgspec
import typer

from bot.compose.doctor import examine
from bot.compose.explain import as_object, explainer, named_exit
from bot.compose.explain_mail import explain_mail, mail_object, mail_text
from bot.compose.explain_text import as_text
from bot.compose.finding import Health
from bot.compose.listing import incident_rows, outbox_rows
from bot.compose.logs import set_up_logs
from bot.compose.manifest import manifest_yaml
from bot.compose.roles import NeedsPostgres, Role
from bot.compose.running import PortTaken
from bot.compose.running import run as run_role
from bot.evidence import ErrorReport, RuleError
from bot.incidents.keys import JobKey
from bot.mail import MOST_BYTES
from bot.policies import PolicyError, PolicyFile, check, load, read_policies, schema, show, void_marks
from bot.sandbox import demo as sandbox_demo
from bot.sandbox import story
from bot.settings import Settings, SettingsError
from bot.store import Reads, StorageDown
from storage.leases import DatabaseTaken
from storage.migrating import SchemaMismatch, migrate
from storage.opening import open_storage

BAD_INPUT = 2
MOST = 200

app = typer.Typer(
    name="ontrack",
    help="Keeps scheduled jobs on track: every failed or late job is carried to a rerun, a fix or a decision.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
policies_app = typer.Typer(help="Check and show policies.yaml.", no_args_is_help=True)
app.add_typer(policies_app, name="policies")
mail_app = typer.Typer(help="Look into what arrives by mail.", no_args_is_help=True)
app.add_typer(mail_app, name="mail")

AsJson = Annotated[bool, typer.Option("--json", help="One JSON object a line, for programs.")]
PolicyPath = Annotated[Path | None, typer.Argument(help="The file; POLICIES or policies.yaml without it.")]


@app.command()
def run() -> None:
    """Run the whole service in this process (migrates by itself). Ctrl-C stops it cleanly."""
    _run(Role.RUN)


@app.command()
def web() -> None:
    """Answer HTTP in this process and send what follows at once; beside `worker` and `clock`, on PostgreSQL."""
    _run(Role.WEB)


@app.command()
def worker() -> None:
    """Send in this process what others left to be sent, also after their end; as many as wanted, on PostgreSQL."""
    _run(Role.WORKER)


@app.command()
def clock() -> None:
    """Watch deadlines and reminders in this process; one of its kind leads and runs local jobs, on PostgreSQL."""
    _run(Role.CLOCK)


@app.command()
def demo(
    check: Annotated[
        bool, typer.Option("--check", help="Play the whole story by itself and exit 0 if all was seen.")
    ] = False,
    port: Annotated[int, typer.Option(help="Port of the sandbox workspace's page.")] = 8080,
) -> None:
    """Run the product in a sandbox workspace in the browser: no Slack account, no server."""
    raise typer.Exit(story.check() if check else sandbox_demo.run(port=port))


@app.command(name="migrate")
def migrate_command() -> None:
    """Bring the database's schema up to date; safe to repeat."""
    settings = _settings()
    with _refusals():
        migrate(settings.database_url)
    print("The database is up to date.")


@app.command()
def doctor(as_json: AsJson = False) -> None:
    """Say what is set up, what is off and what is broken; exits 1 when something is broken."""
    settings = _settings()
    findings = list(examine(settings, _policy_file(settings).current))
    for finding in findings:
        built = msgspec.to_builtins(finding)
        fix = f"; fix: {finding.fix}" if finding.fix else ""
        print(json.dumps(built) if as_json else f"{finding.health:7} {finding.part}: {finding.says}{fix}")
    if any(finding.health is Health.BROKEN for finding in findings):
        raise typer.Exit(1)


@app.command()
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
    key = _job_key(job, "--job") if job is not None else None
    with _refusals():
        asked = policies is not None or key is not None
        loaded = load(read_policies(_path(policies)), env=os.environ) if asked else None
    url = _settings().database_url if key is not None else ""
    reader = explainer(loaded, key, database_url=url, now=datetime.now(UTC))
    if batch:
        with _log(log) as lines:
            whole = reader.batch(lines, say=partial(print, flush=True))
        raise typer.Exit(0 if whole else BAD_INPUT)
    ended = named_exit(exit_) if exit_ is not None else (None, None)
    if ended is None:
        _refuse("--exit: write a number such as 137, or a signal such as SIGKILL")
    with _log(log) as file:
        text = file.read().decode("utf-8", "surrogateescape")
    explained = reader.explain(ErrorReport(exit_code=ended[0], signal=signal or ended[1], log=text))
    print(json.dumps(as_object(explained)) if as_json else as_text(explained, job=key))


@app.command()
def incidents(
    everything: Annotated[bool, typer.Option("--all", help="Settled ones too.")] = False,
    jobs: Annotated[str, typer.Option("--job", help="A glob on scheduler/job.")] = "*",
    limit: Annotated[int, typer.Option(min=1, max=10_000)] = MOST,
    as_json: AsJson = False,
) -> None:
    """List occurrences, the newest first: the unresolved ones, or all."""
    with _reads() as reads:
        rows = list(incident_rows(reads, everything=everything, jobs=jobs, limit=limit))
    _print_rows(rows, as_json, ("id", "status", "scheduler", "job", "cause", "acknowledged_by", "outcome"))


@app.command()
def outbox(limit: Annotated[int, typer.Option(min=1, max=10_000)] = MOST, as_json: AsJson = False) -> None:
    """List what is still to be sent, and what was given up on."""
    with _reads() as reads:
        rows = list(outbox_rows(reads, limit=limit))
    _print_rows(rows, as_json, ("id", "state", "kind", "occurrence", "job", "attempt", "due_at"))


@app.command()
def manifest(
    url: Annotated[str | None, typer.Option(help="The public address; PUBLIC_URL without it.")] = None,
    socket_mode: Annotated[
        bool, typer.Option("--socket-mode", help="For a service without a public address, with SLACK_APP_TOKEN.")
    ] = False,
) -> None:
    """Print the Slack app's manifest: paste it at "Create an app from a manifest"."""
    if socket_mode:
        print(manifest_yaml(None), end="")
        return
    address = url or os.environ.get("PUBLIC_URL")
    if not address or not address.startswith("https://"):
        _refuse("--url: the public https:// address at which Slack reaches this service (or set PUBLIC_URL)")
    print(manifest_yaml(address.rstrip("/")), end="")


@mail_app.command(name="explain")
def mail_explain(
    as_json: AsJson = False,
    policies: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Whose members own the jobs; POLICIES or policies.yaml without it."),
    ] = None,
    authserv_id: Annotated[
        str | None,
        typer.Option(
            "--authserv-id", metavar="NAME", help="The receiving server whose Authentication-Results are believed."
        ),
    ] = None,
) -> None:
    """Read a mail from standard input as the mailbox would: what it does, or why nothing; nothing is stored or sent."""
    with _refusals():
        loaded = load(read_policies(_path(policies)), env=os.environ)
    message = sys.stdin.buffer.read(MOST_BYTES + 1)
    verdict = explain_mail(message, loaded, bot=_settings().mail_from, authserv_id=authserv_id, now=datetime.now(UTC))
    print(json.dumps(mail_object(verdict)) if as_json else mail_text(verdict))


@policies_app.command(name="check")
def policies_check(file: PolicyPath = None) -> None:
    """Check the file: every error with line and column; exits 2 when there is one."""
    with _refusals():
        text = read_policies(_path(file))
        problems = check(text, env=os.environ)
    for problem in problems:
        print(f"{_path(file)}:{problem}")
    if problems:
        raise typer.Exit(BAD_INPUT)
    for warning in void_marks(load(text, env=os.environ)):
        print(f"{_path(file)}:{warning} (a warning)")
    print(f"{_path(file)}: fine")


@policies_app.command(name="show")
def policies_show(
    job: Annotated[str, typer.Argument(help="scheduler/job")],
    file: Annotated[Path | None, typer.Option(help="The file; POLICIES or policies.yaml without it.")] = None,
) -> None:
    """Show what holds for a job, and from which line of the file each value comes."""
    key = _job_key(job, "JOB")
    with _refusals():
        policies = load(read_policies(_path(file)), env=os.environ)
    print(json.dumps(msgspec.to_builtins(show(policies, key)), indent=2))


@policies_app.command(name="schema")
def policies_schema() -> None:
    """Print the JSON Schema of policies.yaml, for editors."""
    print(json.dumps(schema(), indent=2))


def _run(role: Role) -> None:
    settings = _settings()
    set_up_logs(settings.log_format)
    policies = _policy_file(settings)
    with _refusals():
        run_role(settings, policies, role=role)


def _settings() -> Settings:
    try:
        return Settings.from_env(os.environ)
    except SettingsError as failed:
        _refuse(*failed.problems)


def _policy_file(settings: Settings) -> PolicyFile:
    with _refusals():
        return PolicyFile(settings.policies, env=os.environ)


def _path(file: Path | None) -> Path:
    return file or Path(os.environ.get("POLICIES", "policies.yaml"))


@contextmanager
def _reads() -> Iterator[Reads]:
    settings = _settings()
    with _refusals():
        storage = open_storage(settings.database_url, instance="cli", read_only=True)
        try:
            yield storage.reads
        finally:
            storage.close()


@contextmanager
def _refusals() -> Iterator[None]:
    """What a person can mend is said in words, not as a traceback."""
    try:
        yield
    except PolicyError as failed:
        _refuse(*(str(problem) for problem in failed.problems))
    except (StorageDown, SchemaMismatch, DatabaseTaken, NeedsPostgres, PortTaken, RuleError) as failed:
        _refuse(str(failed))


def _refuse(*lines: str) -> NoReturn:
    for line in lines:
        print(line, file=sys.stderr)
    raise typer.Exit(BAD_INPUT)


@contextmanager
def _log(path: Path | None) -> Iterator[BinaryIO]:
    if path is None:
        yield sys.stdin.buffer
        return
    try:
        file = path.open("rb")
    except OSError as failed:
        _refuse(f"LOG: {path} cannot be read: {failed.strerror}")
    with file:
        yield file


def _job_key(job: str, option: str) -> JobKey:
    scheduler, slash, name = job.partition("/")
    if not (scheduler and slash and name):
        _refuse(f"{option}: write scheduler/job")
    return JobKey(scheduler=scheduler, name=name)


def _print_rows(rows: Iterable[dict[str, Any]], as_json: bool, columns: tuple[str, ...]) -> None:
    if as_json:
        for row in rows:
            print(json.dumps(row))
        return
    table = [columns, *([str(row[column] or "-") for column in columns] for row in rows)]
    widths = [max(len(row[index]) for row in table) for index in range(len(columns))]
    for cells in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip())


if __name__ == "__main__":
    app(prog_name="python -m bot")
