"""A stand-in workspace, policies, and processes that work on them; all of it ends with the test."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

import pytest

from bot.sandbox.slack.app import build_app
from bot.sandbox.slack.client import Workspace
from bot.sandbox.slack.server import serve
from tests.compose.processes import Process, started
from tests.world.people import CHANNELS, POLICIES, RESET, SECRET, SOURCE_TOKEN, TOKEN, seed
from tests.world.reports import SCHEDULER, Report

PATIENCE = timedelta(seconds=60)
Found = TypeVar("Found")


@dataclass(slots=True, kw_only=True)
class Company:
    """Everything around the processes: the workspace (`slack`), the database, the policies, the directory of local jobs."""

    slack: Workspace
    database_url: str
    directory: Path
    processes: list[Process] = field(default_factory=list)

    def starts(self, *command: str, module: str = "bot", **env: str) -> Process:
        """One more process; returns at once."""
        self.processes.append(started(*command, module=module, env=self.environment() | env))
        return self.processes[-1]

    def environment(self) -> dict[str, str]:
        return {
            "DATABASE_URL": self.database_url,
            "POLICIES": str(self.directory / "policies.yaml"),
            "SLACK_BOT_TOKEN": TOKEN,
            "SLACK_SIGNING_SECRET": SECRET,
            "SLACK_API_URL": f"{self.slack.url}/api/",
            "SOURCE_TOKENS": f"{SCHEDULER}:{SOURCE_TOKEN}",
            "STATE_DIR": str(self.directory / "state"),
        }

    def has_policies(self, text: str) -> None:
        (self.directory / "policies.yaml").write_text(text)

    def fails(self, web: Process, *jobs: str) -> None:
        """These jobs report a failure through that process."""
        now = datetime.now(UTC)
        nominal = now.replace(minute=0, second=0, microsecond=0) - timedelta(hours=2)
        reports = [
            Report(kind="failed", job=job, at=now, nominal=nominal, error={"exit_code": 1, "log": RESET})
            for job in jobs
        ]
        answer = web.post(*(report.event() for report in reports), token=SOURCE_TOKEN)

        assert answer.status_code == 200, answer.text
        assert {one["result"] for one in answer.json()["results"]} == {"accepted"}

    def sees(self, look: Callable[[], Found | None], *, within: timedelta = PATIENCE) -> Found:
        """What `look` finds, once the workspace shows it; machines that test may be busy."""
        return self.slack.wait_for(look, within=within)

    def roots(self, channel: str = "finance") -> list[dict[str, object]]:
        return [each for each in self.slack.messages(CHANNELS[channel]) if "thread_ts" not in each]

    def replies(self, root: dict[str, object], channel: str = "finance") -> list[str]:
        """The texts of a thread after its root, in order."""
        thread = self.slack.thread(CHANNELS[channel], str(root["ts"]))
        return [self.slack.text_of(each) for each in thread[1:]]


@pytest.fixture
def slack() -> Iterator[Workspace]:
    app = build_app(
        callback="http://127.0.0.1:9/slack/events",
        signing_secret=SECRET,
        clock=lambda: datetime.now(UTC),
        seed=seed(),
    )
    stand_in = serve(app)
    with Workspace(stand_in.url) as workspace:
        yield workspace
    stand_in.stop()


Meet = Callable[[str], Company]


@pytest.fixture
def company_on(slack: Workspace, tmp_path: Path) -> Iterator[Meet]:
    """The company with its database at this URL."""
    made: list[Company] = []

    def meet(url: str) -> Company:
        made.append(Company(slack=slack, database_url=url, directory=tmp_path))
        made[-1].has_policies(POLICIES)
        return made[-1]

    yield meet
    for process in [process for company in made for process in company.processes]:
        process.close()


@pytest.fixture
def company(company_on: Meet, postgresql_url: str) -> Company:
    """On PostgreSQL, since there the processes are several."""
    return company_on(postgresql_url)
