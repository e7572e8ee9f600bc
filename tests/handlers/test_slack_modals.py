"""Submitted modals: what was filled in becomes the event, an error stands under its field, a refusal in the modal."""

from datetime import timedelta
from typing import Any

import pytest

from bot.incidents.effects import Told, ToldKind
from bot.incidents.events import (
    CauseCorrected,
    CauseMarked,
    FixDeclared,
    HandOverWanted,
    LeaveWanted,
    NotNeeded,
    OwedChoice,
    PauseWanted,
    PersonEvent,
    RerunWanted,
    RetireWanted,
    StillNeeded,
    WaitWanted,
)
from bot.incidents.model import AtEnd, Status
from bot.sandbox.slack.blocks import check_view
from handlers.slack.filled import READ
from tests.handlers.doubles import NOON, Reading, Recorder, Workspace
from tests.handlers.server import Served
from tests.handlers.slack_side import (
    BY_ANA,
    NIGHT,
    chosen,
    click,
    interact,
    moment,
    occurrence,
    several,
    submit,
    words,
)

MONDAY = NOON + timedelta(days=2)
FIRST, SECOND = NIGHT, NIGHT + timedelta(hours=1)
PAUSE = {"until": moment(MONDAY), "reason": words("migration"), "at_end": chosen("ask")}

FILLED: list[tuple[str, dict[str, Any], PersonEvent]] = [
    (
        "modal_fixed",
        {
            "what": words("new password"),
            "cause": chosen("network.reset"),
            "cause_other": words(None),
            "link": words("https://tickets.example.com/1"),
            f"owed:{FIRST.isoformat()}": chosen("rerun_now"),
            f"owed:{SECOND.isoformat()}": chosen("not_needed"),
        },
        FixDeclared(
            by=BY_ANA,
            what="new password",
            cause="network.reset",
            link="https://tickets.example.com/1",
            choices=((FIRST, OwedChoice.RERUN_NOW), (SECOND, OwedChoice.NOT_NEEDED)),
        ),
    ),
    (
        "modal_fixed",
        {
            "what": words("new password"),
            "cause": chosen("other"),
            "cause_other": words("vault"),
            "owed:all": chosen("next_run"),
        },
        FixDeclared(
            by=BY_ANA,
            what="new password",
            cause="vault",
            choices=((FIRST, OwedChoice.NEXT_RUN), (SECOND, OwedChoice.NEXT_RUN)),
        ),
    ),
    ("modal_pause", PAUSE, PauseWanted(by=BY_ANA, until=MONDAY, reason="migration", at_end=AtEnd.ASK)),
    ("modal_change_until", PAUSE, PauseWanted(by=BY_ANA, until=MONDAY, reason="migration", at_end=AtEnd.ASK)),
    ("modal_retire", {"reason": words("replaced")}, RetireWanted(by=BY_ANA, reason="replaced")),
    (
        "modal_leave",
        {"why": chosen("false_alarm"), "until": moment(MONDAY), "reason": words(None)},
        LeaveWanted(by=BY_ANA, until=MONDAY, reason="False alarm: nothing is wrong", false_alarm=True),
    ),
    ("modal_wait", {"until": moment(MONDAY)}, WaitWanted(by=BY_ANA, until=MONDAY)),
    (
        "modal_cause",
        {"cause": chosen("network.reset"), "cause_other": words(None), "note": words("switch replaced")},
        CauseCorrected(by=BY_ANA, cause="network.reset", note="switch replaced"),
    ),
    ("modal_mark_safe", {"cause": chosen("network.reset")}, CauseMarked(by=BY_ANA, cause="network.reset")),
    (
        "modal_not_needed",
        {"nominal_times": several(FIRST.isoformat()), "reason": words("empty day")},
        NotNeeded(by=BY_ANA, nominal_times=(FIRST,), reason="empty day"),
    ),
    (
        "modal_rerun",
        {"nominal_times": several(SECOND.isoformat()), "confirmed": several("yes"), "reason": words("data is there")},
        RerunWanted(by=BY_ANA, nominal_times=(SECOND,), confirmed=True, reason="data is there"),
    ),
    (
        "modal_rerun",
        {"nominal_times": several(SECOND.isoformat()), "how": chosen("fresh_start"), "reason": words(None)},
        RerunWanted(by=BY_ANA, nominal_times=(SECOND,), fresh=True),
    ),
    (
        "modal_still_needed",
        {"nominal_times": several(FIRST.isoformat())},
        StillNeeded(by=BY_ANA, nominal_times=(FIRST,)),
    ),
    (
        "modal_hand_over",
        {"team": chosen("growth"), "note": words("their export")},
        HandOverWanted(by=BY_ANA, team="growth", note="their export"),
    ),
    ("modal_hand_over", {"team": words("growth"), "note": words(None)}, HandOverWanted(by=BY_ANA, team="growth")),
]


@pytest.mark.parametrize(("modal", "values", "event"), FILLED, ids=[modal for modal, _, _ in FILLED])
def test_a_filled_modal_becomes_its_event_and_closes(
    slack: Served, intake: Recorder, workspace: Workspace, modal: str, values: dict[str, Any], event: PersonEvent
) -> None:
    response = interact(slack, submit(modal, values))

    assert (response.status_code, response.content) == (200, b"")
    (inbound,) = intake.taken
    assert inbound.event == event
    assert inbound.occurrence == (7, 1)
    assert workspace.heard() == []


