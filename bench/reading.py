"""How fast a failed job's log is read and classified, on one core."""

import time

from bench.figures import emit, median_of, say
from bench.samples import log_of
from bot.evidence import ErrorReport, load_rules, read_failure

LOGS = 50
KIB = 1024


def measure() -> None:
    """Logs of 64 KiB a second, and the seconds for one of 10 MB."""
    rules = load_rules()
    small, large = log_of(64 * KIB), log_of(10 * KIB * KIB)

    def read(log: str, times: int) -> float:
        began = time.perf_counter()
        for _ in range(times):
            read_failure(error=ErrorReport(exit_code=1, log=log), facts={}, last_good=None, rules=rules)
        return time.perf_counter() - began

    say("reading logs")
    emit("logs_of_64_kib_read", LOGS / median_of(lambda: read(small, LOGS)), "1/s", runs=5)
    emit("log_of_10_mb_read", median_of(lambda: read(large, 1)), "s", runs=5)
