"""What the tests of people have them do, and the payloads that come of it."""

import json
from typing import Any
from urllib.parse import parse_qs

from starlette.responses import JSONResponse, Response

from tests.sandbox.conftest import Received, Sandbox

Json = dict[str, Any]
CHANNEL = "C0DATA"


def plain(words: str) -> Json:
    return {"type": "plain_text", "text": words}


def button(action_id: str, **changes: Any) -> Json:
    return {"type": "button", "action_id": action_id, "text": plain(action_id), "value": "i_1", **changes}


def field(block_id: str, element: Json, **changes: Any) -> Json:
    element = {"action_id": "v", **element}
    return {"type": "input", "block_id": block_id, "label": plain(block_id), "element": element, **changes}


def modal(*blocks: Json, **changes: Any) -> Json:
    return {
        "type": "modal",
        "callback_id": "fixed",
        "title": plain("Fixed"),
        "submit": plain("Save"),
        "blocks": list(blocks),
        **changes,
    }


DONE = field("done", {"type": "plain_text_input"})


def root_with(sandbox: Sandbox, *elements: Json) -> str:
    blocks = [{"type": "actions", "block_id": "row", "elements": list(elements)}]
    return str(sandbox.web.chat_postMessage(channel=CHANNEL, text="x", blocks=blocks)["ts"])


def payload_of(received: Received) -> Json:
    decoded: Json = json.loads(parse_qs(received.body.decode())["payload"][0])
    return decoded


def answers(sandbox: Sandbox, body: Json | None) -> None:
    sandbox.app.answer = lambda received: Response() if body is None else JSONResponse(body)


def opened(sandbox: Sandbox, view: Json, user: str = "U0ANA") -> Json:
    """A modal on this person's screen, opened with the trigger of a click."""
    ts = root_with(sandbox, button("open"))
    sandbox.people.click(user=user, channel=CHANNEL, ts=ts, action_id="open")
    answer = sandbox.web.views_open(trigger_id=payload_of(sandbox.app.received[-1])["trigger_id"], view=view)
    shown: Json = answer["view"]
    return shown
