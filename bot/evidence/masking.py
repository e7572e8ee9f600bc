"""Hides secrets in text before it is stored or shown; it never shortens text by lines.

It must not be relied on to make text printable: `clean` does that first.
"""

import hashlib
import math
import re
from collections import Counter
from collections.abc import Callable

from bot.evidence.telling import Sign, telling_spans
from bot.evidence.tokens import TOKEN, VENDOR

MASK = "[masked]"
_SEAM = "\ue000"
_BREAK = re.compile(r"\\[nrtfvb]|\\u00[0-9A-Fa-f]{2}|#01\d|\[\d{1,3}(?:;\d{1,3}){0,4}m")

_WEBHOOK = re.compile(
    r"(hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/|discord(?:app)?\.com/api/webhooks/"
    r"|webhook\.office\.com/webhookb2/|hooks\.zapier\.com/hooks/)[^\s\"'<>|]{1,400}"
)
_USERINFO = re.compile(
    r"(?<![A-Za-z0-9+.-])([A-Za-z][A-Za-z0-9+.-]{0,30}:(?:[a-z0-9]{2,20}:)?//)([^\s:/@\"'<>]{0,256})(:[^\s\"'<>]{0,512})?@"
)
_ORACLE = re.compile(r"(?<![\w/])([A-Za-z]\w{1,30})/([^\s/@\"']{1,64})@(//|[\w.-]{1,80}(?::\d|/))")
_HEADER = re.compile(
    r"((?:proxy-)?authorization|(?:set-)?cookie2?)(\\{0,3}[\"']?\]?\s{0,3}(?::|=>|=|,)\s{0,3}\\{0,3}[\"']?)([^\n\"']{1,4096})",
    re.IGNORECASE,
)
_SCHEME = re.compile(
    r"(?<![A-Za-z0-9])(bearer|basic|negotiate|digest|ssws)\s{1,3}([A-Za-z0-9._~+/=-]{8,})", re.IGNORECASE
)
_CURL = re.compile(r"((?<![^\s\ue000])(?:-u|--user|--proxy-user)[ =]\s{0,2}[\"']?[^\s:\"']{1,80}:)([^\s\"']{1,256})")
_COMMAND = re.compile(
    r"((?<![\w/-])(?:sshpass\s{1,3}-p\s{0,3}|(?:mysql|mariadb)(?:dump|admin)?\s(?:[^\n\ue000]{0,200}?\s)?-p|redis-cli\s(?:[^\n\ue000]{0,200}?\s)?-a\s{1,3})"
    r"[\"']?)(?!-)([^\s\"'\ue000]{1,256})"
)
_NETRC = re.compile(r"((?<!\w)(?:login|user)\s{1,3}\S{1,80}\s{1,3}password\s{1,3})([^\s\ue000]{1,256})")
_PGPASS = re.compile(
    r"(?<![\w.:-])([\w.*-]{1,80}:(?:5432|5433|6432|\*):[\w.*-]{1,60}:[\w.*-]{1,60}:)([^\s:\\\"'\ue000]{8,128})(?![^\s\\\"'\ue000])"
)
_IDENTIFIED = re.compile(
    r"(identified\s{1,3}(?:with\s{1,3}\S{1,40}\s{1,3})?by\s{1,3}[\"'])([^\"'\n]{1,256})", re.IGNORECASE
)
_SURE = (
    r"pass(?:word|wd|phrase|code)?|passw|pwd|secret(?:s|[_-]?(?:access)?[_-]?key|[_-]?id)?|api[_ .-]?key|apikey|"
    r"access[_ .-]?key|account[_-]?key|shared[_-]?access[_-]?(?:key|signature)|private[_-]?key|signing[_-]?key|"
    r"encryption[_-]?key|master[_-]?key|client[_-]?secret|credentials?|"
    r"(?:access|refresh|auth|id|bearer|session|security|csrf|xsrf|api|bot)[_ .-]?token|sessionid|session[_-]?id|jsessionid|"
    r"phpsessid|connect\.sid|jwt|dsn|connection[_ -]?string"
)
_MAYBE = r"token|auth|key|sid|session|sig|signature|salt|hash|nonce|otp|pin|code_verifier|webhook"
_NAMED = re.compile(
    rf"(?!PASS=\d{{1,9}} WARN=\d)(?:(?P<sure>{_SURE})|(?<![a-z])(?P<maybe>{_MAYBE})|_(?P<tail>{_MAYBE}))"
    r"(?P<join>\d{0,3}\\{0,3}[\"']?\]?\s{0,3}(?:=>|:=|=|:|(?<=[\"'\]]),)\s{0,3}(?:[urb](?=[\"']))?|[\"']?\s{1,3}is\s{1,3}(?=[\"']))"
    r"(?:\\{0,3}\"(?P<double>(?:[^\"\\\n]|\\[^\"\n]){0,2048})|\\{0,3}'(?P<single>(?:[^'\\\n]|\\[^'\n]){0,2048})"
    r"|(?P<bare>(?:[^\s,;&\"'<>\ue000]|\ue000(?![\w.-]{0,60}\\{0,3}[\"']?\s?[:=])){1,2048}))",
    re.IGNORECASE,
)
_FLAG = re.compile(
    r"((?<![^\s\ue000])--?[a-z0-9-]{0,40}(?:password|passwd|passphrase|pwd|token|secret|api-?key|access-?key)\s{1,3}[\"']?)"
    r"(?!-)([^\s\"']{1,512})",
    re.IGNORECASE,
)
_ELEMENT = re.compile(
    r"(<(?:\w{1,40}:)?(?:password|passwd|secret|token|api_?key|access_?key|secret_?access_?key|session_?token|credential)>)"
    r"([^<\n]{1,2048})",
    re.IGNORECASE,
)
_KEY_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,5}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-\d: ")
_KEY_END = re.compile(r"-----END (?:[A-Z0-9]{1,20} ){0,5}PRIVATE KEY(?: BLOCK)?-----|Private-MAC: [0-9a-f]{1,80}")
_KEY_BODY = re.compile(r"(?:[A-Za-z0-9+/=\s]|\\n|\\r){0,20000}")
_KEY_LINE = re.compile(r"[A-Za-z0-9+/]{40,}={0,2}|[A-Za-z0-9+/]{1,76}={1,2}|[A-Za-z0-9+/]{16,39}")
_HARMLESS = frozenset(
    (
        "none",
        "null",
        "nil",
        "true",
        "false",
        "yes",
        "no",
        "required",
        "expired",
        "missing",
        "invalid",
        "incorrect",
        "wrong",
        "empty",
        "undefined",
        "unknown",
        "redacted",
        "hidden",
        "masked",
        "failed",
        "denied",
        "not",
        "was",
        "is",
        "has",
        "the",
    )
)
_SURE_KEY = re.compile(rf"(?:{_SURE})\d{{0,3}}$", re.IGNORECASE)
_TELLING_KEY = re.compile(
    rf"(?:{_SURE}|(?:^|[^a-z])(?:{_MAYBE}|cookies?|authorization|tokens?))\d{{0,3}}$", re.IGNORECASE
)


