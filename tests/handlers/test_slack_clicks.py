"""Clicks: each button becomes its event once, is told privately what came of it, or opens its modal."""

import logging
import threading
from datetime import timedelta
from typing import Any

import pytest

from bot.incidents.effects import Told, ToldKind
from bot.incidents.events import (
    Acknowledged,
    Approved,
    CauseMarked,
    Declined,
    HandBackWanted,
    NotFixed,
    PersonEvent,
    Released,
    RerunWanted,
    StartWanted,
    StopRerunWanted,
    UndoWanted,
)
from bot.incidents.model import Status
from bot.incidents.storm_events import StormTaken, ThreadWanted
from bot.ports import SendFailed
from bot.render.actions import ActionId
from bot.sandbox.slack.blocks import check_message, check_view
from handlers.slack.actions import OPENED
from handlers.slack.buttons import SAID
from handlers.slack.home import MARKS
from tests.handlers.doubles import NOON, Clock, Reading, Recorder, Workspace
from tests.handlers.server import Served
from tests.handlers.slack_side import ANA, BY_ANA, click, click_in_modal, interact, occurrence

BEN = {"id": "U0BEN", "username": "ben"}

WORDS: list[tuple[str, str, PersonEvent]] = [
    ("ack", "7.1", Acknowledged(by=BY_ANA)),
    ("open_thread", "7.1", ThreadWanted(by=BY_ANA)),
    ("take_storm", "7.1", StormTaken(by=BY_ANA)),
    ("ack_1h", "7.1", Acknowledged(by=BY_ANA, lasts=timedelta(hours=1))),
    ("ack_4h", "7.1", Acknowledged(by=BY_ANA, lasts=timedelta(hours=4))),
    ("ack_morning", "7.1", Acknowledged(by=BY_ANA, lasts=timedelta(hours=20))),
    ("take_over", "7.1", Acknowledged(by=BY_ANA, take_over=True)),
    ("release", "7.1", Released(by=BY_ANA)),
    ("rerun", "7.1", RerunWanted(by=BY_ANA)),
    ("stop_rerun", "7.1", StopRerunWanted(by=BY_ANA)),
    ("approve", "7.1#2", Approved(by=BY_ANA, proposal=2)),
    ("decline", "7.1#2", Declined(by=BY_ANA, proposal=2)),
    ("not_fixed", "7.1", NotFixed(by=BY_ANA)),
    ("start_now", "7.1", StartWanted(by=BY_ANA)),
    ("revoke_mark", "7.1", CauseMarked(by=BY_ANA, cause="network.reset", safe=False)),
    ("hand_back", "7.1", HandBackWanted(by=BY_ANA)),
    ("resume", "7.1", UndoWanted(by=BY_ANA)),
    ("unretire", "7.1", UndoWanted(by=BY_ANA)),
    ("not_left", "7.1", UndoWanted(by=BY_ANA)),
    ("reopen", "7.1", UndoWanted(by=BY_ANA)),
]


@pytest.mark.parametrize(("action", "value", "event"), WORDS, ids=[action for action, _, _ in WORDS])
def test_a_button_becomes_its_event(
    slack: Served, intake: Recorder, reads: Reading, workspace: Workspace, action: str, value: str, event: PersonEvent
) -> None:
    reads.snapshots[7, 1] = occurrence(cause="network.reset")
    response = interact(slack, click(action, value=value))

    assert (response.status_code, response.content) == (200, b"")
    (inbound,) = intake.taken
    assert inbound.event == event
    assert inbound.occurrence == (7, 1)
    assert workspace.heard() == []


def test_every_button_is_known() -> None:
    assert {*SAID, *OPENED, *MARKS, ActionId.OPEN_RECORD, ActionId.SHARE_HEALTH} == set(ActionId)
    assert {action for action, _, _ in WORDS} == set(SAID)


def test_the_link_to_the_record_only_needs_its_ack(slack: Served, intake: Recorder) -> None:
    assert interact(slack, click("open_record", value=None)).status_code == 200
    assert intake.taken == []


@pytest.mark.parametrize(
    ("confirm", "confirmed"),
    [(None, False), ({"title": {}, "style": "danger"}, True), ({"title": {}, "style": "primary"}, False), ({}, False)],
)
def test_only_the_yes_to_the_warning_counts_as_confirmed(
    slack: Served, intake: Recorder, confirm: dict[str, Any] | None, confirmed: bool
) -> None:
    dialog: dict[str, Any] = {} if confirm is None else {"confirm": confirm}
    interact(slack, click("rerun", **dialog))

    assert intake.taken[0].event == RerunWanted(by=BY_ANA, confirmed=confirmed)


