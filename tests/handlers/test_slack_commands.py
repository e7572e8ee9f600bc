"""`/job-health`, and Slack's own questions."""

from typing import Any
from urllib.parse import urlencode

import pytest

from bot.incidents.keys import JobKey
from bot.incidents.model import Status
from bot.sandbox.slack.blocks import check_message
from tests.handlers.doubles import Open, Reading
from tests.handlers.server import Served
from tests.handlers.slack_side import happen, send

NIGHTLY = Open(job=JobKey(scheduler="cron", name="nightly"), url="https://team.slack.com/archives/C1/p1")
HOSTILE = Open(
    job=JobKey(scheduler="cron", name="<!channel> *job* " + "x" * 500),
    status=Status.AWAITING_APPROVAL,
    on_it="<@U0ANA>\u202e",
)


def job_health(slack: Served, command: str = "/job-health") -> Any:
    fields = {
        "command": command,
        "text": "",
        "user_id": "U0ANA",
        "user_name": "ana",
        "team_id": "T1",
        "channel_id": "C1",
    }
    return send(slack, urlencode(fields).encode())


def test_job_health_lists_what_is_open_and_who_is_on_it(slack: Served, reads: Reading) -> None:
    reads.records = (NIGHTLY, HOSTILE)
    answer = job_health(slack).json()

    assert answer["response_type"] == "ephemeral"
    assert answer["text"] == "2 jobs are open, 1 of them with nobody on it."
    assert "cron/nightly" in str(answer["blocks"])
    assert str(NIGHTLY.url) in str(answer["blocks"])
    assert "awaiting approval" in str(answer["blocks"])


def test_with_nothing_open_it_says_so(slack: Served) -> None:
    assert job_health(slack).json()["text"].startswith("Nothing is open")


@pytest.mark.scenario(25)
@pytest.mark.parametrize("count", [1, 20, 21, 300])
def test_the_list_stays_within_what_slack_shows_and_pings_nobody(slack: Served, reads: Reading, count: int) -> None:
    reads.records = (HOSTILE,) * count
    answer = job_health(slack).json()
    assert check_message({"channel": "C1", "text": answer["text"], "blocks": answer["blocks"]}) == []
    assert '"mrkdwn"' not in str(answer["blocks"])
    assert (f"and {count - 20} more" in str(answer["blocks"])) == (count > 20)


def test_another_command_is_not_ours(slack: Served) -> None:
    assert job_health(slack, "/launch").status_code == 404


def test_slack_asks_whether_the_address_is_ours(slack: Served) -> None:
    response = happen(slack, {"type": "url_verification", "challenge": "3eZbrw1a", "token": "x"})

    assert response.status_code == 200
    assert response.json() == {"challenge": "3eZbrw1a"}


def test_slack_checks_the_certificate(slack: Served) -> None:
    assert send(slack, b"ssl_check=1&token=x").status_code == 200


def test_an_event_that_nobody_asked_for_is_not_ours(slack: Served) -> None:
    assert happen(slack, {"type": "event_callback", "event": {"type": "message", "user": "U1"}}).status_code == 404
