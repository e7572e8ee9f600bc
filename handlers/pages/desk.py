"""What the page listeners have at hand, and the frame that every page of one request bears. It must not know single pages."""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from ipaddress import IPv4Network, IPv6Network
from typing import Protocol
from urllib.parse import urlsplit

from bot.health.answering import Told
from bot.incidents.health import Baseline, HealthReport
from bot.incidents.keys import JobKey
from bot.incidents.people import Person
from bot.intake import Inbound, Outcome
from bot.pages import RecordsAsked
from bot.ports import Clock
from bot.render.health import HealthHelp, PictureData
from bot.render.pages import STYLE_HASH, Frame, JobPage, RecordPage, RecordsPage, TeamPage
from bot.render.snapshot import Snapshot
from bot.replies.links import LinkDone, LinkRefused, LinkView
from bot.signed import Signer
from bot.store.health import OccurrenceRow
from handlers.meters import Meters
from handlers.pages.buckets import Buckets

TakeIn = Callable[[Sequence[Inbound]], list[Outcome]]
POSTS, POSTS_EVERY = 30, timedelta(seconds=2)
GUESSES, GUESSES_EVERY = 20, timedelta(seconds=6)


class PageReading(Protocol):
    """What the pages show; `bot.pages` implements it. Every method may raise `StorageDown`."""

    def snapshot(self, record: int, number: int) -> Snapshot | None: ...

    def newest(self, record: int) -> int:
        """The number of the record's newest occurrence; 0 when there is no such record."""

    def record(self, record: int, number: int) -> RecordPage | None: ...

    def records(self, asked: RecordsAsked) -> RecordsPage: ...

    def job(self, key: JobKey) -> JobPage | None: ...

    def team(self, name: str) -> TeamPage | None: ...

    def teams(self) -> tuple[str, ...]: ...


class ActingLinks(Protocol):
    """What links do; `bot.replies.links` implements it. Every method may raise `StorageDown`."""

    def look(self, name: str, word: str, *, sure: bool, now: datetime) -> LinkView | LinkRefused:
        """What the link would do; it changes nothing."""

    def act(
        self, name: str, word: str, *, argument: str, until: str, sure: bool, now: datetime
    ) -> LinkDone | LinkRefused:
        """Do it, or tell again what was told."""


class HealthReading(Protocol):
    """Answers about job health; `bot.health.answering` implements it. Every method may raise `StorageDown`."""

    def tell(self, text: str, *, by: Person | None, now: datetime) -> Told: ...

    def rows(self, text: str, *, now: datetime) -> tuple[OccurrenceRow, ...] | HealthHelp: ...

    def report(self, text: str, *, now: datetime) -> HealthReport | HealthHelp: ...

    def baseline(self) -> Baseline | None: ...

    def teams(self) -> tuple[str, ...]: ...


class Drawing(Protocol):
    """Draws pictures; `bot.health.pictures` implements it."""

    def png(self, data: PictureData) -> bytes | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthPages:
    """What the pages of job health are made of."""

    reading: HealthReading
    drawing: Drawing


def _nonce() -> str:
    return secrets.token_urlsafe(16)


@dataclass(frozen=True, slots=True, kw_only=True)
class PagesDesk:
    """Handed to every listener. `person_of` is `bot.pages.Logins.person`; without `user_header` nobody can log in.

    `proxies`: the peers whose `user_header` is believed. `links` None: no mail is sent, so that there are none.
    """

    pages: PageReading
    links: ActingLinks | None
    take_in: TakeIn
    person_of: Callable[[str], Person | None]
    signer: Signer
    clock: Clock
    meters: Meters
    public_url: str | None
    health: HealthPages | None = None
    user_header: str | None = None
    proxies: tuple[IPv4Network | IPv6Network, ...] = ()
    nonce: Callable[[], str] = _nonce
    posts: Buckets = field(default_factory=lambda: Buckets(burst=POSTS, each=POSTS_EVERY))
    guesses: Buckets = field(default_factory=lambda: Buckets(burst=GUESSES, each=GUESSES_EVERY))

    @property
    def base(self) -> str:
        """What stands before every path: the path of PUBLIC_URL, where a proxy serves the pages below one."""
        return urlsplit(self.public_url).path.rstrip("/") if self.public_url else ""

    @property
    def secure(self) -> bool:
        return self.public_url is not None and self.public_url.startswith("https://")

    def frame(self, *, reader: Person | None = None, key: str = "") -> Frame:
        """The frame of a page for this reader; `key` is the name by which a link reads a record."""
        return Frame(
            now=self.clock(),
            style=STYLE_HASH,
            reader=str(reader) if reader is not None else "",
            base=self.base,
            key=f"?k={key}" if key else "",
        )