@pytest.mark.scenario(6)
def test_slack_repeats_a_click_it_is_done_once_and_the_same_is_told_again(
    slack: Served, intake: Recorder, workspace: Workspace
) -> None:
    intake.told = Told(kind=ToldKind.TAKEN, reason="taken", facts={"by": "Ben", "until": NOON.isoformat()})
    answers = [interact(slack, click("ack")).status_code for _ in range(3)]

    assert answers == [200, 200, 200]
    assert len(intake.taken) == 1
    told = workspace.heard()
    assert len(told) == 3
    assert told[0] == told[1] == told[2]


def test_a_click_that_is_made_again_is_another_click(slack: Served, intake: Recorder, clock: Clock) -> None:
    interact(slack, click("ack"))
    interact(slack, click("ack", action_ts="1796040001.9"))
    interact(slack, click("ack", user=BEN))

    assert len({inbound.key for inbound in intake.taken}) == 3


@pytest.mark.scenario(7)
def test_who_comes_second_is_told_privately_who_has_it(slack: Served, intake: Recorder, workspace: Workspace) -> None:
    intake.told = Told(kind=ToldKind.TAKEN, reason="taken", facts={"by": "Ana", "until": NOON.isoformat()})
    interact(slack, click("ack", user=BEN))

    ((what, said),) = workspace.heard()
    assert what == "ephemeral"
    assert (said["channel"], said["user"], said["thread_ts"]) == ("C1", "U0BEN", None)
    assert "On it: Ana" in said["text"]


def test_a_private_answer_stands_in_the_thread_where_the_click_was(
    slack: Served, intake: Recorder, workspace: Workspace
) -> None:
    intake.told = Told(kind=ToldKind.NOT_YOURS, reason="only the owning team decides")
    payload = click("approve", value="7.1#1", user=BEN)
    payload["message"]["thread_ts"] = "1796020000.1"
    interact(slack, payload)

    ((_, said),) = workspace.heard()
    assert said["thread_ts"] == "1796020000.1"
    assert "Ana" in said["text"]


def test_a_click_on_a_private_answer_is_answered_where_that_stood(
    slack: Served, intake: Recorder, workspace: Workspace
) -> None:
    intake.told = Told(kind=ToldKind.CANNOT, reason="it runs already")
    payload = click("rerun")
    del payload["message"]
    payload["container"] |= {"thread_ts": "1796020000.1", "is_ephemeral": True}
    interact(slack, payload)

    ((_, said),) = workspace.heard()
    assert (said["channel"], said["thread_ts"]) == ("C1", "1796020000.1")


@pytest.mark.scenario(9)
@pytest.mark.parametrize("action", ["ack", "rerun"])
def test_a_button_of_an_old_occurrence_never_acts_on_the_newer_one(
    slack: Served, intake: Recorder, reads: Reading, workspace: Workspace, action: str
) -> None:
    reads.snapshots[7, 1] = occurrence(number=1, status=Status.RESOLVED, occurrences=2)
    reads.snapshots[7, 2] = occurrence(number=2, occurrences=2)
    intake.told = Told(kind=ToldKind.SETTLED, reason="it is resolved", facts={"status": "resolved", "run": "r0"})
    interact(slack, click(action, value="7.1"))

    assert [inbound.occurrence for inbound in intake.taken] == [(7, 1)]
    ((_, said),) = workspace.heard()
    assert "already resolved by run r0" in said["text"]
    assert check_message({"channel": "C1", "text": said["text"], "blocks": list(said["blocks"])}) == []
    assert "https://team.slack.com/archives/C1/p72" in str(said["blocks"])


@pytest.mark.scenario(9)
@pytest.mark.parametrize("action", sorted({*OPENED} - {ActionId.CAUSE, ActionId.CHANGE_UNTIL}))
def test_a_dialog_of_an_old_occurrence_does_not_open(
    slack: Served, intake: Recorder, reads: Reading, workspace: Workspace, action: str
) -> None:
    reads.snapshots[7, 1] = occurrence(number=1, status=Status.RESOLVED, occurrences=2)
    interact(slack, click(action, value="7.1"))

    ((what, said),) = workspace.heard()
    assert what == "ephemeral"
    assert "resolved" in said["text"]
    assert "https://team.slack.com/archives/C1/p72" in str(said["blocks"])
    assert intake.taken == []


