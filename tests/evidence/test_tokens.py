"""Keys and tokens of many makers are known by their look alone, and what only looks a little like one stays."""

import random
import string

import pytest

from bot.evidence import hide_addresses, load_rules, mask, mask_name, read_failure
from bot.evidence.masking import mask_all
from bot.evidence.types import ErrorReport

HEX = string.hexdigits[:16]
BIG = string.ascii_uppercase + "234567"
WORD = string.ascii_letters + string.digits
MADE_OF = {"x": HEX, "B": BIG, "w": WORD, "l": string.ascii_lowercase + string.digits, "d": string.digits}

LOOKS = [
    *(
        "AKIA{B16}",
        "ASIA{B16}",
        "ghp_{w36}",
        "glpat-{w20}",
        "GR1348941{w20}",
        "xoxb-{w40}",
        "xoxe.xoxp-1-{w60}",
        "AIza{w35}",
    ),
    *(
        "ya29.{w60}",
        "sk-proj-{w40}",
        "sk_live_{w24}",
        "npm_{w36}",
        "pypi-AgEI{w70}",
        "SG.{w22}.{w43}",
        "dapi{x32}",
        "hf_{w34}",
    ),
    *("hvs.{w60}", "SK{x32}", "7654321098:AA{w33}", "dop_v1_{x64}", "shpat_{x32}", "lin_api_{w40}", "glsa_{w32}_{x8}"),
    *("NRAK-{B27}", "rubygems_{x48}", "tfp_{w40}", "pnu_{w36}", "dbtu_{w40}", "sntrys_{w60}", "pul-{x40}", "sbp_{x40}"),
    *(
        "pscale_tkn_{w40}",
        "ntn_{w46}",
        "CFPAT-{w43}",
        "CCIPAT_{w22}_{x40}",
        "CLOJARS_{x60}",
        "bkua_{x40}",
        "rdme_{x70}",
    ),
    *("sqp_{x40}", "sgp_{w64}", "FLWSECK_TEST-{x32}-X", "fio-u-{w64}", "fm2_{w80}", "PMAK-{x24}-{x34}", "sq0csp-{w43}"),
    *("shippo_live_{x40}", "duffel_test_{w43}", "pat-na1-{x8}-1111-2222-3333-{x12}", "ATATT3xFfGF0{w60}", "AKC{w62}"),
    *("AP6{w60}", "cmVmdGtu{w56}", "EAAC{w80}", "AAAAAAAAAAAAAAAAAAAAA{w60}", "EZAK{w54}", "AQVN{w36}", "LTAI{w20}"),
    *("AKID{w32}", "oy2{l43}", "secret_{w43}", "live_{w40}", "key-{x32}", "{x32}-us12", "sha256~{w43}", "dp.pt.{w43}"),
    *(
        "{w14}.atlasv1.{w60}",
        "pat{w14}.{x64}",
        "pat.{w22}.{x24}.{w20}",
        "dt0c01.{B24}.{B64}",
        "sl.{w135}",
        "s.aB1{w21}",
    ),
    *("M{w23}.{w6}.{w27}", "{w3}8Q~{w34}", "amzn.mws.{x8}-{x4}-{x4}-{x4}-{x12}", "AGE-SECRET-KEY-1{B58}"),
]
BESIDE = [
    "sshpass -p {w14} ssh host",
    "mysql -uroot -p{w14} shop",
    "mysqldump --single-transaction -p{w14} shop",
    "redis-cli -h cache -a {w16} ping",
    "machine example.com login me password {w20}",
    "db.example.com:5432:shop:etl:{w20}",
    "Authorization: SSWS 00{w40}",
    "SSWS 00{w40}",
    "https://hooks.zapier.com/hooks/catch/123456/{w12}",
    "https://b.example.com/k?X-Amz-Credential=AKIA{B16}&X-Amz-Signature={x64}",
    "Driver=x;Server=tcp:x;Uid=a;Pwd={w16};",
    'PlainLoginModule required username="a" password="{w16}";',
    "//registry.example.com/:_authToken={w36}",
    '{{"auths":{{"r":{{"auth":"{w40}=="}}}}}}',
]


