"""A share is claimed once, whoever asks first; an answer to Slack's address goes nowhere else and says how it went."""

import threading
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from bot.adapters.slack_responses import SlackResponses
from bot.health.sharing import Shares
from bot.ports import SendFailed
from storage.opening import open_storage
from tests.world.stage import Stage

NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
WORDS = [{"type": "section", "text": {"type": "plain_text", "text": "12 failures"}}]


def test_of_many_that_claim_at_once_one_wins(database_url: str) -> None:
    storage = open_storage(database_url, instance="web")
    won: list[bool] = []
    ready = threading.Barrier(6)

    def claim() -> None:
        ready.wait(10)
        won.append(Shares(storage).claim("a1b2", now=NOW))

    threads = [threading.Thread(target=claim) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    again, other = Shares(storage).claim("a1b2", now=NOW), Shares(storage).claim("c3d4", now=NOW)
    storage.close()

    assert sorted(won) == [False] * 5 + [True]
    assert (again, other) == (False, True)


@pytest.fixture
def responses(stage: Stage) -> Iterator[SlackResponses]:
    made = SlackResponses(base_url=f"{stage.slack_url}/api/", clock=stage.clock)
    yield made
    made.close()


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest",
        "https://hooks.slack.com.evil.example/x",
        "https://evilslack.com/x",
        "http://hooks.slack.com/x",
        "https://hooks.slack.com:8443/x",
        "file:///etc/passwd",
        "//x",
        "[",
        "",
    ],
)
def test_an_address_that_is_none_of_slacks_is_not_called(responses: SlackResponses, url: str) -> None:
    with pytest.raises(SendFailed, match="no_address_of_slack"):
        responses.answer(url=url, text="x", blocks=WORDS)


def test_a_refusal_is_told_by_its_name(stage: Stage, responses: SlackResponses) -> None:
    with pytest.raises(SendFailed) as failed:
        responses.answer(url=f"{stage.slack_url}/response/none", text="x", blocks=WORDS)

    assert (failed.value.code, failed.value.uncertain) == ("expired_url", False)


@pytest.mark.parametrize(
    ("fault", "code", "uncertain"),
    [
        ({"error": "invalid_blocks"}, "invalid_blocks", False),
        ({"error": "invalid_blocks", "status": 400}, "invalid_blocks", False),
        ({"status": 500}, "http_500", True),
        ({"before": "drop"}, "disconnected", True),
    ],
)
def test_every_failure_says_what_is_known_of_it(
    stage: Stage, responses: SlackResponses, fault: dict[str, object], code: str, uncertain: bool
) -> None:
    stage.slack.inject("response_url", **fault)
    with pytest.raises(SendFailed) as failed:
        responses.answer(url=f"{stage.slack_url}/response/none", text="x", blocks=WORDS)
    stage.slack.heal()

    assert (failed.value.code, failed.value.uncertain) == (code, uncertain)


def test_an_address_that_cannot_be_reached_is_certain_to_have_taken_nothing(stage: Stage) -> None:
    responses = SlackResponses(base_url="http://127.0.0.1:9/", clock=stage.clock)
    with pytest.raises(SendFailed) as failed:
        responses.answer(url="http://127.0.0.1:9/response/x", text="x", blocks=WORDS)
    responses.close()

    assert (failed.value.code, failed.value.uncertain) == ("unreachable", False)
