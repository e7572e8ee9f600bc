"""Judges failures as an on-call engineer would; the worst error is a wrong "likely"."""

import threading

import hyperscan
import pytest

from bot.evidence import UNKNOWN, Cause, ErrorReport, RetryHint, RuleSet, read_failure

FRAMES = 'Traceback (most recent call last):\n  File "/app/load.py", line 4, in <module>\n    run()\n'
DIRECT = "\n\nThe above exception was the direct cause of the following exception:\n\n"
DURING = "\n\nDuring handling of the above exception, another exception occurred:\n\n"
RESET = "ConnectionResetError: [Errno 104] Connection reset by peer"


def cause_of(
    rules: RuleSet, log: str, *, exit_code: int | None = 1, type: str | None = None, message: str | None = None
) -> Cause:
    error = ErrorReport(log=log, exit_code=exit_code, type=type, message=message)
    return read_failure(error=error, facts={}, last_good=None, rules=rules).cause


@pytest.mark.scenario(12)
@pytest.mark.parametrize(
    "log",
    [
        FRAMES + "pandera.errors.SchemaError: column 'note' failed: value 'Connection reset by peer'",
        FRAMES + "ValueError: bad row 17: Connection reset by peer",
        FRAMES + "acme.errors.RowRejected: row 17: Connection reset by peer",
        FRAMES + "RuntimeError: bad record: Connection reset by peer",
        "ERROR bad value 'Connection reset by peer' in row 4\n",
        "ERROR row 17: Connection reset by peer\n",
        "ERROR for col note got value: error: Connection reset by peer\n",
        "ERROR validation error: Connection reset by peer\n",
        "ERROR parse failed: Connection reset by peer\n",
        "ERROR expected 'ok', got reason: Connection reset by peer\n",
        FRAMES + "AssertionError: expected 200, got 503 Service Unavailable",
        FRAMES + "RuntimeError: the ticket says error: Connection reset by peer",
        "ERROR input rejected: note: Connection reset by peer\n",
        '{"level":"error","msg":"row rejected","error":"note: Connection reset by peer"}\n',
        FRAMES + "KeyError: '503 Service Unavailable'",
        "Data quality failed: 503 Service Unavailable rows\n",
        "Your Spot Task was interrupted, says the customer's ticket\n" + FRAMES + "KeyError: 'x'\n",
        FRAMES
        + 'psycopg2.errors.InvalidTextRepresentation: invalid input syntax for type integer: "deadlock detected"',
        "INFO read row: Connection reset by peer\n" + FRAMES + "acme.Failure: total is wrong",
        FRAMES + "ServiceUnavailable: 503 DNS resolution failed for db.exmaple:443: NXDOMAIN",
        FRAMES + "requests.ReadTimeout: HTTPSConnectionPool(host='x', port=443): Read timed out. (read timeout=600)",
        "error: RPC failed; curl 18 transfer closed with outstanding read data\nfatal: early EOF\n",
        "Error: context canceled\n",
        FRAMES + "kafka.CommitFailedException: Cannot commit offsets, the consumer left the group",
        FRAMES + "OperationalError: (2013, 'Lost connection to MySQL server during query')\nGot a packet bigger than "
        "'max_allowed_packet' bytes\n",
        FRAMES + "BlockingIOError: [Errno 11] Resource temporarily unavailable",
        "fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [select]:\n",
        FRAMES + "TooManyRequests: 429 rate limit reached: 200 requests per day (RPD)",
    ],
)
def test_a_safe_phrase_inside_data_is_not_safe(rules: RuleSet, log: str) -> None:
    assert cause_of(rules, log).retry_hint is not RetryHint.LIKELY