def grown(shape: str, seed: int) -> tuple[str, str]:
    """A made-up token of this shape, and the longest of its made-up parts."""
    chance = random.Random(f"{shape}{seed}")
    text, parts, at = "", [""], 0
    while at < len(shape):
        end = shape.find("}", at)
        if shape[at] == "{" and shape[at + 1 : at + 2] in MADE_OF and shape[at + 2 : end].isdigit():
            kind, count = shape[at + 1], int(shape[at + 2 : end])
            parts.append("".join(chance.choice(MADE_OF[kind]) for _ in range(count)))
            text, at = text + parts[-1], end + 1
        else:
            skipped = 2 if shape[at : at + 2] in ("{{", "}}") else 1
            text, at = text + shape[at], at + skipped
    return text, max(parts, key=len)


@pytest.mark.parametrize("shape", [*LOOKS, *BESIDE])
@pytest.mark.parametrize("around", ["{}", "ERROR using {} now", "row\\n{}\\tend", "a\u00e9 ({})", '{{"k": "{}"}}'])
def test_a_token_is_known_wherever_it_stands(shape: str, around: str) -> None:
    for seed in range(2):
        token, part = grown(shape, seed)
        text = around.replace("{{", "{").replace("}}", "}").replace("{}", token)

        assert part not in mask(text)
        assert mask(text) == mask_all(text)


@pytest.mark.parametrize(
    "text",
    [
        "04:27:31  Done. PASS=11 WARN=0 ERROR=1 SKIP=0 TOTAL=12",
        "mysql server has gone away",
        "mysql -u etl -h db shop",
        'File "/app/s.py", line 3, in s.load_all_the_orders_now',
        "com.example.orders.Loader.secret_santa failed",
        "db:5432:connection refused",
        "image sha256:" + "ab" * 32,
        "live_orders_2026 is empty",
        "key-value pairs: 17",
        "application_1612345678901_0001 was killed",
        "container e1f2a3b4c5d6 exited",
        "partition day=2026-11-30/part-00000-96b0700b-6c41.c000.snappy.parquet",
        "Msg 208, Level 16: Invalid object name 'core.orders'",
        "login etl failed; password authentication failed",
        "org.apache.spark.sql.execution.WholeStageCodegenExec.hasNext(WholeStageCodegenExec.scala:614)",
    ],
)
def test_what_looks_only_a_little_like_a_secret_stays(text: str) -> None:
    assert mask(text) == text


def test_a_name_keeps_its_identity_when_a_secret_in_it_is_hidden() -> None:
    one, other = (f"run token={grown('{w30}', seed)[0]}" for seed in range(2))

    assert mask_name("scheduled__2026-11-30T06:00:00+00:00") == "scheduled__2026-11-30T06:00:00+00:00"
    assert mask_name(one) == mask_name(one)
    assert mask_name(one) != mask_name(other)
    assert one[10:] not in mask_name(one)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("user ana.b+x@mail.example.com is not known", "user [address] is not known"),
        ("<ana@example.com>, o'neil@example.co.uk", "<[address]>, [address]"),
        ("ana@localhost", "ana@localhost"),
        ("git@github.com:acme/etl.git", "[address]:acme/etl.git"),
        ("@daily at 3", "@daily at 3"),
        ("a@b", "a@b"),
        ("https://etl:[masked]@db.example.com/x", "https://etl:[masked]@db.example.com/x"),
        ("x" * 100_000, "x" * 100_000),
        ("@" * 10_000, "@" * 10_000),
    ],
)
def test_addresses_are_hidden_on_demand(text: str, expected: str) -> None:
    assert hide_addresses(text) == expected


def test_a_whole_evidence_loses_its_addresses() -> None:
    log = "INFO to ana@example.com\nValueError: no account for ben@example.com\n"
    good, bad = {"config": {"to": "ana@example.com"}}, {"config": {"to": "ben@example.com"}}
    found = read_failure(error=ErrorReport(log=log, exit_code=1), facts=bad, last_good=good, rules=load_rules())

    bare = hide_addresses(found)

    assert "example.com" in repr(found)
    assert "example.com" not in repr(bare)
    assert bare.root.message == "no account for [address]"
    assert (bare.cause.id, bare.cause.retry_hint) == (found.cause.id, found.cause.retry_hint)
