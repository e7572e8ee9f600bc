"""The storage port: what the use cases may ask of the database, in the words of the product. No SQL, no driver.

`storage/` implements it for SQLite and PostgreSQL alike. Instants are aware UTC.
"""

from bot.store.chronic_reads import Chronic
from bot.store.mail import BrokenAddress, LateAsk, MailboxPlace, MailStore, NewMail, ReadMail
from bot.store.reads import GoodRunFacts, PastFailures, Reads, TimelineRow, Which
from bot.store.rows import (
    Booking,
    Committed,
    EffectKind,
    EffectRow,
    EffectState,
    Gate,
    GroupRow,
    JobIncidents,
    JobRow,
    JobTimer,
    Lane,
    NewEffect,
    NewNotice,
    PersonRow,
    RunRow,
    RunState,
    Scope,
    TimerRow,
    ViewRow,
)
from bot.store.share import EVERYTHING, Share
from bot.store.storm_reads import StormCount, StormRow, StormState
from bot.store.team_reads import AskLine, OpenLine, RerunRate
from bot.store.whole import Storage, StorageDown
from bot.store.writes import KeyTaken, StaleIncident, UnitOfWork

__all__ = [
    "EVERYTHING",
    "AskLine",
    "Booking",
    "BrokenAddress",
    "Chronic",
    "Committed",
    "EffectKind",
    "EffectRow",
    "EffectState",
    "Gate",
    "GoodRunFacts",
    "GroupRow",
    "JobIncidents",
    "JobRow",
    "JobTimer",
    "KeyTaken",
    "Lane",
    "LateAsk",
    "MailStore",
    "MailboxPlace",
    "NewEffect",
    "NewMail",
    "NewNotice",
    "OpenLine",
    "PastFailures",
    "PersonRow",
    "ReadMail",
    "Reads",
    "RerunRate",
    "RunRow",
    "RunState",
    "Scope",
    "Share",
    "StaleIncident",
    "Storage",
    "StorageDown",
    "StormCount",
    "StormRow",
    "StormState",
    "TimelineRow",
    "TimerRow",
    "UnitOfWork",
    "ViewRow",
    "Which",
]
