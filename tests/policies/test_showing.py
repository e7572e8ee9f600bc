"""`policies show` and `policies schema`."""

import json

import pytest
from jsonschema import Draft202012Validator

from bot.incidents.keys import JobKey
from bot.policies import load, schema, show
from bot.policies.nodes import read_nodes
from bot.policies.values import plain_values
from tests.policies.texts import ENV, SKETCH

TEXT = """version: 1
teams:
  core:
    members: [U0ANA]
    mode: ask
causes:
  - {id: mine.locked, title: Locked, when: {message: locked}}
defaults:
  team: core
  rerun:
    max: 3
    budget: {limit: 4}
jobs:
  - match: "*"
    rerun: {budget: {per: week, limit: 2}}
    chase:
      ladder: [{after: 90s, ask: team, by: [channel, email]}]
  - match: cron/*
    team: core
    late: {finish_by: "07:00"}
    safe_to_retry: {causes: [mine.locked], by: U0BEN, since: 2026-11-02}
"""


def parsed(text: str) -> object:
    root, problems = read_nodes(text)
    assert root is not None
    assert not problems
    return plain_values(root, env=ENV)[0]


def test_every_value_tells_where_it_comes_from() -> None:
    shown = show(load(TEXT, env={}), JobKey(scheduler="cron", name="load"))

    assert (shown["job"], shown["team"]) == ("cron/load", "core")
    values = shown["values"]
    assert values["rerun.max"] == {"value": 3, "from": "defaults", "line": 11}
    assert values["rerun.budget.limit"] == {"value": 2.0, "from": "jobs[0]", "line": 15}
    assert values["rerun.backoff"] == {"value": "5m", "from": "built in", "line": None}
    assert values["mode"] == {"value": "ask", "from": "teams.core", "line": 5}
    assert values["late.finish_by"] == {"value": "07:00", "from": "jobs[1]", "line": 20}
    assert values["chase.ladder"] == {
        "value": [{"after": "90s", "ask": "team", "by": ["channel", "email"]}],
        "from": "jobs[0]",
        "line": 17,
    }
    assert values["chase.mail_after"] == {"value": "10m", "from": "built in", "line": None}
    assert values["mail.unproven"] == {"value": "refuse", "from": "built in", "line": None}


def test_what_holds_for_all_jobs_is_shown_with_each() -> None:
    text = "version: 1\ndefaults: {chase: {mail_after: 2m}}\nmail:\n  unproven: confirm\n"
    values = show(load(text, env={}), JobKey(scheduler="cron", name="load"))["values"]

    assert values["mail.unproven"] == {"value": "confirm", "from": "mail", "line": 4}
    assert values["chase.mail_after"] == {"value": "2m", "from": "defaults", "line": 2}


def test_a_void_mark_says_why() -> None:
    (mark,) = show(load(TEXT, env={}), JobKey(scheduler="cron", name="load"))["safe_to_retry"]

    assert mark["void"] == "marked by U0BEN, who is not a member of core"


@pytest.mark.parametrize("text", [TEXT, SKETCH, "version: 1"])
def test_what_is_shown_fits_into_json(text: str) -> None:
    shown = show(load(text, env=ENV), JobKey(scheduler="airflow-prod", name="finance.x"))

    assert json.loads(json.dumps(shown)) == shown


def test_the_schema_is_a_schema_that_json_can_hold() -> None:
    made = schema()

    Draft202012Validator.check_schema(made)
    assert json.loads(json.dumps(made)) == made


@pytest.mark.parametrize("text", [TEXT, SKETCH, "version: 1"])
def test_editors_take_good_files(text: str) -> None:
    assert [each.message for each in Draft202012Validator(schema()).iter_errors(parsed(text))] == []


@pytest.mark.parametrize(
    "text",
    [
        "version: 2",
        "version: 1\nteam: {}",
        "version: 1\ndefaults: {mode: active}",
        "version: 1\ndefaults: {rerun: {backoff: 5 minutes}}",
        "version: 1\ndefaults: {rerun: {backoff: 5}}",
        "version: 1\nschedulers: {a: {type: airflow, urll: https://a.example.com}}",
        "version: 1\njobs: [{team: a}]",
        "version: 1\nmail: {unproven: trust}",
        "version: 1\ndefaults: {chase: {mail_after: 10}}",
    ],
)
def test_editors_refuse_bad_files(text: str) -> None:
    assert list(Draft202012Validator(schema()).iter_errors(parsed(text)))
