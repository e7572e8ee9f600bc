"""The root message: every status, within Slack's limits, with the buttons of its status."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.render.plain import plain
from bot.render.root import root
from tests.render import asked_cases, cases
from tests.render.checking import golden_message, refused

BUTTONS = {
    "open": "Acknowledge, Rerun, Fixed, More",
    "open acknowledged": "Acknowledge, Rerun, Fixed, More",
    "open backfill": "Acknowledge, Rerun all 300, Fixed, More",
    "open scheduler only reports": "Acknowledge, Fixed, More",
    "late not started": "Acknowledge, Start now, Wait until, More",
    "late not finished": "Acknowledge, Wait until, More",
    "rerunning running": "Acknowledge, Stop rerun, Fixed, More",
    "awaiting over budget": "Approve, Decline, Acknowledge, More",
    "verifying": "Not fixed, Rerun, More",
    "verifying unconfirmed": "Not fixed, Rerun to verify, Leave, More",
    "resolved recovered": "Reopen, Cause and fix",
    "resolved by hand": "Reopen, What fixed it?",
    "paused": "Resume, Change until",
    "retired": "Un-retire, Cause and fix",
    "left": "Not left, Cause and fix",
}

SNAPSHOTS = {**cases.SNAPSHOTS, **asked_cases.SNAPSHOTS}


@pytest.mark.parametrize("name", SNAPSHOTS)
def test_a_root_reads_as_its_golden_file_and_slack_takes_it(name: str) -> None:
    rendered = root(SNAPSHOTS[name])

    assert refused(rendered) == []
    golden_message(f"root {name}", rendered)


@pytest.mark.parametrize("name", BUTTONS)
def test_a_root_offers_the_buttons_of_its_status(name: str) -> None:
    rendered = root(SNAPSHOTS[name])

    labels = [button["text"]["text"] for button in rendered.blocks[-1]["elements"]]

    assert ", ".join(labels) == BUTTONS[name]


def test_the_same_snapshot_gives_the_same_bytes() -> None:
    assert repr(root(cases.snapshot())) == repr(root(replace(cases.snapshot())))


def test_an_unknown_cause_is_asked_about_before_a_rerun_counts() -> None:
    buttons = root(cases.SNAPSHOTS["open unknown cause"]).blocks[-1]["elements"]

    rerun = next(button for button in buttons if button["action_id"] == "rerun")

    assert "cause is not known" in rerun["confirm"]["text"]["text"]


def test_a_blind_rerun_of_an_older_owed_time_is_asked_about_too() -> None:
    older = cases.owed(cases.DUE - timedelta(days=1), cases.failure(cause="unknown"))
    snapshot = cases.snapshot(cases.incident(owed=(older, cases.owed())))

    rerun = next(each for each in root(snapshot).blocks[-1]["elements"] if each["action_id"] == "rerun")

    assert rerun["confirm"]["style"] == "danger"


def test_a_rerun_of_several_known_failures_is_asked_about_but_not_as_a_danger() -> None:
    older = cases.owed(cases.DUE - timedelta(days=1))
    snapshot = cases.snapshot(cases.incident(owed=(older, cases.owed())))

    rerun = next(each for each in root(snapshot).blocks[-1]["elements"] if each["action_id"] == "rerun")

    assert "It costs about 48 min of run time." in rerun["confirm"]["text"]["text"]
    assert "style" not in rerun["confirm"]


def test_a_known_cause_needs_no_second_click() -> None:
    buttons = root(cases.snapshot()).blocks[-1]["elements"]

    assert not any("confirm" in button for button in buttons)


def test_only_approve_and_decline_name_the_proposal() -> None:
    buttons = root(cases.SNAPSHOTS["awaiting over budget"]).blocks[-1]["elements"]

    assert {button["action_id"]: button["value"] for button in buttons} == {
        "approve": "12.1#2",
        "decline": "12.1#2",
        "ack": "12.1",
        "more": "12.1",
    }


def test_who_is_on_it_is_always_said() -> None:
    unresolved = [name for name, each in cases.SNAPSHOTS.items() if each.incident.status.unresolved]

    assert [name for name in unresolved if "On it:" not in plain(root(SNAPSHOTS[name]))] == []


def test_owed_times_of_one_minute_are_told_apart() -> None:
    times = [cases.DUE + timedelta(seconds=seconds) for seconds in (10, 20)]
    snapshot = cases.snapshot(cases.incident(owed=tuple(cases.owed(time) for time in times)))

    text = plain(root(snapshot))

    assert all(f"{time:%M:%S}" in text for time in times)


def test_good_runs_that_were_noted_are_not_called_failures() -> None:
    fixed = cases.SNAPSHOTS["resolved recovered"]
    snapshot = replace(fixed, incident=replace(fixed.incident, noted=2))

    assert "noted" not in plain(root(snapshot))
