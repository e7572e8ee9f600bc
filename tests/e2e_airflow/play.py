"""What issue 8 promises of Airflow, played in order on a real one: what a person reads in the thread, what Airflow did."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.e2e_airflow.airflow import waited_for
from tests.e2e_airflow.conftest import Stage
from tests.e2e_airflow.dags import mended
from tests.e2e_airflow.policies import ANA, ONCALL

pytestmark = pytest.mark.timeout(900)
RERUN_WITHIN = 120.0
PAUSE = timedelta(seconds=40)
SOON = timedelta(seconds=20)
DAGS_READ_EVERY = timedelta(minutes=1)


def test_a_flaky_dag_is_rerun_within_budget_and_recovers_without_a_word_to_anybody(stage: Stage) -> None:
    airflow, office = stage.airflow, stage.office
    stage.deploys("finance.flaky")
    thread = office.sees(
        "finance.flaky", "it recovered by a rerun", lambda it: "recovered" in it.root, within=RERUN_WITHIN
    )
    run = airflow.runs("finance.flaky")[-1]

    assert thread.mentions == frozenset()
    assert thread.says("Connection reset by peer")
    assert office.incident("finance.flaky")["outcome"] == "recovered"
    assert run["state"] == "success"
    assert airflow.clears("finance.flaky", run["dag_run_id"]) == ["ontrack"]
    assert "[ontrack rerun by ontrack, key airflow/finance.flaky@" in run["note"]


def test_a_broken_dag_waits_for_its_owner_is_fixed_in_its_file_and_verified_and_downstream_is_late(
    stage: Stage,
) -> None:
    airflow, office = stage.airflow, stage.office
    stage.deploys("finance.ledger")
    thread = office.sees(
        "finance.ledger", "the owners are asked", lambda it: ONCALL in it.mentions, within=RERUN_WITHIN
    )
    broken = airflow.run_is("finance.ledger", "failed")

    assert thread.says("amount")
    assert thread.says("board.pack")
    assert airflow.clears("finance.ledger", broken["dag_run_id"]) == []

    stage.deploys("board.pack")
    airflow.writes("finance.ledger", mended((airflow.dags / "finance.ledger.py").read_text()))
    newest = waited_for(lambda: _version(stage, above=1), within=60, what="Airflow has read the mended file")
    fix = {"what": "The column is called amount_eur now", "owed:": "rerun_now"}
    office.fills(ANA, "fixed", thread, fix)
    office.sees(
        "finance.ledger",
        "the fix is verified, and downstream can go on",
        lambda it: "is fixed" in it.root and it.says("Downstream can go on", "board.pack"),
        within=RERUN_WITHIN,
    )
    good = airflow.run_is("finance.ledger", "success")

    assert office.incident("finance.ledger")["outcome"] == "fixed"
    assert good["dag_run_id"] == broken["dag_run_id"]
    assert good["dag_versions"][-1]["version_number"] == newest
    assert airflow.clears("finance.ledger", good["dag_run_id"]) == ["ontrack"]
    (stage.world / "pack.go").touch()
    office.sees(
        "finance.ledger", "how late downstream was", lambda it: it.says("board.pack", " late"), within=RERUN_WITHIN
    )

    assert len(airflow.runs("board.pack")) == 1


def test_a_pause_really_pauses_the_dag_and_its_end_resumes_it(stage: Stage) -> None:
    airflow, office = stage.airflow, stage.office
    stage.deploys("finance.prices")
    thread = office.sees(
        "finance.prices", "the owners are asked", lambda it: ONCALL in it.mentions, within=RERUN_WITHIN
    )

    assert not airflow.is_paused("finance.prices")

    until = (datetime.now(UTC) + PAUSE).replace(microsecond=0)
    values = {"until": int(until.timestamp()), "at_end": "resume", "reason": "The supplier looks into it"}
    office.fills(ANA, "pause", thread, values, more=True)
    office.sees("finance.prices", "its scheduler confirms the pause", lambda it: it.says("The scheduler confirms"))

    assert airflow.is_paused("finance.prices")

    office.sees("finance.prices", "the pause is over", lambda it: it.says("The pause is over"), within=90)
    resumed = waited_for(lambda: not airflow.is_paused("finance.prices"), within=30, what="it is resumed")

    assert resumed
    assert datetime.now(UTC) >= until


def test_a_rerun_by_hand_in_airflow_closes_as_recovered_by_hand_and_says_by_whom(stage: Stage) -> None:
    airflow, office = stage.airflow, stage.office
    stage.deploys("finance.rates")
    office.sees("finance.rates", "the owners are asked", lambda it: ONCALL in it.mentions, within=RERUN_WITHIN)
    run = airflow.run_is("finance.rates", "failed")
    (stage.world / "rates.csv").write_text("EUR,1\n")
    airflow.clears_by_hand("finance.rates", run["dag_run_id"])
    office.sees(
        "finance.rates",
        "it recovered by hand, by maria",
        lambda it: "by hand" in it.root and it.says("maria"),
        within=RERUN_WITHIN,
    )

    assert office.incident("finance.rates")["outcome"] == "recovered_by_hand"
    assert airflow.clears("finance.rates", run["dag_run_id"]) == ["maria"]


def test_ontrack_is_killed_while_its_rerun_is_under_way_and_airflow_is_restarted_and_it_is_asked_once(
    stage: Stage,
) -> None:
    airflow, office = stage.airflow, stage.office
    stage.deploys("finance.mart")
    waited_for((stage.world / "mart.runs").exists, within=RERUN_WITHIN, what="the rerun of finance.mart is under way")
    office.kill()
    (stage.world / "mart.go").touch()
    run = airflow.run_is("finance.mart", "success")
    airflow.stop()
    office.start()
    airflow.start()
    thread = office.sees(
        "finance.mart", "it recovered by its rerun", lambda it: "recovered" in it.root, within=RERUN_WITHIN
    )

    assert thread.mentions == frozenset()
    assert office.incident("finance.mart")["outcome"] == "recovered"
    assert airflow.clears("finance.mart", run["dag_run_id"]) == ["ontrack"]


def test_a_dag_that_does_not_end_in_time_is_late_and_closes_by_itself_when_it_ends(stage: Stage) -> None:
    office = stage.office
    stage.deploys("finance.close", due=_slot(SOON))
    office.sees(
        "finance.close",
        "it is late, and the on-call is called",
        lambda it: "has not finished in time" in it.root and ONCALL in it.mentions,
        within=RERUN_WITHIN + 60,
    )
    (stage.world / "close.go").touch()
    office.sees("finance.close", "it ended, with its delay", lambda it: it.says("Late by"), within=RERUN_WITHIN)

    assert office.incident("finance.close")["outcome"] == "recovered_alone"


def test_a_dag_that_never_starts_is_caught_and_started_once_from_the_thread(stage: Stage) -> None:
    airflow, office = stage.airflow, stage.office
    due = _slot(DAGS_READ_EVERY + SOON)
    stage.deploys("finance.stock", due=due)
    airflow.run_is("finance.stock", "success")
    airflow.stop("scheduler")
    thread = office.sees(
        "finance.stock",
        "it has not started, and the on-call is called",
        lambda it: "has not started" in it.root and ONCALL in it.mentions,
        within=(due - datetime.now(UTC)).total_seconds() + RERUN_WITHIN,
    )
    office.presses(ANA, "start_now", thread)
    waited_for(lambda: len(airflow.runs("finance.stock")) > 1, within=60, what="Airflow has a run of that time")
    airflow.start("scheduler")
    run = airflow.run_is("finance.stock", "success", number=1)
    office.sees("finance.stock", "it is settled", lambda it: "recovered" in it.root, within=RERUN_WITHIN)

    assert datetime.fromisoformat(run["data_interval_end"]) == due
    assert "[ontrack started by " in run["note"]
    assert waited_for(lambda: _next_after(stage, due), within=60, what="Airflow's schedule has gone on")
    assert len(airflow.runs("finance.stock")) == 2


def _slot(wait: timedelta) -> datetime:
    """The next full minute that is so far away."""
    return (datetime.now(UTC) + wait + timedelta(minutes=1)).replace(second=0, microsecond=0)


def _next_after(stage: Stage, due: datetime) -> bool:
    dag = stage.airflow.call("GET", "/dags/finance.stock")
    return datetime.fromisoformat(dag["next_dagrun_logical_date"]) > due


def _version(stage: Stage, *, above: int) -> int | None:
    versions = stage.airflow.call("GET", "/dags/finance.ledger/dagVersions")["dag_versions"]
    newest = max(int(one["version_number"]) for one in versions)
    return newest if newest > above else None
