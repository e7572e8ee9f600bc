"""What the poller does while Maestro, or a part of what it shows, cannot be read: it tells why, and nothing is lost."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.maestro.fake.server import MONDAY, Maestro
from tests.schedulers.maestro.desk import DAILY, Desk, kinds


@pytest.fixture
def desk(maestro: Maestro, tmp_path: Path) -> Desk:
    maestro.push(DAILY, steps=("load", "publish"), cron="0 6 * * *", timezone="Europe/Berlin")
    return Desk(maestro, tmp_path)


def test_a_workflow_that_is_not_there_is_said_once_and_stops_no_other(
    maestro: Maestro, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    maestro.push(DAILY, steps=("load",))
    desk = Desk(maestro, tmp_path, "no.such", DAILY)
    maestro.scheduled(DAILY, MONDAY)
    told = desk.polls(30)

    assert kinds(told) == ["1.1 run.started"]
    assert (desk.poller.trouble, list(desk.poller.troubles)) == ("", ["no.such"])
    assert [record.__dict__["workflow"] for record in caplog.records if "cannot be read" in record.message] == [
        "no.such"
    ]


def test_a_workflow_whose_answers_are_broken_stops_no_other(maestro: Maestro, tmp_path: Path) -> None:
    for name in ("broken", DAILY):
        maestro.push(name, steps=("load",))
    desk = Desk(maestro, tmp_path, "broken", DAILY)
    maestro.fails_to_answer("garbage", "/broken/", times=10_000)
    maestro.scheduled(DAILY, MONDAY)
    told = desk.polls(4)

    assert kinds(told) == ["1.1 run.started"]
    assert list(desk.poller.troubles) == ["broken"]


@pytest.mark.parametrize("fault", ["drop", 500, 503, "garbage"])
def test_while_maestro_is_unwell_it_is_asked_less_and_less(desk: Desk, maestro: Maestro, fault: str | int) -> None:
    maestro.fails_to_answer(fault, "", times=10_000)
    maestro.scheduled(DAILY, MONDAY)
    asked_at = []
    at = desk.clock()
    for _ in range(8):
        asked_at.append(at)
        at = desk.poller.step(at)
    waits = [later - earlier for earlier, later in pairwise(asked_at)]

    assert waits == sorted(waits)
    assert waits[-1] == timedelta(minutes=5)
    assert desk.poller.trouble

    maestro.faults.clear()
    maestro.clock.moves_to(at)

    assert kinds(desk.polls()) == ["1.1 run.started"]
    assert desk.poller.trouble == ""


def test_it_waits_as_long_as_it_is_asked_to(desk: Desk, maestro: Maestro) -> None:
    maestro.fails_to_answer(429, "", times=1, headers={"Retry-After": "600"})
    due = desk.poller.step(desk.clock())

    assert due - desk.clock() >= timedelta(seconds=599)


def test_what_was_read_before_a_trouble_stands(desk: Desk, maestro: Maestro) -> None:
    maestro.succeeds(maestro.scheduled(DAILY, MONDAY))
    maestro.fails_for_good(maestro.scheduled(DAILY, MONDAY + timedelta(days=1)), "load")
    maestro.fails_to_answer(500, "/instances/2/", times=1)
    first = desk.polls()
    then = desk.polls(2)

    assert kinds(first) == ["1.1 run.started", "1.1 run.succeeded"]
    assert kinds(then) == ["2.1 run.started", "2.1 run.failed"]


def test_a_failure_whose_steps_are_never_shown_is_told_without_them(desk: Desk, maestro: Maestro) -> None:
    maestro.fails_for_good(maestro.scheduled(DAILY, MONDAY), "load")
    maestro.fails_to_answer(500, "/steps$", times=10_000)
    told = desk.polls(10)

    assert kinds(told) == ["1.1 run.started", "1.1 run.failed"]
    assert told[1].error is not None
    assert "its steps were not shown in 3 tries" in told[1].error.log


@pytest.mark.parametrize("fault", ["garbage", 500, 404])
def test_a_definition_that_cannot_be_read_keeps_nobody_from_hearing_of_the_runs(
    desk: Desk, maestro: Maestro, fault: str | int, caplog: pytest.LogCaptureFixture
) -> None:
    maestro.fails_to_answer(fault, "/versions/", times=10_000)
    run = maestro.scheduled(DAILY, MONDAY)
    maestro.fails_for_good(run, "load")
    told = desk.polls(12)

    assert kinds(told) == ["1.1 run.started", "1.1 run.failed"]
    assert len([record for record in caplog.records if "definition of maestro" in record.message]) == 1

    maestro.faults.clear()
    desk.polls(12)

    assert len(desk.changes()) == 1


def test_who_is_not_allowed_to_read_is_told_so_and_asks_less_and_less(desk: Desk, maestro: Maestro) -> None:
    maestro.token = "another"
    due = [desk.poller.step(desk.clock() + timedelta(hours=hour)) for hour in range(5)]
    waits = [at - desk.clock() - timedelta(hours=hour) for hour, at in enumerate(due)]

    assert waits == sorted(waits)
    assert waits[-1] > waits[0]
    assert "401" in desk.poller.trouble


class _KnowsNothing(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_error(404)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is said of it."""


@pytest.fixture
def proxy() -> Iterator[str]:
    """A proxy that lost its way to Maestro: a page, and no word of Maestro's."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _KnowsNothing)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_proxy_that_knows_no_maestro_says_nothing_of_its_workflows(
    desk: Desk, maestro: Maestro, proxy: str, tmp_path: Path
) -> None:
    desk.polls()
    astray = Desk(maestro, tmp_path, url=proxy)
    astray.polls(30)

    assert (astray.changes(), astray.poller.troubles) == ([], {DAILY: "Maestro answered 404"})
