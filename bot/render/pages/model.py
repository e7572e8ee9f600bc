"""What the web pages show, as frozen values. Nothing here looks anything up or renders."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from bot.incidents.keys import JobKey
from bot.incidents.memory import GoodRun
from bot.incidents.model import Outcome, Status
from bot.incidents.people import By
from bot.incidents.policy import JobPolicy, Schedule
from bot.mail import CommandWord
from bot.render.lines import MarkLine
from bot.render.snapshot import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What every page bears: `now`, who reads (`reader` empty: whoever has a link), where the site is and its style.

    `base` stands before every path, `key` is the query by which a link reads one record and its other occurrences.
    """

    now: datetime
    style: str
    reader: str = ""
    base: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """An occurrence in a list; `zone` is its job's, `on_it` who has acknowledged it, `why` what it is like."""

    record: int
    number: int
    job: JobKey
    team: str
    zone: str
    status: Status
    cause: str
    title: str
    opened_at: datetime
    closed_at: datetime | None = None
    outcome: Outcome | None = None
    on_it: str = ""
    until: datetime | None = None
    why: str = ""

    @property
    def id(self) -> str:
        return f"{self.record}.{self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Happened:
    """A row of the timeline."""

    at: datetime
    kind: str
    reason: str
    by: By | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RerunRow:
    """A rerun that was asked for; `by` is empty for an automatic one, `result` while it has none."""

    at: datetime
    nominal_times: tuple[datetime | None, ...]
    cause: str
    automatic: bool
    amount: float | None
    unit: str
    by: str = ""
    result: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordPage:
    """One occurrence, whole. `occurrences` are those of its record, `earlier` settled ones of the same failure.

    `happened_before`: how many rows of the timeline were left out, the oldest of them.
    """

    snapshot: Snapshot
    timeline: tuple[Happened, ...] = ()
    happened_before: int = 0
    reruns: tuple[RerunRow, ...] = ()
    occurrences: tuple[Row, ...] = ()
    earlier: tuple[Row, ...] = ()
    similar: tuple[Row, ...] = ()
    thread_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Deciding:
    """What the reader may say on a record page: `words`, and by which `seal` and `nonce` the forms are known as ours.

    A day that they choose begins at 09:00 in `zone`.
    """

    zone: str = "UTC"
    words: frozenset[CommandWord] = frozenset()
    version: int = 0
    proposal: int | None = None
    seal: str = ""
    nonce: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What became of what the reader said; `done` False: nothing was done."""

    text: str
    done: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The filters of the list as they were asked for, in the words of its form."""

    status: str = "unresolved"
    team: str = ""
    job: str = ""
    cause: str = ""
    since: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsPage:
    """The list. `older` goes on where it ends (empty: nowhere); `looked_at`: how many rows were gone through for it."""

    wanted: Wanted
    rows: tuple[Row, ...]
    teams: tuple[str, ...]
    older: str = ""
    looked_at: int = 0
    later: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """A run in the history of its job; `took` None: it is not known."""

    run_id: str
    nominal_time: datetime | None
    generation: int
    state: str
    trigger: str
    at: datetime
    took: timedelta | None = None
    cause: str = ""
    url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPage:
    """A job: its runs, the newest first, its policy in short, its records.

    `marks`: the titles of the causes marked safe, each with why the mark counts for nothing, if it does not.
    """

    job: JobKey
    policy: JobPolicy
    zone: str
    runs: tuple[RunRow, ...]
    rows: tuple[Row, ...]
    schedule: Schedule | None = None
    last_good: GoodRun | None = None
    usual_duration: timedelta | None = None
    marks: tuple[tuple[str, str | None], ...] = ()
    deleted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamPage:
    """A team: what it has open (`more`: not all of it is here), its safe marks, who is on call now, who decides."""

    team: str
    zone: str
    rows: tuple[Row, ...]
    marks: tuple[MarkLine, ...]
    on_call: tuple[str, ...]
    owners: tuple[str, ...]
    manager: str = ""
    more: bool = False
    jobs: tuple[JobKey, ...] = ()
    jobs_count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmPage:
    """What a link would do, to be confirmed: `name` is the link's, `who` the person in whose name it acts.

    `argument` and `until` stand in the form to begin with, `wrong` is what was wrong with what was sent. `works`: whether
    the record takes the word as it stands. `sure`: it says yes to the warning that the cause is not known as well.
    """

    word: CommandWord
    snapshot: Snapshot
    who: str
    name: str
    zone: str
    sure: bool = False
    wants_words: bool = False
    wants_day: bool = False
    argument: str = ""
    until: str = ""
    wrong: str = ""
    works: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticePage:
    """A page that says one thing: what is so, and what to do about it. `links` are pairs of address and label."""

    title: str
    lines: tuple[str, ...]
    done: bool = False
    links: tuple[tuple[str, str], ...] = ()