@pytest.mark.parametrize("action", sorted({*OPENED} - {ActionId.CHANGE_UNTIL}))
def test_a_button_opens_its_dialog_for_the_occurrence_that_it_names(
    slack: Served, intake: Recorder, reads: Reading, workspace: Workspace, action: str
) -> None:
    reads.snapshots[7, 1] = occurrence(cause="network.reset")
    response = interact(slack, click(action))

    assert response.status_code == 200
    ((what, said),) = workspace.heard()
    assert what == "open_view"
    assert said["trigger_id"] == "123.456.abc"
    assert said["view"]["callback_id"].removeprefix("modal_") == {"wait_until": "wait", "rerun_choose": "rerun"}.get(
        action, action
    )
    assert said["view"]["private_metadata"] == "7.1"
    assert check_view(said["view"]) == []
    assert intake.taken == []


@pytest.mark.parametrize(
    ("status", "what"), [(Status.PAUSED, "open_view"), (Status.OPEN, "ephemeral"), (Status.LEFT, "ephemeral")]
)
def test_only_a_pause_has_an_end_to_change(
    slack: Served, reads: Reading, workspace: Workspace, status: Status, what: str
) -> None:
    reads.snapshots[7, 1] = occurrence(status=status)
    interact(slack, click("change_until"))

    assert [said for said, _ in workspace.heard()] == [what]


def test_a_button_under_more_shows_its_dialog_in_place_of_more(slack: Served, workspace: Workspace) -> None:
    interact(slack, click_in_modal("pause"))

    ((what, said),) = workspace.heard()
    assert what == "update_view"
    assert said["view_id"] == "V1"
    assert said["view"]["callback_id"] == "modal_pause"


def test_a_word_said_under_more_is_answered_there(slack: Served, intake: Recorder, workspace: Workspace) -> None:
    interact(slack, click_in_modal("release"))

    assert [inbound.event for inbound in intake.taken] == [Released(by=BY_ANA)]
    ((what, said),) = workspace.heard()
    assert what == "update_view"
    assert check_view(said["view"]) == []
    assert "Done" in str(said["view"]["blocks"])


def test_when_nothing_could_be_stored_the_person_is_told_and_may_press_again(
    slack: Served, intake: Recorder, workspace: Workspace
) -> None:
    intake.down = True
    refused = interact(slack, click("ack"))
    intake.down = False
    again = interact(slack, click("ack"))

    assert (refused.status_code, again.status_code) == (503, 200)
    assert len(intake.taken) == 1
    ((_, said),) = workspace.heard()
    assert said["text"].startswith("Nothing was stored")


@pytest.mark.parametrize("payload", [click("pause"), click_in_modal("pause")], ids=["on a message", "in a modal"])
def test_when_nothing_can_be_read_the_person_is_told(
    slack: Served, reads: Reading, workspace: Workspace, payload: dict[str, Any]
) -> None:
    reads.down = True

    assert interact(slack, payload).status_code == 503
    ((_, said),) = workspace.heard()
    assert "Nothing was stored" in str(said)


def test_what_nobody_foresaw_is_a_503_with_its_id(
    slack: Served, intake: Recorder, caplog: pytest.LogCaptureFixture
) -> None:
    intake.raises = RuntimeError("the secret reason")
    with caplog.at_level(logging.ERROR, logger="handlers.http"):
        response = interact(slack, click("ack"))

    assert response.status_code == 503
    (record,) = [record for record in caplog.records if record.name == "handlers.http"]
    assert record.__dict__["error_id"] in response.json()["error"]["message"]


def test_a_slow_workspace_does_not_hold_up_the_ack(slack: Served, intake: Recorder, workspace: Workspace) -> None:
    workspace.holds = threading.Event()
    intake.told = Told(kind=ToldKind.NOT_YOURS, reason="only the owning team decides")
    response = interact(slack, click("ack"))
    said_before = list(workspace.said)
    workspace.holds.set()

    assert response.status_code == 200
    assert said_before == []
    assert len(workspace.heard()) == 1


def test_a_private_answer_that_fails_is_logged_and_not_sent_again(
    slack: Served, intake: Recorder, workspace: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    workspace.fails = SendFailed("channel_not_found", permanent=True)
    intake.told = Told(kind=ToldKind.NOT_YOURS, reason="only the owning team decides")
    with caplog.at_level(logging.WARNING, logger="handlers.slack.answers"):
        response = interact(slack, click("ack"))
        workspace.heard()

    assert response.status_code == 200
    (record,) = caplog.records
    assert (record.__dict__["answer"], record.__dict__["code"]) == ("ephemeral", "channel_not_found")


def test_an_old_payload_without_a_name_names_the_user(slack: Served, intake: Recorder) -> None:
    interact(slack, click("ack", user={"id": ANA["id"]}))

    event = intake.taken[0].event
    assert isinstance(event, Acknowledged)
    assert str(event.by.person) == "U0ANA"
