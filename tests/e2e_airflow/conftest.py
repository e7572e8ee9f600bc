"""One Airflow, one ontrack and one workspace for all plays, which share them in order; their logs are kept when one fails."""

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.sandbox.slack.app import build_app
from bot.sandbox.slack.client import Workspace
from bot.sandbox.slack.server import serve
from tests.e2e_airflow import dags
from tests.e2e_airflow.airflow import LOOPBACK, Airflow
from tests.e2e_airflow.office import ROOT, Office
from tests.e2e_airflow.policies import POLICIES, SIGNING_SECRET, environment, seed
from tests.kills.town import free_port

VENV = Path(os.environ.get("AIRFLOW_VENV", ROOT / ".airflow"))
PLACE: pytest.StashKey[Path] = pytest.StashKey()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """`due` is the nominal time of the runs that go wrong; it has just passed."""

    airflow: Airflow
    office: Office
    world: Path
    due: datetime

    def deploys(self, dag: str, *, due: datetime | None = None) -> None:
        """Its file is there, and it is taken off its pause."""
        self.airflow.writes(dag, dags.text_of(dag, place=self.world, due=due or self.due))
        self.airflow.begins(dag)


@pytest.fixture(scope="session")
def place(request: pytest.FixtureRequest) -> Iterator[Path]:
    place = Path(tempfile.mkdtemp(prefix="ontrack-airflow-"))
    request.config.stash[PLACE] = place
    yield place
    if not request.session.testsfailed:
        shutil.rmtree(place)


@pytest.fixture(scope="session")
def stage(place: Path) -> Iterator[Stage]:
    assert (VENV / "bin" / "airflow").exists(), f"there is no Airflow in {VENV}: `make e2e-airflow` puts it there"

    logs, world, port, token = place / "logs", place / "world", free_port(), secrets.token_hex(16)
    for directory in (logs, world):
        directory.mkdir()
    callback = f"http://{LOOPBACK}:{port}"
    lineage = (callback, token)
    airflow = Airflow(venv=VENV, home=place / "airflow", logs=logs, lineage=lineage)
    workspace = build_app(
        callback=f"{callback}/slack/events",
        signing_secret=SIGNING_SECRET,
        clock=lambda: datetime.now(UTC),
        seed=seed(),
        journal=logs / "workspace.jsonl",
    )
    stand_in = serve(workspace)
    (place / "policies.yaml").write_text(POLICIES.format(url=airflow.url))
    with Workspace(stand_in.url) as slack:
        password = airflow.passwords["ontrack"]
        env = environment(place=place, port=port, slack=stand_in.url, source_token=token, password=password)
        office = Office(place=place, logs=logs, env=env, slack=slack)
        due = (datetime.now(UTC) - timedelta(minutes=10)).replace(second=0, microsecond=0)
        try:
            airflow.start()
            office.start()
            yield Stage(airflow=airflow, office=office, world=world, due=due)
        finally:
            office.close()
            airflow.close()
    stand_in.stop()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    place = config.stash.get(PLACE, None)
    if place is not None and place.exists():
        terminalreporter.write_line(f"the logs of Airflow, ontrack and the workspace are kept in {place / 'logs'}")
