"""What is told of a run beside its failure, and what evidence makes of it beside the last good run."""

from datetime import timedelta
from pathlib import Path
from typing import Any

from bot.evidence import Evidence, load_rules, read_failure
from bot.schedulers.maestro.facts import facts_of
from bot.schedulers.maestro.shapes import Instance
from bot.sources import SourceEvent, SourceKind
from tests.maestro.fake.server import MONDAY, Maestro
from tests.schedulers.maestro.desk import DAILY, Desk

RULES = load_rules()
GIT = {"origin": "git@example.com:sales.git", "branch": "main", "sha": "4f2a9c1", "path": "daily.yaml"}


def desk_of(maestro: Maestro, path: Path, **pushed: Any) -> Desk:
    maestro.push(DAILY, steps=("load",), cron="0 6 * * *", timezone="Europe/Berlin", git=GIT, author="ann", **pushed)
    return Desk(maestro, path)


def good_then_failed(desk: Desk, maestro: Maestro, *, between: Any = lambda: None) -> tuple[SourceEvent, SourceEvent]:
    maestro.succeeds(maestro.scheduled(DAILY, MONDAY))
    good = desk.polls(2)[-1]
    maestro.clock.moves(timedelta(hours=1))
    between()
    maestro.fails_for_good(maestro.scheduled(DAILY, MONDAY + timedelta(days=1)), "load", message="no rows")
    failed = desk.polls(2)[-1]
    assert (good.kind, failed.kind) == (SourceKind.RUN_SUCCEEDED, SourceKind.RUN_FAILED)
    return good, failed


def read(good: SourceEvent, failed: SourceEvent) -> Evidence:
    assert failed.error is not None
    return read_failure(error=failed.error, facts=failed.facts, last_good=good.facts, rules=RULES)


def test_two_runs_of_the_same_differ_in_nothing(maestro: Maestro, tmp_path: Path) -> None:
    good, failed = good_then_failed(desk_of(maestro, tmp_path), maestro)

    assert [change.says for change in read(good, failed).changes or ()] == []


def test_a_new_version_of_the_definition_is_what_changed_and_who_wrote_it(maestro: Maestro, tmp_path: Path) -> None:
    desk = desk_of(maestro, tmp_path)

    def pushed() -> None:
        newer = {**GIT, "sha": "b81fe20"}
        maestro.push(
            DAILY, steps=("load",), cron="0 6 * * *", timezone="Europe/Berlin", git=newer, author="ben",
            workflow={"params": {"region": {"type": "STRING", "value": "us"}}},
        )  # fmt: skip

    good, failed = good_then_failed(desk, maestro, between=pushed)
    found = read(good, failed)

    assert failed.facts["code"]["definition_version"] == "2"
    told = [change.says for change in found.changes or ()]
    assert told[0].startswith("code change is new: 2026-11-30 07:01 UTC ben Created a new workflow version [2]")
    assert "code 4f2a9c1 -> b81fe20" in told
    assert any("ben" in line for line in failed.facts["code"]["change"])
    assert "change" not in good.facts["code"]


def test_a_changed_run_strategy_shows(maestro: Maestro, tmp_path: Path) -> None:
    desk = desk_of(maestro, tmp_path, strategy="SEQUENTIAL")

    def changed() -> None:
        maestro.changes(DAILY, user="ben", run_strategy={"rule": "PARALLEL", "workflow_concurrency": 5})

    good, failed = good_then_failed(desk, maestro, between=changed)

    assert (good.facts["config"]["run_strategy"], failed.facts["config"]["run_strategy"]) == ("SEQUENTIAL", "PARALLEL")
    assert any("SEQUENTIAL" in change.says for change in read(good, failed).changes or ())


def test_how_long_each_step_took_is_told_of_good_and_failed_runs(maestro: Maestro, tmp_path: Path) -> None:
    good, failed = good_then_failed(desk_of(maestro, tmp_path), maestro)

    assert good.facts["timing"]["steps"].keys() == failed.facts["timing"]["steps"].keys() == {"load"}


def test_the_definition_of_a_version_is_read_once(maestro: Maestro, tmp_path: Path) -> None:
    desk = desk_of(maestro, tmp_path)
    for day in range(5):
        maestro.succeeds(maestro.scheduled(DAILY, MONDAY + timedelta(days=day)))
    desk.polls(2)

    assert len(maestro.calls("GET", "/versions/1$")) == 1


def test_parameters_are_what_they_were_evaluated_to_and_those_of_every_run_are_left_out() -> None:
    run = Instance(
        workflow_id=DAILY,
        workflow_instance_id=1,
        params={
            "region": {"type": "STRING", "value": "${r}", "evaluated_result": "eu"},
            "limits": {"type": "MAP", "value": {"rows": {"type": "LONG", "evaluated_result": 5}}},
            "RUN_TS": {"type": "LONG", "evaluated_result": 1},
            "TARGET_RUN_DATE": {"type": "STRING", "evaluated_result": "20261130"},
            "WORKFLOW_INSTANCE_ID": {"type": "LONG", "evaluated_result": 1},
        },
    )

    assert facts_of(run, None)["params"] == {"region": "eu", "limits": {"rows": 5}}
