"""What `doctor` found, one line each. Values only."""

from dataclasses import dataclass
from enum import StrEnum


class Health(StrEnum):
    OK = "ok"
    OFF = "off"
    WARN = "warn"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of the report; `fix` says what to do about it."""

    part: str
    health: Health
    says: str
    fix: str = ""
