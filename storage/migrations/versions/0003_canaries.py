"""Gates: one row for each thing that many jobs share and take turns at, so far the canary of a cause.

Additive: a process of the version before holds no rerun back, and leaves those that are held to their timers.
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_STAGED = sa.text("stage IS NOT NULL")


def upgrade() -> None:
    op.create_table(
        "gates",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("canary", sa.Text()),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_gates")),
    )
    op.add_column("reruns", sa.Column("stage", sa.Text()))
    op.create_index(
        "ix_reruns_staged", "reruns", ["cause", "stage", "at"], sqlite_where=_STAGED, postgresql_where=_STAGED
    )
