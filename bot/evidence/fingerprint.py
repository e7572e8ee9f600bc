"""Names how a run failed, so that the same failure tomorrow has the same name.

It must not depend on anything that differs from run to run: ids, instants, addresses, paths, counts, row values. What
tells one failure from another stays: columns, tables, files, classes, and the numbers that errors are known by.
"""

import hashlib
import re

_KEPT = {ord(str(digit)): chr(0xE010 + digit) for digit in range(10)}
_BACK = {ord(kept): chr(digit) for digit, kept in _KEPT.items()}
_CODE = re.compile(
    r"(?<![\w-])(?:ORA|PLS|TNS|SQL|DB2|HY|MSB|TS|CS|E|ERR|HTTP)-?\d{3,5}(?![\w-])"
    r"|(?i:\b(?:SQLSTATE|SQLCODE|errno|msg|exit(?: code| status)?|HTTP(?:/\d(?:\.\d)?)?|HTTPError|code"
    r"|(?:status|error|return|result|response|http|vendor)(?:[ _]?(?:code|status))?)"
    r"[\s:=#(\[]{1,4}-?\d{1,6}(?![\w%-]|[.:]\d"
    r"| ?(?:rows?|records?|files?|times|ms|s|sec|seconds?|min|minutes?|bytes|[KMGT]i?B)\b))"
)

