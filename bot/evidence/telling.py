"""Spots the lines that may hold a secret, in one pass, so that only they need be masked.

It must spot every line on which a pattern of `masking` could begin; that it spots others costs time, nothing else.
Bytes beyond ASCII stand for any letter, digit or space, since the patterns of `masking` know those of all scripts.
"""

from dataclasses import dataclass
from enum import IntEnum
from functools import cache

from bot.evidence.engine import INDEX_BITS, INDEX_MASK, Spotter

REACH = 3
FAR_REACH = 12
_BACK = 48

_GAP = r"[^\x21-\x7e]"
_BREAK = r"\\[nrtfvb]|\\u00[0-9A-Fa-f]{2}|#01[0-9]|\[[0-9;]+m"
_ALONE = rf"(?:^|[^A-Za-z0-9_-]|{_BREAK})"
_TOKENS = (
    rf"{_ALONE}(?:(?:AKIA|ASIA|AGPA|AIDA|AROA|ANPA|ANVA|AIPA|ABIA|ACCA)[A-Z0-9]{{16}}|gh[pousr]_|github_pat_|xapp-|AIza"
    r"|gl(?:pat|ptt|dt|rt|cbt|soat)-|xox[a-z][-.]|ya29\.|GOCSPX-|(?:sk|pypi)-[\w\x80-\xff-]{8}|(?:sk|rk|pk)_(?:live|test)_"
    r"|whsec_|npm_|SG\.|dapi[0-9a-f]{8}|hv[sbr]\.|AGE-SECRET-KEY-1|(?:SK|AC)[0-9a-f]{32}|eyJ[\w\x80-\xff-]{4}"
    r"|(?:hf|dckr_pat|dop_v1|doo_v1|shpat|shpss|lin_api|glc|glsa|nrk|NRAK|tfp|figd|rubygems)[_-][\w\x80-\xff-]{8})"
    r"|:AA[\w\x80-\xff-]{8}"
)
_FOLLOWED = r"[_-][\w\x80-\xff-]{4}"
_VENDORS = (
    rf"(?:pn[ub]|dbt[cu]|sntry[su]|pul|pscale_(?:tkn|pw|oauth)|sbp|ntn|CFPAT|CCIPAT|CLOJARS|bkua|rdme|sq[pua]|sgp){_FOLLOWED}"
    rf"|(?:FLWSECK|FLWSECK_TEST|fio-u|fm[12]|PMAK|sq0(?:csp|atp|idp)|(?:shippo|duffel)_(?:live|test)|pat-[a-z]{{2}}[^A-Z]){_FOLLOWED}"
    r"|ATATT3|GR1348941|AKC[A-Za-z0-9]{9}|AP[0-9A-F][A-Za-z0-9]{9}|cmVmdGtu|EAA[A-Z][A-Za-z0-9]{8}|AAAAAAAAAAAAAAA|EZ[AT]K"
    r"|AQVN|LTAI|AKID|oy2[a-z0-9]{9}|secret_[A-Za-z0-9]{8}|live_[A-Za-z0-9]{8}|key-[0-9a-f]{8}|[0-9a-f]-us|sha256~|amzn\.mws\."
    r"|dp\.(?:pt|st|ct|sa|scim|audit)\.|\.atlasv1\.|pat[A-Za-z0-9]{8}|pat\.[\w-]{8}|dt0[a-z]|sl\.[\w-]{8}|Q~|s\.[A-Za-z0-9]{9}"
    r"|[MNO][\w-]{9}[\w\x80-\xff.-]{14}"
)
_LINKS = rf"[0-9\x80-\xff]{{0,12}}\\{{0,3}}[\"']?\]?{_GAP}{{0,9}}"
_SURE = (
    r"(?:pass(?:word|wd|phrase|code)?|passw|pwd|secret(?:s|[_-]?(?:access)?[_-]?key|[_-]?id)?|api[_ .-]?key|access[_ .-]?key"
    r"|account[_-]?key|access[_-]?signature|(?:private|signing|encryption|master)[_-]?key|credentials?|[a-z][_ .-]?token"
    r"|session[_-]?id|phpsessid|connect\.sid|jwt|dsn|connection[_ -]?string)"
)
_MAYBE = (
    rf"(?:^|[^a-z]|{_BREAK})(?:token|auth|key|sid|session|sig|signature|salt|hash|nonce|otp|pin|code_verifier|webhook)"
)
_LONG = rf"{_GAP}{{0,9}}[urb]?\\{{0,3}}(?:[\"'][^\n]{{8}}|[^\s,;&\"'<>]{{8}})"
_NAMED = rf"{_SURE}{_LINKS}[:=,]|{_MAYBE}{_LINKS}(?:=>|:=|[:=,]){_LONG}|(?:{_SURE}|{_MAYBE})[\"']?{_GAP}{{1,9}}is{_GAP}"


class Sign(IntEnum):
    """What a line may hold, by the kind of pattern that would find it."""

    TOKEN = 0
    PATH = 1
    ADDRESS = 2
    CURL = 3
    VENDOR = 4
    NAMED = 5
    HEADER = 6
    WORD = 7
    ELEMENT = 8
    FOREIGN = 9
    IDENTIFIED = 10


_CASED = (
    _TOKENS,
    r"hooks\.(?:slack|zapier)|discord(?:app)?\.com/api/|webhook\.office",
    r"//[^\s\"'<>]{0,98}@|//[^\s\"'<>]{99}|/[^\s/@\"']{1,98}@|/[^\s/@\"']{99}",
    rf"(?:-u|--user|--proxy-user)(?:=|{_GAP})|(?:sshpass|(?:mysql|mariadb)(?:dump|admin)?|redis-cli){_GAP}|:(?:5432|5433|6432|\*):[^\s:]{{1,99}}:",
    _VENDORS,
)
_CASELESS = (
    _NAMED,
    r"authorization|cookie",
    rf"(?:bearer|basic|negotiate|digest|ssws|password|passwd|passphrase|pwd|token|secret|api-?key|access-?key){_GAP}",
    r"(?:password|passwd|secret|token|key|credential)>",
    r"\xc5\xbf|\xe2\x84\xaa|\xc4[\xb0\xb1]",
    rf"identified{_GAP}",
)


@dataclass(slots=True)
class Span:
    """Lines from `start` to `end` that may hold a secret of these kinds."""

    start: int
    end: int
    signs: set[int]


@cache
def _spotter() -> Spotter:
    return Spotter(_CASED, _CASELESS)


def telling_spans(data: bytes) -> list[Span] | None:
    """Return the lines that may hold a secret, with those below into which one may reach.

    None when that could not be found out, so that every line must be masked.
    """
    matches = _spotter().matches(data)
    if matches is None:
        return None
    spans: list[Span] = []
    stop = until = -1
    for match in matches:
        sign, end = match & INDEX_MASK, match >> INDEX_BITS
        if end > stop or sign == Sign.IDENTIFIED:
            start = data.rfind(b"\n", 0, max(end - _BACK, 0)) + 1
            stop = _after(data, end, 0)
            until = _after(data, end, FAR_REACH if sign == Sign.IDENTIFIED else REACH)
            if not spans or start > spans[-1].end:
                spans.append(Span(start, until, set()))
        spans[-1].end = max(spans[-1].end, until)
        spans[-1].signs.add(sign)
    return spans


def _after(data: bytes, position: int, lines: int) -> int:
    """Return where the line at `position`, and so many below it, end."""
    position -= 1
    for _ in range(lines + 1):
        position = data.find(b"\n", position + 1)
        if position < 0:
            return len(data)
    return position
