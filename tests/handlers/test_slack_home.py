"""The Home tab at the door: published when it is opened, and shown anew after what was done from it."""

from typing import Any

from bot.incidents.effects import Told, ToldKind
from bot.incidents.events import Acknowledged, CauseMarked, FixDeclared
from bot.incidents.model import Status
from bot.render.home import Home, Seen
from bot.sandbox.slack.blocks import check_view
from tests.handlers.doubles import NOON, Reading, Recorder, Workspace
from tests.handlers.server import Served
from tests.handlers.slack_side import chosen, click, happen, interact, occurrence, submit, words

VIEW = {"id": "VHOME", "type": "home", "callback_id": "", "private_metadata": "", "hash": "h1"}


def opened(slack: Served, *, tab: str = "home") -> Any:
    event = {"type": "app_home_opened", "user": "U0ANA", "tab": tab}
    return happen(slack, {"type": "event_callback", "team_id": "T1", "event": event})


def click_in_home(action_id: str, *, value: str = "7.1") -> dict[str, Any]:
    made = click(action_id, value=value)
    del made["channel"], made["message"]
    return {**made, "container": {"type": "view", "view_id": "VHOME"}, "view": VIEW}


def test_it_is_published_when_it_is_opened(slack: Served, workspace: Workspace) -> None:
    assert opened(slack).status_code == 200

    ((what, said),) = workspace.heard()
    assert (what, said["user"]) == ("publish_home", "U0ANA")
    assert check_view(said["view"]) == []


def test_another_tab_publishes_nothing(slack: Served, workspace: Workspace) -> None:
    opened(slack, tab="messages")

    assert workspace.heard() == []


def test_with_the_database_down_it_says_so(slack: Served, reads: Reading, workspace: Workspace) -> None:
    reads.down = True
    opened(slack)

    ((_, said),) = workspace.heard()
    assert "cannot be reached" in str(said["view"])
    assert check_view(said["view"]) == []


def test_a_click_in_it_is_taken_in_and_it_is_shown_anew(
    slack: Served, reads: Reading, intake: Recorder, workspace: Workspace
) -> None:
    reads.snapshots[7, 1] = occurrence()
    intake.told = Told(kind=ToldKind.DONE, reason="done")
    interact(slack, click_in_home("ack"))

    (taken,) = intake.taken
    assert isinstance(taken.event, Acknowledged)
    assert [what for what, _ in workspace.heard()] == ["publish_home"]


def test_a_refusal_is_told_in_a_modal_over_it(
    slack: Served, reads: Reading, intake: Recorder, workspace: Workspace
) -> None:
    reads.snapshots[7, 1] = occurrence()
    intake.told = Told(kind=ToldKind.NOT_YOURS, reason="only the owning team decides")
    interact(slack, click_in_home("ack"))

    heard = dict(workspace.heard())
    assert set(heard) == {"open_view", "publish_home"}
    assert heard["open_view"]["trigger_id"] == "123.456.abc"
    assert check_view(heard["open_view"]["view"]) == []


def test_a_modal_from_it_shows_it_anew_when_it_is_sent(
    slack: Served, reads: Reading, intake: Recorder, workspace: Workspace
) -> None:
    reads.snapshots[7, 1] = occurrence()
    intake.told = Told(kind=ToldKind.DONE, reason="done")
    interact(slack, click_in_home("fixed"))
    values = {"what": words("a new index"), "cause": chosen("unknown"), "cause_other": words(None), "link": words(None)}
    sent = interact(slack, submit("modal_fixed", values, metadata="7.1@home"))

    assert sent.status_code == 200
    assert isinstance(intake.taken[-1].event, FixDeclared)
    heard = workspace.heard()
    assert [what for what, _ in heard] == ["open_view", "publish_home"]
    assert heard[0][1]["view"]["private_metadata"] == "7.1@home"


def test_more_leads_on_inside_its_modal_and_shows_it_anew_in_the_end(
    slack: Served, reads: Reading, intake: Recorder, workspace: Workspace
) -> None:
    reads.snapshots[7, 1] = occurrence()
    intake.told = Told(kind=ToldKind.DONE, reason="done")
    interact(slack, click_in_home("more"))
    made = click_in_home("release")
    made["view"] = {**VIEW, "id": "V1", "type": "modal", "callback_id": "modal_more", "private_metadata": "7.1@home"}
    interact(slack, made)

    heard = workspace.heard()
    assert sorted(what for what, _ in heard) == ["open_view", "publish_home", "update_view"]
    assert heard[0][1]["view"]["private_metadata"] == "7.1@home"


def test_a_button_of_a_settled_record_says_so_and_goes(slack: Served, reads: Reading, workspace: Workspace) -> None:
    reads.snapshots[7, 1] = occurrence(status=Status.RESOLVED)
    interact(slack, click_in_home("pause"))

    assert {what for what, _ in workspace.heard()} == {"open_view", "publish_home"}


def test_a_click_in_a_thread_shows_no_home_tab(
    slack: Served, reads: Reading, intake: Recorder, workspace: Workspace
) -> None:
    reads.snapshots[7, 1] = occurrence()
    intake.told = Told(kind=ToldKind.DONE, reason="done")
    interact(slack, click("ack"))

    assert workspace.heard() == []


def test_a_word_on_a_teams_marks_is_one_event_a_job(
    slack: Served, reads: Reading, intake: Recorder, workspace: Workspace
) -> None:
    reads.marked["finance", "network.reset"] = ((7, 1), (9, 2))
    interact(slack, click_in_home("revoke_marks", value="finance/network.reset"))
    interact(slack, click_in_home("confirm_marks", value="finance/network.reset"))

    events = [(inbound.occurrence, inbound.event) for inbound in intake.taken]
    assert [name for name, _ in events] == [(7, 1), (9, 2)] * 2
    assert [event.safe for _, event in events if isinstance(event, CauseMarked)] == [False, False, True, True]
    assert [what for what, _ in workspace.heard()] == ["publish_home"] * 2


def test_marks_that_are_gone_are_told_of(slack: Served, intake: Recorder, workspace: Workspace) -> None:
    interact(slack, click_in_home("revoke_marks", value="finance/network.reset"))

    assert intake.taken == []
    assert {what for what, _ in workspace.heard()} == {"open_view", "publish_home"}


def test_a_tampered_value_is_refused(slack: Served, intake: Recorder) -> None:
    assert interact(slack, click_in_home("revoke_marks", value="finance")).status_code == 400
    assert interact(slack, click_in_home("ack", value="7.1@homes")).status_code == 400
    assert intake.taken == []


def test_who_has_no_team_gets_no_button(slack: Served, reads: Reading, workspace: Workspace) -> None:
    reads.home = Home(seen=Seen.NOBODY, at=NOON)
    opened(slack)

    ((_, said),) = workspace.heard()
    assert "'button'" not in str(said["view"])