def mask(text: str) -> str:
    """Return `text` with each secret replaced; the count of lines does not change."""
    text = hide_keys(text)
    data = text.encode("utf-8", "surrogatepass")
    spans = telling_spans(data)
    if spans is None:
        return mask_all(text)
    if not spans:
        return text
    parts: list[str] = []
    at = 0
    for span in spans:
        parts.append(data[at : span.start].decode("utf-8", "surrogatepass"))
        parts.append(_masked(data[span.start : span.end].decode("utf-8", "surrogatepass"), span.signs))
        at = span.end
    parts.append(data[at:].decode("utf-8", "surrogatepass"))
    return "".join(parts)


def mask_all(text: str) -> str:
    """Mask what is not a private key in every line, whether or not it looks as if it held a secret."""
    return _masked(text, {Sign.FOREIGN})


def _masked(text: str, signs: set[int]) -> str:
    """Mask secrets of these kinds; FOREIGN letters may be part of any.

    What stands behind a written line break (or what is left of a colour) begins anew: a seam keeps it from being
    taken for the end of a word.
    """
    broken = _BREAK.search(text) is not None
    if broken:
        text = _BREAK.sub(rf"\g<0>{_SEAM}", text.replace(_SEAM, ""))
    for sign, pattern, by in _STEPS:
        if sign in signs or Sign.FOREIGN in signs:
            text = pattern.sub(by, text)
    return text.replace(_SEAM, "") if broken else text


def mask_name(name: str) -> str:
    """Return an identifier without the secrets in it, still told apart from others that held other secrets."""
    masked = mask(name)
    return name if masked == name else f"{masked}~{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:8]}"


