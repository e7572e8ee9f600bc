"""A time in which ontrack itself was not there: what was due in it is told late, or cannot be told. Values only."""

from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Absence:
    """Nothing was taken in and nobody was asked from `began_at` until `ended_at`, half open."""

    began_at: datetime
    ended_at: datetime

    def covers(self, at: datetime) -> bool:
        return self.began_at <= at < self.ended_at

    def __str__(self) -> str:
        began, ended = self.began_at.astimezone(UTC), self.ended_at.astimezone(UTC)
        same_day = began.date() == ended.date()
        until = f"-{ended:%H:%M}" if same_day else f" to {ended:%a} {ended.day} {ended:%b} {ended:%H:%M}"
        return f"{began:%a} {began.day} {began:%b} {began:%H:%M}{until} UTC"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotObserved:
    """A deadline of the job fell into an absence, and its source only pushes: nobody can tell whether the run was late."""

    absence: Absence
    at: datetime
