"""What must not get in at the Slack door: each is refused with its own code and counted, and in the database nothing changes."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest

from bot.store import EffectState, Which
from handlers.slack.app import CAP, PATH
from tests.handlers.doubles import NOON, Clock, Workspace
from tests.handlers.events import failed
from tests.handlers.road import OURS, TOKEN, Road, road
from tests.handlers.server import Host, Served
from tests.handlers.slack_side import ANA, FORM, click, interact, send, signature, submit, words

STRANGER = {"id": "U0EVE", "name": "eve", "team_id": "T0ELSEWHERE"}
JSON = "application/json"


@dataclass(frozen=True, kw_only=True)
class Bad:
    """A request, the code of its refusal, and the word under which it is counted."""

    what: str
    send: Callable[[Served], httpx.Response]
    status: int
    reason: str


def ack(user: dict[str, Any] = ANA) -> dict[str, Any]:
    return click("ack", value="1.1", user=user)


def formed(payload: Any) -> bytes:
    return urlencode({"payload": json.dumps(payload)}).encode()


def replayed_later(slack: Served) -> httpx.Response:
    return send(slack, formed(ack()), at=NOON - timedelta(minutes=6))


def tampered_after_signing(slack: Served) -> httpx.Response:
    stamp = str(int(NOON.timestamp()))
    signed = formed(ack())
    headers = {
        "Content-Type": FORM,
        "X-Slack-Request-Timestamp": stamp,
        "X-Slack-Signature": signature(signed, stamp),
    }
    return slack.client.post(PATH, content=signed.replace(b"1.1", b"1.2", 1), headers=headers)


CASES = (
    Bad(what="a stranger's click", send=lambda slack: interact(slack, ack(STRANGER)), status=403, reason="stranger"),
    Bad(
        what="a stranger's form",
        send=lambda slack: interact(
            slack,
            {**submit("modal_leave", {"reason": {"reason": words("ours now")}}, metadata="1.1"), "user": STRANGER},
        ),
        status=403,
        reason="stranger",
    ),
    Bad(
        what="a stranger's command",
        send=lambda slack: send(
            slack, urlencode({"command": "/job-health", "user_id": "U0EVE", "team_id": "T0ELSEWHERE"}).encode()
        ),
        status=403,
        reason="stranger",
    ),
    Bad(what="a request replayed later", send=replayed_later, status=401, reason="signature"),
    Bad(what="a body changed after signing", send=tampered_after_signing, status=401, reason="signature"),
    Bad(
        what="a tampered value",
        send=lambda slack: interact(slack, click("ack", value="1.1 OR 1=1")),
        status=400,
        reason="malformed",
    ),
    Bad(
        what="a value of an occurrence that is not there",
        send=lambda slack: interact(slack, click("ack", value="1.2")),
        status=404,
        reason="unknown_occurrence",
    ),
    Bad(what="an oversized body", send=lambda slack: send(slack, b"x" * (CAP + 1)), status=413, reason="too_large"),
    Bad(
        what="bad JSON",
        send=lambda slack: send(slack, b'{"type": "event_callback"', content_type=JSON),
        status=400,
        reason="malformed",
    ),
    Bad(what="bad JSON in a form", send=lambda slack: send(slack, b"payload=%7B"), status=400, reason="malformed"),
    Bad(
        what="bad UTF-8",
        send=lambda slack: send(slack, b'{"type": "\xff"}', content_type=JSON),
        status=400,
        reason="malformed",
    ),
    Bad(what="bad UTF-8 in a form", send=lambda slack: send(slack, b"payload=%ff"), status=400, reason="malformed"),
)


@pytest.fixture
def way(tmp_path: Path, clock: Clock, workspace: Workspace) -> Iterator[Road]:
    with road(tmp_path / "ontrack.db", clock, workspace) as made:
        yield made


@pytest.fixture
def slack(host: Host, way: Road) -> Iterator[Served]:
    with host.serve(way.app) as served:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        assert served.client.post("/api/v1/events", json=failed(), headers=headers).status_code == 200
        yield served


def everything(way: Road) -> tuple[object, ...]:
    reads = way.storage.reads
    return (
        reads.incidents(which=Which.ALL, limit=100),
        reads.timeline(record=1, number=1),
        reads.outbox(states=tuple(EffectState), limit=100),
        way.storage.next_timer_at(),
    )


def refusals(slack: Served, reason: str) -> float:
    name = f'ontrack_refusals_total{{door="slack",reason="{reason}"}} '
    found = [
        line.removeprefix(name) for line in slack.client.get("/metrics").text.splitlines() if line.startswith(name)
    ]
    return float(found[0]) if found else 0.0


@pytest.mark.parametrize("bad", CASES, ids=[case.what for case in CASES])
def test_it_is_refused_with_its_code_counted_and_changes_nothing(way: Road, slack: Served, bad: Bad) -> None:
    before, counted = everything(way), refusals(slack, bad.reason)
    answer = bad.send(slack)

    assert answer.status_code == bad.status
    assert set(answer.json()["error"]) == {"field", "message", "fix"}
    assert refusals(slack, bad.reason) == counted + 1
    assert everything(way) == before


def test_the_same_click_of_one_of_ours_is_taken(way: Road, slack: Served) -> None:
    before = everything(way)

    assert interact(slack, ack({**ANA, "team_id": OURS})).status_code == 200
    assert everything(way) != before


def test_a_request_repeated_at_once_is_answered_alike_and_done_once(way: Road, slack: Served) -> None:
    answers = [send(slack, formed(ack()))]
    before = everything(way)
    answers.append(send(slack, formed(ack())))

    assert [answer.status_code for answer in answers] == [200, 200]
    assert everything(way) == before
    assert 'ontrack_events_total{door="slack",result="duplicate"} 1.0' in slack.client.get("/metrics").text


def test_a_stranger_is_told_privately_and_hears_nothing_of_the_record(slack: Served, workspace: Workspace) -> None:
    interact(slack, ack(STRANGER))
    ((kind, call),) = workspace.heard()

    assert (kind, call["user"]) == ("ephemeral", "U0EVE")
    assert "Only people of the workspace" in call["text"]
    assert "finance" not in json.dumps(call)
