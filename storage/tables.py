"""The tables of incidents and their past: jobs, runs, records, occurrences, evidence, timeline, budgets, gates.

They run no statement. Those of the queue stand in `queue_tables.py`, on the same metadata. Documents hold what is decided
with; the columns beside them are what is searched by.
"""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    Table,
    UniqueConstraint,
    text,
)

from bot.evidence.types import Evidence
from bot.incidents.canary import Canary
from bot.incidents.keys import Trigger
from bot.incidents.memory import JobMemory
from bot.incidents.model import UNRESOLVED, Incident, Outcome, Status
from bot.incidents.people import By
from bot.incidents.storm import Storm
from bot.store import RunState, Scope
from storage.columns import Amount, Document, Id, Instant, NominalTime, Words
from storage.measured_columns import MEASURED_TOGETHER, SETTLED_TOGETHER, measured_columns

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)


def one_of(column: str, values: Iterable[StrEnum]) -> CheckConstraint:
    """A status column holds one of these words."""
    return CheckConstraint(f"{column} IN ({words(values)})", name=column)


def words(values: Iterable[StrEnum]) -> str:
    return ", ".join(f"'{value}'" for value in sorted(values))


def partial_index(name: str, *columns: Any, where: str, unique: bool = False, **more: Any) -> Index:
    """An index of some rows only, for both databases."""
    return Index(name, *columns, unique=unique, sqlite_where=text(where), postgresql_where=text(where), **more)


def of_occurrence() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["record", "number"], ["occurrences.record", "occurrences.number"])


IS_UNRESOLVED = f"status IN ({words(UNRESOLVED)})"
IS_OLD_NAME = "renamed_to IS NOT NULL"
HAS_STAGE = "stage IS NOT NULL"
IS_RECORDED = "event IS NOT NULL"
MATTERS = f"status <> '{Status.RESOLVED}'"