_STEPS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?<![\w.%+-])[\w.%+-]{1,64}@(?:[\w-]{1,63}\.){1,6}[A-Za-z]{2,12}(?![\w-])"), "<address>"),
    (re.compile(r"(?<![0-9A-Za-z])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![0-9A-Za-z])"), "<id>"),
    (re.compile(r"(?<![0-9A-Za-z])\d{8}_\d{6}_\d{5}_[a-z0-9]{5}(?![0-9A-Za-z])"), "<id>"),
    (
        re.compile(
            r"(?<![A-Za-z0-9])(?:application|appattempt|container|attempt|job|task)_(?:e\d{1,6}_)?\d{9,20}(?:_[A-Za-z0-9]{1,8}){1,6}"
        ),
        "<id>",
    ),
    (
        re.compile(
            r"(?i)\b((?:extended[ _-]?)?(?:request|trace|query|correlation|session|host|operation|span|transaction)[ _-]?id)"
            r"[=:\s\"']{1,4}[\w+/=.:-]{1,200}"
        ),
        r"\1 <id>",
    ),
    (re.compile(r"([?&][\w.-]{1,40}=)(?=[^&\s\"']{0,200}\d)[^&\s\"']{1,400}"), r"\1<value>"),
    (
        re.compile(
            r"\[?(?<![\w:])(?=[0-9a-fA-F:]{2,45}(?![\w:]))"
            r"(?:(?:[0-9a-fA-F]{1,4}:){3,7}[0-9a-fA-F]{1,4}|[0-9a-fA-F:]{0,40}::[0-9a-fA-F:]{0,40})\]?(?::\d{1,5})?"
        ),
        "<host>",
    ),
    (re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?(?![\w.])"), "<host>"),
    (
        re.compile(
            r"(?<!\d)\d{4}([-/._])\d\d\1\d\d(?:[T _/-]\d\d[:_-]?\d\d(?:[:_-]?\d\d)?(?:[.,]\d{1,9})?|[T _/-]\d\d(?!\d))?"
            r"(?:Z|\s?UTC|[+-]\d\d:?\d\d)?"
        ),
        "<time>",
    ),
    (
        re.compile(
            r"\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? )?(?:\d{1,2} )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov"
            r"|Dec)[a-z]{0,6} {1,2}\d{1,4}(?:,? \d{4})?"
        ),
        "<time>",
    ),
    (re.compile(r"\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d{1,9})?"), "<time>"),
    (re.compile(r"(?:<time>[ ,]{0,3}(?:UTC |GMT |Z )?){1,4}(?:\d{4}(?!\d))?"), "<time> "),
    (re.compile(r"0x[0-9a-fA-F]{1,32}"), "<id>"),
    (
        re.compile(
            r"(?<![\w.-])(?:[\w-]{1,63}\.){1,6}(?:internal|local|example|svc|compute|cloud|lan"
            r"|corp)(?![\w-])(?:\.[\w.-]{1,80})?(?::\d{1,5})?"
        ),
        "<host>",
    ),
    (
        re.compile(
            r"(?<![\w.-])(?=[A-Za-z.-]{0,120}\d)(?:[\w-]{1,63}\.){2,6}(?:com|net|org|io|dev|info|eu|de|fr|uk|cn)(?![\w-]|\.\w)"
            r"(?::\d{1,5})?"
        ),
        "<host>",
    ),
    (
        re.compile(r"(?<![\w/])/(?:tmp|var/tmp|var/folders|private/var|dev/shm|run|scratch)/[^\s\"':,;)]{1,400}"),
        "<path>",
    ),
    (re.compile(r"(?<=/)tmp(?:[a-z0-9_]{8}|(?=[a-z_]{0,9}\d)[a-z0-9_]{6,10})(?![\w-])"), "<path>"),
    (
        re.compile(
            r"(?:/[\w.=@%+-]{1,120}){0,20}/(?:container|application|attempt|job|task|executor|tmp|temp"
            r"|run)[-_][\w.-]{1,120}(?:/[^\s\"':,;)]{1,300})?"
        ),
        "<path>",
    ),
    (
        re.compile(
            r"(?i)((?:value|literal|string|text|entry|row|got|time data|enum \w{1,40}:|to \w{1,20}:"
            r"|type \w{1,30}(?: \w{1,20}){0,3}:)\s{0,2}:?\s{0,2})(['\"])(?:(?!\2)[^\n]){0,300}\2"
        ),
        r"\1<value>",
    ),
    (re.compile(r"=\s?\([^()\n]{0,300}\)"), "=(<value>)"),
    (
        re.compile(
            r"(?<![A-Za-z0-9])(?=[0-9a-fA-F]{0,64}\d)(?=[0-9a-fA-F]{0,64}[a-fA-F])[0-9a-fA-F]{6,64}(?![A-Za-z0-9])"
        ),
        "<id>",
    ),
    (re.compile(r"(?<![A-Za-z0-9])(?=[A-Z]{0,40}\d)(?=\d{0,40}[A-Z])[A-Z0-9]{13,64}(?![A-Za-z0-9])"), "<id>"),
    (
        re.compile(
            r"(?<![\w.])\d[\d.,]{0,40} ?(?:ms|us|ns|s|sec|secs|seconds?|m|mins?|minutes?|h|hours?|days?"
            r"|[kKMGTP]i?[bB]?|bytes|%)(?![\w])"
        ),
        "<n>",
    ),
    (re.compile(r"(?<=[_-])\d{6,20}(?![A-Za-z])|\d{8,40}"), "<n>"),
    (re.compile(r"(?<![A-Za-z_0-9])(?<!\d\.)[+-]?\d[\d.,]{0,40}(?![A-Za-z_])"), "<n>"),
    (re.compile(r"(<(?:n|id)>-)[a-z0-9]{4,6}(?![\w-])"), r"\1<id>"),
    (re.compile(r"(?:<n>[\s,;]{0,3}){2,60}"), "<n> "),
    (re.compile(r"\s{1,400}"), " "),
)
TEXT_CAP = 600


def fingerprint(
    *, cause_id: str, error_type: str | None, message: str, exit_code: int | None, signal: str | None
) -> str:
    """Return sixteen hexadecimal digits that name this way of failing."""
    parts = (cause_id, error_type or "", steady(message), "" if exit_code is None else str(exit_code), signal or "")
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "replace")).hexdigest()[:16]


def steady(message: str) -> str:
    """Return a message without what differs from run to run."""
    text = "\n".join(message.split("\n")[:3])[:TEXT_CAP]
    text = _CODE.sub(lambda found: found.group().translate(_KEPT), text)
    for pattern, by in _STEPS:
        text = pattern.sub(by, text)
    return text.translate(_BACK).strip()
