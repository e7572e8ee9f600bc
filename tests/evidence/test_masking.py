"""No secret survives, and text that holds none stays as it is."""

import json
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.evidence import ErrorReport, RuleSet, load_rules, mask, read_failure, read_run_facts

RULES = load_rules()
WORD = string.ascii_letters + string.digits
SECRET = st.text(alphabet=WORD, min_size=20, max_size=40).filter(
    lambda text: any(map(str.isdigit, text)) and any(map(str.isalpha, text)) and len(set(text)) > 8
)
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
KEY_BODY = "\n".join(["MIIEpAIBAAKCAQEAxq" + "A1b2C3d4" * 5] * 3)
PRIVATE_KEY = f"-----BEGIN RSA PRIVATE KEY-----\n{KEY_BODY}\n-----END RSA PRIVATE KEY-----"

TEMPLATES = [
    "password={}",
    "PASSWORD: {}",
    "export PGPASSWORD={}",
    '"password": "{}"',
    "{{'api_key': '{}'}}",
    '\\"secret\\": \\"{}\\"',
    "postgresql://etl:{}@db.example:5432/x",
    "redis://:{}@cache:6379/0",
    "jdbc:postgresql://etl:{}@db/x",
    "https://{}@git.example/x.git",
    "jdbc:mysql://db/x?user=a&password={}&ssl=1",
    "Authorization: Bearer {}",
    "'Authorization': 'Basic {}'",
    "authorization: Token {}",
    "Cookie: session={}; theme=dark",
    "Set-Cookie: sid={}; Path=/",
    "curl -H 'X-Api-Key: {}' https://x",
    "curl -u etl:{} https://x",
    "tool --password {} --verbose",
    "tool --api-key={}",
    "AccountKey={};EndpointSuffix=core",
    "https://x.blob.example/y?sv=1&sig={}&se=2",
    "aws_secret_access_key = {}",
    "AWS_SESSION_TOKEN={}",
    "client_secret: {}",
    "token={}",
    "SLACK_BOT_TOKEN=xoxb-{}",
    "found xoxb-{} in the log",
    "ghp_{}",
    "glpat-{}",
    "sk_live_{}",
    "npm_{}",
    "hvs.{}",
    "https://hooks.slack.com/services/T0/B0/{}",
    "CREATE USER x IDENTIFIED BY '{}'",
    "<SecretAccessKey>{}</SecretAccessKey>",
    "JSESSIONID={}",
]


@pytest.mark.parametrize("template", TEMPLATES)
@given(secret=SECRET)
def test_a_planted_secret_does_not_survive(template: str, secret: str) -> None:
    masked = mask(f"before {template.format(secret)} after")

    assert secret not in masked
    assert "[masked]" in masked
    assert masked.startswith("before ")


@pytest.mark.parametrize(
    "secret",
    [
        "AKIAIOSFODNN7EXAMPLE",
        "ASIAIOSFODNN7EXAMPLE",
        JWT,
        "AIzaSyA1234567890abcdefghijklmnopqrstuv",
        "ya29.a0AfH6SMBx1234567890abcdef",
        "dapi0123456789abcdef0123456789abcdef",
        "github_pat_11ABCDEFG0abcdefghijklmnop",
    ],
)
def test_tokens_are_known_by_their_look(secret: str) -> None:
    assert mask(f"key {secret}, next") == "key [masked], next"


def test_a_private_key_goes_and_its_lines_stay() -> None:
    masked = mask(f"a\n{PRIVATE_KEY}\nb")

    assert masked.split("\n") == ["a", "[masked]", "", "", "", "", "b"]


def test_a_private_key_without_its_beginning_goes_too() -> None:
    assert "MIIEpAIBAAKCAQEAxq" not in mask(f"{KEY_BODY}\n-----END RSA PRIVATE KEY-----\nb")


def test_a_private_key_without_its_end_goes_too() -> None:
    assert "MIIEpAIBAAKCAQEAxq" not in mask(f"a\n-----BEGIN PRIVATE KEY-----\n{KEY_BODY}\n")


@pytest.mark.parametrize(
    "text",
    [
        'password authentication failed for user "etl"',
        "Incorrect username or password was specified",
        "The security token included in the request is expired",
        "KeyError: 'net'",
        'duplicate key value violates unique constraint "report_textname_key"',
        "Key (id)=(7) already exists",
        "token: expired",
        "password: required",
        "https://example.com/a/b?day=2026-01-01",
        "user@example.com wrote",
        "s3://bucket/key/part-00000.parquet",
        "Unexpected token } in JSON",
        "primary key: customer_id",
        "auth error for project acme",
    ],
)
def test_harmless_text_stays(text: str) -> None:
    assert mask(text) == text


@given(st.text(max_size=300))
def test_masking_never_fails_and_keeps_the_lines(text: str) -> None:
    assert mask(text).count("\n") == text.count("\n")


@given(st.sampled_from(TEMPLATES), SECRET)
def test_masking_twice_changes_nothing(template: str, secret: str) -> None:
    masked = mask(template.format(secret))

    assert mask(masked) == masked


