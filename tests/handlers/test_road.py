"""From a door to the database and back, with nothing in between replaced."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot.incidents.model import Status
from tests.handlers.doubles import NOON, Clock, Workspace
from tests.handlers.events import failed
from tests.handlers.road import JOB, TOKEN, Road, road
from tests.handlers.server import Host, Served
from tests.handlers.slack_side import click, interact, moment, submit, words

ANA, BEN, MALLORY = (
    {"id": id, "name": name} for id, name in (("U0ANA", "Ana"), ("U0BEN", "Ben"), ("U0MALLORY", "Mallory"))
)


@pytest.fixture
def way(tmp_path: Path, clock: Clock, workspace: Workspace) -> Iterator[Road]:
    with road(tmp_path / "ontrack.db", clock, workspace) as made:
        yield made


@pytest.fixture
def web(host: Host, way: Road) -> Iterator[Served]:
    with host.serve(way.app) as served:
        yield served


def report(web: Served, event: dict[str, Any]) -> httpx.Response:
    return web.client.post("/api/v1/events", json=event, headers={"Authorization": f"Bearer {TOKEN}"})


def succeeded(*, generation: int) -> dict[str, Any]:
    event = failed(id=f"good{generation}")
    event["type"] = "io.ontrack.run.succeeded"
    event["time"] = "2026-11-30T07:00:00Z"
    event["data"]["run"] |= {
        "generation": generation,
        "started_at": "2026-11-30T06:40:00Z",
        "ended_at": "2026-11-30T07:00:00Z",
    }
    del event["data"]["error"]
    return event


def failed_next_day() -> dict[str, Any]:
    event = failed(id="next", run="scheduled__2026-12-01")
    event["time"] = "2026-12-01T06:09:01Z"
    event["data"]["run"] |= {
        "nominal_time": "2026-12-01T06:00:00Z",
        "started_at": "2026-12-01T06:01:00Z",
        "ended_at": "2026-12-01T06:09:00Z",
    }
    return event


def at_once(*calls: Callable[[], httpx.Response]) -> list[httpx.Response]:
    with ThreadPoolExecutor(max_workers=len(calls)) as callers:
        return [call.result() for call in [callers.submit(call) for call in calls]]


@pytest.mark.scenario(1)
def test_the_same_failure_five_times_in_a_second_is_one_incident(web: Served, way: Road) -> None:
    event = failed()
    shuffled = {name: event[name] for name in reversed(event)}
    answers = at_once(*[partial(report, web, body) for body in (event, shuffled, event, shuffled, event)])

    assert [answer.status_code for answer in answers] == [200] * 5
    assert sorted(answer.json()["results"][0]["result"] for answer in answers) == ["accepted", *["duplicate"] * 4]
    (incident,) = way.unresolved()
    assert (incident.job, incident.count, len(incident.owed)) == (JOB, 1, 1)


@pytest.mark.scenario(6)
def test_slack_repeats_a_click_and_it_is_done_once(web: Served, way: Road) -> None:
    report(web, failed())
    answers = [interact(web, click("ack", value="1.1", user=ANA)) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [200] * 3
    said = [row for row in way.storage.reads.timeline(record=1, number=1) if row.by is not None]
    assert len(said) == 1
    assert way.workspace.heard() == []


@pytest.mark.scenario(7)
def test_two_people_press_acknowledge_at_once_one_wins_and_the_other_is_told_who(web: Served, way: Road) -> None:
    report(web, failed())
    at_once(
        lambda: interact(web, click("ack", value="1.1", user=ANA)),
        lambda: interact(web, click("ack", value="1.1", user=BEN)),
    )

    held = way.occurrence(1).acknowledgement
    assert held is not None
    ((what, said),) = way.workspace.heard()
    assert what == "ephemeral"
    assert said["user"] == {"Ana": "U0BEN", "Ben": "U0ANA"}[str(held.by.person)]
    assert f"On it: {held.by.person}" in said["text"]


@pytest.mark.scenario(8)
def test_an_acknowledgement_that_comes_after_the_good_run_is_answered_by_it(web: Served, way: Road) -> None:
    report(web, failed())
    report(web, succeeded(generation=1))
    interact(web, click("ack", value="1.1", user=ANA))

    assert way.occurrence(1).status is Status.RESOLVED
    assert way.occurrence(1).acknowledgement is None
    ((_, said),) = way.workspace.heard()
    assert "already resolved by run" in said["text"]


@pytest.mark.scenario(9)
def test_a_button_from_before_a_reopen_never_acts_on_the_newer_occurrence(web: Served, way: Road, clock: Clock) -> None:
    report(web, failed())
    report(web, succeeded(generation=1))
    clock.move(timedelta(hours=19))
    report(web, failed_next_day())
    interact(web, click("ack", value="1.1", user=ANA), at=clock.at)
    interact(web, click("pause", value="1.1", user=ANA, action_ts="2"), at=clock.at)

    assert way.occurrence(1).status is Status.RESOLVED
    assert way.occurrence(2).status is Status.OPEN
    assert way.occurrence(2).acknowledgement is None
    told = way.workspace.heard()
    assert [what for what, _ in told] == ["ephemeral", "ephemeral"]
    assert all("already resolved" in said["text"] for _, said in told)


def test_who_may_not_decide_is_told_who_can(web: Served, way: Road) -> None:
    report(web, failed())
    filled = {"until": moment(NOON + timedelta(days=1)), "reason": words("quiet please")}
    payload = submit("modal_pause", filled, metadata="1.1") | {"user": MALLORY}
    answer = interact(web, payload).json()

    assert answer["response_action"] == "update"
    assert "Ana" in str(answer["view"]["blocks"])
    assert way.occurrence(1).status is Status.OPEN


def test_an_owner_pauses_through_the_modal(web: Served, way: Road) -> None:
    report(web, failed())
    filled = {"until": moment(NOON + timedelta(days=1)), "reason": words("migration")}
    answer = interact(web, submit("modal_pause", filled, metadata="1.1") | {"user": ANA})

    assert answer.content == b""
    incident = way.occurrence(1)
    assert incident.decision is not None
    assert incident.decision.reason == "migration"
    assert str(incident.decision.by.person) == "Ana"
