"""Names how a run failed, so that the same failure tomorrow has the same name.

It must not depend on anything that differs from run to run: ids, instants, addresses, paths, counts, row values.
"""

import hashlib
import re

_STEPS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?<![0-9A-Za-z])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![0-9A-Za-z])"), "<id>"),
    (
        re.compile(
            r"\d{4}[-/.]\d\d[-/.]\d\d(?:[T _]\d\d[:-]?\d\d(?:[:-]?\d\d)?(?:[.,]\d{1,9})?)?(?:Z|\s?UTC"
            r"|[+-]\d\d:?\d\d)?"
        ),
        "<time>",
    ),
    (
        re.compile(
            r"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)?,? ?(?:\d{1,2} )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov"
            r"|Dec)[a-z]{0,6} \d{1,2}(?:,? \d{4})?"
        ),
        "<time>",
    ),
    (re.compile(r"\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d{1,9})?"), "<time>"),
    (re.compile(r"0x[0-9a-fA-F]{1,32}"), "<id>"),
    (re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?(?![\w.])"), "<host>"),
    (re.compile(r"\[?(?<![\w:])(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{1,4}(?![\w:])\]?(?::\d{1,5})?"), "<host>"),
    (
        re.compile(
            r"(?<![\w.-])(?:[\w-]{1,63}\.){1,6}(?:internal|local|example|svc|compute|cloud|lan"
            r"|corp)(?![\w-])(?:\.[\w.-]{1,80})?(?::\d{1,5})?"
        ),
        "<host>",
    ),
    (
        re.compile(r"(?<![\w/])/(?:tmp|var/tmp|var/folders|private/var|dev/shm|run|scratch)/[^\s\"':,;)]{1,400}"),
        "<path>",
    ),
    (
        re.compile(
            r"(?:/[\w.=@%+-]{1,120}){0,20}/(?:container|application|attempt|job|task|executor|tmp|temp"
            r"|run)[-_][\w.-]{1,120}(?:/[^\s\"':,;)]{1,300})?"
        ),
        "<path>",
    ),
    (
        re.compile(
            r"(?i)((?:value|literal|input|string|text|entry|token|record|row|got"
            r"|type \w{1,30}(?: \w{1,20}){0,3}:)\s{0,2}:?\s{0,2})(['\"])(?:(?!\2)[^\n]){0,300}\2"
        ),
        r"\1<value>",
    ),
    (re.compile(r"=\([^()\n]{0,300}\)"), "=(<value>)"),
    (
        re.compile(
            r"(?<![A-Za-z0-9])(?=[0-9a-fA-F]{0,64}\d)(?=[0-9a-fA-F]{0,64}[a-fA-F])[0-9a-fA-F]{6,64}(?![A-Za-z0-9])"
        ),
        "<id>",
    ),
    (
        re.compile(
            r"(?<![\w.])\d[\d.,]{0,40} ?(?:ms|us|ns|s|sec|secs|seconds?|m|mins?|minutes?|h|hours?|days?"
            r"|[kKMGTP]i?[bB]?|bytes|%)(?![\w])"
        ),
        "<n>",
    ),
    (re.compile(r"(?<=[_-])\d{6,20}(?![A-Za-z])|\d{8,40}"), "<n>"),
    (re.compile(r"(?<![A-Za-z_])[+-]?\d[\d.,]{0,40}(?![A-Za-z_])"), "<n>"),
    (re.compile(r"(<n>-)[a-z0-9]{4,6}(?![\w-])"), r"\1<id>"),
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
    for pattern, by in _STEPS:
        text = pattern.sub(by, text)
    return text.strip()