def test_every_modal_that_submits_is_read() -> None:
    assert {modal for modal, _, _ in FILLED} == set(READ)


@pytest.mark.parametrize(
    ("modal", "values", "field"),
    [
        ("modal_pause", {**PAUSE, "until": moment(NOON - timedelta(hours=1))}, "until"),
        ("modal_pause", {**PAUSE, "reason": words(None)}, "reason"),
        ("modal_pause", {**PAUSE, "until": {"selected_date_time": "soon"}}, "until"),
        ("modal_pause", {**PAUSE, "at_end": chosen("explode")}, "at_end"),
        ("modal_leave", {"why": chosen("known"), "until": moment(NOON + timedelta(days=91))}, "until"),
        ("modal_fixed", {"what": words("done"), "cause": chosen("a"), "link": words("javascript:alert(1)")}, "link"),
        ("modal_retire", {"reason": words("   ")}, "reason"),
        ("modal_rerun", {"nominal_times": several("yesterday")}, "nominal_times"),
        ("modal_rerun", {"nominal_times": several(FIRST.isoformat()), "how": chosen("by magic")}, "how"),
        ("modal_still_needed", {"nominal_times": several()}, "nominal_times"),
        ("modal_hand_over", {"team": words("nobody")}, "team"),
        ("modal_hand_over", {"team": words("  ")}, "team"),
        ("modal_hand_over", {"team": chosen("finance-data")}, "team"),
        ("modal_rerun", {"nominal_times": several(), "confirmed": several("yes")}, "nominal_times"),
    ],
)
def test_what_must_be_mended_is_said_under_its_field(
    slack: Served, intake: Recorder, modal: str, values: dict[str, Any], field: str
) -> None:
    said = interact(slack, submit(modal, values)).json()

    assert said["response_action"] == "errors"
    assert set(said["errors"]) == {field}
    assert intake.taken == []


def test_what_the_core_finds_wrong_with_a_field_is_said_under_it_and_may_be_mended(
    slack: Served, intake: Recorder
) -> None:
    intake.told = Told(kind=ToldKind.INVALID, reason="at most 90 days", input="until")
    said = interact(slack, submit("modal_pause", PAUSE)).json()
    intake.told = None
    mended = interact(slack, submit("modal_pause", {**PAUSE, "until": moment(MONDAY - timedelta(days=1))}))

    assert said == {"response_action": "errors", "errors": {"until": "at most 90 days"}}
    assert mended.content == b""


@pytest.mark.scenario(6)
def test_slack_repeats_a_submission_it_is_done_once_and_the_same_is_told_again(slack: Served, intake: Recorder) -> None:
    intake.told = Told(kind=ToldKind.NOT_YOURS, reason="only the owning team decides")
    answers = [interact(slack, submit("modal_pause", PAUSE)) for _ in range(3)]

    assert len(intake.taken) == 1
    assert len({answer.content for answer in answers}) == 1


@pytest.mark.parametrize("said", [Told(kind=ToldKind.NOT_YOURS, reason="no"), Told(kind=ToldKind.INVALID, reason="no")])
def test_a_refusal_stands_in_the_modal(slack: Served, intake: Recorder, said: Told) -> None:
    intake.told = said
    answer = interact(slack, submit("modal_pause", PAUSE)).json()

    assert answer["response_action"] == "update"
    assert answer["view"]["type"] == "modal"
    assert "submit" not in answer["view"]
    assert check_view(answer["view"]) == []


@pytest.mark.scenario(8)
def test_a_modal_that_was_left_open_while_the_run_went_well_is_told_so(
    slack: Served, intake: Recorder, reads: Reading
) -> None:
    reads.snapshots[7, 1] = occurrence(status=Status.RESOLVED)
    intake.told = Told(kind=ToldKind.SETTLED, reason="it is resolved", facts={"status": "resolved", "run": "r0"})
    answer = interact(slack, submit("modal_pause", PAUSE)).json()

    assert "already resolved by run r0" in str(answer["view"]["blocks"])
    assert "https://team.slack.com/archives/C1/p71" in str(answer["view"]["blocks"])


def test_when_nothing_could_be_stored_the_modal_stays_open(slack: Served, intake: Recorder) -> None:
    intake.down = True
    refused = interact(slack, submit("modal_pause", PAUSE))
    intake.down = False
    again = interact(slack, submit("modal_pause", PAUSE))

    assert (refused.status_code, again.status_code, again.content) == (503, 200, b"")


def test_a_closed_modal_only_needs_its_ack(slack: Served, intake: Recorder) -> None:
    assert interact(slack, {**submit("modal_pause", PAUSE), "type": "view_closed"}).status_code == 200
    assert intake.taken == []


def test_what_a_dialog_offers_at_first_can_be_submitted(slack: Served, intake: Recorder, workspace: Workspace) -> None:
    interact(slack, click("pause"))
    ((_, opened),) = workspace.heard()
    inputs = {block["block_id"]: block["element"] for block in opened["view"]["blocks"] if block["type"] == "input"}
    response = interact(
        slack,
        submit(
            "modal_pause",
            {
                "until": {"selected_date_time": inputs["until"]["initial_date_time"]},
                "reason": words("migration"),
                "at_end": {"selected_option": inputs["at_end"]["initial_option"]},
            },
        ),
    )

    assert response.content == b""
    event = intake.taken[0].event
    assert isinstance(event, PauseWanted)
    assert event.until > NOON
