"""When each source was heard, when ontrack itself was there, and when it was not. Additive."""

import sqlalchemy as sa
from alembic import op

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "sources",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("watched_from", sa.BigInteger(), nullable=False),
        sa.Column("heard_at", sa.BigInteger()),
        sa.Column("silent_since", sa.BigInteger()),
        sa.Column("spoke_at", sa.BigInteger()),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_sources")),
    )
    op.create_table(
        "presence",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("there_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_presence")),
    )
    op.create_table(
        "absences",
        sa.Column("id", _ID, nullable=False),
        sa.Column("began_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_absences")),
    )
    op.create_index("ix_absences_ended_at", "absences", ["ended_at"])
