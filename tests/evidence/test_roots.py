"""Finds the line that began the failure, not the loudest one."""

import pytest

from bot.evidence import REPORTED, ErrorReport, EvidenceLine, RootError, RuleSet, read_failure

FRAMES = 'Traceback (most recent call last):\n  File "/app/load.py", line 4, in <module>\n    run()\n'
JVM_CHAIN = (
    'Exception in thread "main" a.b.JobException: failed\n\tat a.b.C.d(C.java:1)\n'
    "Caused by: a.b.Middle: x\n\tat a.b(C.java:2)\n"
    "Caused by: java.io.FileNotFoundException: orders.csv\n\tat a.b.C.e(C.java:2)\n\t... 12 more\n"
)
SPARK_TASK = (
    "a.SparkException: Job aborted due to stage failure: Task 1 in stage 1.0 failed 4 times, most recent failure: "
    "Lost task 1.3 in stage 1.0 (TID 7) (10.0.0.1 executor 6): java.lang.ArithmeticException: / by zero\n\tat a.b(C.java:1)\n"
)
JSON_RECORDS = (
    '{"level":"info","msg":"start"}\n'
    '{"level":"error","msg":"load failed","error":"disk quota exceeded"}\n'
    '{"level":"error","msg":"job failed"}\n'
)


def root_of(rules: RuleSet, log: str) -> RootError:
    return read_failure(error=ErrorReport(log=log, exit_code=1), facts={}, last_good=None, rules=rules).root


@pytest.mark.parametrize(
    ("log", "kind", "message", "number"),
    [
        (FRAMES + "KeyError: 'net'\nERROR job failed, see above\n", "KeyError", "'net'", 4),
        (
            FRAMES
            + "ssl.SSLError: wrong version\n\nThe above exception was the direct cause of the following exception:\n\n"
            + FRAMES
            + "db.OperationalError: lost\n",
            "ssl.SSLError",
            "wrong version",
            4,
        ),
        (
            FRAMES
            + "KeyError: 'cache'\n\nDuring handling of the above exception, another exception occurred:\n\n"
            + FRAMES
            + "acme.LoadError: no table\n",
            "acme.LoadError",
            "no table",
            11,
        ),
        (
            JVM_CHAIN,
            "java.io.FileNotFoundException",
            "orders.csv",
            5,
        ),
        (
            SPARK_TASK,
            "java.lang.ArithmeticException",
            "/ by zero",
            1,
        ),
        (
            "panic: assignment to entry in nil map\n\ngoroutine 1 [running]:\nmain.main()\n",
            "go.panic",
            "assignment to entry in nil map",
            1,
        ),
        (
            "thread 'main' panicked at src/main.rs:4:5:\nindex out of bounds\n",
            "rust.panic",
            "src/main.rs:4:5:\nindex out of bounds",
            1,
        ),
        (
            "+ ./load\n./load.sh: line 3: foo: command not found\n+ cleanup\n+ exit 127\n",
            None,
            "./load.sh: line 3: foo: command not found",
            2,
        ),
        ("ok\nfatal: not a git repository\nerror: cleanup failed\n", None, "fatal: not a git repository", 2),
        (
            '12:00:01  Database Error in model x (x.sql)\n12:00:01    syntax error at or near "FORM"\n12:00:01  Done. PASS=1\n',
            "dbt.DatabaseError",
            'syntax error at or near "FORM"',
            1,
        ),
        (
            JSON_RECORDS,
            None,
            "load failed: disk quota exceeded",
            2,
        ),
        (
            'time=2026-01-01T00:00:00Z level=ERROR msg="write failed" error="no space"\n',
            None,
            "write failed: no space",
            1,
        ),
        ("2026-01-01T00:00:00Z stderr F ValueError: bad\n", "ValueError", "bad", 1),
        ("\x1b[31mERROR\x1b[0m loader: table is gone\n", None, "table is gone", 1),
        (
            "ok\nstore.rb:14:in `run': no such store (Store::Gone)\n\tfrom a.rb:3:in `main'\n",
            "Store::Gone",
            "no such store",
            2,
        ),
        ("Store::Gone: no such store\n/a/b.rb:3:in `main'\n", "Store::Gone", "no such store", 1),
        ("npm ERR! node v18\nnpm ERR! code E404\nnpm ERR! errno 1\n", None, "npm ERR! code E404", 2),
        (
            "ssh_exchange_identification: Connection closed by remote host\nfatal: Could not read from remote repository.\n",
            None,
            "ssh_exchange_identification: Connection closed by remote host",
            1,
        ),
        (
            "psql:a.sql:7: ERROR:  no such table\nHINT:  look\n",
            None,
            "psql:a.sql:7: ERROR:  no such table\nHINT:  look",
            1,
        ),
        ("Unhandled exception. A.B.SqlException (0x80131904): gone\n   at A.B.C()\n", "A.B.SqlException", "gone", 1),
        ("10%\r50%\r\rE: Unable to locate package x\n", None, "E: Unable to locate package x", 1),
        (
            "[2024-01-01, 00:00:00 UTC] {taskinstance.py:1} ERROR - Task failed with exception\n"
            + FRAMES
            + "ValueError: x\n",
            "ValueError",
            "x",
            5,
        ),
    ],
)
def test_the_root_error(rules: RuleSet, log: str, kind: str | None, message: str, number: int) -> None:
    root = root_of(rules, log)

    assert (root.type, root.message) == (kind, message)
    assert number in [line.number for line in root.lines if line.decisive]


