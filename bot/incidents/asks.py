"""How people are asked, as far as an occurrence remembers it: who holds it, what is asked next. Values only."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.incidents.people import By


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledgement:
    """Someone of the team has taken it until `until`; `noted_at` is the last quiet note to the holder."""

    by: By
    until: datetime
    noted_at: datetime | None = None


class AskKind(StrEnum):
    """Why the next ask is due."""

    OPENING = "opening"
    LADDER = "ladder"
    BEFORE_RUN = "before_run"
    HOLDER_NOTE = "holder_note"
    LAPSED = "lapsed"
    AGAIN = "again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """The next ask: when, why, the ladder step (LADDER only) and the run before which it comes (BEFORE_RUN, HOLDER_NOTE)."""

    at: datetime
    kind: AskKind
    step: int = 0
    run_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chase:
    """Where the asking stands: the next ladder step, when the last ask went out, for which run it was the last before.

    `laddered_at`: the ask from which the next ladder step waits; asks before a run do not put it off.
    `reason`: why the ask that still waits for the team's hours is needed. `quiet_until`: a run that may pay is under way;
    before that instant only the ask before the next run goes out.
    `mailed`: the addresses to which the newest ask went because it was to go by mail, without those that it could not
    reach. `mailed_at`: what was asked until then was mailed to everybody whom it was for.
    """

    next: Ask | None = None
    step: int = 0
    asked_at: datetime | None = None
    laddered_at: datetime | None = None
    asked_before: datetime | None = None
    count: int = 0
    reason: str = ""
    quiet_until: datetime | None = None
    mailed: tuple[str, ...] = ()
    mailed_at: datetime | None = None
