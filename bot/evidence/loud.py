"""Spots the lines of a log that may say that something failed, in one pass, so that only they need be read.

It must spot every line from which `findings` could make a finding; that it spots others costs time, nothing else.
"""

from functools import cache

from bot.evidence.engine import Spotter

_NAMES = (
    r"(?:Timeout|Interrupt|Exit|Refused|Disconnected|NotFound|Conflict|Denied|Expired|Violation|Throttled|Aborted"
    r"|Unavailable|Crash|Rollback|Cancelled|Canceled|Killed|Fault|SlowDown|ServerBusy|NoSuchKey|NoSuchBucket|Unreachable"
    r"|TooManyRequests)(?:[^A-Za-z_]|$)"
)
_DOTTED = r"\.[A-Z_$][\w$\x80-\xff]*(?:\([\w.$\x80-\xff]+\))?: "
_BEGINS = r"(?:^|[^A-Za-z0-9_]|\dm|\[m|\\[nrt]|#012)"
_HEADS = (
    rf"{_BEGINS}(?:E:|\*\*\*|(?:psql|pg_dump|pg_restore|curl|wget|rsync|ssh|scp|gzip|tar|aws|gsutil|bq|git|docker|kubectl"
    rf"|helm|make|cp|mv|rm|cat|sh|bash|slurmstepd|sbatch|srun):|Cannot|[Cc]ould|Can't|thread '|\[?(?:ORA|DB2|SQL|TNS|PLS)-?\d\d\d\d"
    r"|(?:kex|ssh)_exchange|client_loop: |Connection (?:reset|closed) by |go: |Operation cannot be|The connection to"
    r"|remote: [RIPH])|::[A-Z]\w*: |\.rb:\d+:in "
)
_FIELDS = r'"(?:exc_info|stack_?trace|stack|cause)"\s*:|(?:exc_info|stack_?trace|stack|cause)=|\\u00'
_WORDS = (
    r"error|exception|fail|fault|fatal|panic|severe|critical|emerg|alert|\berr\b|caused by|traceback \(|denied|unable to"
    r"|warning\s|reason:\s|termination_reason|reasonForIncompletion"
)
_ENDS = (
    r"terminated by signal|exited with code -|died unexpectedly|core dumped|not found|no such file|oom-?kill|out of memory"
    r"|(?:\b|\dm|\[m)killed\b|was interrupted|was preempted|no longer receives|aborting task|no space left|cannot allocate"
    r"|negsignal|goroutine|dial tcp|deadline exceeded|bad connection$|(?:\b|\d|\dm|\[m)pq: |(?:read|write) tcp"
)
_HEALED = (
    r"re-?established|reachable (?:again )?after|recovered|succeeded (?:after|on)|reconnected|retry succeeded"
    r"|announced itself again|connection restored|back online|attempt \d{1,3} succeeded"
)
KEYS = (b"PRIVATE KEY", b"Private-MAC", b"PuTTY")
_CASED = (_NAMES, _DOTTED, _HEADS, "|".join(key.decode() for key in KEYS))
_FOLDED = r"#012|\\n|\\u000"
_CASELESS = (_FIELDS, _WORDS, _ENDS, _HEALED, _FOLDED)
KEY = len(_CASED) - 1
HEALED = len(_CASED) + len(_CASELESS) - 2
FOLDED = HEALED + 1


@cache
def spotter() -> Spotter:
    """Return the patterns of loud lines; `HEALED` tells that something went well again, `FOLDED` that a line may hold several,
    `KEY` that it belongs to a private key."""
    return Spotter(_CASED, _CASELESS)