STATEMENT = """psycopg.errors.UndefinedColumn: column "amount" does not exist
LINE 1: select id, amount from staging.orders
                   ^
HINT:  Perhaps you meant "orders.total".
"""
UNDEFINED = 'column "amount" does not exist\nHINT:  Perhaps you meant "orders.total".'


def test_the_statement_shown_with_an_error_is_neither_its_message_nor_decisive(rules: RuleSet) -> None:
    read = read_failure(error=ErrorReport(log=f"loading\n{STATEMENT}"), facts={}, last_good=None, rules=rules)
    other = STATEMENT.replace("select id", "select  id, day").replace("LINE 1", "LINE 12")
    again = read_failure(error=ErrorReport(log=f"loading\n{other}"), facts={}, last_good=None, rules=rules)

    assert read.root.message == UNDEFINED
    assert [(line.number, line.decisive) for line in read.root.lines] == [
        (1, False),
        (2, True),
        (3, False),
        (4, False),
        (5, True),
    ]
    assert again.fingerprint == read.fingerprint
    assert again.cause.id == read.cause.id == "data.schema_changed"


def test_the_statement_is_no_part_of_what_a_scheduler_reports_either(rules: RuleSet) -> None:
    kind, _, message = STATEMENT.partition(": ")
    read = read_failure(error=ErrorReport(type=kind, message=message), facts={}, last_good=None, rules=rules)

    assert read.root.message == UNDEFINED
    assert "LINE 1" not in read.root.lines[0].text


def test_a_log_without_an_error_shows_its_end(rules: RuleSet) -> None:
    root = root_of(rules, "".join(f"step {number}\n" for number in range(40)))

    assert root.message == "step 39"
    assert [line.number for line in root.lines] == list(range(29, 41))


@pytest.mark.scenario(23)
def test_an_empty_log_says_so(rules: RuleSet) -> None:
    assert root_of(rules, "").message == "exit code 1, the log is empty"


def test_the_error_in_the_middle_of_a_long_log_is_found(rules: RuleSet) -> None:
    noise = "2026-06-15T03:00:02Z [info ] row ok\n" * 30_000

    root = root_of(rules, noise + FRAMES + "KeyError: 'net'\n" + noise)

    assert (root.type, root.message) == ("KeyError", "'net'")
    assert 30_004 in [line.number for line in root.lines if line.decisive]


