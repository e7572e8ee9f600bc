"""The `pings` command: the addresses by which a job's runs are reported with curl."""

import os
from typing import Annotated

import typer

from bot.cli.common import AsJson, job_key, print_rows, refuse, settings
from bot.signed import Signer


def pings(
    job: Annotated[str, typer.Argument(help="scheduler/job")],
    url: Annotated[str | None, typer.Option(help="The public address; PUBLIC_URL without it.")] = None,
    as_json: AsJson = False,
) -> None:
    """Print a job's ping addresses for a crontab's curl; whoever knows them can report about this job."""
    key = job_key(job, "JOB")
    secret = settings().secret_key
    if secret is None:
        refuse("SECRET_KEY: not set; the addresses are signed with it, so use the service's own")
    base = url or os.environ.get("PUBLIC_URL")
    if not base:
        refuse("--url: the address at which jobs reach this service (or set PUBLIC_URL)")
    ping = f"{base.rstrip('/')}/ping/{Signer(secret).job(str(key))}"
    rows = [
        {"says": "it began", "url": f"{ping}/start"},
        {"says": "it ended well", "url": ping},
        {"says": "it failed (the end of its log as the body)", "url": f"{ping}/fail"},
        {"says": "it ended with this exit status", "url": f"{ping}/$?"},
        {"says": "a piece of its log, for a failure to come", "url": f"{ping}/log"},
    ]
    print_rows(rows, as_json, ("says", "url"))
