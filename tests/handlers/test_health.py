"""Liveness, readiness that names what is broken, and figures."""

import logging
import threading
from datetime import timedelta

import pytest

from handlers.health import Health
from tests.handlers.conftest import Serve
from tests.handlers.doubles import Clock


def test_alive_whatever_is_broken(serve: Serve, clock: Clock) -> None:
    web = serve(health=Health(checks={"database": lambda: "gone"}, clock=clock))

    assert web.client.get("/healthz").status_code == 200
    assert web.client.get("/readyz").status_code == 503


def test_ready_when_every_check_is_ok(serve: Serve, clock: Clock) -> None:
    web = serve(health=Health(checks={"database": lambda: "ok", "slack": lambda: "ok"}, clock=clock))
    response = web.client.get("/readyz")

    assert response.status_code == 200
    assert response.json() == {"checks": {"database": "ok", "slack": "ok"}}


def test_not_ready_names_the_broken_part(serve: Serve, clock: Clock) -> None:
    web = serve(health=Health(checks={"database": lambda: "ok", "slack": lambda: "invalid_auth"}, clock=clock))
    response = web.client.get("/readyz")

    assert response.status_code == 503
    assert response.json() == {"checks": {"database": "ok", "slack": "invalid_auth"}}


def test_checks_that_hang_are_waited_for_once_and_not_piled_up(clock: Clock) -> None:
    go_on = threading.Event()
    started: list[str] = []

    def hang() -> str:
        started.append("one")
        go_on.wait(10)
        return "ok"

    health = Health(checks={"database": hang, "slack": lambda: "ok"}, clock=clock, deadline=timedelta(seconds=0.05))
    first = health.checks()
    clock.move(timedelta(seconds=6))
    second = health.checks()

    assert first == second == {"database": "no answer within 0.05 s", "slack": "ok"}
    assert started == ["one"]

    go_on.set()
    clock.move(timedelta(seconds=6))
    while health.checks()["database"] != "ok":
        clock.move(timedelta(seconds=6))


def test_an_answer_is_kept_for_a_while(clock: Clock) -> None:
    asked: list[int] = []

    def check() -> str:
        asked.append(1)
        return "ok"

    health = Health(checks={"database": check}, clock=clock)
    for _ in range(3):
        health.checks()
    clock.move(timedelta(seconds=4.9))
    health.checks()

    assert len(asked) == 1

    clock.move(timedelta(seconds=0.2))
    health.checks()

    assert len(asked) == 2


def test_a_check_that_raises_is_a_broken_part_and_tells_no_secret(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    def check() -> str:
        raise ConnectionError("postgresql://user:hunter2@host/db")

    health = Health(checks={"database": check}, clock=clock)
    with caplog.at_level(logging.ERROR):
        answer = health.ready()

    assert answer.status == 503
    assert answer.body == b'{"checks":{"database":"the check failed: ConnectionError"}}'
