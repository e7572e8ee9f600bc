"""The tables of mail: which were read, how far each mailbox was, which addresses are broken. Runs no statement."""

from sqlalchemy import BigInteger, Boolean, Column, Table

from storage.columns import Instant, Words
from storage.tables import metadata, partial_index

WAS_TOLD = "told"

read_mails = Table(
    "read_mails",
    metadata,
    Column("key", Words, primary_key=True),
    Column("sender", Words, nullable=False),
    Column("occurrence", Words, nullable=False),
    Column("reason", Words, nullable=False),
    Column("told", Boolean(create_constraint=False), nullable=False),
    Column("at", Instant, nullable=False),
    partial_index("ix_read_mails_told", "sender", "occurrence", where=WAS_TOLD),
)

mailboxes = Table(
    "mailboxes",
    metadata,
    Column("name", Words, primary_key=True),
    Column("validity", BigInteger, nullable=False),
    Column("uid", BigInteger, nullable=False),
)

broken_addresses = Table(
    "broken_addresses",
    metadata,
    Column("address", Words, primary_key=True),
    Column("status", Words, nullable=False),
    Column("since", Instant, nullable=False),
)
