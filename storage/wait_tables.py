"""The table of what waits downstream of occurrences. Runs no statement.

`record` to `learned_from` are what the occurrence knows (a projection of `Incident.waits`); `name` is what its job is called
now, and `hung`, `hung_at` what that job did, written by its own transactions.
"""

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, Table, text

from bot.incidents.waits import Hung
from storage.columns import Id, Instant, NominalTime, Words
from storage.tables import metadata, of_occurrence, one_of, partial_index

IS_OPEN = "ended_at IS NULL"

downstream_waits = Table(
    "downstream_waits",
    metadata,
    Column("record", Id, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("scheduler", Words, primary_key=True),
    Column("job", Words, primary_key=True),
    Column("nominal_time", NominalTime, primary_key=True),
    Column("name", Words, nullable=False),
    Column("since", Instant, nullable=False),
    Column("depth", Integer, nullable=False),
    Column("loose", Boolean(create_constraint=False), nullable=False),
    Column("told", Boolean(create_constraint=False), nullable=False, server_default=text("false")),
    Column("alone", Boolean(create_constraint=False), nullable=False),
    Column("cleared_at", Instant),
    Column("ended_at", Instant),
    Column("without", Boolean(create_constraint=False), nullable=False),
    Column("delay", BigInteger),
    Column("lag", BigInteger),
    Column("learned_from", Integer, nullable=False),
    Column("hung", Words),
    Column("hung_at", Instant),
    of_occurrence(),
    one_of("hung", Hung),
    partial_index("ix_downstream_waits_open", "scheduler", "name", where=IS_OPEN),
    Index("ix_downstream_waits_since", "since"),
)
