"""`POST /api/v1/lineage` over real HTTP and with the whole road behind it: what Airflow sent, and what never harms."""

import gzip
import json
import random
from collections.abc import Iterator
from copy import deepcopy
from datetime import timedelta
from typing import Any

import httpx
import pytest

from bot.store import StorageDown
from handlers.health import Health
from handlers.http import Limits, web_app
from handlers.lineage import lineage_door
from handlers.meters import Meters
from handlers.tokens import SourceTokens
from tests.handlers.doubles import Clock
from tests.handlers.server import Host, Served
from tests.schedulers.openlineage.events import captured, error, run_event
from tests.schedulers.openlineage.road import TOKEN, Road, lineage_road
from tests.schedulers.openlineage.test_decoding import WORST, places, put, whole

MIB = 1024 * 1024


@pytest.fixture
def road(database_url: str, clock: Clock) -> Iterator[Road]:
    with lineage_road(database_url, clock) as made:
        yield made


@pytest.fixture
def web(host: Host, road: Road) -> Iterator[Served]:
    with host.serve(road.app) as served:
        yield served


def send(
    web: Served, body: Any, *, token: str | None = TOKEN, content_type: str = "application/json", **headers: str
) -> httpx.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    told = {"content-type": content_type, **headers} | ({"authorization": f"Bearer {token}"} if token else {})
    return web.client.post("/api/v1/lineage", content=content, headers=told)


def results(response: httpx.Response) -> list[str]:
    return [one["result"] for one in response.json()["results"]]


def test_what_airflow_sent_opens_one_incident_with_the_error_of_the_task_and_closes_it(web: Served, road: Road) -> None:
    answers = [send(web, event) for event in captured()[:4]]

    assert [answer.status_code for answer in answers] == [200] * 4
    assert [results(answer) for answer in answers] == [["accepted"]] * 4
    (incident,) = road.unresolved()
    assert str(incident.job) == "airflow-prod/failing_dag"
    assert 'column "amount" does not exist' in incident.failure.message

    again = [send(web, event) for event in captured()[:4]]
    assert [results(answer) for answer in again] == [["duplicate"]] * 4
    (same,) = road.unresolved()
    assert same.count == 1

    for event in captured()[4:]:
        assert send(web, event).status_code == 200
    assert road.unresolved() == ()


def test_a_list_of_events_has_a_result_for_each_in_its_place(web: Served, road: Road) -> None:
    wrong = run_event("START", "06:00:01", run="r2")
    del wrong["job"]["name"]
    facet = run_event("START", "06:00:02", run="r3", facets={"nominalTime": []})
    response = send(web, [run_event("START", "06:00:00", run="r1"), wrong, facet, {"id": 7}])

    assert response.status_code == 200
    assert response.json() == {
        "results": [
            {"id": "r1", "result": "accepted", "reason": None},
            {"id": "r2", "result": "rejected", "reason": "job.name: is missing"},
            {
                "id": "r3",
                "result": "accepted",
                "reason": "left out: run.facets.nominalTime: expected an object",
            },
            {"id": None, "result": "rejected", "reason": "eventTime: is missing"},
        ]
    }


def test_a_body_that_was_packed_is_taken(web: Served, road: Road) -> None:
    packed = gzip.compress(json.dumps(run_event("START", "06:00:00")).encode())

    assert results(send(web, packed, **{"content-encoding": "gzip"})) == ["accepted"]


@pytest.mark.parametrize("token", [None, "wrong", TOKEN + "x"])
def test_no_other_token_opens_the_door(web: Served, road: Road, token: str | None) -> None:
    response = send(web, run_event("FAIL", "06:00:00"), token=token)

    assert response.status_code == 401
    assert response.headers["www-authenticate"] == "Bearer"
    assert road.runs() == set()


@pytest.mark.parametrize(
    ("body", "content_type", "status", "field"),
    [
        (b"{", "application/json", 400, "body"),
        (b"", "application/json", 400, "body"),
        (b'{"a": "\xff"}', "application/json", 400, "body"),
        (b"[]", "application/json", 422, "body"),
        (b"7", "application/json", 422, "body"),
        (b"{}", "application/json", 422, "eventTime"),
        (b"[{}, {}]", "application/json", 422, "eventTime"),
        (b'{"a": ' + b"[" * 200_000, "application/json", 422, "body"),
        (b"{}", "text/plain", 415, "Content-Type"),
        (b"{}", "application/cloudevents+json", 415, "Content-Type"),
        (b"{}", "", 415, "Content-Type"),
    ],
)
def test_a_body_that_holds_no_event_is_a_clear_4xx(
    web: Served, body: bytes, content_type: str, status: int, field: str
) -> None:
    response = send(web, body, content_type=content_type)

    assert response.status_code == status
    assert response.json()["error"]["field"] == field
    assert response.json()["error"]["fix"]


def test_sixteen_megabytes_are_taken_and_more_is_not(web: Served, road: Road) -> None:
    trace = "at line\n" * ((16 * MIB - 4096) // 9)
    large = json.dumps(run_event("FAIL", "06:00:00", facets=error("no space left", trace))).encode()
    assert 15 * MIB < len(large) <= 16 * MIB

    assert results(send(web, large)) == ["accepted"]
    assert send(web, large + b" " * MIB).status_code == 413
    assert send(web, gzip.compress(b" " * (17 * MIB)), **{"content-encoding": "gzip"}).status_code == 413


def test_whatever_stands_in_an_event_the_answer_is_never_5xx(web: Served, road: Road) -> None:
    chance = random.Random(7)
    for event in whole():
        mixed = [put(deepcopy(event), chance.choice(places(event)[1:]), chance.choice(WORST)) for _ in range(60)]
        for one in mixed[:15]:
            assert send(web, one).status_code in (200, 400, 422)
        assert send(web, mixed).status_code in (200, 422)
    road.waits()


class Down:
    """A use case whose database is gone."""

    def take(self, events: object, *, source: str) -> list[Any]:
        raise StorageDown


def test_when_nothing_could_be_stored_the_sender_is_asked_to_send_again(
    host: Host, clock: Clock, meters: Meters
) -> None:
    door = lineage_door(tokens=SourceTokens((("airflow-prod", TOKEN),)), lineage=Down(), meters=meters)
    health = Health(checks={}, clock=clock, deadline=timedelta(seconds=2))
    with host.serve(web_app(doors=(door,), health=health, meters=meters, limits=Limits())) as served:
        response = send(served, run_event("START", "06:00:00"))

    assert response.status_code == 503
    assert int(response.headers["retry-after"]) >= 1
