"""The `import` command as somebody types it."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from bot.cli.main import app
from storage.leases import FileLock
from storage.migrating import migrate
from storage.opening import open_storage
from tests.schedulers.airflow.desk import TRACEBACK
from tests.schedulers.airflow.server import PASSWORD, USER, Airflow
from tests.test_cli import typed
from tests.world.people import POLICIES


def ran(*words: str, **env: str) -> Result:
    """The command within this process, which costs no start of another one."""
    return CliRunner().invoke(app, [*words], env=env)


@pytest.fixture
def airflow() -> Iterator[Airflow]:
    """Three days ago a run failed, was cleared by hand and went well; another job ran well all the time."""
    airflow = Airflow()
    records = airflow.records
    records.now = datetime.now(UTC) - timedelta(days=3)
    for hour in range(4):
        run = records.add_run("finance.hourly", f"scheduled__{hour}", due=records.now)
        records.now += timedelta(minutes=20)
        records.ends(run, "success")
    run = records.add_run("finance.daily", "scheduled__daily", due=records.now)
    records.ends(run, "failed", log=TRACEBACK)
    records.clear(run, user="maria", only_failed=True, note=None)
    records.begins(run)
    records.ends(run, "success")
    yield airflow
    airflow.close()


@pytest.fixture
def set_up(airflow: Airflow, tmp_path: Path) -> dict[str, str]:
    declared = f'  prod: {{type: airflow, url: "{airflow.url}", user: {USER}, password: "{PASSWORD}"}}\nteams:'
    (tmp_path / "policies.yaml").write_text(POLICIES.replace("teams:", declared, 1))
    url = f"sqlite:///{tmp_path}/ontrack.db"
    migrate(url)
    return {"DATABASE_URL": url, "POLICIES": str(tmp_path / "policies.yaml")}


def rows(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_a_past_is_brought_in_and_shown_and_the_second_time_nothing_changes(set_up: dict[str, str]) -> None:
    first = typed("import", "--since", "30d", "--json", **set_up)
    (told,) = rows(first.stdout)
    assert first.returncode == 0, first.stderr
    assert (told["scheduler"], told["jobs"], told["runs"], told["failures"]) == ("prod", 2, 6, 1)
    assert (told["occurrences"], told["trouble"]) == (1, None)
    assert "prod: " in first.stderr

    (again,) = rows(ran("import", "--since", "30d", "--json", **set_up).stdout)
    assert (again["runs"], again["occurrences"], again["known"]) == (0, 0, 6)
    (incident,) = rows(ran("incidents", "--all", "--json", **set_up).stdout)
    assert (incident["job"], incident["outcome"]) == ("finance.daily", "recovered_by_hand")


def test_for_people_it_is_a_table(set_up: dict[str, str]) -> None:
    shown = ran("import", "--since", "5d", "--scheduler", "prod", **set_up).stdout.splitlines()

    assert shown[0].split() == [
        *("scheduler", "jobs", "runs", "failures", "occurrences", "known", "listened", "unpaid", "rejected", "trouble")
    ]
    assert shown[1].split()[:5] == ["prod", "2", "6", "1", "1"]


def test_a_past_that_is_not_shown_exits_1_and_says_why(airflow: Airflow, set_up: dict[str, str]) -> None:
    airflow.fails(403, "~/dagRuns$", times=9)
    done = ran("import", "--since", "30d", **set_up)

    assert done.exit_code == 1
    assert "prod: its runs are not shown: Airflow answered 403" in done.stderr


def test_while_the_service_holds_the_database_it_says_so(set_up: dict[str, str], tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "ontrack.db")
    lock.take()
    refused = ran("import", "--since", "30d", **set_up)
    lock.release()

    assert refused.exit_code == 2
    assert "already works on this database" in refused.stderr
    assert "stop that one" in refused.stderr


def test_what_ontrack_heard_of_that_scheduler_ends_the_past(set_up: dict[str, str]) -> None:
    storage = open_storage(set_up["DATABASE_URL"], instance="test")
    storage.heard(at={"prod": datetime.now(UTC) - timedelta(days=3) + timedelta(minutes=45)})
    storage.close()
    (told,) = rows(ran("import", "--since", "30d", "--json", **set_up).stdout)

    assert (told["runs"], told["trouble"]) == (2, None)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--since", "soon"), "--since: 'soon': write 30d, 12h, a date"),
        (("--since", "2026-11-01T10:00"), "has no zone"),
        (("--since", "2999-01-01"), "is not in the past"),
        (("--since", "99w"), "more than 400 days ago"),
        (("--since", "30d", "--scheduler", "prd"), "declares no 'prd' (it declares: prod, shop)"),
        (("--since", "30d", "--scheduler", "shop"), "'shop' tells nothing of its past"),
    ],
)
def test_what_cannot_be_done_is_refused_with_the_fix(set_up: dict[str, str], words: tuple[str, ...], says: str) -> None:
    refused = ran("import", *words, **set_up)

    assert refused.exit_code == 2
    assert says in refused.stderr
    assert "Traceback" not in refused.stderr


def test_where_no_scheduler_can_tell_it_says_which_could(tmp_path: Path) -> None:
    (tmp_path / "policies.yaml").write_text(POLICIES)
    refused = ran("import", "--since", "30d", POLICIES=str(tmp_path / "policies.yaml"))

    assert refused.exit_code == 2
    assert (
        "no scheduler of policies.yaml tells of its past: those of the types airflow and maestro do" in refused.stderr
    )
