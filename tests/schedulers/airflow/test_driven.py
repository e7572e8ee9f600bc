"""How a declaration becomes a scheduler that is polled, and what a reload of the policies does to it."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from bot.compose.schedulers import Schedulers, connected
from bot.incidents.keys import Capability
from bot.policies import PolicyFile
from bot.schedulers.airflow.scheduler import AirflowScheduler
from bot.sources import SourceEvent, SourceKind
from tests.schedulers.airflow.desk import Desk
from tests.schedulers.airflow.server import PASSWORD, USER, Airflow
from tests.world.people import POLICIES


def policies(path: Path, airflow: Airflow, *, password: str = PASSWORD, grace: str = "15m") -> PolicyFile:
    declared = f'  prod: {{type: airflow, url: "{airflow.url}/", user: {USER}, password: "{password}"}}\nteams:'
    text = POLICIES.replace("teams:", declared, 1).replace("grace: 15m", f"grace: {grace}")
    path.write_text(text)
    return PolicyFile(path, env={})


@pytest.fixture
def reported() -> list[SourceEvent]:
    return []


@pytest.fixture
def schedulers(airflow: Airflow, tmp_path: Path, reported: list[SourceEvent]) -> Schedulers:
    def report(events: Sequence[SourceEvent]) -> None:
        reported.extend(events)

    return Schedulers(
        state=tmp_path / "state",
        base=tmp_path,
        clock=lambda: airflow.records.now,
        report=report,
        woken=lambda: None,
        connect=connected,
    )


def test_a_declared_airflow_can_be_asked_and_is_polled(
    desk: Desk, airflow: Airflow, schedulers: Schedulers, reported: list[SourceEvent], tmp_path: Path
) -> None:
    airflow.tokens.clear()
    desk.fails()
    schedulers.follow(policies(tmp_path / "policies.yaml", airflow).current)
    due = schedulers.poll(airflow.records.now)

    assert due is not None
    assert due > airflow.records.now
    assert [event.kind for event in reported if event.run] == [SourceKind.RUN_STARTED, SourceKind.RUN_FAILED]
    assert Capability.RERUN in schedulers.all()["prod"].can


def test_a_reload_keeps_what_did_not_change_and_makes_anew_what_did(
    airflow: Airflow, schedulers: Schedulers, tmp_path: Path
) -> None:
    path = tmp_path / "policies.yaml"
    schedulers.follow(policies(path, airflow).current)
    first = schedulers.all()["prod"]
    schedulers.follow(policies(path, airflow, grace="20m").current)
    same = schedulers.all()["prod"]
    schedulers.follow(policies(path, airflow, password="another").current)
    other = schedulers.all()["prod"]

    assert isinstance(first, AirflowScheduler)
    assert same is first
    assert other is not first


def test_one_that_is_not_declared_any_more_is_not_polled(
    airflow: Airflow, schedulers: Schedulers, tmp_path: Path
) -> None:
    schedulers.follow(policies(tmp_path / "policies.yaml", airflow).current)
    schedulers.poll(airflow.records.now)
    asked = len(airflow.asked)
    (tmp_path / "without.yaml").write_text(POLICIES)
    schedulers.follow(PolicyFile(tmp_path / "without.yaml", env={}).current)

    assert schedulers.poll(airflow.records.now) is None
    assert len(airflow.asked) == asked


def test_another_leader_reads_on_where_the_first_one_was(
    desk: Desk, airflow: Airflow, schedulers: Schedulers, reported: list[SourceEvent], tmp_path: Path
) -> None:
    desk.fails()
    schedulers.follow(policies(tmp_path / "policies.yaml", airflow).current)
    schedulers.poll(airflow.records.now)
    told = len(reported)
    schedulers.forget()
    schedulers.follow(policies(tmp_path / "policies.yaml", airflow).current)
    schedulers.poll(airflow.records.now)

    assert told > 0
    assert len(reported) == told
