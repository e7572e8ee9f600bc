"""Mailboxes in header fields: strictly where they say who acts, loosely where they say where a mail went."""

import re
from collections.abc import Iterator

from bot.mail.raw import bare

_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LOCAL = re.compile(rf"{_ATOM}(?:\.{_ATOM})*")
_DOMAIN = re.compile(r"(?=.{1,253}$)(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z0-9-]{2,63}")
_OUTSIDE = r"\s<>,;:\"()@\[\]\\"
_LISTED = re.compile(rf"(?<![^{_OUTSIDE}])[^{_OUTSIDE}]{{1,256}}@[^{_OUTSIDE}]{{1,255}}")
_ENCODED_WORD = re.compile(r"=\?[^\s?<>]{1,60}\?[bBqQ]\?[^\s?<>]{0,400}\?=")
_NOT_IN_A_NAME = frozenset('<>[]:;,\\"')
MOST_ADDRESS = 320


def one_mailbox(value: str) -> str | None:
    """The address of a field that holds exactly one valid ASCII mailbox, in lower case; else None."""
    if len(value) > 10_000 or any(ord(one) < 32 and one != "\t" for one in value):
        return None
    if not bare(value).strip().endswith(">"):
        return _address(bare(value, quoted=True).strip())
    name, _, rest = bare(value, quoted=True).strip().rpartition("<")
    if not rest.endswith(">"):
        return None
    address = _address(rest[:-1].strip())
    phrase = _ENCODED_WORD.sub("", bare(name)).strip()
    if address is None or not _NOT_IN_A_NAME.isdisjoint(phrase):
        return None
    if "@" in phrase and phrase.lower() != address:
        return None
    return address


def listed(value: str) -> Iterator[str]:
    """Every address that a field holds outside names and comments, in lower case domains and as written otherwise."""
    for found in _LISTED.finditer(bare(value)):
        local, _, domain = found[0].rpartition("@")
        yield f"{local}@{domain.lower()}"


def _address(text: str) -> str | None:
    local, at, domain = text.rpartition("@")
    if len(text) > MOST_ADDRESS or not at or not _DOMAIN.fullmatch(domain):
        return None
    if len(local) > 2 and local[0] == local[-1] == '"':
        local = local[1:-1]
    if not _LOCAL.fullmatch(local):
        return None
    return f"{local}@{domain}".lower()
