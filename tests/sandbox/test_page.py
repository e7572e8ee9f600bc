"""The page: served whole, strict about markup, and able to draw all that is taken."""

import re
from datetime import timedelta

import httpx
import pytest

from bot.sandbox.slack import elements
from bot.sandbox.slack.app import PAGE
from bot.sandbox.slack.layout import BLOCKS
from tests.sandbox.conftest import Sandbox

SCRIPT = (PAGE / "page.js").read_text()
SCRIPTS = "\n".join(path.read_text() for path in sorted(PAGE.glob("*.js")))


def test_the_page_and_its_parts_are_served_from_here_alone(sandbox: Sandbox) -> None:
    page = httpx.get(sandbox.server.url)
    parts = re.findall(r'(?:src|href|from)[= ]"(/page/[^"]+)"', f"{page.text}\n{SCRIPTS}")
    codes = [httpx.get(f"{sandbox.server.url}{part}").status_code for part in parts]

    assert codes == [200] * 7
    assert "default-src 'self'" in page.headers["content-security-policy"]
    assert not re.search(r'(?:src|href)="(?:https?:)?//', page.text)


def test_text_never_becomes_markup() -> None:
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc|eval\(", SCRIPTS)


def test_the_page_draws_every_block_and_every_element_that_is_taken() -> None:
    table = SCRIPT[SCRIPT.index("const DRAW = {") : SCRIPT.index("function picture")]
    drawn = set(re.findall(r"^  (\w+): \(", table, flags=re.MULTILINE))
    named = {*elements.PICKED, *elements.WHEN, *elements.WRITTEN, "static_select"}

    assert drawn == set(BLOCKS)
    assert all(f'"{each}"' in SCRIPT for each in named)


def test_the_state_is_sent_again_only_when_something_happened(sandbox: Sandbox) -> None:
    before = sandbox.people.state()["n"]
    idle = httpx.get(f"{sandbox.server.url}/control/state?since={before}").json()
    sandbox.people.say(user="U0ANA", channel="C0DATA", text="x")
    busy = httpx.get(f"{sandbox.server.url}/control/state?since={before}").json()

    assert (idle["changed"], busy["changed"]) == (False, True)


def test_the_page_gets_the_newest_messages_with_their_threads_and_the_client_all(sandbox: Sandbox) -> None:
    roots = [sandbox.web.chat_postMessage(channel="C0DATA", text=each)["ts"] for each in ("old", "kept", "new")]
    replies = [sandbox.web.chat_postMessage(channel="C0DATA", text="re", thread_ts=each)["ts"] for each in roots]
    page = httpx.get(f"{sandbox.server.url}/control/state?most=2").json()["messages"]["C0DATA"]

    assert [each["ts"] for each in page] == [*roots[1:], *replies[1:]]
    assert len(sandbox.people.state()["messages"]["C0DATA"]) == 6


def test_waiting_for_what_never_comes_ends(sandbox: Sandbox) -> None:
    with pytest.raises(TimeoutError):
        sandbox.people.wait_for(lambda: sandbox.people.view_of("U0ANA"), within=timedelta(milliseconds=60))


def test_a_page_of_another_site_cannot_act_here(sandbox: Sandbox) -> None:
    forged = httpx.post(f"{sandbox.server.url}/control/reset", content=b"{}", headers={"content-type": "text/plain"})

    assert forged.status_code == 415
