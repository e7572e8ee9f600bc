"""Where the answer to a question stands on the web, for whoever is told it. It must not answer, nor judge who may read.

Whoever holds such a link may read that one question's answer for a while, as with the link of a record.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from bot.health.asking import scope_words
from bot.health.query import Query
from bot.signed import Signer

LASTS = timedelta(days=30)
PATH = "/job-health"
PAGE, CSV, JSON, PICTURE = PATH, f"{PATH}.csv", f"{PATH}.json", f"{PATH}.png"


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """A question in three fields, as an address and a button carry it."""

    of: str = ""
    period: str = ""
    versus: str = ""

    @property
    def text(self) -> str:
        return " ".join((self.of, self.period, f"vs {self.versus}" if self.versus else "")).strip()

    @property
    def query(self) -> str:
        """As the query of an address; what is empty is left out."""
        pairs = (("of", self.of), ("period", self.period), ("vs", self.versus))
        return urlencode([(name, value) for name, value in pairs if value], errors="replace")


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthLinks:
    """The addresses of one answer."""

    page: str | None = None
    csv: str | None = None
    picture: str | None = None


class Linked:
    """Makes the links; without a key or a public address there are none. Only `https` shows pictures to a workspace."""

    def __init__(self, *, signer: Signer | None, public_url: str | None) -> None:
        self._signer = signer
        self._base = public_url.rstrip("/") if public_url else None

    def of(self, query: Query, *, now: datetime) -> HealthLinks:
        if self._signer is None or self._base is None:
            return HealthLinks()
        asked = words_in(query).query
        key = self._signer.page(signed(asked), now=now, lasts=LASTS)
        page, csv, picture = (f"{self._base}{path}?{asked}&k={key}" for path in (PAGE, CSV, PICTURE))
        return HealthLinks(page=page, csv=csv, picture=picture if self._base.startswith("https://") else None)


def words_in(query: Query) -> Words:
    return Words(of=scope_words(query.scope), period=query.period.name, versus=query.versus or "")


def signed(asked: str) -> str:
    """What a link's name is made of: the question alone, so that its page, rows and picture are read by the same one."""
    return f"{PATH}?{asked}"