def test_the_end_of_a_huge_line_is_read(rules: RuleSet) -> None:
    root = root_of(rules, "ERROR " + "x" * 1_000_000 + ": table is gone\n")

    assert root.message.startswith("xxx")
    assert len(root.lines[0].text) <= 400


@pytest.mark.scenario(25)
def test_hostile_text_becomes_plain(rules: RuleSet) -> None:
    root = root_of(rules, "ERROR \u202egnp.exe <!channel> \x00 \udcff \x1b]0;title\x07 `x`\n")

    assert root.message == "gnp.exe <!channel>  \N{REPLACEMENT CHARACTER}  `x`"


def test_a_line_of_several_keeps_its_number(rules: RuleSet) -> None:
    root = root_of(rules, "ok\nERROR a failed#012  detail: x#012#012ValueError: bad\nend\n")

    assert {line.number for line in root.lines} == {2}


def test_an_error_told_apart_stands_beside_the_logs_own(rules: RuleSet) -> None:
    error = ErrorReport(type="ontrack.Timeout", message="ran 60 s", log=f"start\n{FRAMES}KeyError: 'net'\nend")

    root = read_failure(error=error, facts={}, last_good=None, rules=rules).root

    assert (root.type, root.message) == ("ontrack.Timeout", "ran 60 s")
    assert [(line.number, line.text) for line in root.lines if line.decisive] == [
        (REPORTED, "ontrack.Timeout: ran 60 s"),
        (5, "KeyError: 'net'"),
    ]


def test_a_killed_run_shows_what_was_reported_with_sizes_that_people_read(rules: RuleSet) -> None:
    message = "held 117031936 bytes of memory, its limit is 100663296"
    log = "loading 1400 days of clicks\n"
    error = ErrorReport(type="ontrack.MemoryLimit", message=message, signal="SIGKILL", log=log)

    evidence = read_failure(error=error, facts={}, last_good=None, rules=rules)

    assert evidence.root.message == "held 112 MiB of memory, its limit is 96 MiB"
    assert evidence.root.lines == (
        EvidenceLine(number=REPORTED, text=f"ontrack.MemoryLimit: {evidence.root.message}", decisive=True),
        EvidenceLine(number=1, text="loading 1400 days of clicks"),
    )
    assert (evidence.cause.id, evidence.cause.also) == ("resource.out_of_memory", ())


def test_other_sizes_of_the_same_failure_have_the_same_fingerprint(rules: RuleSet) -> None:
    messages = (
        "held 117031936 bytes of memory, its limit is 100663296",
        "held 217031000 bytes of memory, its limit is 200663296",
        "held 111 MiB of memory, its limit is 96 MiB",
    )

    fingerprints = {
        read_failure(
            error=ErrorReport(type="ontrack.MemoryLimit", message=message, signal="SIGKILL"),
            facts={},
            last_good=None,
            rules=rules,
        ).fingerprint
        for message in messages
    }

    assert len(fingerprints) == 1


def test_the_way_it_ended_is_shown_when_it_decides(rules: RuleSet) -> None:
    evidence = read_failure(error=ErrorReport(exit_code=137, log="step 1\n"), facts={}, last_good=None, rules=rules)

    assert evidence.cause.id == "resource.killed"
    assert [(line.number, line.text, line.decisive) for line in evidence.root.lines] == [
        (REPORTED, "exit code 137, killed by SIGKILL", True),
        (1, "step 1", False),
    ]


def test_the_line_that_decides_is_shown_however_far_it_is_from_the_error(rules: RuleSet) -> None:
    told = "[ 12.3] oom-kill: constraint=CONSTRAINT_MEMCG, task=python"
    log = told + "\n" + "step\n" * 8000 + "ERROR job failed\n" + "step\n" * 8000

    evidence = read_failure(error=ErrorReport(exit_code=137, log=log), facts={}, last_good=None, rules=rules)

    assert evidence.cause.id == "resource.out_of_memory"
    assert (1, told, True) in [(line.number, line.text, line.decisive) for line in evidence.root.lines]
    assert "ERROR job failed" in [line.text for line in evidence.root.lines]
