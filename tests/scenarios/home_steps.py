"""What people see and do in their Home tab. It looks at the workspace only."""

import json
from typing import Any

import httpx

from bot.sandbox.slack.blocks import check_view
from bot.sandbox.slack.callbacks import signature
from tests.world.people import PEOPLE, SECRET
from tests.world.seen import Told
from tests.world.world import World

Json = dict[str, Any]


def opens_home(world: World, person: str) -> str:
    """The person opens the app's Home tab and reads it."""
    answer = world.stage.slack.open_home(user=PEOPLE[person])
    assert answer["status"] == 200, answer
    return home_of(world, person)


def opens_home_late(world: World, person: str) -> str:
    """Slack tells of an opened Home tab whatever has become of the person meanwhile."""
    event = {"type": "app_home_opened", "user": PEOPLE[person], "tab": "home"}
    body = json.dumps({"type": "event_callback", "team_id": "T0TEAM", "event": event}).encode()
    headers = {"content-type": "application/json", **signature(body, at=world.now, secret=SECRET)}
    answer = httpx.post(f"{world.stage.url}/slack/events", content=body, headers=headers)
    assert answer.status_code == 200, answer.text
    return home_of(world, person)


def home_of(world: World, person: str) -> str:
    """The page as it was published last; Slack would take it."""
    view = view_of(world, person)
    assert check_view({"type": view["type"], "blocks": view["blocks"]}) == []
    return world.text_of(view)


def view_of(world: World, person: str) -> Json:
    view = world.stage.slack.home_of(PEOPLE[person])
    assert view is not None, f"{person} has no Home tab"
    return view


def buttons_of(world: World, person: str, job: str) -> list[str]:
    """The labels of the buttons that the person has for the job's open record."""
    return [button["text"]["text"] for button in _buttons(world, person, world.incident(job).id)]


def clicks_home(world: World, person: str, label: str, about: str) -> Told:
    """Click a button in the Home tab: of the job's record, or of a team's marks (`finance/network.connection_reset`)."""
    world.clock.tick()
    value = about if "/" in about else world.incident(about).id
    found = [button for button in _buttons(world, person, value) if button["text"]["text"] == label]
    assert len(found) == 1, f"{len(found)} buttons {label} for {about}"
    answer = world.stage.slack.click(
        user=PEOPLE[person],
        action_id=found[0]["action_id"],
        block_id=found[0]["block_id"],
        view_id=view_of(world, person)["id"],
    )
    world.settles()
    return Told(text=world.screen(person), status=answer["status"])


def _buttons(world: World, person: str, value: str) -> list[Json]:
    return [
        {**button, "block_id": block["block_id"]}
        for block in view_of(world, person)["blocks"]
        if block["type"] == "actions"
        for button in block["elements"]
        if button.get("value", "").partition("#")[0] == value
    ]
