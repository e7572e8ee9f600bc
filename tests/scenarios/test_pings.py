"""Plain cron by curl: what a job's addresses say opens, feeds and closes its incident."""

from datetime import UTC, datetime

import pytest

from bot.signed import Signer
from tests.world.fixtures import Build
from tests.world.people import LOST_COLUMN, POLICIES
from tests.world.world import World

KEY = "k" * 40
WATCHED = POLICIES.replace("start: off, finish: off", "start: 0s, finish: off")


def token(job: str, *, key: str = KEY) -> str:
    return Signer(key).job(f"shop/{job}")


@pytest.fixture
def world(build_world: Build) -> World:
    return build_world(env={"SECRET_KEY": KEY})


@pytest.fixture
def watched(build_world: Build) -> World:
    return build_world(env={"SECRET_KEY": KEY}, policies=WATCHED)


def test_a_run_that_begins_and_fails_opens_an_incident_with_its_log(world: World) -> None:
    world.moves_to("03:00")
    assert world.pings(token("orders"), "start").text == "OK\n"
    world.moves_to("03:12")
    assert world.pings(token("orders"), "fail", LOST_COLUMN).status_code == 200
    world.settles()

    incident = world.incident("orders")
    assert "amount" in incident.failure.message
    assert incident.failure.run.nominal_time == datetime(2026, 11, 30, 3, 0, tzinfo=UTC)
    assert "amount" in world.thread("orders")


def test_an_exit_status_says_how_it_ended(world: World) -> None:
    world.moves_to("03:00")
    world.pings(token("orders"), "start")
    world.pings(token("orders"), "0")
    assert world.incidents() == ()

    world.moves_to("Tue 03:00")
    world.pings(token("orders"), "start")
    world.pings(token("orders"), "137")
    assert world.incident("orders").failure.title == "Killed from outside (perhaps out of memory)"


def test_pieces_of_a_log_are_kept_for_the_failure_to_come(world: World) -> None:
    world.moves_to("03:00")
    world.pings(token("orders"), "start")
    assert world.pings(token("orders"), "log", LOST_COLUMN).text == "kept\n"
    assert world.incidents() == ()
    world.moves_to("03:12")
    world.pings(token("orders"), "fail")
    world.settles()

    assert "amount" in world.incident("orders").failure.message


def test_the_next_good_run_pays(world: World) -> None:
    world.moves_to("03:00")
    world.pings(token("stock"), "start")
    world.pings(token("stock"), "fail", LOST_COLUMN)
    world.moves_to("04:00")
    world.pings(token("stock"), "start")
    world.pings(token("stock"))
    world.settles()

    assert world.incident("stock").status == "resolved"


def test_a_run_that_is_not_heard_of_is_late_and_says_so_once(watched: World) -> None:
    watched.moves_to("02:00")
    watched.pings(token("orders"), "start")
    watched.pings(token("orders"))
    watched.moves_to("06:00")

    (incident,) = watched.incidents()
    assert incident.failure.cause == "late.not_started"

    watched.pings(token("orders"), "start")
    watched.pings(token("orders"))
    watched.settles()
    assert watched.incident("orders").status == "resolved"


def test_two_runs_at_a_time_are_told_apart_by_their_names(world: World) -> None:
    world.moves_to("03:00")
    for rid in ("one", "two"):
        world.pings(token("loader"), "start", rid=rid)
    world.pings(token("loader"), "success", rid="one")
    assert world.incidents() == ()
    world.pings(token("loader"), "fail", LOST_COLUMN, rid="two")

    assert world.incident("loader").failure.run.run_id == "ping__two"


@pytest.mark.parametrize("word", ["success", "fail"])
def test_a_curl_that_tries_again_tells_the_same_thing(world: World, word: str) -> None:
    world.moves_to("03:00")
    world.pings(token("orders"), "start")
    first = world.pings(token("orders"), word)
    world.passes(seconds=5)
    again = world.pings(token("orders"), word)

    assert (first.text, again.text) == ("OK\n", "OK, told before\n")
    assert [incident.count for incident in world.incidents("orders")] == ([1] if word == "fail" else [])


@pytest.mark.parametrize(
    ("address", "status", "field"),
    [
        (token("orders", key="another" * 8), 404, "token"),
        ("nonsense", 404, "token"),
        (f"{token('orders')}/finish", 404, "path"),
        (f"{token('orders')}/256", 404, "path"),
        (f"{token('orders')}/start?rid=a%20b", 422, "rid"),
        (f"{token('orders')}/start?{'&'.join(f'a{n}=1' for n in range(30))}", 422, "query"),
    ],
)
def test_a_wrong_address_is_told_by_its_part_and_changes_nothing(
    world: World, address: str, status: int, field: str
) -> None:
    answer = world.gets(f"/ping/{address}")

    assert answer.status_code == status
    assert answer.json()["error"]["field"] == field
    assert world.incidents() == ()


def test_a_log_that_is_too_large_says_how_to_send_its_end(world: World) -> None:
    answer = world.pings(token("orders"), "fail", "x" * (1024 * 1024 + 1))

    assert answer.status_code == 413
    assert "tail" in answer.json()["error"]["fix"]


def test_without_a_key_there_are_no_addresses(build_world: Build) -> None:
    world = build_world()

    assert world.pings(token("orders")).status_code == 404


def test_what_a_log_holds_is_masked_and_pings_nobody(world: World) -> None:
    world.moves_to("03:00")
    world.pings(token("orders"), "start")
    world.pings(token("orders"), "fail", "<!channel> password=hunter2-hunter2\nKeyError: 'amount'\n")
    world.settles()

    assert "hunter2" not in world.thread("orders")
    assert all(mention.who == "finance-oncall" for mention in world.mentions())
