"""Lineage: runs and their parts as OpenLineage tells them, which job reads and writes what, what is known of datasets.

Additive: a process of the version before knows none of the tables.
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "lineage_runs",
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("job", sa.Text(), nullable=False),
        sa.Column("parent", sa.Text()),
        sa.Column("root", sa.Text(), nullable=False),
        sa.Column("own", sa.Boolean(create_constraint=False), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("state_at", sa.BigInteger(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("known", sa.Text(), nullable=False),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.Column("due_at", sa.BigInteger()),
        sa.PrimaryKeyConstraint("source", "run_id", name=op.f("pk_lineage_runs")),
        sa.CheckConstraint(
            "state IN ('cancelled', 'failed', 'heard', 'started', 'succeeded')", name=op.f("ck_lineage_runs_state")
        ),
    )
    op.create_index(op.f("ix_lineage_runs_seen_at"), "lineage_runs", ["seen_at"])
    _partial_index("ix_lineage_runs_part", "source", "root", where="NOT own")
    _partial_index("ix_lineage_runs_parent", "source", "parent", where="parent IS NOT NULL")
    _partial_index("ix_lineage_runs_due_at", "due_at", where="due_at IS NOT NULL")
    op.create_table(
        "lineage_uses",
        sa.Column("scheduler", sa.Text(), nullable=False),
        sa.Column("job", sa.Text(), nullable=False),
        sa.Column("writes", sa.Boolean(create_constraint=False), nullable=False),
        sa.Column("dataset", sa.Text(), nullable=False),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("scheduler", "job", "writes", "dataset", name=op.f("pk_lineage_uses")),
    )
    op.create_index(op.f("ix_lineage_uses_dataset"), "lineage_uses", ["dataset"])
    op.create_index(op.f("ix_lineage_uses_seen_at"), "lineage_uses", ["seen_at"])
    op.create_table(
        "lineage_datasets",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("described", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_lineage_datasets")),
    )
    op.create_index(op.f("ix_lineage_datasets_at"), "lineage_datasets", ["at"])


def _partial_index(name: str, *columns: str, where: str) -> None:
    op.create_index(name, "lineage_runs", list(columns), sqlite_where=sa.text(where), postgresql_where=sa.text(where))