jobs = Table(
    "jobs",
    metadata,
    Column("id", Id, primary_key=True),
    Column("scheduler", Words, nullable=False),
    Column("name", Words, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("has_occurrences", Boolean(create_constraint=False), nullable=False, server_default=text("false")),
    Column("memory", Document[JobMemory](JobMemory), nullable=False),
    Column("renamed_to", Words),
    UniqueConstraint("scheduler", "name"),
    partial_index("ix_jobs_renamed_to", "scheduler", "renamed_to", where=IS_OLD_NAME),
)

runs = Table(
    "runs",
    metadata,
    Column("id", Id, primary_key=True),
    Column("job_id", Id, ForeignKey("jobs.id"), nullable=False),
    Column("nominal_time", NominalTime, nullable=False),
    Column("run_id", Words, nullable=False),
    Column("generation", BigInteger, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("trigger", Words, nullable=False),
    Column("url", Words),
    Column("state", Words, nullable=False),
    Column("at", Instant, nullable=False),
    Column("started_at", Instant),
    Column("ended_at", Instant),
    Column("cost", Amount),
    Column("unit", Words),
    Column("rerun_key", Words),
    Column("by", Words),
    Column("fingerprint", Words),
    Column("cause", Words),
    Column("facts", Document[dict[str, Any]](dict[str, Any])),
    UniqueConstraint("job_id", "nominal_time", "run_id", "generation"),
    one_of("state", RunState),
    one_of("trigger", Trigger),
)

records = Table(
    "records",
    metadata,
    Column("id", Id, primary_key=True),
    Column("job_id", Id, ForeignKey("jobs.id"), nullable=False),
    Column("fingerprint", Words, nullable=False),
    Column("opened_at", Instant, nullable=False),
    sqlite_autoincrement=True,
)

occurrences = Table(
    "occurrences",
    metadata,
    Column("record", Id, ForeignKey("records.id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("job_id", Id, ForeignKey("jobs.id"), nullable=False),
    Column("conversation_id", Id, ForeignKey("conversations.id")),
    Column("status", Words, nullable=False),
    Column("version", Integer, nullable=False),
    Column("fingerprint", Words, nullable=False),
    Column("cause", Words, nullable=False),
    Column("opened_at", Instant, nullable=False),
    Column("closed_at", Instant),
    Column("outcome", Words),
    Column("acknowledged_by", Words),
    Column("acknowledged_until", Instant),
    Column("document", Document[Incident](Incident), nullable=False),
    *measured_columns(),
    one_of("status", Status),
    one_of("outcome", Outcome),
    partial_index("uq_occurrences_unresolved", "job_id", where=IS_UNRESOLVED, unique=True),
    partial_index("ix_occurrences_mattering", "job_id", where=MATTERS),
    partial_index("ix_occurrences_settled", "job_id", "closed_at", where="closed_at IS NOT NULL"),
    partial_index("ix_occurrences_same", "job_id", "fingerprint", "closed_at", where="closed_at IS NOT NULL"),
    Index("ix_occurrences_opened_at", "opened_at", postgresql_include=MEASURED_TOGETHER),
    Index("ix_occurrences_job_opened_at", "job_id", "opened_at"),
    partial_index(
        "ix_occurrences_closed_at",
        *("closed_at", "opened_at"),
        where="closed_at IS NOT NULL",
        postgresql_include=SETTLED_TOGETHER,
    ),
    Index("ix_occurrences_conversation_id", "conversation_id"),
)

evidence = Table(
    "evidence",
    metadata,
    Column("key", Words, primary_key=True),
    Column("document", Document[Evidence](Evidence), nullable=False),
)

timeline = Table(
    "timeline",
    metadata,
    Column("id", Id, primary_key=True),
    Column("record", Id, nullable=False),
    Column("number", Integer, nullable=False),
    Column("version", Integer, nullable=False),
    Column("key", Words, nullable=False),
    Column("at", Instant, nullable=False),
    Column("kind", Words, nullable=False),
    Column("reason", Words, nullable=False),
    Column("by", Document[By](By)),
    Column("facts", Document[dict[str, Any]](dict[str, Any]), nullable=False),
    of_occurrence(),
    Index("ix_timeline_occurrence", "record", "number", "id"),
)

ledger = Table(
    "ledger",
    metadata,
    Column("key", Words, primary_key=True),
    Column("at", Instant, nullable=False),
    Column("outcome", Document[dict[str, Any]](dict[str, Any]), nullable=False),
    Column("event", Words),
    Column("place", BigInteger),
    partial_index("ix_ledger_recorded", "at", "place", where=IS_RECORDED),
)

budgets = Table(
    "budgets",
    metadata,
    Column("id", Id, primary_key=True),
    Column("scope", Words, nullable=False),
    Column("unit", Words, nullable=False),
    Column("period_start", Instant, nullable=False),
    Column("automatic_used", Amount, nullable=False),
    Column("approved_used", Amount, nullable=False),
    UniqueConstraint("scope", "unit", "period_start"),
)


class BookingState(StrEnum):
    """Whether a booking still holds its estimate, was replaced by what was used, or was given back."""

    RESERVED = "reserved"
    SETTLED = "settled"
    RELEASED = "released"


reruns = Table(
    "reruns",
    metadata,
    Column("key", Words, primary_key=True),
    Column("job_id", Id, ForeignKey("jobs.id"), nullable=False),
    Column("record", Id, nullable=False),
    Column("number", Integer, nullable=False),
    Column("nominal_times", Document[tuple[datetime | None, ...]](tuple[datetime | None, ...]), nullable=False),
    Column("cause", Words, nullable=False),
    Column("automatic", Boolean(create_constraint=False), nullable=False),
    Column("first", Boolean(create_constraint=False), nullable=False),
    Column("amount", Amount),
    Column("unit", Words, nullable=False),
    Column("scopes", Document[tuple[Scope, ...]](tuple[Scope, ...]), nullable=False),
    Column("at", Instant, nullable=False),
    Column("by", Words),
    Column("state", Words, nullable=False),
    Column("result", Words),
    Column("ended_at", Instant),
    Column("stage", Words),
    Column("team", Words),
    one_of("state", BookingState),
    Index("ix_reruns_occurrence", "record", "number", "at"),
    Index("ix_reruns_job_id", "job_id"),
    Index("ix_reruns_at", "at"),
    partial_index("ix_reruns_staged", "cause", "stage", "at", where=HAS_STAGE),
)

gates = Table(
    "gates",
    metadata,
    Column("name", Words, primary_key=True),
    Column("canary", Document[Canary](Canary)),
    Column("storm", Document[Storm](Storm)),
)

storms = Table(
    "storms",
    metadata,
    Column("key", Words, primary_key=True),
    Column("channel", Words, nullable=False),
    Column("conversation_id", Id, ForeignKey("conversations.id"), nullable=False),
    Column("began_at", Instant, nullable=False),
)

storm_rows = Table(
    "storm_rows",
    metadata,
    Column("storm", Words, ForeignKey("storms.key"), primary_key=True),
    Column("row", Integer, primary_key=True),
    Column("record", Id, nullable=False),
    Column("number", Integer, nullable=False),
    Column("team", Words, nullable=False),
    of_occurrence(),
    UniqueConstraint("record", "number"),
)