def names_secret(name: str, *, number: bool = False) -> bool:
    """Whether a value under this name is to be hidden whole; a number only where the name leaves no doubt."""
    return (_SURE_KEY if number else _TELLING_KEY).search(name[-80:]) is not None


def hide_keys(text: str) -> str:
    """Return `text` without private keys, each line of one emptied; the only secrets that span lines."""
    if "PRIVATE KEY" not in text and "PuTTY" not in text and "Private-MAC" not in text:
        return text
    parts: list[str] = []
    position = 0
    end: re.Match[str] | None = _KEY_END.search(text)
    while True:
        begin = _KEY_BEGIN.search(text, position)
        if end is not None and end.start() < position:
            end = _KEY_END.search(text, position)
        if end is not None and (begin is None or end.start() < begin.start()):
            parts.append(_without_key_before(text[position : end.start()]))
            position = end.end()
        elif begin is not None:
            parts.append(text[position : begin.start()])
            stop = end.end() if end is not None else _key_body_end(text, begin.end())
            parts.append(MASK + "\n" * text.count("\n", begin.start(), stop))
            position = stop
        else:
            parts.append(text[position:])
            return "".join(parts)


def _key_body_end(text: str, position: int) -> int:
    body = _KEY_BODY.match(text, position)
    return body.end() if body is not None else position


def _without_key_before(text: str) -> str:
    """Return `text` without the body of a key whose beginning was cut off."""
    lines = text.split("\n")
    for index in range(len(lines) - 1, -1, -1):
        words = lines[index].split()
        if words and _KEY_LINE.fullmatch(words[-1]) is None:
            break
        lines[index] = MASK if words else ""
    return "\n".join(lines)


def _masked_userinfo(found: re.Match[str]) -> str:
    scheme, user, password = found.groups()
    if password is not None and len(password) > 1:
        return f"{scheme}{user}:{MASK}@"
    return f"{scheme}{MASK}@" if len(user) >= 16 else found.group()


def _masked_scheme(found: re.Match[str]) -> str:
    scheme, value = found.groups()
    return f"{scheme} {MASK}" if _looks_random(value) or value.endswith("=") else found.group()


def _masked_pgpass(found: re.Match[str]) -> str:
    return f"{found[1]}{MASK}" if _looks_random(found[2]) else found.group()


def _masked_named(found: re.Match[str]) -> str:
    kind = next(name for name in ("double", "single", "bare") if found[name] is not None)
    value = found[kind]
    if kind == "bare":
        value = value.rstrip(")]}")
    if value == MASK[:-1] or not any(map(str.isalnum, value)) or value.lower().strip(".!*") in _HARMLESS:
        return found.group()
    if found["sure"] is None and not _looks_random(value):
        return found.group()
    if found["sure"] is not None and found["join"].strip() == "" and not _looks_random(value):
        return found.group()
    start = found.start(kind) - found.start()
    rest = found.group()[start + len(value) :]
    return found.group()[:start] + MASK + rest


def _looks_random(value: str) -> bool:
    """Whether a value has the mixture of characters that people do not type as words."""
    if len(value) < 8:
        return False
    counts = Counter(value)
    entropy = -sum(count / len(value) * math.log2(count / len(value)) for count in counts.values())
    mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return entropy >= 3.6 or (mixed and entropy >= 2.4)


# The last two take all that follows, so that what stands behind them is masked first.
_STEPS: tuple[tuple[Sign, re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (Sign.TOKEN, TOKEN, MASK),
    (Sign.VENDOR, VENDOR, MASK),
    (Sign.ADDRESS, _USERINFO, _masked_userinfo),
    (Sign.ADDRESS, _ORACLE, rf"\1/{MASK}@\3"),
    (Sign.WORD, _SCHEME, _masked_scheme),
    (Sign.CURL, _CURL, rf"\1{MASK}"),
    (Sign.CURL, _COMMAND, rf"\1{MASK}"),
    (Sign.CURL, _PGPASS, _masked_pgpass),
    (Sign.WORD, _NETRC, rf"\1{MASK}"),
    (Sign.IDENTIFIED, _IDENTIFIED, rf"\1{MASK}"),
    (Sign.ELEMENT, _ELEMENT, rf"\1{MASK}"),
    (Sign.WORD, _FLAG, rf"\1{MASK}"),
    (Sign.NAMED, _NAMED, _masked_named),
    (Sign.PATH, _WEBHOOK, rf"\1{MASK}"),
    (Sign.HEADER, _HEADER, rf"\1\2{MASK}"),
)
