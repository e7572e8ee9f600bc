"""Messages in richer blocks: sent first, in classic blocks at once where they are refused, and the refusal is remembered."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from bot.delivery.richer import RicherChat
from bot.ports import ChatFile, ChatMessage, SendFailed
from tests.world.people import LOST_COLUMN
from tests.world.world import World

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
PLAIN, RICH = {"type": "header"}, {"type": "plan"}
BOTH = ChatMessage(key="k", text="t", blocks=(PLAIN,), richer=(RICH,))
PLAN = "task_card"


@dataclass
class Workspace:
    """Takes what it is sent, unless it refuses blocks of that type."""

    refuses: Callable[[ChatMessage], SendFailed | None] = lambda message: None
    sent: list[ChatMessage] = field(default_factory=list)

    def post(self, *, channel: str, message: ChatMessage) -> str:
        self.sent.append(message)
        if refusal := self.refuses(message):
            raise refusal
        return "1.0"

    def update(self, *, channel: str, ts: str, message: ChatMessage) -> None:
        self.post(channel=channel, message=message)

    def upload(self, *, channel: str, thread_ts: str, file: ChatFile) -> str:
        return "F1"

    def find(self, *, channel: str, key: str, thread_ts: str | None, since: datetime) -> str | None:
        return None

    def find_file(self, *, channel: str, name: str, thread_ts: str, since: datetime) -> str | None:
        return None

    def open_direct(self, *, user: str) -> str:
        return "D1"


class Clock:
    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


def refusing(code: str, *, uncertain: bool = False) -> Callable[[ChatMessage], SendFailed | None]:
    def refuses(message: ChatMessage) -> SendFailed | None:
        return SendFailed(code, permanent=not uncertain, uncertain=uncertain) if RICH in message.blocks else None

    return refuses


def test_the_richer_form_is_sent_where_the_workspace_takes_it() -> None:
    workspace = Workspace()
    chat = RicherChat(chat=workspace, clock=Clock())

    assert chat.post(channel="C1", message=BOTH) == "1.0"
    chat.update(channel="C1", ts="1.0", message=BOTH)

    assert workspace.sent == [replace(BOTH, blocks=(RICH,), richer=())] * 2


@pytest.mark.parametrize("code", ["invalid_blocks", "invalid_blocks_format"])
def test_where_it_is_refused_the_classic_form_follows_at_once_and_for_a_day_comes_alone(code: str) -> None:
    workspace, clock = Workspace(refuses=refusing(code)), Clock()
    chat = RicherChat(chat=workspace, clock=clock)
    classic = replace(BOTH, richer=())

    assert chat.post(channel="C1", message=BOTH) == "1.0"
    assert workspace.sent[-1] == classic
    clock.now += timedelta(hours=23)
    chat.update(channel="C1", ts="1.0", message=BOTH)
    assert workspace.sent[2:] == [classic]

    clock.now += timedelta(hours=2)
    chat.post(channel="C1", message=BOTH)
    assert [message.blocks for message in workspace.sent[3:]] == [(RICH,), (PLAIN,)]


def test_a_message_that_was_only_too_long_says_nothing_of_the_next() -> None:
    workspace = Workspace(refuses=refusing("msg_blocks_too_long"))
    chat = RicherChat(chat=workspace, clock=Clock())

    chat.post(channel="C1", message=BOTH)
    workspace.refuses = lambda message: None
    chat.post(channel="C1", message=BOTH)

    assert [message.blocks for message in workspace.sent] == [(RICH,), (PLAIN,), (RICH,)]


@pytest.mark.parametrize(("code", "uncertain"), [("internal_error", True), ("channel_not_found", False)])
def test_whatever_else_goes_wrong_is_not_sent_twice(code: str, uncertain: bool) -> None:
    workspace = Workspace(refuses=refusing(code, uncertain=uncertain))
    chat = RicherChat(chat=workspace, clock=Clock())

    with pytest.raises(SendFailed, match=code):
        chat.post(channel="C1", message=BOTH)

    assert len(workspace.sent) == 1


def test_a_workspace_that_refuses_both_forms_is_not_remembered_as_classic() -> None:
    workspace = Workspace(refuses=lambda message: SendFailed("invalid_blocks", permanent=True))
    chat = RicherChat(chat=workspace, clock=Clock())

    for _ in range(2):
        with pytest.raises(SendFailed, match="invalid_blocks"):
            chat.post(channel="C1", message=BOTH)

    assert len(workspace.sent) == 4


def test_a_message_without_a_richer_form_costs_one_call() -> None:
    workspace = Workspace(refuses=refusing("invalid_blocks"))

    RicherChat(chat=workspace, clock=Clock()).post(channel="C1", message=replace(BOTH, richer=()))

    assert len(workspace.sent) == 1


def test_the_root_shows_its_stages_and_the_evidence_is_folded(world: World) -> None:
    world.fails("orders", at="03:12", log=LOST_COLUMN)

    kinds = [block["type"] for block in world.root("orders")["blocks"]]

    assert kinds[:2] == ["header", "plan"]
    world.clicks("ana", "Acknowledge", "orders")
    (plan,) = [block for block in world.root("orders")["blocks"] if block["type"] == "plan"]
    assert {task["task_id"]: task["status"] for task in plan["tasks"]}["acknowledged"] == "complete"


def test_in_a_workspace_without_them_everything_is_there_in_classic_blocks_within_the_same_delivery(
    world: World,
) -> None:
    world.stage.slack.inject("*", error="invalid_blocks", contains=PLAN, count=None)
    world.fails("orders", at="03:12", log=LOST_COLUMN)

    assert [block["type"] for block in world.root("orders")["blocks"]][:2] == ["header", "rich_text"]
    assert len(world.channel("finance")) == 1
    assert [mention.who for mention in world.mentions()] == ["finance-oncall"]
    assert world.clicks("ana", "Acknowledge", "orders").text == ""
    assert "On it: ana" in world.text_of(world.root("orders"))
    (fault,) = httpx.get(f"{world.stage.slack_url}/control/faults").json()["faults"]
    assert fault["met"] == 1
