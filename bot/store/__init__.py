"""The storage port: what the use cases may ask of the database, in the words of the product. No SQL, no driver.

`storage/` implements it for SQLite and PostgreSQL alike. Instants are aware UTC.
"""

from bot.store.reads import GoodRunFacts, PastFailures, Reads, TimelineRow, Which
from bot.store.rows import (
    Booking,
    Committed,
    EffectKind,
    EffectRow,
    EffectState,
    GroupRow,
    JobIncidents,
    JobRow,
    JobTimer,
    Lane,
    NewEffect,
    PersonRow,
    RunRow,
    RunState,
    Scope,
    TimerRow,
    ViewRow,
)
from bot.store.share import EVERYTHING, Share
from bot.store.whole import Storage, StorageDown
from bot.store.writes import KeyTaken, StaleIncident, UnitOfWork

__all__ = [
    "EVERYTHING",
    "Booking",
    "Committed",
    "EffectKind",
    "EffectRow",
    "EffectState",
    "GoodRunFacts",
    "GroupRow",
    "JobIncidents",
    "JobRow",
    "JobTimer",
    "KeyTaken",
    "Lane",
    "NewEffect",
    "PastFailures",
    "PersonRow",
    "Reads",
    "RunRow",
    "RunState",
    "Scope",
    "Share",
    "StaleIncident",
    "Storage",
    "StorageDown",
    "TimelineRow",
    "TimerRow",
    "UnitOfWork",
    "ViewRow",
    "Which",
]
