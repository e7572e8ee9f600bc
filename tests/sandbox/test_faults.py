"""Faults as an app meets them, and what the workspace accepted meanwhile."""

import time

import httpx
import pytest

from bot.sandbox.slack.client import ActRefused
from tests.sandbox.conftest import TOKEN, Sandbox

CHANNEL = "C0DATA"


def post(sandbox: Sandbox, text: str = "x", *, channel: str = CHANNEL, timeout: float = 5) -> httpx.Response:
    return httpx.post(
        f"{sandbox.server.url}/api/chat.postMessage",
        json={"channel": channel, "text": text},
        headers={"authorization": f"Bearer {TOKEN}"},
        timeout=timeout,
    )


def accepted(sandbox: Sandbox) -> list[str]:
    return [each["text"] for each in sandbox.people.messages(CHANNEL)]


def test_a_429_says_how_long_to_wait_and_accepts_nothing(sandbox: Sandbox) -> None:
    sandbox.people.inject("chat.postMessage", status=429, retry_after=30)
    limited, then = post(sandbox, "one"), post(sandbox, "two")

    assert (limited.status_code, limited.headers["retry-after"]) == (429, "30")
    assert limited.json() == {"ok": False, "error": "ratelimited"}
    assert then.json()["ok"] is True
    assert accepted(sandbox) == ["two"]


@pytest.mark.parametrize("status", [500, 503])
def test_a_broken_server_accepts_nothing_unless_it_is_told_to(sandbox: Sandbox, status: int) -> None:
    sandbox.people.inject("chat.postMessage", status=status)
    sandbox.people.inject("chat.postMessage", status=status, after="status")

    assert [post(sandbox, "lost").status_code, post(sandbox, "kept").status_code] == [status, status]
    assert accepted(sandbox) == ["kept"]


def test_an_error_of_slack_is_answered_in_its_place(sandbox: Sandbox) -> None:
    sandbox.people.inject("chat.postMessage", error="fatal_error", count=2)

    assert [post(sandbox).json().get("error") for _ in range(3)] == ["fatal_error", "fatal_error", None]


def test_a_connection_is_cut_before_or_after_the_message_is_accepted(sandbox: Sandbox) -> None:
    for when in ("before", "after"):
        sandbox.people.inject("chat.postMessage", **{when: "drop"})
        with pytest.raises(httpx.RemoteProtocolError):
            post(sandbox, when)

    assert accepted(sandbox) == ["after"]
    assert [each["outcome"] for each in sandbox.people.calls()] == ["drop before acceptance", "accepted, then drop"]


def test_a_message_is_accepted_and_never_answered(sandbox: Sandbox) -> None:
    sandbox.people.inject("chat.postMessage", after="hang")
    with pytest.raises(httpx.ReadTimeout):
        post(sandbox, "silent", timeout=0.3)

    assert accepted(sandbox) == ["silent"]


def test_a_delay_keeps_the_answer_back_and_nobody_else(sandbox: Sandbox) -> None:
    sandbox.people.inject("chat.postMessage", delay_ms=400)
    began = time.monotonic()
    with pytest.raises(httpx.ReadTimeout):
        post(sandbox, "late", timeout=0.1)
    between = post(sandbox, "prompt")

    assert between.json()["ok"]
    assert time.monotonic() - began < 0.4


def test_a_fault_meets_only_its_channel_and_its_text(sandbox: Sandbox) -> None:
    sandbox.people.change_channel("C0OTHER", name="other")
    sandbox.people.inject("chat.postMessage", error="fatal_error", channel="C0OTHER", count=None)
    sandbox.people.inject("*", error="internal_error", contains="poison", count=None)
    answers = [post(sandbox), post(sandbox, channel="C0OTHER"), post(sandbox, "poison")]

    assert [each.json().get("error") for each in answers] == [None, "fatal_error", "internal_error"]
    sandbox.people.heal()
    assert post(sandbox, "poison", channel="C0OTHER").json()["ok"]


@pytest.mark.parametrize("fault", [{}, {"after": "explode"}, {"status": "500"}, {"delay_ms": -1}])
def test_a_fault_that_nobody_understands_is_refused(sandbox: Sandbox, fault: dict[str, str]) -> None:
    with pytest.raises(ActRefused):
        sandbox.people.inject("chat.postMessage", **fault)


def test_rate_limits_hold_a_channel_to_its_pace_once_they_are_on(sandbox: Sandbox) -> None:
    free = [post(sandbox).status_code for _ in range(8)]
    sandbox.people.change_rates(enabled=True, special_burst=2)
    sandbox.people.change_channel("C0OTHER", name="other")
    limited = [post(sandbox).status_code for _ in range(3)]
    elsewhere = post(sandbox, channel="C0OTHER").status_code
    waited = int(post(sandbox).headers["retry-after"])
    sandbox.clock.now += sandbox.clock.now.resolution * 1_000_000 * waited

    assert free == [200] * 8
    assert (limited, elsewhere) == ([200, 200, 429], 200)
    assert waited == 1
    assert post(sandbox).status_code == 200


def test_a_tier_is_counted_by_the_minute(sandbox: Sandbox) -> None:
    sandbox.people.change_rates(enabled=True, per_minute={"2": 3})
    headers = {"authorization": f"Bearer {TOKEN}"}
    codes = [httpx.get(f"{sandbox.server.url}/api/users.list", headers=headers).status_code for _ in range(4)]

    assert codes == [200, 200, 200, 429]


def test_while_the_workspace_is_away_nothing_is_taken_and_nobody_acts(sandbox: Sandbox) -> None:
    sandbox.people.go_away()
    refused = post(sandbox)
    with pytest.raises(ActRefused, match="slack_is_down"):
        sandbox.people.say(user="U0ANA", channel=CHANNEL, text="x")

    assert refused.status_code == 503
    assert sandbox.people.state()["away"]
    assert accepted(sandbox) == []
    assert [call["outcome"] for call in sandbox.people.calls()] == ["away"]


def test_when_the_workspace_is_back_it_takes_everything(sandbox: Sandbox) -> None:
    sandbox.people.go_away()
    sandbox.people.go_away(False)
    post(sandbox, "x")
    sandbox.people.say(user="U0ANA", channel=CHANNEL, text="y")

    assert accepted(sandbox) == ["x", "y"]
