"""How fast a failed job's log is read and classified, on one core, and how much memory that takes.

Processor time is measured, so that other work on the machine counts less.
"""

import time
import tracemalloc
from collections.abc import Sequence
from functools import partial

from bench.figures import emit, median_of, say
from bench.samples import log_of
from bot.evidence import ErrorReport, RuleSet, load_rules, read_failure
from tests.evidence.cases import load_cases

LOGS = 200
KIB = 1024
MIB = 1024 * KIB
RUNS = 5
_CHATTER = (
    "2026-06-15T03:00:02Z INFO  loader: chunk 17 of orders read, key=4711, 1000 rows in 12 ms\n",
    '{"level":"info","ts":"2026-06-15T03:00:02Z","msg":"chunk read","table":"orders","rows":1000}\n',
    "26/06/15 03:00:02 INFO TaskSetManager: Finished task 3.0 in stage 1.0 (TID 8) in 91 ms (executor 2) (8/200)\n",
    "[2026-06-15, 03:00:02 UTC] {subprocess.py:93} INFO - wrote part-00017.parquet\n",
)


def measure() -> None:
    """Logs of 64 KiB a second, the seconds and the memory for one of 10 MB, and how time grows with the worst texts."""
    rules = load_rules()
    say("reading logs")
    for name, logs in (("", [log_of(64 * KIB)] * LOGS), ("_of_real_failures", _real(64 * KIB))):
        took = median_of(partial(_seconds, logs, rules), runs=RUNS)
        size = sum(map(len, logs)) / MIB
        emit(f"logs_of_64_kib_read{name}", len(logs) / took, "1/s", runs=RUNS, mb_a_second=round(size / took))
    emit("log_of_10_mb_read", median_of(partial(_seconds, [log_of(10 * MIB)], rules), runs=RUNS), "s", runs=RUNS)
    for name, log in (("log", log_of(10 * MIB)), ("loud_log", "ERROR row 17: value is bad\n" * (10 * MIB // 27))):
        emit(f"memory_for_10_mb_{name}", _memory(log, rules), "MiB", note="at its peak, beyond the text itself")
    growth = max(_growth(text, rules) for text in _WORST)
    emit("time_for_8_times_the_worst_text", growth, "times", texts=len(_WORST))


def _real(size: int) -> list[str]:
    """Each failure of the corpus at the end of as much chatter as fits."""
    logs = []
    for number, case in enumerate(load_cases()):
        line = _CHATTER[number % len(_CHATTER)]
        logs.append(line * ((size - len(case.error.log)) // len(line)) + case.error.log)
    return logs


def _seconds(logs: Sequence[str], rules: RuleSet) -> float:
    began = time.process_time()
    for log in logs:
        read_failure(error=ErrorReport(exit_code=1, log=log), facts={}, last_good=None, rules=rules)
    return time.process_time() - began


def _memory(log: str, rules: RuleSet) -> float:
    """Return how many MiB reading a log takes at its peak."""
    tracemalloc.start()
    _seconds([log], rules)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / MIB


_WORST = (
    "x",
    "error: ",
    "error: foo\n",
    "Caused by: java.io.IOException: x\n",
    "Traceback (most recent call last):\n",
    'password="',
    "password=hunter2\n",
    "a://b:c@",
    "-----BEGIN PRIVATE KEY-----\n",
    "(",
    '{"a":',
    '{"level":"error","msg":"a\\nb"}\n',
    "10%\r",
    "\x1b[",
    "\u5168\n",
    "level=error msg=",
    "Database Error in model x\n",
    "\n",
)


def _growth(piece: str, rules: RuleSet) -> float:
    """Return how many times longer a text of 8 MB takes than one of 1 MB."""
    small, large = (piece * (size * MIB // len(piece)) for size in (1, 8))
    return min(_seconds([large], rules) for _ in range(2)) / min(_seconds([small], rules) for _ in range(3))
