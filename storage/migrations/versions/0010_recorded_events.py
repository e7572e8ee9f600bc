"""The events that were taken in, beside what became of them, so that they can be played again. Additive: a process of the version
before writes none.
"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("ledger", sa.Column("event", sa.Text()))
    op.add_column("ledger", sa.Column("place", sa.BigInteger()))
    op.create_index(
        "ix_ledger_recorded",
        "ledger",
        ["at", "place"],
        sqlite_where=sa.text("event IS NOT NULL"),
        postgresql_where=sa.text("event IS NOT NULL"),
    )
