"""The first schema: jobs and their runs, incidents, allowances, the queue, the directory.

Types and constraints are spelled out, so that later changes of the table definitions leave this step as it was.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    _jobs()
    _incidents()
    _allowances()
    _queue()
    _directory()


def _index(name: str, table: str, *columns: str, where: str, unique: bool = False) -> None:
    condition = sa.text(where)
    op.create_index(name, table, list(columns), unique=unique, sqlite_where=condition, postgresql_where=condition)


def _jobs() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", _ID, nullable=False),
        sa.Column("scheduler", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("has_occurrences", sa.Boolean(), nullable=False, server_default=sa.text("false")),
        sa.Column("memory", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
        sa.UniqueConstraint("scheduler", "name", name=op.f("uq_jobs_scheduler_name")),
    )
    op.create_table(
        "runs",
        sa.Column("id", _ID, nullable=False),
        sa.Column("job_id", _ID, nullable=False),
        sa.Column("nominal_time", sa.BigInteger(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("generation", sa.BigInteger(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("trigger", sa.Text(), nullable=False),
        sa.Column("url", sa.Text()),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("started_at", sa.BigInteger()),
        sa.Column("ended_at", sa.BigInteger()),
        sa.Column("cost", sa.BigInteger()),
        sa.Column("unit", sa.Text()),
        sa.Column("rerun_key", sa.Text()),
        sa.Column("by", sa.Text()),
        sa.Column("fingerprint", sa.Text()),
        sa.Column("cause", sa.Text()),
        sa.Column("facts", sa.Text()),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runs")),
        sa.CheckConstraint(
            "state IN ('cancelled', 'failed', 'retrying', 'skipped', 'started', 'succeeded')",
            name=op.f("ck_runs_state"),
        ),
        sa.CheckConstraint("trigger IN ('backfill', 'manual', 'rerun', 'schedule')", name=op.f("ck_runs_trigger")),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_runs_job_id")),
        sa.UniqueConstraint(
            "job_id", "nominal_time", "run_id", "generation", name=op.f("uq_runs_job_id_nominal_time_run_id_generation")
        ),
    )


def _incidents() -> None:
    op.create_table(
        "conversations",
        sa.Column("id", _ID, nullable=False),
        sa.Column("destination", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("root_ts", sa.Text()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_conversations")),
    )
    op.create_index("ix_conversations_root", "conversations", ["channel", "root_ts"])
    op.create_table(
        "records",
        sa.Column("id", _ID, nullable=False),
        sa.Column("job_id", _ID, nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("opened_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_records")),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_records_job_id")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "occurrences",
        sa.Column("record", _ID, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("job_id", _ID, nullable=False),
        sa.Column("conversation_id", _ID),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("cause", sa.Text(), nullable=False),
        sa.Column("opened_at", sa.BigInteger(), nullable=False),
        sa.Column("closed_at", sa.BigInteger()),
        sa.Column("outcome", sa.Text()),
        sa.Column("acknowledged_by", sa.Text()),
        sa.Column("acknowledged_until", sa.BigInteger()),
        sa.Column("document", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("record", "number", name=op.f("pk_occurrences")),
        sa.CheckConstraint(
            "outcome IN ('fixed', 'not_needed', 'recovered', 'recovered_alone', 'recovered_by_hand')",
            name=op.f("ck_occurrences_outcome"),
        ),
        sa.CheckConstraint(
            "status IN ('awaiting_approval', 'left', 'open', 'paused', 'rerunning', 'resolved', 'retired', 'verifying')",
            name=op.f("ck_occurrences_status"),
        ),
        sa.ForeignKeyConstraint(["conversation_id"], ["conversations.id"], name=op.f("fk_occurrences_conversation_id")),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_occurrences_job_id")),
        sa.ForeignKeyConstraint(["record"], ["records.id"], name=op.f("fk_occurrences_record")),
    )
    op.create_index("ix_occurrences_conversation_id", "occurrences", ["conversation_id"])
    _index("ix_occurrences_mattering", "occurrences", "job_id", where="status <> 'resolved'")
    op.create_index("ix_occurrences_opened_at", "occurrences", ["opened_at"])
    _index("ix_occurrences_same", "occurrences", "job_id", "fingerprint", "closed_at", where="closed_at IS NOT NULL")
    _index("ix_occurrences_settled", "occurrences", "job_id", "closed_at", where="closed_at IS NOT NULL")
    _index(
        "uq_occurrences_unresolved",
        "occurrences",
        "job_id",
        where="status IN ('awaiting_approval', 'open', 'rerunning', 'verifying')",
        unique=True,
    )
    op.create_table(
        "evidence",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_evidence")),
    )
    op.create_table(
        "timeline",
        sa.Column("id", _ID, nullable=False),
        sa.Column("record", _ID, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("by", sa.Text()),
        sa.Column("facts", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_timeline")),
        sa.ForeignKeyConstraint(
            ["record", "number"], ["occurrences.record", "occurrences.number"], name=op.f("fk_timeline_record_number")
        ),
    )
    op.create_index("ix_timeline_occurrence", "timeline", ["record", "number", "id"])
    op.create_table(
        "ledger",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_ledger")),
    )


def _allowances() -> None:
    op.create_table(
        "budgets",
        sa.Column("id", _ID, nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("unit", sa.Text(), nullable=False),
        sa.Column("period_start", sa.BigInteger(), nullable=False),
        sa.Column("automatic_used", sa.BigInteger(), nullable=False),
        sa.Column("approved_used", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_budgets")),
        sa.UniqueConstraint("scope", "unit", "period_start", name=op.f("uq_budgets_scope_unit_period_start")),
    )
    op.create_table(
        "reruns",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("job_id", _ID, nullable=False),
        sa.Column("record", _ID, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("nominal_times", sa.Text(), nullable=False),
        sa.Column("cause", sa.Text(), nullable=False),
        sa.Column("automatic", sa.Boolean(), nullable=False),
        sa.Column("first", sa.Boolean(), nullable=False),
        sa.Column("amount", sa.BigInteger()),
        sa.Column("unit", sa.Text(), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("by", sa.Text()),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("result", sa.Text()),
        sa.Column("ended_at", sa.BigInteger()),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_reruns")),
        sa.CheckConstraint("state IN ('released', 'reserved', 'settled')", name=op.f("ck_reruns_state")),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_reruns_job_id")),
    )
    op.create_index("ix_reruns_job_id", "reruns", ["job_id"])
    op.create_index("ix_reruns_occurrence", "reruns", ["record", "number", "at"])


def _queue() -> None:
    op.create_table(
        "views",
        sa.Column("id", _ID, nullable=False),
        sa.Column("conversation_id", _ID, nullable=False),
        sa.Column("record", _ID, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("wanted_version", sa.Integer(), nullable=False),
        sa.Column("shown_version", sa.Integer(), nullable=False),
        sa.Column("repointed", sa.Boolean(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("leased_by", sa.Text()),
        sa.Column("leased_until", sa.BigInteger()),
        sa.Column("begun_at", sa.BigInteger()),
        sa.Column("uncertain_at", sa.BigInteger()),
        sa.Column("code", sa.Text()),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_views")),
        sa.ForeignKeyConstraint(["conversation_id"], ["conversations.id"], name=op.f("fk_views_conversation_id")),
        sa.ForeignKeyConstraint(
            ["record", "number"], ["occurrences.record", "occurrences.number"], name=op.f("fk_views_record_number")
        ),
        sa.UniqueConstraint("conversation_id", name=op.f("uq_views_conversation_id")),
        sa.UniqueConstraint("key", name=op.f("uq_views_key")),
    )
    _index("ix_views_leased", "views", "leased_until", where="leased_by IS NOT NULL")
    op.create_index("ix_views_occurrence", "views", ["record", "number"])
    _index("ix_views_wanted", "views", "due_at", where="wanted_version > shown_version")
    op.create_table(
        "outbox",
        sa.Column("id", _ID, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("lane", sa.Integer(), nullable=False),
        sa.Column("job_id", _ID, nullable=False),
        sa.Column("record", _ID, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("conversation_id", _ID),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("leased_by", sa.Text()),
        sa.Column("leased_until", sa.BigInteger()),
        sa.Column("begun_at", sa.BigInteger()),
        sa.Column("uncertain_at", sa.BigInteger()),
        sa.Column("settled_at", sa.BigInteger()),
        sa.Column("code", sa.Text()),
        sa.Column("result", sa.Text()),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outbox")),
        sa.CheckConstraint(
            "kind IN ('direct', 'email', 'file', 'look', 'reply', 'request')", name=op.f("ck_outbox_kind")
        ),
        sa.CheckConstraint(
            "state IN ('buried', 'cancelled', 'refused', 'sending', 'settled', 'waiting')", name=op.f("ck_outbox_state")
        ),
        sa.ForeignKeyConstraint(["conversation_id"], ["conversations.id"], name=op.f("fk_outbox_conversation_id")),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_outbox_job_id")),
        sa.ForeignKeyConstraint(
            ["record", "number"], ["occurrences.record", "occurrences.number"], name=op.f("fk_outbox_record_number")
        ),
        sa.UniqueConstraint("key", name=op.f("uq_outbox_key")),
    )
    _index("ix_outbox_free", "outbox", "lane", "due_at", "id", where="state = 'waiting' AND leased_by IS NULL")
    _index("ix_outbox_leased", "outbox", "leased_until", where="leased_by IS NOT NULL")
    op.create_index("ix_outbox_occurrence", "outbox", ["record", "number"])
    _index("ix_outbox_unsettled", "outbox", "conversation_id", "id", where="state IN ('sending', 'waiting')")
    op.create_table(
        "timers",
        sa.Column("id", _ID, nullable=False),
        sa.Column("job_id", _ID, nullable=False),
        sa.Column("record", _ID),
        sa.Column("number", sa.Integer()),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("nominal_time", sa.BigInteger(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_timers")),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_timers_job_id")),
        sa.ForeignKeyConstraint(
            ["record", "number"], ["occurrences.record", "occurrences.number"], name=op.f("fk_timers_record_number")
        ),
        sa.UniqueConstraint("record", "number", "kind", name=op.f("uq_timers_record_number_kind")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_timers_due_at", "timers", ["due_at"])
    _index("uq_timers_of_job", "timers", "job_id", "kind", "nominal_time", where="record IS NULL", unique=True)
    op.create_table(
        "pace",
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("free_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("method", "scope", name=op.f("pk_pace")),
    )


def _directory() -> None:
    op.create_table(
        "people",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("email", sa.Text()),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("read_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_people")),
    )
    op.create_table(
        "people_groups",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("members", sa.Text(), nullable=False),
        sa.Column("exists", sa.Boolean(), nullable=False),
        sa.Column("read_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_people_groups")),
    )
    op.create_table(
        "policies",
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("published_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("version", name=op.f("pk_policies")),
    )
