"""The `health` command as somebody types it: words, JSON and CSV, and exit codes that mean something."""

import csv
import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from bot.cli.main import app
from bot.incidents.health import Verdict
from tests.handlers.doubles import Clock
from tests.pages.site import POLICIES, Site, site


@pytest.fixture
def url(database_url: str) -> str:
    return database_url


@pytest.fixture
def now_site(url: str) -> Iterator[Site]:
    """Two failures of today, since the command line asks by the clock of the machine."""
    clock = Clock(at=datetime.now(UTC))
    with site(url, clock) as made:
        made.fails()
        made.fails(job="ads.spend", id="e3")
        yield made


@pytest.fixture
def asks(url: str, now_site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    (tmp_path / "policies.yaml").write_text(POLICIES)
    monkeypatch.setenv("DATABASE_URL", url)
    monkeypatch.setenv("POLICIES", str(tmp_path / "policies.yaml"))
    now_site.storage.close()

    def ask(*words: str) -> Result:
        return CliRunner().invoke(app, ["health", *words])

    return SimpleNamespace(ask=ask, path=tmp_path)


def test_it_tells_what_the_chat_tells(asks: Any) -> None:
    result = asks.ask("finance-data", "7d")

    assert result.exit_code == 0
    assert "finance-data: 1 failure in the last 7 days, 0 settled, 1 open now" in result.stdout
    assert "airflow-prod/finance.daily_revenue" in result.stdout


def test_words_that_are_not_understood_are_an_error_with_help(asks: Any) -> None:
    result = asks.ask("finance-dat")

    assert result.exit_code == 2
    assert "Did you mean: finance-data?" in result.stderr
    assert "python -m bot health finance-data 30d vs previous" in result.stderr
    assert asks.ask("help").exit_code == 0


def test_nothing_known_has_an_exit_code_of_its_own(asks: Any) -> None:
    assert asks.ask("2026-01-01..2026-01-02").exit_code == 3
    assert asks.ask("baseline").exit_code == 0
    assert asks.ask("baseline", "set", "2026-01-01..2026-01-31").exit_code == 2


def test_programs_read_it_as_json(asks: Any) -> None:
    result = asks.ask("7d", "vs", "previous", "--json")
    report = json.loads(result.stdout)

    assert result.exit_code == 0
    assert report["health"]["occurrences"] == 2
    assert {row["name"] for row in report["rows"]} == {"finance-data", "growth"}
    assert all(one["verdict"] in tuple(Verdict) for one in report["comparisons"])


def test_the_rows_go_into_a_file(asks: Any) -> None:
    file = asks.path / "rows.csv"
    result = asks.ask("7d", "--csv", str(file))

    assert (result.exit_code, result.stdout.strip()) == (0, f"{file}: 2 occurrences.")
    assert len(list(csv.DictReader(io.StringIO(file.read_text())))) == 2
    assert asks.ask("7d", "--csv", str(asks.path / "no" / "such.csv")).exit_code == 2
    assert asks.ask("--csv", "-").stdout.count("\n") == 3
