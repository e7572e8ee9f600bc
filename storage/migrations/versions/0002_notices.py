"""The outbox also holds notices: messages of ontrack itself to a channel (the digest), which speak of no single occurrence.

Additive: a process of the version before sees no row without a job, and so leaves the notices to the others.
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_KINDS = "kind IN ('direct', 'email', 'file', 'look', 'notice', 'reply', 'request')"
_STATES = "state IN ('buried', 'cancelled', 'refused', 'sending', 'settled', 'waiting')"
_OF_OCCURRENCE = ("job_id", "record", "number")


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        _rebuild()
    else:
        _alter()


def _alter() -> None:
    for column in _OF_OCCURRENCE:
        op.alter_column("outbox", column, nullable=True)
    op.drop_constraint(op.f("ck_outbox_kind"), "outbox", type_="check")
    op.create_check_constraint(op.f("ck_outbox_kind"), "outbox", _KINDS)


def _rebuild() -> None:
    """SQLite changes no column in place: the rows go over into a table that is made anew."""
    op.create_table(
        "outbox_anew",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("lane", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.Integer()),
        sa.Column("record", sa.Integer()),
        sa.Column("number", sa.Integer()),
        sa.Column("conversation_id", sa.Integer()),
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
        sa.CheckConstraint(_KINDS, name=op.f("ck_outbox_kind")),
        sa.CheckConstraint(_STATES, name=op.f("ck_outbox_state")),
        sa.ForeignKeyConstraint(["conversation_id"], ["conversations.id"], name=op.f("fk_outbox_conversation_id")),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_outbox_job_id")),
        sa.ForeignKeyConstraint(
            ["record", "number"], ["occurrences.record", "occurrences.number"], name=op.f("fk_outbox_record_number")
        ),
        sa.UniqueConstraint("key", name=op.f("uq_outbox_key")),
    )
    columns = (
        "id, key, kind, lane, job_id, record, number, conversation_id, content, state, due_at, attempt, created_at, "
        "leased_by, leased_until, begun_at, uncertain_at, settled_at, code, result"
    )
    op.execute(f"INSERT INTO outbox_anew ({columns}) SELECT {columns} FROM outbox")
    op.drop_table("outbox")
    op.rename_table("outbox_anew", "outbox")
    _index("ix_outbox_free", "lane", "due_at", "id", where="state = 'waiting' AND leased_by IS NULL")
    _index("ix_outbox_leased", "leased_until", where="leased_by IS NOT NULL")
    op.create_index("ix_outbox_occurrence", "outbox", ["record", "number"])
    _index("ix_outbox_unsettled", "conversation_id", "id", where="state IN ('sending', 'waiting')")


def _index(name: str, *columns: str, where: str) -> None:
    op.create_index(name, "outbox", list(columns), sqlite_where=sa.text(where))
