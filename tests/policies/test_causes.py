"""Cause rules of a company and of single jobs: which hold for whom, and that none is compiled twice."""

from bot.evidence import ErrorReport, read_failure
from bot.incidents.keys import JobKey
from bot.policies import Policies, load, show

OF_JOBS = """
causes: [{id: mine.locked, title: Locked, when: {message: locked}}]
jobs:
  - match: "airflow/*"
    causes: [{id: mine.sold, title: Sold, when: {message: sold}, implies: [mine.locked]}]
  - match: airflow/sales
    causes:
      - {id: mine.locked, title: Locked for sales, when: {message: shut}, never_safe: true}
      - {id: mine.kept, title: Kept, when: {message: kept}}
  - {match: airflow/plain, causes: null}
  - {match: airflow/none, causes: []}
"""


def titles(policies: Policies, job: str) -> set[str]:
    rules = policies.rules_of(JobKey(scheduler="airflow", name=job))
    return {rules.rule(name).title for name in rules.ids() if name.startswith("mine.")}


def test_a_job_has_the_companys_causes_and_those_of_the_last_entry_that_brings_any() -> None:
    made = load(f"version: 1{OF_JOBS}", env={})

    assert titles(made, "orders") == {"Locked", "Sold"}
    assert titles(made, "sales") == {"Locked for sales", "Kept"}
    assert titles(made, "plain") == {"Locked"}
    assert titles(made, "none") == {"Locked"}
    assert titles(load("version: 1", env={}), "orders") == set()
    assert {rule.title for rule in made.every_rule() if rule.id.startswith("mine.")} == {"Locked", "Sold", "Kept"}


def test_the_rules_of_an_entry_are_compiled_once_and_shared() -> None:
    made, again = (load(f"version: 1{OF_JOBS}", env={}) for _ in range(2))
    orders, stock = (JobKey(scheduler="airflow", name=name) for name in ("orders", "stock"))

    assert made.rules_of(orders) is made.rules_of(stock)
    assert made.rules_of(orders) is again.rules_of(orders)
    assert made.rules_of(JobKey(scheduler="cron", name="orders")) is made.rules


def test_a_file_without_causes_of_jobs_has_one_set_of_rules() -> None:
    made = load("version: 1\njobs: [{match: 'airflow/*', open_after: 2}]", env={})

    assert not made.rules_of_layers
    assert made.rules_of(JobKey(scheduler="airflow", name="orders")) is made.rules


def test_a_more_general_cause_says_nothing_beside_one_that_implies_it() -> None:
    text = """version: 1
causes:
  - {id: mine.sold, title: Sold, when: {message: sold}IMPLIES}
  - {id: mine.locked, title: Locked, when: {message: ".*locked"}}
"""
    error = ErrorReport(log="ERROR sold out and locked\n", exit_code=1)

    def also(implies: str) -> tuple[str, ...]:
        rules = load(text.replace("IMPLIES", implies), env={}).rules
        return read_failure(error=error, facts={}, last_good=None, rules=rules).cause.also

    assert also("") == ("mine.locked",)
    assert also(", implies: [mine.locked]") == ()


def test_a_job_is_shown_with_the_entry_that_its_causes_come_from() -> None:
    shown = show(load(f"version: 1{OF_JOBS}", env={}), JobKey(scheduler="airflow", name="sales"))

    causes = shown["values"]["causes"]
    assert (causes["from"], causes["line"]) == ("jobs[1]", 7)
    assert [cause["id"] for cause in causes["value"]] == ["mine.locked", "mine.kept"]
