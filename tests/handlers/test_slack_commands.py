"""`/job-health`: which form of the answer goes where; and Slack's own questions."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pytest

from bot.health.answering import Answered
from bot.health.query import Query
from bot.ports import SendFailed
from bot.sandbox.slack.blocks import check_message
from tests.handlers.doubles import NOON, Addresses, Clock, Figures, Workspace
from tests.handlers.server import Served
from tests.handlers.slack_side import ANA, click, happen, interact, send
from tests.health import answers

ADDRESS = "https://hooks.slack.com/commands/T1/1/x"
PICTURE = "https://ontrack.example.com/job-health.png?k=1-a"
USUAL = Answered(
    query=Query(scope=answers.FINANCE.scope, period=answers.MONTH),
    answer=replace(answers.USUAL, share=None, picture_url=PICTURE),
)


def job_health(
    slack: Served, text: str = "", *, command: str = "/job-health", url: str = ADDRESS, at: datetime = NOON
) -> Any:
    fields = {
        "command": command,
        "text": text,
        "user_id": "U0ANA",
        "user_name": "ana",
        "team_id": "T1",
        "channel_id": "C1",
        "response_url": url,
    }
    return send(slack, urlencode(fields).encode(), at=at)


def kinds(blocks: Any) -> set[str]:
    return {block["type"] for block in blocks}


def shared(addresses: Addresses, slack: Served) -> Any:
    """Click the button of the newest answer."""
    (button,) = (each for each in addresses.said[-1]["blocks"] if each["type"] == "actions")
    value = button["elements"][0]["value"]
    payload = click("share_health", value=value)
    del payload["message"]
    return interact(slack, {**payload, "container": {**payload["container"], "is_ephemeral": True}, "user": ANA})


def test_help_is_the_answer_to_the_request(slack: Served, figures: Figures, addresses: Addresses) -> None:
    answer = job_health(slack, "what is this").json()

    assert answer["response_type"] == "ephemeral"
    assert "finance 30d" in str(answer["blocks"])
    assert figures.heard == [("what is this", "U0ANA")]
    assert addresses.said == []


def test_the_richer_form_goes_to_the_address_that_came_along(
    slack: Served, figures: Figures, addresses: Addresses
) -> None:
    figures.told = USUAL
    response = job_health(slack, "finance")

    assert (response.status_code, response.text) == (200, "")
    (said,) = addresses.said
    assert {"data_visualization", "data_table", "actions"} <= kinds(said["blocks"])
    assert said["url"] == ADDRESS
    assert said["text"].startswith("finance: 12 failures")
    assert not said.get("in_channel")


def test_a_workspace_that_refuses_it_gets_the_classic_form_at_once_and_then_the_picture(
    slack: Served, figures: Figures, addresses: Addresses, workspace: Workspace, clock: Clock
) -> None:
    figures.told, addresses.refuses = USUAL, "data_visualization"
    answer = job_health(slack).json()

    assert check_message({"channel": "C1", "text": answer["text"], "blocks": answer["blocks"]}) == []
    assert not {"data_visualization", "data_table"} & kinds(answer["blocks"])
    assert "finance.daily_revenue" in str(answer["blocks"])
    workspace.settle()
    assert [kinds(said["blocks"]) for said in addresses.said] == [{"image"}]
    assert addresses.said[0]["blocks"][0]["image_url"] == PICTURE


def test_what_was_refused_is_tried_again_a_day_later(
    slack: Served, figures: Figures, addresses: Addresses, clock: Clock
) -> None:
    figures.told, addresses.refuses = USUAL, "data_"
    job_health(slack)
    addresses.refuses = None

    assert job_health(slack).text != ""

    clock.move(timedelta(days=1, seconds=1))
    assert job_health(slack, at=clock.at).text == ""


@pytest.mark.parametrize("uncertain", [False, True])
def test_an_address_that_fails_leaves_nobody_without_an_answer(
    slack: Served, figures: Figures, addresses: Addresses, uncertain: bool
) -> None:
    figures.told, addresses.fails = USUAL, SendFailed("disconnected", uncertain=uncertain)

    assert "12 failures" in job_health(slack).json()["text"]
    assert "12 failures" in job_health(slack, url="").json()["text"]


def test_a_database_that_is_away_is_said(slack: Served, figures: Figures) -> None:
    figures.down = True
    response = job_health(slack)

    assert response.status_code == 200
    assert "database cannot be reached" in response.json()["text"]


def test_figures_are_shared_once_under_the_name_of_who_shares_them(
    slack: Served, figures: Figures, addresses: Addresses, workspace: Workspace
) -> None:
    figures.told = USUAL
    job_health(slack, "finance")
    assert [shared(addresses, slack).status_code, shared_again(addresses, slack)] == [200, 200]
    workspace.settle()

    public = [said for said in addresses.said if said.get("in_channel")]
    assert len(public) == 1
    assert "Shared by ana" in str(public[0]["blocks"])
    assert "actions" not in kinds(public[0]["blocks"])
    assert [said["text"] for said in addresses.said if said.get("replace")] == ["You shared this here."]
    assert any("shared already" in said["text"] for said in addresses.said)


def shared_again(addresses: Addresses, slack: Served) -> int:
    """The same button once more, while the private answer still shows it."""
    first = next(said for said in addresses.said if "actions" in kinds(said["blocks"]))
    return int(shared(Addresses(said=[first]), slack).status_code)


def test_what_slack_does_not_take_is_told_to_who_shared_it(
    slack: Served, figures: Figures, addresses: Addresses, workspace: Workspace
) -> None:
    figures.told = USUAL
    job_health(slack, "finance")
    addresses.refuses = "rich_text"
    shared(addresses, slack)
    workspace.settle()

    assert "nothing was shared" in addresses.said[-1]["text"]


@pytest.mark.parametrize("value", ["", "{}", "7.1", '{"of":1}', '{"of":"","period":"7d","vs":"","at":"x","n":"a"}'])
def test_a_button_that_is_none_of_ours_is_refused(slack: Served, value: str) -> None:
    assert interact(slack, click("share_health", value=value)).status_code == 400


def test_another_command_is_not_ours(slack: Served) -> None:
    assert job_health(slack, command="/launch").status_code == 404


def test_slack_asks_whether_the_address_is_ours(slack: Served) -> None:
    response = happen(slack, {"type": "url_verification", "challenge": "3eZbrw1a", "token": "x"})

    assert response.status_code == 200
    assert response.json() == {"challenge": "3eZbrw1a"}


def test_slack_checks_the_certificate(slack: Served) -> None:
    assert send(slack, b"ssl_check=1&token=x").status_code == 200


def test_an_event_that_nobody_asked_for_is_not_ours(slack: Served) -> None:
    assert happen(slack, {"type": "event_callback", "event": {"type": "message", "user": "U1"}}).status_code == 404