@pytest.mark.scenario(13)
def test_of_two_rules_the_one_that_does_not_pass_wins_and_both_are_named(rules: RuleSet) -> None:
    log = FRAMES + RESET + DURING + FRAMES + 'psycopg2.errors.UndefinedColumn: column "amount" does not exist'

    cause = cause_of(rules, log)

    assert cause.id == "data.schema_changed"
    assert cause.also == ("network.connection_reset",)
    assert cause.retry_hint is RetryHint.UNLIKELY


def test_healed_warnings_before_the_failure_do_not_count(rules: RuleSet) -> None:
    log = (
        "WARN connection failed: Connection reset by peer, retrying\n"
        "INFO secret service reachable after 1 retry\n" + FRAMES + "KeyError: 'amount'"
    )

    assert cause_of(rules, log).id == "code.exception"


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("ontrack.MemoryLimit", "resource.out_of_memory"),
        ("ontrack.Timeout", "resource.timeout"),
        ("ontrack.WorkerLost", "platform.worker_lost"),
        ("ontrack.MissedStart", "late.not_started"),
    ],
)
def test_the_watchers_word_counts_more_than_the_log(rules: RuleSet, told: str, expected: str) -> None:
    cause = cause_of(rules, FRAMES + RESET, exit_code=137, type=told, message="seen by the watcher")

    assert cause.id == expected


def test_a_worker_lost_is_never_safe(rules: RuleSet) -> None:
    assert cause_of(rules, "", exit_code=None, type="ontrack.WorkerLost").never_safe


@pytest.mark.parametrize(
    ("exit_code", "signal"), [(137, None), (-9, None), (None, "SIGKILL"), (None, "9"), (1, "KILL")]
)
def test_a_kill_without_proof_is_no_proof_of_memory(rules: RuleSet, exit_code: int | None, signal: str | None) -> None:
    error = ErrorReport(log="working\n", exit_code=exit_code, signal=signal)

    assert read_failure(error=error, facts={}, last_good=None, rules=rules).cause.id == "resource.killed"


def test_a_kill_with_proof_is_out_of_memory(rules: RuleSet) -> None:
    assert (
        cause_of(rules, "kernel: Memory cgroup out of memory: Killed process 7\n", exit_code=137).id
        == "resource.out_of_memory"
    )


@pytest.mark.parametrize(
    "log",
    ["", "\n\n", "done\n", "0 errors, 0 warnings\n", "***T***r***a***c***e***\n", "ERROR it is the will of the gods\n"],
)
def test_nothing_sure_is_unknown(rules: RuleSet, log: str) -> None:
    cause = cause_of(rules, log)

    assert (cause.id, cause.never_safe, cause.retry_hint) == (UNKNOWN, True, RetryHint.DEPENDS)


@pytest.mark.parametrize(
    ("line", "sign"),
    [
        ("level=error consecutiveFailures=19\n", "sign.keeps_failing"),
        ("[job-wrapper] same statement also failed in the 13 runs before\n", "sign.keeps_failing"),
        ("task commit success, data duplication may happen\n", "sign.work_was_done"),
        ("hint: contact your administrator\n", "sign.needs_a_person"),
    ],
)
def test_a_ruling_out_sign_takes_the_likely_away(rules: RuleSet, line: str, sign: str) -> None:
    cause = cause_of(rules, line + FRAMES + RESET)

    assert cause.id == "network.connection_reset"
    assert sign in cause.ruled_out_by
    assert cause.retry_hint is RetryHint.DEPENDS


def test_an_earlier_lasting_error_rules_out_the_passing_one(rules: RuleSet) -> None:
    log = FRAMES + "FileNotFoundError: [Errno 2] No such file or directory: 'a'\nINFO recovered\n" + FRAMES + RESET

    cause = cause_of(rules, log)

    assert cause.id == "network.connection_reset"
    assert "data.file_missing" in cause.ruled_out_by


def test_another_error_of_the_program_rules_out_the_passing_one(rules: RuleSet) -> None:
    cause = cause_of(rules, FRAMES + RESET + "\nINFO next step\n" + FRAMES + "KeyError: 'net'\n")

    assert cause.id == "network.connection_reset"
    assert cause.ruled_out_by == ("code.exception",)
    assert cause.retry_hint is RetryHint.DEPENDS


