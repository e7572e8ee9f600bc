"""The buttons at the side of the page act on the world, and only that page may press them."""

from collections.abc import Iterator

import httpx
import pytest

from bot.sandbox.control import control_app, path_of
from bot.sandbox.slack.server import Server, serve
from bot.sandbox.world import BAD_RATES, GOOD_RATES, World


@pytest.fixture
def control(world: World) -> Iterator[Server]:
    server = serve(control_app(world.actions()))
    yield server
    server.stop()


def rates(world: World) -> str:
    return (world.directory / "config/rates.ini").read_text()


def press(control: Server, name: str, **headers: str) -> httpx.Response:
    return httpx.post(f"{control.url}/actions/{name}", headers=headers)


def test_an_action_is_done_when_it_is_posted(control: Server, world: World) -> None:
    assert press(control, "break-rates").status_code == 200
    assert rates(world) == BAD_RATES

    assert press(control, "repair-rates").status_code == 200
    assert rates(world) == GOOD_RATES


def test_every_action_can_be_pressed_twice(control: Server, world: World) -> None:
    answers = [press(control, one.name).status_code for one in world.actions() for _ in range(2)]

    assert set(answers) == {200}


def test_looking_does_nothing(control: Server, world: World) -> None:
    answer = httpx.get(f"{control.url}/actions/break-rates")

    assert answer.status_code == 405
    assert rates(world) == GOOD_RATES


@pytest.mark.parametrize("origin", ["http://127.0.0.1:8080", "http://localhost:9"])
def test_a_page_of_this_machine_may_act(control: Server, world: World, origin: str) -> None:
    assert press(control, "break-rates", origin=origin).status_code == 200
    assert rates(world) == BAD_RATES


@pytest.mark.parametrize("origin", ["https://elsewhere.example", "null", "http://127.0.0.1.elsewhere.example"])
def test_a_page_from_elsewhere_may_not(control: Server, world: World, origin: str) -> None:
    assert press(control, "break-rates", origin=origin).status_code == 403
    assert rates(world) == GOOD_RATES


def test_an_unknown_action_is_not_found(control: Server) -> None:
    assert press(control, "erase-everything").status_code == 404


def test_what_cannot_be_done_is_told(control: Server, world: World) -> None:
    (world.directory / "config/rates.ini").unlink()
    (world.directory / "config/attribution.ini").unlink()
    (world.directory / "config").rmdir()

    answer = press(control, "break-rates")

    assert answer.status_code == 500
    assert "config/rates.ini" in answer.json()["error"]


def test_each_action_has_an_address_of_its_own(world: World) -> None:
    paths = [path_of(one) for one in world.actions()]

    assert len(set(paths)) == len(paths)
