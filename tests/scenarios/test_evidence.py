"""Evidence: what is said of a failure, and what is never said of it."""

import json

import pytest

from tests.world.people import LOST_COLUMN, RESET
from tests.world.world import World

SECRETS = ("hunter2-very-secret", "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "s3cr3t-of-the-dsn")


@pytest.mark.scenario(23)
def test_a_job_without_a_good_run_says_so_and_sells_no_empty_diff(world: World) -> None:
    world.fails("orders", at="03:12", log="", exit_code=None)

    thread = world.thread("orders")
    assert "Last good run: none known" in thread
    assert "no last good run to compare with" in thread
    assert "no difference" not in thread
    assert "nothing changed" not in thread.lower()
    assert world.incident("orders").failure.cause == "unknown"


@pytest.mark.scenario(24)
def test_a_huge_diff_with_secrets_is_masked_capped_and_has_the_top_changes_first(world: World) -> None:
    noise = {f"setting_{number}": "a" * 100 for number in range(20_000)}
    before = {"code": {"version": "4f2a9c1"}, "params": noise}
    after = {
        "code": {"version": "9d11b02"},
        "params": dict.fromkeys(noise, "b" * 100)
        | {"password": SECRETS[0], "api_token": SECRETS[1], "dsn": f"postgresql://shop:{SECRETS[2]}@db/shop"},
    }
    world.moves_to("03:10")
    world.succeeds("orders", nominal="Sun 03:00", facts=before)
    world.fails("orders", at="03:12", log=LOST_COLUMN, facts=after)

    evidence = next(reply for reply in world.replies("orders") if "What changed" in reply)
    changes = evidence.split("What changed", 1)[1]
    assert changes.index("9d11b02") < changes.index("setting_")
    assert len(evidence) < 5000
    said = json.dumps(world.posted()) + repr(world.outbox())
    stored = world.service.storage.reads.evidence(key=world.incident("orders").failure.evidence)
    facts = world.service.storage.reads.run_facts(
        job=world.incident("orders").job, run=world.incident("orders").failure.run
    )
    for secret in SECRETS:
        assert secret not in said
        assert secret not in repr(stored)
        assert secret not in repr(facts)


@pytest.mark.scenario(25)
def test_a_hostile_error_pings_nobody_and_is_posted_at_the_first_try(world: World) -> None:
    hostile = (
        "ValueError: <!channel> <@U0ANA> <!subteam^S0GROWTH> ```rm -rf``` *b* \u202egnp.exe\u202c \x00 <https://x|y> & "
    )
    world.fails("orders", at="03:12", log=hostile + "x" * 1_000_000)

    outcomes = {call["outcome"] for call in world.stage.slack.calls(method="chat.postMessage")[-4:]}
    assert outcomes == {"ok"}
    assert {mention.who for mention in world.mentions()} == {"finance-oncall"}
    thread = world.thread("orders")
    assert "<!channel> <@U0ANA>" in thread
    assert "\x00" not in thread
    assert "\u202e" not in thread


@pytest.mark.scenario(26)
def test_failures_that_differ_by_run_and_place_only_have_one_fingerprint(world: World) -> None:
    template = (
        "2026-11-30 03:{minute}:07 worker {address} run={run}\n"
        'Traceback (most recent call last):\n  File "/tmp/tmp{run}/load.py", line 52, in check\n'
        'psycopg.errors.UndefinedColumn: column "amount" does not exist (object at {address})\n'
    )
    world.fails("orders", at="03:12", log=template.format(minute="11", address="0x7f3be1e86f20", run="a81f9e02c4"))
    world.fails("orders", log=template.format(minute="12", address="0x55d0c0ffee10", run="77b2d41e9a"), run_id="second")
    assert len(world.incident("orders").fingerprints) == 1
    assert world.incident("orders").count == 2

    world.fails("orders", log=LOST_COLUMN.replace("amount", "price"), run_id="third")
    assert len(world.incident("orders").fingerprints) == 2


@pytest.mark.scenario(50)
def test_the_only_mention_of_a_night_has_a_reason(world: World) -> None:
    world.has_run("revenue")
    world.fails("revenue", at="03:12", log=RESET)
    world.moves_to("03:17")
    world.rerun_starts("revenue")
    world.moves_to("03:20")
    world.rerun_fails("revenue", log=LOST_COLUMN)
    world.clicks("ben", "Acknowledge", "revenue")
    world.moves_to("09:00")

    (mention,) = world.mentions()
    assert "Why: the rerun failed" in mention.text
    assert "Still owed: Mon 30 Nov 03:00 UTC" in mention.text
