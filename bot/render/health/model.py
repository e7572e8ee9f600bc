"""What an answer about job health shows, as frozen values. Nothing here renders."""

from dataclasses import dataclass
from datetime import datetime

from bot.incidents.health import Baseline, HealthReport
from bot.incidents.keys import JobKey
from bot.incidents.model import Status


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenOne:
    """An unresolved occurrence; `on_it` is empty while nobody is, `url` the address of its thread."""

    job: JobKey
    team: str
    status: Status
    opened_at: datetime
    on_it: str = ""
    url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthAnswer:
    """A report with what stands around it.

    `open`: the oldest of the `open_count` that are open now in the same scope. `page_url`, `csv_url`, `picture_url`: where
    the same stands on the web, None where there are no pages. `share` is the value of the button that shares it, and
    `shared_by` who did. `ask` is how the same is asked for again.
    """

    report: HealthReport
    at: datetime
    zone: str = "UTC"
    ask: str = ""
    open: tuple[OpenOne, ...] = ()
    open_count: int = 0
    unattended: int = 0
    page_url: str | None = None
    csv_url: str | None = None
    picture_url: str | None = None
    share: str | None = None
    shared_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthHelp:
    """How to ask; `problem` is empty where nothing was wrong."""

    problem: str = ""
    near: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineShown:
    """The baseline, or that there is none; `new`: it was set just now, `refused`: why it was not, with `may` who can."""

    baseline: Baseline | None
    new: bool = False
    refused: bool = False
    may: tuple[str, ...] = ()
