"""Whether the receiving server proved who sent a mail: only its own topmost Authentication-Results is believed.

It checks no signature by itself and asks no name server.
"""

import re
from dataclasses import dataclass

from bot.mail.raw import Headers, bare, split_semicolons

MOST_RESULTS = 20_000

_RESULT = re.compile(r"\s*([A-Za-z][A-Za-z0-9-]*)(?:\s*/\s*\d+)?\s*=\s*([A-Za-z][A-Za-z0-9-]*)(?=\s|$)")
_PROPERTY = re.compile(r"(?<![\w.=-])([A-Za-z][\w-]*)\s*\.\s*([A-Za-z][\w-]*)\s*=\s*([^\s;\"]+)")
_BY = re.compile(r"(?:^|\s)by\s+([^\s;]+)", re.IGNORECASE)
_FROM = re.compile(r"^\s*from\s", re.IGNORECASE)
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*+)"', re.DOTALL)
_HARMLESS = re.compile(r"[\w.@+-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """Whether the sender is proven, and by what or why not.

    `reported`: a server gave a verdict of any kind, or somebody wrote one in its name.
    """

    proven: bool
    says: str
    reported: bool = True


def proof_of(headers: Headers, *, domain: str, authserv_id: str | None) -> Proof:
    """Whether our server `authserv_id` says that the mail comes from `domain`."""
    if not authserv_id:
        says = "no receiving server is trusted here: its name is not configured"
        return Proof(proven=False, says=says, reported=_is_reported(headers, None))
    value = _topmost(headers, authserv_id.lower())
    if value is None:
        says = f"{authserv_id} left no verdict about the sender"
        return Proof(proven=False, says=says, reported=_is_reported(headers, authserv_id.lower()))
    results = [one for piece in split_semicolons(value)[1:] if (one := _result(piece)) is not None]
    dmarc = [given for method, given, _ in results if method == "dmarc"]
    if "fail" in dmarc:
        return Proof(proven=False, says=f"{authserv_id} says that DMARC failed")
    for method, given, properties in results:
        if given != "pass":
            continue
        if method == "dmarc" and properties.get("header.from", "").rpartition("@")[2] == domain:
            return Proof(proven=True, says=f"DMARC passed for {domain}")
        if method == "dkim" and _aligned(properties, domain):
            return Proof(proven=True, says=f"a DKIM signature of {domain} passed")
    return Proof(proven=False, says=f"{authserv_id} proves no DMARC or aligned DKIM pass for {domain}")


def _topmost(headers: Headers, server: str) -> str | None:
    """Our server's topmost results, without comments, looked for above any Received line that is not ours."""
    for name, value in headers.fields:
        if name == "received" and not _is_ours(value, server):
            return None
        if name == "authentication-results" and len(value) <= MOST_RESULTS:
            told = _without_quotes(bare(value, quoted=True))
            words = split_semicolons(told)[0].split()
            if words and words[0].lower() == server and (len(words) == 1 or words[1:] == ["1"]):
                return told
    return None


def _is_reported(headers: Headers, server: str | None) -> bool:
    """Whether any verdict bears our server's name, wherever it stands, or speaks against the mail, whoever wrote it."""
    for value in headers.all("authentication-results", "arc-authentication-results"):
        told = _without_quotes(bare(value[:MOST_RESULTS], quoted=True))
        named = split_semicolons(told)[0].split()
        results = [one for piece in split_semicolons(told)[1:] if (one := _result(piece)) is not None]
        if server is not None and server in (word.lower() for word in named):
            return True
        if any(method == "dmarc" and given != "pass" for method, given, _ in results):
            return True
        if server is None and results and all(given != "pass" for _, given, _ in results):
            return True
    return False


def _is_ours(received: str, server: str) -> bool:
    """Whether our server wrote this Received line; one without "from" is a step inside of a server."""
    told = bare(received[:MOST_RESULTS])
    by = _BY.search(told)
    if by is None:
        return False
    host = by[1].lower().rstrip(".")
    return host == server or host.endswith(f".{server}") or not _FROM.match(told)


def _result(piece: str) -> tuple[str, str, dict[str, str]] | None:
    found = _RESULT.match(piece)
    if found is None:
        return None
    properties = {
        f"{one[1]}.{one[2]}".lower(): one[3].lower().rstrip(".") for one in reversed(list(_PROPERTY.finditer(piece)))
    }
    return found[1].lower(), found[2].lower(), properties


def _aligned(properties: dict[str, str], domain: str) -> bool:
    signer = properties.get("header.d") or properties.get("header.i", "").rpartition("@")[2]
    if not signer or "." not in signer:
        return False
    return signer == domain or domain.endswith(f".{signer}") or signer.endswith(f".{domain}")


def _without_quotes(value: str) -> str:
    """Quoted strings as bare words where they are words; any other is emptied, so that nothing in it counts."""
    return _QUOTED.sub(lambda found: found[1] if found[1] and _HARMLESS.fullmatch(found[1]) else '""', value)
