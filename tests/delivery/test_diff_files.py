"""A diff that the message had to cut goes into the thread whole, as a file beside the log; neither is sent twice."""

from typing import Any

import httpx
import pytest

from tests.world.people import LOST_COLUMN
from tests.world.world import World

GOOD = "\n".join(f"SELECT column_{number} FROM orders;" for number in range(60))
BAD = GOOD.replace("FROM orders", "FROM orders_v2")


def files(world: World) -> list[dict[str, Any]]:
    return [file for message in world.messages("orders") for file in message.get("files", ())]


def fails_after_a_long_change(world: World) -> None:
    world.succeeds("orders", at="Mon 03:10", facts={"config": {"orders.sql": GOOD}})
    world.fails("orders", at="Tue 03:12", log=LOST_COLUMN, facts={"config": {"orders.sql": BAD}})


def test_the_whole_diff_stands_in_the_thread_beside_the_log(world: World) -> None:
    fails_after_a_long_change(world)

    diff, log = files(world)

    assert (diff["name"].endswith(".diff"), log["name"].endswith(".txt")) == (True, True)
    whole = httpx.get(f"{world.stage.slack_url}/files/{diff['id']}")
    assert whole.text.count("orders_v2") == 60
    assert "The whole diff is another" in world.thread("orders")


def test_a_diff_that_the_message_shows_whole_is_no_file(world: World) -> None:
    world.succeeds("orders", at="Mon 03:10", facts={"config": {"orders.sql": "SELECT a;"}})
    world.fails("orders", at="Tue 03:12", log=LOST_COLUMN, facts={"config": {"orders.sql": "SELECT b;"}})

    assert [file["name"].endswith(".txt") for file in files(world)] == [True]


@pytest.mark.parametrize("contains", ["differs", "Log of"])
def test_an_answer_that_was_lost_doubles_neither(world: World, contains: str) -> None:
    world.stage.slack.inject("files.completeUploadExternal", after="drop", contains=contains)
    fails_after_a_long_change(world)
    world.passes(minutes=2)

    assert sorted(file["name"].rpartition(".")[2] for file in files(world)) == ["diff", "txt"]
