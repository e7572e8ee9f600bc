"""The storage port: what the use cases may ask of the database, in the words of the product. No SQL, no driver.

`storage/` implements it for SQLite and PostgreSQL alike. Instants are aware UTC.
"""

from bot.store.reads import Reads, TimelineRow, Which
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
    NewEffect,
    PersonRow,
    RunRow,
    RunState,
    Scope,
    TimerRow,
    ViewRow,
)
from bot.store.whole import Storage, StorageDown
from bot.store.writes import KeyTaken, StaleIncident, UnitOfWork

__all__ = [
    "Booking",
    "Committed",
    "EffectKind",
    "EffectRow",
    "EffectState",
    "GroupRow",
    "JobIncidents",
    "JobRow",
    "JobTimer",
    "KeyTaken",
    "NewEffect",
    "PersonRow",
    "Reads",
    "RunRow",
    "RunState",
    "Scope",
    "StaleIncident",
    "Storage",
    "StorageDown",
    "TimelineRow",
    "TimerRow",
    "UnitOfWork",
    "ViewRow",
    "Which",
]
