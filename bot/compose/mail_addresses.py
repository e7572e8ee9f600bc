"""What `mail addresses` and `mail mend` stand on: the addresses that a mail system gave up on.

It works beside the process that runs the service, for a mark is one row and nobody holds it; it opens nothing else.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from bot.directory import BELIEVED
from storage.database import Database
from storage.leases import SoleHolder
from storage.mail import MailRoom
from storage.migrating import check_schema


@contextmanager
def mail_room(url: str, *, read_only: bool) -> Iterator[MailRoom]:
    """The addresses of this database. Raises `SchemaMismatch` or `bot.store.StorageDown`."""
    database = Database(url, read_only=read_only)
    try:
        check_schema(database)
        yield MailRoom(database, SoleHolder(instance="cli", lock=None))
    finally:
        database.close()


def address_rows(room: MailRoom, *, now: datetime) -> Iterator[dict[str, Any]]:
    """The broken ones, and until when no mail goes there."""
    for broken in room.broken_addresses(now=now, lasts=BELIEVED):
        yield {
            "address": broken.address,
            "status": broken.status,
            "since": broken.since.isoformat(),
            "until": (broken.since + BELIEVED).isoformat(),
        }
