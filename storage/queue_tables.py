"""The tables of what is still to be done: conversations, views, outbox, timers, pace; and the directory. Runs no statement."""

from typing import Any

from sqlalchemy import Boolean, Column, ForeignKey, Index, Integer, Table, UniqueConstraint

from bot.store import EffectKind, EffectState
from storage.columns import Document, Id, Instant, NominalTime, Words
from storage.tables import metadata, of_occurrence, one_of, partial_index

IS_UNSETTLED = f"state IN ('{EffectState.SENDING}', '{EffectState.WAITING}')"
IS_FREE = f"state = '{EffectState.WAITING}' AND leased_by IS NULL"
IS_WANTED = "wanted_version > shown_version"
IS_LEASED = "leased_by IS NOT NULL"
OF_A_STORM = "storm IS NOT NULL"
OF_A_JOB = "record IS NULL"
IS_ADDRESSED = "address IS NOT NULL"

CONTENT = Document[dict[str, Any]](dict[str, Any])

conversations = Table(
    "conversations",
    metadata,
    Column("id", Id, primary_key=True),
    Column("destination", Words, nullable=False),
    Column("channel", Words, nullable=False),
    Column("root_ts", Words),
    Column("created_at", Instant, nullable=False),
    Column("parent_id", Id),
    Index("ix_conversations_root", "channel", "root_ts"),
)

views = Table(
    "views",
    metadata,
    Column("id", Id, primary_key=True),
    Column("conversation_id", Id, ForeignKey("conversations.id"), nullable=False),
    Column("record", Id, nullable=False),
    Column("number", Integer, nullable=False),
    Column("key", Words, nullable=False),
    Column("wanted_version", Integer, nullable=False),
    Column("shown_version", Integer, nullable=False),
    Column("repointed", Boolean(create_constraint=False), nullable=False),
    Column("due_at", Instant, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("leased_by", Words),
    Column("leased_until", Instant),
    Column("begun_at", Instant),
    Column("uncertain_at", Instant),
    Column("code", Words),
    Column("storm", Words),
    Column("page", Integer),
    UniqueConstraint("conversation_id"),
    UniqueConstraint("key"),
    of_occurrence(),
    Index("ix_views_occurrence", "record", "number"),
    partial_index("uq_views_storm", "storm", "page", where=OF_A_STORM, unique=True),
    partial_index("ix_views_wanted", "due_at", where=IS_WANTED),
    partial_index("ix_views_leased", "leased_until", where=IS_LEASED),
)

outbox = Table(
    "outbox",
    metadata,
    Column("id", Id, primary_key=True),
    Column("key", Words, nullable=False),
    Column("kind", Words, nullable=False),
    Column("lane", Integer, nullable=False),
    Column("job_id", Id, ForeignKey("jobs.id")),
    Column("record", Id),
    Column("number", Integer),
    Column("conversation_id", Id, ForeignKey("conversations.id")),
    Column("content", CONTENT, nullable=False),
    Column("state", Words, nullable=False),
    Column("due_at", Instant, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("leased_by", Words),
    Column("leased_until", Instant),
    Column("begun_at", Instant),
    Column("uncertain_at", Instant),
    Column("settled_at", Instant),
    Column("code", Words),
    Column("result", CONTENT),
    Column("late_at", Instant),
    Column("address", Words),
    UniqueConstraint("key"),
    of_occurrence(),
    one_of("kind", EffectKind),
    one_of("state", EffectState),
    Index("ix_outbox_occurrence", "record", "number"),
    partial_index("ix_outbox_free", "lane", "due_at", "id", where=IS_FREE),
    partial_index("ix_outbox_unsettled", "conversation_id", "id", where=IS_UNSETTLED),
    partial_index("ix_outbox_leased", "leased_until", where=IS_LEASED),
    partial_index("ix_outbox_addressed", "address", "created_at", where=IS_ADDRESSED),
)

timers = Table(
    "timers",
    metadata,
    Column("id", Id, primary_key=True),
    Column("job_id", Id, ForeignKey("jobs.id"), nullable=False),
    Column("record", Id),
    Column("number", Integer),
    Column("kind", Words, nullable=False),
    Column("nominal_time", NominalTime, nullable=False),
    Column("due_at", Instant, nullable=False),
    UniqueConstraint("record", "number", "kind"),
    of_occurrence(),
    partial_index("uq_timers_of_job", "job_id", "kind", "nominal_time", where=OF_A_JOB, unique=True),
    Index("ix_timers_due_at", "due_at"),
    sqlite_autoincrement=True,
)

pace = Table(
    "pace",
    metadata,
    Column("method", Words, primary_key=True),
    Column("scope", Words, primary_key=True),
    Column("free_at", Instant, nullable=False),
)

people = Table(
    "people",
    metadata,
    Column("id", Words, primary_key=True),
    Column("name", Words, nullable=False),
    Column("email", Words),
    Column("active", Boolean(create_constraint=False), nullable=False),
    Column("read_at", Instant, nullable=False),
)

people_groups = Table(
    "people_groups",
    metadata,
    Column("id", Words, primary_key=True),
    Column("members", Document[tuple[str, ...]](tuple[str, ...]), nullable=False),
    Column("exists", Boolean(create_constraint=False), nullable=False),
    Column("read_at", Instant, nullable=False),
)

policies = Table(
    "policies",
    metadata,
    Column("version", Words, primary_key=True),
    Column("text", Words, nullable=False),
    Column("published_at", Instant, nullable=False),
)
