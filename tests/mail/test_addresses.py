"""`mail addresses` and `mail mend` as somebody types them, beside the process that has the database; it sends nothing."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from typer.testing import CliRunner, Result

from bot.cli.main import app
from bot.store import BrokenAddress
from storage.opening import SqlStorage, open_storage

SINCE = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=3)


@pytest.fixture
def storage(database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[SqlStorage]:
    """The database of a service that runs."""
    monkeypatch.setenv("DATABASE_URL", database_url)
    storage = open_storage(database_url, instance="the service")
    yield storage
    storage.close()


def types(*words: str) -> Result:
    return CliRunner().invoke(app, ["mail", *words])


def test_the_broken_ones_are_listed_and_mended(storage: SqlStorage) -> None:
    storage.break_address(BrokenAddress(address="Ana@example.com", status="5.1.1", since=SINCE))

    listed = types("addresses", "--json")
    assert json.loads(listed.stdout) == {
        "address": "ana@example.com",
        "status": "5.1.1",
        "since": SINCE.isoformat(),
        "until": (SINCE + timedelta(days=30)).isoformat(),
    }
    assert "ana@example.com" in types("addresses").stdout.splitlines()[1]

    assert types("mend", "Ana@Example.com").stdout == "ana@example.com: mail goes there again.\n"
    assert types("addresses", "--json").stdout == ""
    assert "was not marked" in types("mend", "ana@example.com").stdout


def test_what_is_no_address_is_refused(storage: SqlStorage) -> None:
    refused = types("mend", "ana")

    assert refused.exit_code == 2
    assert refused.stderr == "ADDRESS: 'ana' is no mail address\n"


def test_a_database_that_is_not_there_is_told_in_words(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{tmp_path}/none.db")

    refused = types("addresses")

    assert refused.exit_code == 2
    assert refused.stderr
    assert isinstance(refused.exception, SystemExit)
