"""`POST /api/v1/events` over real HTTP: who may report, what comes back for each event, and what never harms."""

import json
import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from bot.schedulers.cloudevents_body import BATCH, PLAIN, SINGLE
from bot.sources import SourceEvent
from tests.handlers.doubles import Recorder
from tests.handlers.events import failed
from tests.handlers.server import Served

TOKEN = "token-of-airflow-1"


def report(
    events: Served, body: Any, *, token: str | bytes | None = TOKEN, content_type: str = SINGLE
) -> httpx.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers: list[tuple[bytes, bytes]] = [(b"content-type", content_type.encode())]
    if token is not None:
        headers.append((b"authorization", token if isinstance(token, bytes) else f"Bearer {token}".encode()))
    return events.client.post("/api/v1/events", content=content, headers=headers)


def results(response: httpx.Response) -> list[tuple[str, str]]:
    return [(result["id"], result["result"]) for result in response.json()["results"]]


def test_an_event_is_taken_in_under_its_key(events: Served, intake: Recorder) -> None:
    response = report(events, failed())

    assert response.status_code == 200
    assert response.json() == {"results": [{"id": "e1", "result": "accepted", "reason": None}]}
    (inbound,) = intake.taken
    assert isinstance(inbound.event, SourceEvent)
    assert inbound.key == inbound.event.key
    assert inbound.occurrence is None


@pytest.mark.scenario(1)
def test_the_same_failure_five_times_in_a_second_is_one_event_and_five_good_answers(
    events: Served, intake: Recorder
) -> None:
    def reordered(value: Any, turn: int) -> Any:
        if not isinstance(value, dict):
            return value
        names = list(value)
        turned = names[turn % 3 :] + names[: turn % 3]
        return {name: reordered(value[name], turn) for name in turned}

    with ThreadPoolExecutor(max_workers=5) as senders:
        answers = list(senders.map(lambda turn: report(events, reordered(failed(), turn)), range(5)))

    assert [answer.status_code for answer in answers] == [200] * 5
    assert sorted(result for answer in answers for _, result in results(answer)) == ["accepted", *["duplicate"] * 4]
    assert len(intake.taken) == 1


def test_each_event_of_a_batch_has_its_result_in_its_place(events: Served, intake: Recorder) -> None:
    negative = failed(id="negative", run="r2")
    negative["data"]["run"]["generation"] = -1
    foreign = failed(id="foreign", scheduler="cron", run="r3")
    batch = [failed(id="good", run="r1"), negative, foreign, failed(id="again", run="r1"), failed(id="last", run="r4")]

    response = report(events, batch, content_type=BATCH)

    assert response.status_code == 200
    assert results(response) == [
        ("good", "accepted"),
        ("negative", "rejected"),
        ("foreign", "rejected"),
        ("again", "duplicate"),
        ("last", "accepted"),
    ]
    reasons = [result["reason"] for result in response.json()["results"]]
    assert reasons[1].startswith("data.run.generation: ")
    assert reasons[2] == "data.scheduler: expected airflow-prod, whose token this is"
    assert len(intake.taken) == 2


def test_what_intake_rejects_is_told_with_its_reason(events: Served, intake: Recorder) -> None:
    key = "airflow-prod/finance.daily_revenue|2026-11-30T06:00:00+00:00|bad|0|run.failed"
    intake.rejects = {key: "this job was retired"}

    response = report(events, [failed(id="bad", run="bad"), failed(id="good", run="good")], content_type=PLAIN)

    assert response.status_code == 200
    assert response.json()["results"][0] == {"id": "bad", "result": "rejected", "reason": "this job was retired"}


def test_a_batch_of_which_nothing_was_taken_is_422(events: Served, intake: Recorder) -> None:
    response = report(events, [failed(scheduler="cron"), {"id": "empty"}], content_type=BATCH)

    assert response.status_code == 422
    assert results(response) == [("e1", "rejected"), ("empty", "rejected")]
    assert response.json()["error"]["field"] == "data.scheduler"
    assert intake.taken == []


