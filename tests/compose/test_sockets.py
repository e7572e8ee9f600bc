"""A process without a public address: it connects to the workspace by itself, again when cut off, and ends cleanly."""

import signal
from datetime import timedelta

from tests.compose.conftest import Company, Meet
from tests.world.people import CHANNELS, PEOPLE
from tests.world.seen import buttons

APART = timedelta(seconds=10)


def acknowledges(company: Company, person: str) -> None:
    """Click Acknowledge on the root, and see it taken."""
    root = company.sees(company.roots)[0]
    button = buttons(root)["Acknowledge"]
    answer = company.slack.click(
        user=PEOPLE[person],
        action_id=button["action_id"],
        block_id=button["block_id"],
        channel=CHANNELS["finance"],
        ts=str(root["ts"]),
    )

    assert answer["status"] == 200, answer
    company.sees(lambda: f"On it: {person}" in company.slack.text_of(company.roots()[0]))


def test_clicks_come_by_the_connection_that_the_process_opens_and_opens_again(
    company_on: Meet, sqlite_url: str
) -> None:
    company = company_on(sqlite_url)
    process = company.starts("run", SLACK_APP_TOKEN="xapp-sandbox", SLACK_SIGNING_SECRET="")
    process.said("connected to Slack by Socket Mode")
    company.fails(process, "orders")
    company.sees(company.roots)
    company.slack.sockets("drop")
    company.sees(lambda: company.slack.sockets()["opened"] >= 2 and company.slack.sockets()["open"] == 1)
    acknowledges(company, "ana")

    process.tell(signal.SIGTERM)
    assert process.ends(within=APART) == 0
    assert not process.has_said("stopped in the middle")
