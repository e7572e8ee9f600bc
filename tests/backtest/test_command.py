"""`python -m bot backtest`: what it prints, and the exit codes that a pipeline goes by."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from bot.cli.main import app
from bot.evidence.types import ErrorReport
from bot.incidents.keys import JobKey, RunRef
from bot.intake.reading import evidence_key, read_source
from bot.intake.recorded import record_of_source
from bot.policies import load
from bot.sources import SourceEvent, SourceKind
from bot.store import GroupRow, PersonRow
from storage.opening import open_storage
from tests.world.people import POLICIES, RESET

NOW = datetime.now(UTC)
JOB = JobKey(scheduler="shop", name="orders")


@pytest.fixture
def failed_lately(database_url: str) -> str:
    """A database into which one failure was taken in two days ago; Ben is on call."""
    at = NOW - timedelta(days=2)
    run = RunRef(run_id="scheduled__1", nominal_time=at - timedelta(minutes=12))
    event = SourceEvent(
        id="1", kind=SourceKind.RUN_FAILED, at=at, job=JOB, run=run, error=ErrorReport(log=RESET, exit_code=1)
    )
    read = read_source(event, rules=load(POLICIES, env={}).rules, good_runs=lambda job: ())
    storage = open_storage(database_url, instance="test")
    with storage.begin_write(born_leased=False, now=at) as uow:
        uow.lock_jobs(keys=[JOB], now=at)
        assert read.evidence is not None
        uow.save_evidence(key=evidence_key(event), evidence=read.evidence)
        uow.remember_outcome(key=event.key, outcome={"result": "accepted"}, at=at, event=record_of_source(read))
        uow.commit()
    people = [PersonRow(id="U0BEN", name="Ben", email=None, active=True, read_at=at)]
    groups = [GroupRow(id="S0FINONCALL", members=("U0BEN",), exists=True, read_at=at)]
    storage.save_people(people=people, groups=groups, now=at)
    storage.close()
    return database_url


def backtest(database_url: str, directory: Path, *arguments: str, policies: str = POLICIES) -> Result:
    file = directory / "new.yaml"
    file.write_text(policies)
    env = {"DATABASE_URL": database_url, "POLICIES": str(file), "STATE_DIR": str(directory / "state")}
    return CliRunner().invoke(app, ["backtest", "--policies", str(file), *arguments], env=env)


def test_the_report_is_a_screen_of_text(failed_lately: str, tmp_path: Path) -> None:
    found = backtest(failed_lately, tmp_path, "--since", "3d")

    assert found.exit_code == 0, found.output
    lines = found.stdout.splitlines()
    assert len(lines) < 50
    assert max(map(len, lines)) <= 132
    assert any(line.split() == ["incidents", "opened", "0", "1", "+1"] for line in lines), found.stdout
    assert "Assumed: nothing is recorded before the period" in found.stdout


def test_a_program_reads_one_object(failed_lately: str, tmp_path: Path) -> None:
    found = json.loads(backtest(failed_lately, tmp_path, "--since", "3d", "--json").stdout)

    assert found["happened"]["opened"] == 0
    assert found["replayed"]["opened"] == found["difference"]["opened"] == 1
    assert found["difference"]["asks"] == found["replayed"]["asks"] > 0
    assert found["teams"][0]["team"] == "finance"
    assert found["jobs"][0]["job"] == "shop/orders"
    assert found["exceeded"] == []


def test_a_limit_that_is_exceeded_is_named_and_exits_1(failed_lately: str, tmp_path: Path) -> None:
    kept = backtest(failed_lately, tmp_path, "--since", "3d", "--max-night-asks", "1000", "--max-cost", "5core_hours")
    broken = backtest(failed_lately, tmp_path, "--since", "3d", "--max-night-asks", "0")

    assert kept.exit_code == 0, kept.output
    assert broken.exit_code == 1, broken.output
    assert "EXCEEDED --max-night-asks: " in broken.stdout


def test_policies_that_are_wrong_are_told_with_line_and_column_and_exit_2(failed_lately: str, tmp_path: Path) -> None:
    wrong = POLICIES.replace("version: 1", "version: 1\nteems: {}").replace("backoff: 5m", "backoff: soon")
    found = backtest(failed_lately, tmp_path, policies=wrong)

    assert found.exit_code == 2
    assert f"{tmp_path / 'new.yaml'}:3:1: teems" in found.stderr
    assert "rerun.backoff" in found.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--since", "yesterday"), "--since: write a duration"),
        (("--since", "1d", "--until", "2d"), "--since: the period must begin before it ends"),
        (("--max-cost", "much"), "--max-cost: write an amount"),
        (("--warm-up", "ages"), "--warm-up: write a duration"),
    ],
)
def test_arguments_that_are_wrong_exit_2(
    arguments: tuple[str, ...], said: str, failed_lately: str, tmp_path: Path
) -> None:
    found = backtest(failed_lately, tmp_path, *arguments)

    assert found.exit_code == 2
    assert said in found.stderr


def test_a_period_of_which_nothing_is_recorded_exits_3(failed_lately: str, tmp_path: Path) -> None:
    found = backtest(failed_lately, tmp_path, "--since", "2020-01-01", "--until", "2020-02-01T00:00Z")

    assert found.exit_code == 3
    assert "no event of that period is recorded" in found.stderr


def test_the_database_that_is_looked_at_is_left_as_it_was(failed_lately: str, tmp_path: Path) -> None:
    backtest(failed_lately, tmp_path, "--since", "3d")

    storage = open_storage(failed_lately, instance="test")
    assert storage.reads.counts()["jobs"] == 1
    assert storage.record.occurrences(since=NOW - timedelta(days=9), until=NOW) == ()
    storage.close()
