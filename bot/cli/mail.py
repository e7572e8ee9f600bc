"""The `mail` commands: look into what arrives by mail, and at the addresses to which none goes any more."""

import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.common import AsJson, path_of, print_rows, refusals, refuse, settings
from bot.compose.explain_mail import explain_mail, mail_object, mail_text
from bot.compose.mail_addresses import address_rows, mail_room
from bot.mail import MOST_BYTES, one_mailbox
from bot.policies import load, read_policies

app = typer.Typer(help="Look into what arrives by mail, and where it goes.", no_args_is_help=True)


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


@app.command(name="addresses")
def addresses(as_json: AsJson = False) -> None:
    """List the addresses that a mail system gave up on, and until when no mail goes there."""
    url = settings().database_url
    with refusals(), mail_room(url, read_only=True) as room:
        rows = list(address_rows(room, now=datetime.now(UTC)))
    print_rows(rows, as_json, ("address", "status", "since", "until"))


@app.command(name="mend")
def mend(address: Annotated[str, typer.Argument(help="The address, as `mail addresses` lists it.")]) -> None:
    """Send mail to a broken address again."""
    found, url = one_mailbox(address), settings().database_url
    if found is None:
        refuse(f"ADDRESS: {address!r} is no mail address")
    with refusals(), mail_room(url, read_only=False) as room:
        marked = room.mend_address(address=found)
    print(f"{found}: mail goes there again." if marked else f"{found} was not marked as broken.")
