"""What the Home tab and the digest say about a team, a line each, as frozen values that survive as JSON. Nothing here renders."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class OwnerPlace(StrEnum):
    """Where in policies.yaml an owner record stands."""

    MEMBERS = "members"
    ROTA = "oncall"
    USERGROUP = "usergroup"
    TEAM_USERGROUP = "team_usergroup"
    MANAGER = "manager"
    ADMINS = "admins"


class OwnerTrouble(StrEnum):
    """Why an owner record leads to nobody."""

    UNKNOWN = "unknown"
    INACTIVE = "inactive"
    NO_GROUP = "no_group"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerFault:
    """An owner record that leads to nobody; `team` is empty for the admins. `alone`: nobody else of the team can be asked."""

    team: str
    place: OwnerPlace
    name: str
    why: OwnerTrouble
    alone: bool = False


class Confirm(StrEnum):
    """Why a safe mark should be confirmed by the team."""

    LEFT = "left"
    OLD = "old"
    VOID = "void"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChronicLine:
    """A failure that reruns mend again and again: so often since the last week began, last at `last_at`."""

    job: str
    cause: str
    times: int
    last_at: datetime
    url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkLine:
    """A cause that a team marked safe for some of its jobs, and how reruns under it ended lately.

    `in_file`: marked in policies.yaml, where alone it can be changed. `void`: why it counts for nothing. `suspended`: for
    how many of the jobs three failing reruns in a row have suspended it.
    """

    team: str
    cause: str
    title: str
    by: tuple[str, ...]
    since: datetime
    jobs: int
    in_file: bool = False
    void: str | None = None
    suspended: int = 0
    worked: int = 0
    ended: int = 0
    confirm: Confirm | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EndingLine:
    """A pause or a leave that ends soon; `what` is `paused`, `silenced` or `left`.

    `then` is what happens at its end: it `resumes`, the owner is `asked`, or asked unless it ran well since (`judged`).
    """

    job: str
    team: str
    what: str
    until: datetime
    by: str
    then: str
    reason: str = ""
    url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingLine:
    """An unresolved record in one line; `state` is said in words."""

    job: str
    state: str
    since: datetime
    on_it: str | None = None
    until: datetime | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedLine:
    """What a person decided, and what was settled by it."""

    job: str
    what: str
    at: datetime
    by: str | None = None
    until: datetime | None = None
    reason: str = ""
    url: str | None = None
