"""The table of baselines: every one that was set stays, the newest stands. Runs no statement."""

from sqlalchemy import Column, Table

from storage.columns import Id, Instant, Words
from storage.tables import metadata

baselines = Table(
    "baselines",
    metadata,
    Column("id", Id, primary_key=True),
    Column("since", Instant, nullable=False),
    Column("until", Instant, nullable=False),
    Column("name", Words, nullable=False),
    Column("review_since", Instant, nullable=False),
    Column("review_until", Instant, nullable=False),
    Column("review_name", Words, nullable=False),
    Column("zone", Words, nullable=False),
    Column("set_by", Words, nullable=False),
    Column("set_at", Instant, nullable=False),
)
