"""Names that only we can have made: of a mail that was sent, of a link that acts, of a page that may be read. It stores nothing.

A name is `<number>-<mac>` in lower-case base 32, short enough for the local part of an address (64 octets, RFC 5321 section
4.5.3.1.1); the mac is HMAC-SHA256 (RFC 2104) over the purpose and the number, cut to 100 bits.
"""

import base64
import hmac
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

MAC_LETTERS = 20
_NAME = re.compile(r"([0-9]{1,15})-([a-z2-7]{20})")
_JOB = re.compile(r"([a-z2-7]{1,2000})-([a-z2-7]{20})")
_READ = re.compile(r"([0-9]{1,12})-([a-z2-7]{20})")


@dataclass(frozen=True, slots=True, kw_only=True)
class ActingLink:
    """What a link does: `word` of the command language, as an answer to the mail `mail`; `sure`: also to its warning."""

    mail: int
    word: str
    sure: bool = False


class Signer:
    """Makes and reads names under one secret key. A name that was changed in any letter is read as None."""

    def __init__(self, key: str) -> None:
        self._key = key.encode()

    def mail(self, number: int) -> str:
        """The token of a mail: it says which one a reply answers, and licenses nothing by itself."""
        return f"{number}-{self._mac('mail', number)}"

    def read_mail(self, token: str) -> int | None:
        return self._read(_NAME.fullmatch(token.lower()), "mail")

    def link(self, link: ActingLink) -> str:
        """The name of a link that acts for whoever the mail was sent to; each word of a mail has its own."""
        return f"{link.mail}-{self._mac(_purpose(link.word, link.sure), link.mail)}"

    def read_link(self, name: str, *, word: str, sure: bool = False) -> ActingLink | None:
        number = self._read(_NAME.fullmatch(name), _purpose(word, sure))
        return None if number is None else ActingLink(mail=number, word=word, sure=sure)

    def page(self, path: str, *, now: datetime, lasts: timedelta) -> str:
        """The name by which whoever holds it may read the page at `path` until then, to the day."""
        day = (now + lasts).astimezone(UTC).toordinal()
        return f"{day}-{self._mac(f'page {path}', day)}"

    def may_read(self, name: str, path: str, *, now: datetime) -> bool:
        day = self._read(_READ.fullmatch(name), f"page {path}")
        return day is not None and now.astimezone(UTC).toordinal() <= day

    def job(self, job: str) -> str:
        """The token by which whoever runs `job` (`scheduler/name`) reports of it, and of nothing else."""
        return f"{_letters(job.encode())}-{self._mac(f'job {job}', 0)}"

    def read_job(self, token: str) -> str | None:
        found = _JOB.fullmatch(token.lower())
        if found is None:
            return None
        try:
            job = base64.b32decode(found[1].upper() + "=" * (-len(found[1]) % 8)).decode()
        except ValueError:
            return None
        return job if hmac.compare_digest(found[2], self._mac(f"job {job}", 0)) else None

    def form(self, purpose: str) -> str:
        """What a form of ours carries, so that no other page can have it sent (`purpose`: whose form, about what)."""
        return self._mac(f"form {purpose}", 0)

    def is_form(self, name: str, purpose: str) -> bool:
        return hmac.compare_digest(name.encode("utf-8", "surrogatepass"), self.form(purpose).encode())

    def _read(self, found: re.Match[str] | None, purpose: str) -> int | None:
        if found is None:
            return None
        number = int(found[1])
        return number if hmac.compare_digest(found[2], self._mac(purpose, number)) else None

    def _mac(self, purpose: str, number: int) -> str:
        made = hmac.digest(self._key, f"ontrack {purpose} {number}".encode(), "sha256")
        return _letters(made)[:MAC_LETTERS]


def _letters(given: bytes) -> str:
    return base64.b32encode(given).decode().lower().rstrip("=")


def _purpose(word: str, sure: bool) -> str:
    return f"link {word} {'sure' if sure else 'asks'}"
