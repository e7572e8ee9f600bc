"""What `doctor` says of schedulers that are asked over the network: reached, believed, and what they show us."""

from collections.abc import Iterator

import pytest

from bot.compose.doctor_schedulers import examine_schedulers
from bot.compose.finding import Finding, Health
from bot.policies import load
from tests.maestro.fake.server import Maestro, a_maestro
from tests.schedulers.airflow.server import MONDAY, PASSWORD, USER, Airflow
from tests.world.people import POLICIES


def findings(declared: str) -> list[Finding]:
    policies = load(POLICIES.replace("teams:", f"  {declared}\nteams:", 1), env={})
    return list(examine_schedulers(policies, clock=lambda: MONDAY))


def of_airflow(url: str, *, password: str = PASSWORD) -> list[Finding]:
    return findings(f'prod: {{type: airflow, url: "{url}", user: {USER}, password: "{password}"}}')


def of_maestro(url: str, workflows: str, *, token: str = "") -> list[Finding]:
    known = f', token: "{token}"' if token else ""
    return findings(f'flows: {{type: maestro, url: "{url}", user: ontrack, workflows: [{workflows}]{known}}}')


@pytest.fixture
def airflow() -> Iterator[Airflow]:
    airflow = Airflow()
    yield airflow
    airflow.close()


@pytest.fixture
def maestro() -> Iterator[Maestro]:
    with a_maestro() as maestro:
        yield maestro


def test_an_airflow_that_shows_all_is_named_with_its_version_and_its_dags(airflow: Airflow) -> None:
    airflow.records.add_run("finance.daily", "r1", due=MONDAY)
    airflow.records.add_dag("other")
    (found,) = of_airflow(airflow.url)

    assert (found.part, found.health) == ("scheduler prod", Health.OK)
    assert found.says.startswith("Airflow 3.3.2, 2 DAGs, 1 runs changed today")
    assert "shows only when it is asked" in found.says


def test_nothing_is_asked_of_an_airflow_but_to_show(airflow: Airflow) -> None:
    airflow.records.add_run("finance.daily", "r1", due=MONDAY)
    of_airflow(airflow.url)

    assert {asked.method for asked in airflow.asked if asked.path != "/auth/token"} == {"GET"}


def test_rights_that_are_missing_are_told_each_with_its_fix(airflow: Airflow) -> None:
    airflow.audit_hidden = airflow.assets_hidden = True
    airflow.records.add_run("finance.daily", "r1", due=MONDAY)
    airflow.fails(403, "/taskInstances$")
    found, *missing = of_airflow(airflow.url)

    assert found.health is Health.OK
    assert [one.health for one in missing] == [Health.WARN] * 3
    assert [one.says.partition(" cannot be read")[0] for one in missing] == ["the audit log", "assets", "tasks of runs"]
    assert all(one.fix.startswith("let the user read") for one in missing)


@pytest.mark.parametrize(
    ("path", "status", "says", "fix"),
    [
        ("/auth/token$", 401, "it refuses us: Airflow gave no token: it answered 401", "`user` and `password`"),
        ("~/dagRuns$", 403, "it refuses us: Airflow answered 403", "allowed to read and edit DAG runs"),
        ("/version$", 404, "it refuses us: Airflow answered 404", "REST API v2"),
        ("/version$", 503, "it is unwell: Airflow answered 503", "is not well"),
    ],
)
def test_an_airflow_that_gives_no_answer_is_broken_and_says_why(
    airflow: Airflow, path: str, status: int, says: str, fix: str
) -> None:
    airflow.fails(status, path, times=9)
    (found,) = of_airflow(airflow.url)

    assert found.health is Health.BROKEN
    assert found.says.startswith(says)
    assert fix in found.fix


def test_an_airflow_that_is_not_there_is_broken() -> None:
    (found,) = of_airflow("http://127.0.0.1:9")

    assert found.health is Health.BROKEN
    assert found.says.startswith("it cannot be reached")
    assert "`url`" in found.fix


def test_a_maestro_that_answers_is_told_with_its_workflows(maestro: Maestro) -> None:
    maestro.push("sales.daily", steps=("load",))
    (found,) = of_maestro(maestro.url, "sales.daily")

    assert (found.part, found.health) == ("scheduler flows", Health.OK)
    assert found.says == "Maestro answers, 1 of 1 workflows are read"
    assert {asked.method for asked in maestro.asked} == {"GET"}


def test_workflows_that_maestro_does_not_know_are_named(maestro: Maestro) -> None:
    maestro.push("sales.daily", steps=("load",))
    found, missing = of_maestro(maestro.url, "sales.daily, sales.dialy, other")

    assert found.says == "Maestro answers, 1 of 3 workflows are read"
    assert (missing.health, missing.says) == (Health.WARN, "no such workflow: sales.dialy, other")


def test_a_maestro_that_does_not_believe_us_is_broken(maestro: Maestro) -> None:
    maestro.token = "in the vault"
    (found,) = of_maestro(maestro.url, "sales.daily", token="another")

    assert found.health is Health.BROKEN
    assert found.says.startswith("it refuses us: Maestro answered 401")
    assert "`token`" in found.fix


def test_a_workflow_that_cannot_be_read_just_now_is_told_apart_from_one_that_is_not_there(maestro: Maestro) -> None:
    maestro.push("sales.daily", steps=("load",))
    maestro.fails_to_answer(500, "/overview$")
    found, unread = of_maestro(maestro.url, "sales.daily")

    assert found.says == "Maestro answers, 0 of 1 workflows are read"
    assert unread.says.startswith("not read: sales.daily (Maestro answered 500")


def test_schedulers_that_only_report_are_not_asked() -> None:
    assert findings("inhouse: {type: events}") == []
