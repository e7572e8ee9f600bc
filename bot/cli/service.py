"""The commands that run the service, set it up and look it over."""

import json
import os
from typing import Annotated

import msgspec
import typer

from bot.cli.common import AsJson, policy_file, refusals, refuse, settings
from bot.compose.doctor import examine
from bot.compose.finding import Health
from bot.compose.logs import set_up_logs
from bot.compose.manifest import manifest_yaml
from bot.compose.roles import Role
from bot.compose.running import run as run_role
from bot.sandbox import demo as sandbox_demo
from bot.sandbox import story
from storage.migrating import migrate as bring_up_to_date


def run() -> None:
    """Run the whole service in this process (migrates by itself). Ctrl-C stops it cleanly."""
    _run(Role.RUN)


def web() -> None:
    """Answer HTTP in this process and send what follows at once; beside `worker` and `clock`, on PostgreSQL."""
    _run(Role.WEB)


def worker() -> None:
    """Send in this process what others left to be sent, also after their end; as many as wanted, on PostgreSQL."""
    _run(Role.WORKER)


def clock() -> None:
    """Watch deadlines and reminders in this process; one of its kind leads and runs local jobs, on PostgreSQL."""
    _run(Role.CLOCK)


def demo(
    check: Annotated[
        bool, typer.Option("--check", help="Play the whole story by itself and exit 0 if all was seen.")
    ] = False,
    port: Annotated[int, typer.Option(help="Port of the sandbox workspace's page.")] = 8080,
) -> None:
    """Run the product in a sandbox workspace in the browser: no Slack account, no server."""
    raise typer.Exit(story.check() if check else sandbox_demo.run(port=port))


def migrate() -> None:
    """Bring the database's schema up to date; safe to repeat."""
    url = settings().database_url
    with refusals():
        bring_up_to_date(url)
    print("The database is up to date.")


def doctor(as_json: AsJson = False) -> None:
    """Say what is set up, what is off and what is broken; exits 1 when something is broken."""
    found = settings()
    findings = list(examine(found, policy_file(found).current))
    for finding in findings:
        built = msgspec.to_builtins(finding)
        fix = f"; fix: {finding.fix}" if finding.fix else ""
        print(json.dumps(built) if as_json else f"{finding.health:7} {finding.part}: {finding.says}{fix}")
    if any(finding.health is Health.BROKEN for finding in findings):
        raise typer.Exit(1)


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
        refuse("--url: the public https:// address at which Slack reaches this service (or set PUBLIC_URL)")
    print(manifest_yaml(address.rstrip("/")), end="")


def _run(role: Role) -> None:
    found = settings()
    set_up_logs(found.log_format)
    policies = policy_file(found)
    with refusals():
        run_role(found, policies, role=role)
