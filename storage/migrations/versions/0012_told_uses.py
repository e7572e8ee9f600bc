"""Datasets that a job's own scheduler names, beside those that its runs were seen to read and write.

Additive: a process of the version before neither writes nor sees them, for they were never seen in a run.
"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("lineage_uses") as uses:
        uses.add_column(sa.Column("told_at", sa.BigInteger()))
        uses.alter_column("seen_at", existing_type=sa.BigInteger(), nullable=True)
