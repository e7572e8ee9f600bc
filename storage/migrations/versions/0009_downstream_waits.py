"""What waits downstream of occurrences, and what jobs were called before. Additive: a process of the version before writes none."""

import sqlalchemy as sa
from alembic import op

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "downstream_waits",
        sa.Column("record", _ID, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("scheduler", sa.Text(), nullable=False),
        sa.Column("job", sa.Text(), nullable=False),
        sa.Column("nominal_time", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("since", sa.BigInteger(), nullable=False),
        sa.Column("depth", sa.Integer(), nullable=False),
        sa.Column("loose", sa.Boolean(create_constraint=False), nullable=False),
        sa.Column("told", sa.Boolean(create_constraint=False), nullable=False, server_default=sa.text("false")),
        sa.Column("alone", sa.Boolean(create_constraint=False), nullable=False),
        sa.Column("cleared_at", sa.BigInteger()),
        sa.Column("ended_at", sa.BigInteger()),
        sa.Column("without", sa.Boolean(create_constraint=False), nullable=False),
        sa.Column("delay", sa.BigInteger()),
        sa.Column("lag", sa.BigInteger()),
        sa.Column("learned_from", sa.Integer(), nullable=False),
        sa.Column("hung", sa.Text()),
        sa.Column("hung_at", sa.BigInteger()),
        sa.PrimaryKeyConstraint(
            "record", "number", "scheduler", "job", "nominal_time", name=op.f("pk_downstream_waits")
        ),
        sa.ForeignKeyConstraint(
            ["record", "number"],
            ["occurrences.record", "occurrences.number"],
            name=op.f("fk_downstream_waits_record_number"),
        ),
        sa.CheckConstraint("hung IN ('failed', 'late', 'skipped')", name=op.f("ck_downstream_waits_hung")),
    )
    op.create_index(
        "ix_downstream_waits_open",
        "downstream_waits",
        ["scheduler", "name"],
        sqlite_where=sa.text("ended_at IS NULL"),
        postgresql_where=sa.text("ended_at IS NULL"),
    )
    op.add_column("jobs", sa.Column("renamed_to", sa.Text()))
    op.create_index(
        "ix_jobs_renamed_to",
        "jobs",
        ["scheduler", "renamed_to"],
        sqlite_where=sa.text("renamed_to IS NOT NULL"),
        postgresql_where=sa.text("renamed_to IS NOT NULL"),
    )
    op.create_index("ix_downstream_waits_since", "downstream_waits", ["since"])
