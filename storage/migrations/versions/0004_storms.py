"""Storms: one thread for many occurrences of a channel, its rows, and the views that show it, page by page.

Additive. The views of a storm name its first occurrence, whose root a process of the version before would draw there.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_OF_A_STORM = sa.text("storm IS NOT NULL")


def upgrade() -> None:
    op.add_column("gates", sa.Column("storm", sa.Text()))
    op.create_table(
        "storms",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("conversation_id", _ID, nullable=False),
        sa.Column("began_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_storms")),
        sa.ForeignKeyConstraint(["conversation_id"], ["conversations.id"], name=op.f("fk_storms_conversation_id")),
    )
    op.create_table(
        "storm_rows",
        sa.Column("storm", sa.Text(), nullable=False),
        sa.Column("row", sa.Integer(), nullable=False),
        sa.Column("record", _ID, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("team", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("storm", "row", name=op.f("pk_storm_rows")),
        sa.ForeignKeyConstraint(["storm"], ["storms.key"], name=op.f("fk_storm_rows_storm")),
        sa.ForeignKeyConstraint(
            ["record", "number"], ["occurrences.record", "occurrences.number"], name=op.f("fk_storm_rows_record_number")
        ),
        sa.UniqueConstraint("record", "number", name=op.f("uq_storm_rows_record_number")),
    )
    op.add_column("conversations", sa.Column("parent_id", _ID))
    op.add_column("views", sa.Column("storm", sa.Text()))
    op.add_column("views", sa.Column("page", sa.Integer()))
    op.create_index(
        "uq_views_storm",
        "views",
        ["storm", "page"],
        unique=True,
        sqlite_where=_OF_A_STORM,
        postgresql_where=_OF_A_STORM,
    )
