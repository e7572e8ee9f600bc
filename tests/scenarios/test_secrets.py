"""No secret that a source sends comes to rest anywhere: not in the database, the workspace, an answer or a log."""

import json
import logging
import random
import re
import sqlite3
import string
from contextlib import closing
from typing import Any

import psycopg
import pytest

from tests.world.people import LOST_COLUMN
from tests.world.reporting import key_of
from tests.world.reports import Report, cloud_event
from tests.world.world import World

WORD = string.ascii_letters + string.digits
SHAPES = (
    *("password={}", "postgresql://etl:{}@db.example.com/shop", "Authorization: Bearer {}", "Cookie: session={}"),
    *("ghp_{}", "xoxb-{}", "glpat-{}", "api_key: '{}'", "https://hooks.slack.com/services/T0/B0/{}", "--token {}"),
    *("AccountKey={};EndpointSuffix=core", "aws_secret_access_key = {}", "hvs.{}", "eyJhbGciOi.eyJ{}.x", "sntrys_{}"),
    *("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----", "dbtu_{}", "sshpass -p {} ssh x"),
)


class Planter:
    """Makes up secrets, and remembers each by the place where it was put."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self.planted: dict[str, str] = {}

    def all(self, place: str, *, join: str = "\n", lines: bool = True) -> str:
        """A text with a secret of every shape; where lines are not possible, of those shapes that have one line."""
        return join.join(self.one(place, shape) for shape in SHAPES if lines or "\n" not in shape)

    def one(self, place: str, shape: str) -> str:
        secret = "9a" + "".join(self._chance.choice(WORD) for _ in range(38))
        self.planted[f"{place}: {shape}"] = secret
        return shape.format(secret)

    def named(self, place: str) -> dict[str, str]:
        """Values that only their names give away."""
        names = ("DB_PASSWORD", "api_token", "client_secret", "dsn", "sessionid")
        return {name: self.one(f"{place} {name}", "{}") for name in names}

    def survivors(self, text: str) -> list[str]:
        """The places whose secret is in the text; a half of one is one too."""
        return [place for place, secret in self.planted.items() if secret[:20] in text or secret[20:] in text]


def facts(planter: Planter, place: str, *, version: str) -> dict[str, Any]:
    lines = planter.all(f"{place} text")
    return {
        "code": {
            "version": version,
            "image": planter.one(f"{place} image", "https://robot:{}@registry.example.com/etl"),
        },
        "params": {
            **planter.named(f"{place} params"),
            "command": planter.all(f"{place} command", join=" ", lines=False),
        },
        "config": {"app.ini": f"[{version}]\n{lines}\nend", "nested": {"deep": [planter.named(f"{place} deep")]}},
        "env": {**planter.named(f"{place} env"), planter.one(f"{place} name", "password={}"): "1"},
        "inputs": {
            "orders": {
                "schema": ["id", planter.one(f"{place} column", "token={}")],
                "rows": 31 if version == "b" else 9000,
            }
        },
        "upstream": [planter.all(f"{place} upstream", join=" ", lines=False)],
    }


def everything_stored(url: str) -> str:
    """Every row of every table as text."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as database:
            return "\n".join(database.iterdump())
    with psycopg.connect(url) as database:
        names = database.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        rows = [database.execute(f'SELECT t::text FROM "{name}" AS t'.encode()).fetchall() for (name,) in names]
    return "\n".join(str(row[0]) for table in rows for row in table)


@pytest.mark.scenario(24)
@pytest.mark.parametrize("seed", range(2))
def test_no_planted_secret_comes_to_rest_anywhere(world: World, caplog: pytest.LogCaptureFixture, seed: int) -> None:
    caplog.set_level(logging.DEBUG)
    planter = Planter(seed)
    more = {"url": planter.one("url", "https://robot:{}@runs.example.com/1?") + planter.one("query", "access_token={}")}
    who = planter.one("by", "Ana token={}")
    world.moves_to("03:10")
    world.succeeds("orders", nominal="Sun 03:00", facts=facts(planter, "good", version="a"), by=who, more=more)
    error = {
        "type": planter.one("type", "acme.Failure: password={}"),
        "message": f"it failed: {planter.all('message', join=' ', lines=False)}",
        "log": f"{planter.all('log')}\n" + "INFO row ok\n" * 50 + f"{LOST_COLUMN}\n{planter.all('end of log')}\n",
        "exit_code": 1,
    }
    run_id = planter.one("run id", "manual token={}")
    moment: dict[str, Any] = {
        "at": world.now,
        "nominal": world.nominal_before("orders", world.now),
        "run_id": run_id,
        "by": who,
    }
    world.reports(
        Report(kind="started", job="orders", more=more, **moment),
        Report(kind="failed", job="orders", error=error, facts=facts(planter, "bad", version="b"), more=more, **moment),
        Report(
            kind="cancelled", job="visits", error={"message": planter.all("cancelled", join=" ", lines=False)}, **moment
        ),
        Report(kind="skipped", job="rates", error={"message": planter.all("skipped", join=" ", lines=False)}, **moment),
    )
    world.changes("orders", owner=planter.one("owner", "password={}"))
    wrong = {
        "scheduler": "shop",
        "job": "orders",
        "run": {"id": planter.one("rejected", "password={}"), "generation": -1},
    }
    answer = world.posts([cloud_event("run.failed", wrong, at=world.now, id=planter.one("rejected id", "password={}"))])
    world.moves_to("03:40")

    thread = world.thread("orders")
    assert "[masked]" in thread
    assert world.incident("orders").failure.cause != "unknown"
    assert len(planter.planted) > 150
    stored = everything_stored(world.database_url)
    assert re.search(r"version\W{3,8}b\W", stored)
    assert planter.survivors(stored) == []
    assert planter.survivors(json.dumps([world.stage.slack.state(), world.stage.slack.journal()])) == []
    logged = "\n".join(f"{record.getMessage()} {record.__dict__}" for record in caplog.records)
    assert planter.survivors(logged) == []
    assert [place for place in planter.survivors(answer.text) if not place.startswith("rejected id")] == []


@pytest.mark.scenario(24)
def test_two_runs_whose_ids_hold_secrets_are_two_runs(world: World) -> None:
    world.has_run("orders")
    for secret in ("9aKd83jfkLQ02mfnc83hfa", "1bXd83jfkLQ02mfnc83hfb"):
        world.fails("orders", at="03:12", run_id=f"manual password={secret}")

    stored = everything_stored(world.database_url)
    assert "83jfkLQ02mfnc83" not in stored
    assert len(set(re.findall(r"manual password=\[masked\]~[0-9a-f]{8}", stored))) == 2
    assert world.incident("orders").job == key_of("orders")
