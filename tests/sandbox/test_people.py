"""People's acts as Bolt, which knows nothing of the stand-in, receives them."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs

import httpx
import pytest
from slack_bolt import App as Bolt
from slack_bolt.request import BoltRequest
from slack_sdk.signature import Clock as VerifierClock
from slack_sdk.signature import SignatureVerifier
from starlette.responses import PlainTextResponse, Response

from bot.sandbox.slack.client import ActRefused
from tests.sandbox.conftest import SECRET, TOKEN, Received, Sandbox
from tests.sandbox.steps import CHANNEL, DONE, Json, answers, button, modal, payload_of, root_with


class StandingClock(VerifierClock):
    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    def now(self) -> float:
        return self._sandbox.clock.now.timestamp()


def test_a_click_is_signed_and_carries_what_slack_sends(sandbox: Sandbox) -> None:
    ts = root_with(sandbox, button("ack", style="primary"))
    answer = sandbox.people.click(user="U0BEN", channel=CHANNEL, ts=ts, action_id="ack")
    (received,) = sandbox.app.received
    payload = payload_of(received)
    (action,) = payload["actions"]
    verifier = SignatureVerifier(SECRET, clock=StandingClock(sandbox))

    assert (answer["ok"], answer["status"]) == (True, 200)
    assert verifier.is_valid_request(received.body, received.headers)
    assert (payload["type"], payload["user"]["id"], payload["team"]["id"]) == ("block_actions", "U0BEN", "T0TEAM")
    assert payload["container"] == {"type": "message", "message_ts": ts, "channel_id": CHANNEL, "is_ephemeral": False}
    assert (action["action_id"], action["block_id"], action["value"], action["type"]) == ("ack", "row", "i_1", "button")
    assert payload["message"]["ts"] == ts


@pytest.mark.parametrize("tamper", ["signature", "timestamp"])
def test_a_tampered_request_does_not_verify(sandbox: Sandbox, tamper: str) -> None:
    ts = root_with(sandbox, button("ack"))
    sandbox.people.click(user="U0BEN", channel=CHANNEL, ts=ts, action_id="ack", tamper=tamper)
    (received,) = sandbox.app.received
    verifier = SignatureVerifier(SECRET, clock=StandingClock(sandbox))

    assert not verifier.is_valid_request(received.body, received.headers)


def test_a_repeated_request_comes_twice_word_for_word(sandbox: Sandbox) -> None:
    ts = root_with(sandbox, button("ack"))
    sandbox.people.click(user="U0BEN", channel=CHANNEL, ts=ts, action_id="ack", tamper="repeat")
    first, second = sandbox.app.received

    assert first.body == second.body
    assert second.headers["x-slack-retry-num"] == "1"


def test_a_person_uses_only_what_is_there_for_them(sandbox: Sandbox) -> None:
    ts = root_with(sandbox, button("ack"), button("approve", visible_to_user_ids=["U0ANA"]))
    sandbox.people.change_people(users=[{"id": "U0GONE", "name": "gone", "deleted": True}])
    for wish in (
        {"user": "U0ANA", "action_id": "nothing"},
        {"user": "U0BEN", "action_id": "approve"},
        {"user": "U0GONE", "action_id": "ack"},
        {"user": "U0ANA", "action_id": "ack", "value": "other"},
    ):
        with pytest.raises(ActRefused):
            sandbox.people.click(channel=CHANNEL, ts=ts, **wish)

    assert sandbox.app.received == []


def test_two_buttons_with_one_action_are_told_apart_by_block_or_value(sandbox: Sandbox) -> None:
    rows = [{"type": "actions", "block_id": each, "elements": [button("open", value=each)]} for each in ("a", "b")]
    ts = sandbox.web.chat_postMessage(channel=CHANNEL, text="x", blocks=rows)["ts"]
    with pytest.raises(ActRefused, match="ambiguous"):
        sandbox.people.click(user="U0ANA", channel=CHANNEL, ts=ts, action_id="open")
    sandbox.people.click(user="U0ANA", channel=CHANNEL, ts=ts, action_id="open", block_id="b")
    sandbox.people.click(user="U0ANA", channel=CHANNEL, ts=ts, action_id="open", value="a")

    assert [payload_of(each)["actions"][0]["value"] for each in sandbox.app.received] == ["b", "a"]


def test_a_command_is_answered_to_one_person_or_to_all(sandbox: Sandbox) -> None:
    answers(sandbox, {"text": "fine"})
    sandbox.people.command(user="U0MARIA", channel=CHANNEL, command="/job-health", text="finance")
    form = {key: values[0] for key, values in parse_qs(sandbox.app.received[-1].body.decode()).items()}
    answers(sandbox, {"text": "all fine", "response_type": "in_channel"})
    sandbox.people.command(user="U0MARIA", channel=CHANNEL, command="/job-health")

    assert (form["command"], form["text"], form["user_id"]) == ("/job-health", "finance", "U0MARIA")
    assert [each["text"] for each in sandbox.people.ephemerals("U0MARIA")] == ["fine"]
    assert [each["text"] for each in sandbox.people.messages(CHANNEL)] == ["all fine"]


def test_a_response_url_works_five_times_for_thirty_minutes(sandbox: Sandbox) -> None:
    ts = root_with(sandbox, button("ack"))
    sandbox.people.click(user="U0SAM", channel=CHANNEL, ts=ts, action_id="ack")
    url = payload_of(sandbox.app.received[-1])["response_url"]
    bad = httpx.post(url, json={"text": "", "blocks": []})
    codes = [httpx.post(url, json={"text": f"note {each}"}).status_code for each in range(4)]
    replaced = httpx.post(url, json={"text": "settled", "replace_original": True})
    sixth = httpx.post(url, json={"text": "again"})

    assert (bad.status_code, codes, replaced.status_code) == (404, [200] * 4, 200)
    assert sixth.json()["error"] == "used_url"
    assert [each["text"] for each in sandbox.people.ephemerals("U0SAM")] == [f"note {each}" for each in range(4)]
    assert [(each["ts"], each["text"]) for each in sandbox.people.messages(CHANNEL)] == [(ts, "settled")]


def test_a_response_url_expires(sandbox: Sandbox) -> None:
    ts = root_with(sandbox, button("ack"))
    sandbox.people.click(user="U0SAM", channel=CHANNEL, ts=ts, action_id="ack")
    sandbox.clock.forward(timedelta(minutes=30))

    answer = httpx.post(payload_of(sandbox.app.received[-1])["response_url"], json={"text": "late"})

    assert answer.json()["error"] == "expired_url"


def test_an_app_that_does_not_know_a_request_is_told_so(sandbox: Sandbox) -> None:
    ts = root_with(sandbox, button("ack"))
    sandbox.app.answer = lambda received: PlainTextResponse("Not found", status_code=404)

    answer = sandbox.people.click(user="U0SAM", channel=CHANNEL, ts=ts, action_id="ack")

    assert (answer["ok"], answer["status"], answer["body"]) == (False, 404, "Not found")


@pytest.fixture
def bolt(sandbox: Sandbox) -> Bolt:
    """A real Bolt app behind the callback address; it reads the true clock, so the workspace does."""
    sandbox.clock.now = datetime.now(UTC)
    listening = Bolt(client=sandbox.web, signing_secret=SECRET, token_verification_enabled=False)

    def answer(received: Received) -> Response:
        headers: dict[str, str | Sequence[str]] = {**received.headers}
        got = listening.dispatch(BoltRequest(body=received.body.decode(), headers=headers))
        return Response(got.body, status_code=got.status, headers=got.first_headers_without_set_cookie())

    sandbox.app.answer = answer
    return listening


def test_bolt_understands_a_click_a_modal_and_home(sandbox: Sandbox, bolt: Bolt) -> None:
    seen: list[str] = []

    @bolt.action("fix")
    def on_fix(ack: Callable[..., None], body: Json, client: Any) -> None:
        ack()
        client.views_open(trigger_id=body["trigger_id"], view=modal(DONE))

    @bolt.view("fixed")
    def on_fixed(ack: Callable[..., None], view: Json) -> None:
        seen.append(view["state"]["values"]["done"]["v"]["value"])
        ack(response_action="errors", errors={"done": "Say more."}) if len(seen) == 1 else ack()

    @bolt.event("app_home_opened")
    def on_home(event: Json, client: Any) -> None:
        client.views_publish(user_id=event["user"], view={"type": "home", "blocks": [{"type": "divider"}]})

    ts = root_with(sandbox, button("fix"))
    clicked = sandbox.people.click(user="U0ANA", channel=CHANNEL, ts=ts, action_id="fix")
    sandbox.people.wait_for(lambda: sandbox.people.view_of("U0ANA"))
    first = sandbox.people.submit(user="U0ANA", values={"done": "x"})
    second = sandbox.people.submit(user="U0ANA", values={"done": "xyz"})
    home = sandbox.people.open_home(user="U0ANA")
    sandbox.people.wait_for(lambda: sandbox.people.home_of("U0ANA"))
    forged = sandbox.people.click(user="U0ANA", channel=CHANNEL, ts=ts, action_id="fix", tamper="signature")

    assert (clicked["status"], first["errors"], second["ok"]) == (200, {"done": "Say more."}, True)
    assert seen == ["x", "xyz"]
    assert (home["status"], forged["status"]) == (200, 401)
    assert sandbox.web.token == TOKEN
