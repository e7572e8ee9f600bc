"""The tables of lineage: runs and parts as OpenLineage tells them, who reads and writes what, datasets. Runs no statement."""

from typing import Any

from sqlalchemy import Boolean, Column, Integer, Table

from bot.store.lineage import Known, Told
from storage.columns import Document, Instant, Words
from storage.tables import metadata, one_of, partial_index

IS_PART = "NOT own"
HAS_PARENT = "parent IS NOT NULL"
IS_DUE = "due_at IS NOT NULL"

lineage_runs = Table(
    "lineage_runs",
    metadata,
    Column("source", Words, primary_key=True),
    Column("run_id", Words, primary_key=True),
    Column("job", Words, nullable=False),
    Column("parent", Words),
    Column("root", Words, nullable=False),
    Column("own", Boolean(create_constraint=False), nullable=False),
    Column("state", Words, nullable=False),
    Column("state_at", Instant, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("known", Document[Known](Known), nullable=False),
    Column("seen_at", Instant, nullable=False, index=True),
    Column("due_at", Instant),
    one_of("state", Told),
    partial_index("ix_lineage_runs_part", "source", "root", where=IS_PART),
    partial_index("ix_lineage_runs_parent", "source", "parent", where=HAS_PARENT),
    partial_index("ix_lineage_runs_due_at", "due_at", where=IS_DUE),
)

lineage_uses = Table(
    "lineage_uses",
    metadata,
    Column("scheduler", Words, primary_key=True),
    Column("job", Words, primary_key=True),
    Column("writes", Boolean(create_constraint=False), primary_key=True),
    Column("dataset", Words, primary_key=True, index=True),
    Column("seen_at", Instant, index=True),
    Column("told_at", Instant),
)

lineage_datasets = Table(
    "lineage_datasets",
    metadata,
    Column("name", Words, primary_key=True),
    Column("described", Document[dict[str, Any]](dict[str, Any]), nullable=False),
    Column("at", Instant, nullable=False, index=True),
)
