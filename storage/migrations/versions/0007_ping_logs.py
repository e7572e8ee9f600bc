"""What runs write by `/log` until they end. Additive."""

import sqlalchemy as sa
from alembic import op

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "ping_logs",
        sa.Column("id", _ID, nullable=False),
        sa.Column("job", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ping_logs")),
    )
    op.create_index("ix_ping_logs_run", "ping_logs", ["job", "run_id", "id"])
    op.create_index("ix_ping_logs_at", "ping_logs", ["at"])