def test_another_error_that_no_rule_knows_rules_out_the_passing_one(rules: RuleSet) -> None:
    cause = cause_of(rules, FRAMES + RESET + "\nINFO next step\n" + FRAMES + "acme.TotalsDiffer: by 7\n")

    assert cause.id == "network.connection_reset"
    assert cause.ruled_out_by == ("sign.another_error",)
    assert cause.retry_hint is RetryHint.DEPENDS


def test_what_one_error_says_against_a_cause_does_not_clear_another(rules: RuleSet) -> None:
    denied = FRAMES + "requests.HTTPError: 403 Client Error: Forbidden for url: https://a.example\n"
    limited = FRAMES + "requests.HTTPError: 429 Client Error: Too Many Requests for url: https://a.example\n"

    cause = cause_of(rules, limited + "INFO next step\n" + denied)

    assert cause.id == "config.permission_denied"


def test_a_reported_wrapper_yields_to_the_error_in_the_log(rules: RuleSet) -> None:
    assert (
        cause_of(
            rules, FRAMES + "KeyError: 'x'", type="airflow.exceptions.AirflowException", message="Bash command failed"
        ).id
        == "code.exception"
    )


def test_a_reported_error_outranks_another_one_in_the_log(rules: RuleSet) -> None:
    cause = cause_of(rules, FRAMES + RESET, type="acme.TotalsDiffer", message="totals differ")

    assert cause.id == UNKNOWN


def test_a_reported_error_alone_is_enough(rules: RuleSet) -> None:
    assert (
        cause_of(rules, "", type="psycopg.OperationalError", message="the connection is lost").id
        == "network.connection_reset"
    )


def test_a_scan_that_fails_is_unknown_and_never_a_missing_exclusion(
    rules: RuleSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Failing:
        def scan(self, *_: object, **__: object) -> None:
            raise hyperscan.ScratchInUseError("in use")

    monkeypatch.setattr(rules.lines.matchers[0], "_database", Failing())

    cause = cause_of(rules, FRAMES + RESET)

    assert (cause.id, cause.ruled_out_by) == (UNKNOWN, ("sign.scan_failed",))


def test_threads_share_the_rules(rules: RuleSet) -> None:
    found: list[str] = []

    def read() -> None:
        found.extend(cause_of(rules, FRAMES + RESET).id for _ in range(20))

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == ["network.connection_reset"] * 160


def test_a_sign_of_the_causes_own_kind_does_not_rule_it_out(rules: RuleSet) -> None:
    cause = cause_of(rules, "ERROR java.lang.OutOfMemoryError: Java heap space\n")

    assert (cause.id, cause.ruled_out_by) == ("resource.out_of_memory", ())


HANDLED = """Traceback (most recent call last):
  File "{where}", line 17, in read
    return [row["currency"] for row in source]
KeyError: 'currency'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/srv/jobs/load.py", line 44, in main
    cleanup()
OSError: [Errno 104] Connection reset by peer
"""


@pytest.mark.parametrize(
    ("where", "hint"),
    [
        ("/srv/jobs/load.py", RetryHint.DEPENDS),
        ("/opt/venv/lib/python3.11/site-packages/redis/connection.py", RetryHint.LIKELY),
        ("C:\\Python311\\Lib\\queue.py", RetryHint.LIKELY),
    ],
)
def test_a_clean_up_that_breaks_off_does_not_hide_the_programs_own_error(
    rules: RuleSet, where: str, hint: RetryHint
) -> None:
    """A library that looks into a cache, finds nothing and connects is another matter."""
    cause = cause_of(rules, HANDLED.format(where=where))

    assert (cause.id, cause.retry_hint) == ("network.connection_reset", hint)
