"""Mail: what was read, how far each mailbox was, broken addresses; and in the outbox whom a mail of our own goes to, and
since when it is known that a row is late.

Additive: a process of the version before writes neither column and knows none of the tables.
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("outbox", sa.Column("late_at", sa.BigInteger()))
    op.add_column("outbox", sa.Column("address", sa.Text()))
    _partial_index("ix_outbox_addressed", "outbox", "address", "created_at", where="address IS NOT NULL")
    op.create_table(
        "read_mails",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("sender", sa.Text(), nullable=False),
        sa.Column("occurrence", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("told", sa.Boolean(create_constraint=False), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_read_mails")),
    )
    _partial_index("ix_read_mails_told", "read_mails", "sender", "occurrence", where="told")
    op.create_table(
        "mailboxes",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("validity", sa.BigInteger(), nullable=False),
        sa.Column("uid", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_mailboxes")),
    )
    op.create_table(
        "broken_addresses",
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("since", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("address", name=op.f("pk_broken_addresses")),
    )


def _partial_index(name: str, table: str, *columns: str, where: str) -> None:
    op.create_index(name, table, list(columns), sqlite_where=sa.text(where), postgresql_where=sa.text(where))