@pytest.mark.scenario(24)
@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("place", ["log", "message", "type", "facts", "last_good"])
def test_no_secret_survives_into_evidence(rules: RuleSet, template: str, place: str) -> None:
    secret = "Zq8xK2mPw94LtRb7Vd3NhJ6c"
    planted = template.format(secret)
    error = ErrorReport(
        type=planted if place == "type" else "acme.Failure",
        message=f"failed: {planted}" if place == "message" else "failed",
        log=f"INFO start\nERROR failed: {planted}\n" if place == "log" else "",
        exit_code=1,
    )
    facts = {"config": {"line": planted, "other": "1"}} if place == "facts" else {"config": {"line": "x"}}
    last_good = {"config": {"line": planted}} if place == "last_good" else {"config": {"line": "y"}}

    evidence = read_failure(error=error, facts=facts, last_good=last_good, rules=rules)

    assert secret not in repr(evidence)
    assert secret not in json.dumps(read_run_facts(facts))


def test_a_secret_whose_name_reads_like_a_logger_is_hidden(rules: RuleSet) -> None:
    error = ErrorReport(log="ERROR PASSWORD: 0000000000001234567A\n", exit_code=1)

    evidence = read_failure(error=error, facts={}, last_good=None, rules=rules)

    assert "1234567A" not in repr(evidence)


@pytest.mark.parametrize("seam", ["\\n", "\\t", "#012", "\\u000a", "[31m"])
@pytest.mark.parametrize("template", TEMPLATES)
def test_a_secret_behind_a_written_line_break_is_hidden(template: str, seam: str) -> None:
    secret = "Zq8xK2mPw94LtRb7Vd3NhJ6c"
    planted = template.format(secret)

    assert secret not in mask(f"row{seam}{planted}{seam}end")
    assert secret not in mask(f"password=hunter2{seam}{planted}")
    assert secret not in mask(f"{planted}{seam}client_secret: {secret}")


PREFIXES = [
    "",
    "ERROR ",
    "2026-06-15T03:00:02Z ",
    "a.b.Loader: ",
    "level=error msg=",
    "Caused by: ",
    "acme.Failure: ",
    "- ",
]
LINES = st.tuples(st.lists(st.sampled_from(PREFIXES), max_size=3).map("".join), st.sampled_from(TEMPLATES)).map("".join)


@given(lines=st.lists(LINES, min_size=1, max_size=4), secret=SECRET, join=st.sampled_from(["\n", "#012", "record"]))
def test_no_secret_survives_in_lines_that_hold_several(lines: list[str], secret: str, join: str) -> None:
    planted = [line.format(secret) for line in lines]
    record = json.dumps({"level": "error", "msg": "\n".join(planted)})
    log = record if join == "record" else join.join(planted)

    evidence = read_failure(error=ErrorReport(log=log, message=log), facts={}, last_good=None, rules=RULES)

    assert secret not in repr(evidence)


def test_a_value_under_a_telling_name_is_hidden_whatever_it_is() -> None:
    facts = {
        "env": {
            "DB_PASSWORD": "hunter2",
            "api_key": "a b c",
            "PATH": "/usr/bin",
            "tokens": ["abc"],
            "pwd": 12345,
            "key": 7,
        }
    }

    assert read_run_facts(facts) == {
        "env": {
            **dict.fromkeys(("DB_PASSWORD", "api_key", "pwd"), "[masked]"),
            "PATH": "/usr/bin",
            "tokens": ["[masked]"],
            "key": 7,
        }
    }


def test_the_log_tail_holds_no_half_of_a_secret(rules: RuleSet) -> None:
    secret = "Zq8xK2mPw94LtRb7Vd3NhJ6c"
    for pad in range(8100, 8220, 7):
        log = f"password={secret}\n" + "x" * pad

        tail = read_failure(error=ErrorReport(log=log), facts={}, last_good=None, rules=rules).log_tail

        assert not any(secret[at : at + 6] in tail for at in range(len(secret) - 6))
        assert len(tail.encode()) <= 8192


SHAPES = [
    "INFO start\n{}\nERROR it failed\n",
    'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    call({})\nacme.Failure: {}\n',
    "acme.Failure: it failed\n  detail: {}\nmore {}\n",
    "ERROR first {}#012  second {}\n",
    "WARN {}\njava.io.IOException: x\n\tat a.b(C.java:1)\nCaused by: a.b.Failure: {}\n",
    "\x1b[31mERROR\x1b[0m {}\r\n",
    "oom-kill: {}\n",
    "{}\n",
]


@given(
    shape=st.sampled_from(SHAPES),
    template=st.sampled_from(TEMPLATES),
    secret=SECRET,
    before=st.integers(0, 400),
    after=st.integers(0, 400),
    recorded=st.booleans(),
)
def test_no_secret_survives_wherever_in_a_log_it_stands(
    shape: str, template: str, secret: str, before: int, after: int, recorded: bool
) -> None:
    planted = template.format(secret)
    said = shape.replace("{}", planted)
    if recorded:
        said = "".join(json.dumps({"level": "error", "msg": line}) + "\n" for line in said.splitlines())
    log = "INFO row ok\n" * before + said + "INFO row ok\n" * after

    evidence = read_failure(error=ErrorReport(log=log, exit_code=1), facts={}, last_good=None, rules=RULES)

    assert secret not in repr(evidence)


@pytest.mark.parametrize("lines", [20, 100, 250])
def test_a_private_key_whose_beginning_lies_before_the_tail_is_hidden(lines: int) -> None:
    body = "A1b2C3d4" * 8
    log = f"-----BEGIN PRIVATE KEY-----\n{(body + chr(10)) * lines}"

    evidence = read_failure(error=ErrorReport(log=log, exit_code=1), facts={}, last_good=None, rules=RULES)

    assert body[:40] not in repr(evidence)
