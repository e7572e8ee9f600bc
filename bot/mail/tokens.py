"""The token by which a reply says which notification it answers: in the address, else in the threading headers."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from bot.mail.addresses import listed
from bot.mail.raw import Headers, split_entity

MOST_TEXT = 4 * 1024 * 1024

Found = TypeVar("Found")

_TOKEN = re.compile(r"[A-Za-z0-9_-]{1,200}")
_ENVELOPE = ("delivered-to", "x-original-to", "envelope-to", "x-envelope-to", "x-delivered-to")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundToken:
    """The one token of a mail, or why there is none. `named`: the mail does name something that looks like one."""

    token: str | None = None
    says: str = "the mail names no notification that it answers"
    named: bool = False


def token_of(headers: Headers, *, bot: str) -> FoundToken:
    """Address first (To, Cc, envelope), else In-Reply-To, else the latest of References; address and In-Reply-To must agree."""
    named = _distinct(_addressed(headers, bot, ("to", "cc"))) or _distinct(_addressed(headers, bot, _ENVELOPE))
    addressed = [token for token in named if token is not None]
    answered = _distinct(_referred(" ".join(headers.all("in-reply-to")), bot))
    if named and not addressed:
        return FoundToken(says="the address that the mail went to is not one of ours", named=True)
    if len(addressed) > 1:
        return FoundToken(says="the mail went to two of our addresses", named=True)
    if len(answered) > 1 or (addressed and answered and addressed != answered):
        return FoundToken(says="the address and the mail that it answers belong to two notifications", named=True)
    referred = list(_referred(" ".join(headers.all("references")), bot))
    found = [*addressed, *answered, *referred[-1:]]
    return FoundToken(token=found[0], named=True) if found else FoundToken()


def mailbox_of(message: bytes) -> str | None:
    """The mailbox in which a mail lies, without its token: as the server that delivered it wrote down, else as it is addressed."""
    headers = split_entity(message).headers
    delivered = (address for value in headers.all(*_ENVELOPE) for address in listed(value))
    addressed = (address for value in headers.all("to", "cc", "in-reply-to") for address in listed(value))
    found = next(delivered, None) or next((one for one in addressed if "+" in one), None)
    if found is None:
        return None
    local, _, domain = found.rpartition("@")
    return f"{local.partition('+')[0]}@{domain}"


def tokens_within(text: str, *, bot: str) -> tuple[str, ...]:
    """The tokens of our notifications that a text names anywhere, as the returned headers of a bounce do."""
    return tuple(_distinct(_referred(text[:MOST_TEXT], bot)))


def _addressed(headers: Headers, bot: str, names: tuple[str, ...]) -> Iterator[str | None]:
    """The tokens of addresses at our domain that hold a plus, None for one that cannot be ours."""
    name, _, domain = bot.partition("@")
    for value in headers.all(*names):
        for address in listed(value):
            local, _, at = address.rpartition("@")
            before, plus, token = local.partition("+")
            if at == domain and plus:
                ours = before.lower() == name and _TOKEN.fullmatch(token)
                yield token if ours else None


def _referred(text: str, bot: str) -> Iterator[str]:
    name, _, domain = bot.partition("@")
    pattern = rf"(?<![\w.+-]){re.escape(name)}\+({_TOKEN.pattern})@{re.escape(domain)}(?![\w.-]*\w)"
    for found in re.finditer(pattern, text, re.IGNORECASE):
        yield found[1]


def _distinct(found: Iterator[Found]) -> list[Found]:
    return list(dict.fromkeys(found))