@pytest.mark.parametrize("token", ["token-of-airflow-1", "token-of-airflow-2"])
def test_both_tokens_of_a_scheduler_open_the_door(events: Served, token: str) -> None:
    assert report(events, failed(), token=token).status_code == 200


@pytest.mark.parametrize(
    "token",
    [
        None,
        "wrong",
        "token-of-airflow-1x",
        b"token-of-airflow-1",
        b"Basic token-of-airflow-1",
        b"Bearer",
        b"Bearer \xff\xfe",
        b"Bearer airflow-prod:token-of-airflow-1",
    ],
)
def test_no_other_token_opens_it_whatever_the_body_is(
    events: Served, intake: Recorder, token: str | bytes | None
) -> None:
    for body in (failed(), b"not json", b"\xff"):
        response = report(events, body, token=token)

        assert response.status_code == 401
        assert response.json()["error"]["field"] == "Authorization"
        assert response.headers["www-authenticate"] == "Bearer"
    assert intake.taken == []


@pytest.mark.parametrize(
    ("body", "content_type", "status", "field"),
    [
        (b"{", SINGLE, 400, "body"),
        (b"", SINGLE, 400, "body"),
        (b'{"id": "\xff"}', SINGLE, 400, "body"),
        (b"\x00\x00", PLAIN, 400, "body"),
        (b"[" * 200_000, PLAIN, 400, "body"),
        (b'{"id": ' + b"[" * 200_000, PLAIN, 422, "id"),
        (b"[]", BATCH, 422, "body"),
        (b"7", PLAIN, 422, "body"),
        (b"{}", BATCH, 422, "body"),
        (b"{}", SINGLE, 422, "specversion"),
        (b'{"id": ' + b"9" * 5000 + b"}", SINGLE, 422, "id"),
        (b"{}", "text/plain", 415, "Content-Type"),
        (b"{}", "", 415, "Content-Type"),
        (b"{}", "application/json; charset=utf-16", 415, "Content-Type"),
    ],
)
def test_a_body_that_holds_no_event_is_a_clear_4xx(
    events: Served, body: bytes, content_type: str, status: int, field: str
) -> None:
    response = report(events, body, content_type=content_type)

    assert response.status_code == status
    error = response.json()["error"]
    assert error["field"] == field
    assert error["message"]
    assert error["fix"]


def test_when_nothing_could_be_stored_the_sender_is_asked_to_send_again(events: Served, intake: Recorder) -> None:
    intake.down = True
    refused = report(events, failed())
    intake.down = False
    again = report(events, failed())

    assert refused.status_code == 503
    assert int(refused.headers["retry-after"]) >= 1
    assert refused.json()["error"]["field"] == "request"
    assert results(again) == [("e1", "accepted")]


def test_what_nobody_foresaw_is_a_503_with_an_id_that_the_log_has(
    events: Served, intake: Recorder, caplog: pytest.LogCaptureFixture
) -> None:
    intake.raises = RuntimeError("the secret reason")
    with caplog.at_level(logging.ERROR, logger="handlers.http"):
        response = report(events, failed())

    assert response.status_code == 503
    (record,) = [record for record in caplog.records if record.name == "handlers.http"]
    assert record.__dict__["error_id"] in response.json()["error"]["message"]
    assert "secret" not in response.text


@pytest.mark.parametrize("size", [1, 500])
def test_every_event_is_counted_by_its_result(events: Served, size: int) -> None:
    batch: Sequence[dict[str, Any]] = [failed(id=f"e{number}", run=f"r{number}") for number in range(size)]
    report(events, [*batch, {"id": "bad"}], content_type=BATCH)
    figures = events.client.get("/metrics").text

    assert f'ontrack_events_total{{door="events",result="accepted"}} {float(size)}' in figures
    assert 'ontrack_events_total{door="events",result="rejected"} 1.0' in figures
    assert 'ontrack_requests_total{code="200",door="events"} 1.0' in figures
