"""The `mail` commands: look into what arrives by mail."""

import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.common import AsJson, path_of, refusals, settings
from bot.compose.explain_mail import explain_mail, mail_object, mail_text
from bot.mail import MOST_BYTES
from bot.policies import load, read_policies

app = typer.Typer(help="Look into what arrives by mail.", no_args_is_help=True)


@app.command(name="explain")
def explain(
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
    with refusals():
        loaded = load(read_policies(path_of(policies)), env=os.environ)
    message = sys.stdin.buffer.read(MOST_BYTES + 1)
    verdict = explain_mail(message, loaded, bot=settings().mail_from, authserv_id=authserv_id, now=datetime.now(UTC))
    print(json.dumps(mail_object(verdict)) if as_json else mail_text(verdict))
