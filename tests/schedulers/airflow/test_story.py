"""An incident whose scheduler is Airflow: polled, asked for a rerun, and cleared by a person in its own interface."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.incidents.model import Outcome, Status
from bot.intake import Inbound
from bot.policies.specs import AirflowSpec
from bot.schedulers.airflow.polling import AirflowPoller
from bot.schedulers.airflow.scheduler import AirflowScheduler
from bot.sources import SourceEvent
from tests.schedulers.airflow.records import Run
from tests.schedulers.airflow.server import PASSWORD, USER, Airflow
from tests.world.fixtures import Build
from tests.world.people import LOST_COLUMN, RESET
from tests.world.reports import SCHEDULER
from tests.world.world import World


@dataclass(slots=True)
class Played:
    """The world and Airflow, whose clocks are one."""

    world: World
    airflow: Airflow
    poller: AirflowPoller

    def polls(self) -> None:
        self.follows()
        due = self.poller.step(self.world.now)
        self.world.moves_to(max(due, self.world.now))

    def moves_to(self, written: str) -> None:
        self.world.moves_to(written)
        self.follows()

    def follows(self) -> None:
        self.airflow.records.now = max(self.airflow.records.now, self.world.now)

    def fails(self, job: str, log: str) -> Run:
        """The run of 03:00 fails at 03:12, and is polled."""
        self.world.has_run(job)
        self.moves_to("03:12")
        due = self.world.now.replace(minute=0)
        run = self.airflow.records.add_run(job, f"scheduled__{due.isoformat()}", due=due)
        self.airflow.records.ends(run, "failed", log=log.splitlines())
        self.polls()
        return run


@pytest.fixture
def played(build_world: Build, airflow: Airflow, tmp_path: Path) -> Played:
    spec = AirflowSpec(name=SCHEDULER, url=airflow.url, user=USER, password=PASSWORD)
    scheduler = AirflowScheduler(spec, clock=lambda: airflow.records.now)
    world = build_world(scheduler=scheduler)

    def report(events: Sequence[SourceEvent]) -> None:
        world.service.intake.take_in([Inbound(key=event.key, event=event) for event in events])

    airflow.records.now = world.now
    return Played(world, airflow, AirflowPoller(scheduler, state=tmp_path / "airflow", report=report))


def test_a_rerun_is_asked_for_and_its_good_end_resolves_the_incident(played: Played) -> None:
    run = played.fails("revenue", RESET)
    played.moves_to("03:18")
    played.airflow.records.begins(run)
    played.airflow.records.ends(run, "success")
    played.polls()

    incident = played.world.incident("revenue")
    assert (incident.status, incident.outcome) == (Status.RESOLVED, Outcome.RECOVERED)
    assert run.clear_number == 1
    assert played.world.mentions() == []


def test_scenario_11_the_answer_is_lost_and_the_run_is_cleared_once(played: Played) -> None:
    run = played.fails("revenue", RESET)
    played.airflow.fails("lose", "/clear$", body_holds='"dry_run": false')
    played.moves_to("03:20")
    played.airflow.records.begins(run)
    played.airflow.records.ends(run, "success")
    played.polls()

    assert run.clear_number == 1
    assert len(played.airflow.clears()) == 1
    assert played.world.incident("revenue").outcome is Outcome.RECOVERED


def test_a_request_that_never_arrived_is_made_again(played: Played) -> None:
    run = played.fails("revenue", RESET)
    played.airflow.fails("drop", "/clear$", body_holds='"dry_run": false')
    played.moves_to("03:20")

    assert run.clear_number == 1
    assert len(played.airflow.clears()) == 2


def test_a_rerun_that_fails_again_asks_the_owner(played: Played) -> None:
    run = played.fails("revenue", RESET)
    played.moves_to("03:18")
    played.airflow.records.begins(run)
    played.airflow.records.ends(run, "failed", log=LOST_COLUMN.splitlines())
    played.polls()

    assert played.world.incident("revenue").status is Status.OPEN
    assert [mention.who for mention in played.world.mentions()] == ["finance-oncall"]


def test_what_is_fixed_is_rerun_by_the_newest_version_and_verified(played: Played) -> None:
    run = played.fails("revenue", LOST_COLUMN)
    played.world.clicks("ana", "Fixed", "revenue")
    view = played.world.stage.slack.view_of("U0ANA")
    assert view is not None
    (owed,) = [block["block_id"] for block in view["blocks"] if block["block_id"].startswith("owed:")]
    played.world.submits("ana", **{"what": "the column is back", owed: "rerun_now"})
    played.airflow.records.begins(run)
    played.airflow.records.ends(run, "success")
    played.polls()

    (clear,) = played.airflow.clears()
    assert clear.body["run_on_latest_version"] is True
    assert played.world.incident("revenue").outcome is Outcome.FIXED


def test_an_owners_rerun_of_what_nobody_calls_fixed_leaves_the_version_to_airflow(played: Played) -> None:
    played.fails("revenue", LOST_COLUMN)
    played.world.clicks("ana", "Rerun", "revenue")
    played.world.settles()

    (clear,) = played.airflow.clears()
    assert "run_on_latest_version" not in clear.body


def test_scenario_45_cleared_by_hand_it_closes_as_recovered_by_hand(played: Played) -> None:
    run = played.fails("revenue", LOST_COLUMN)
    assert played.world.incident("revenue").status is Status.OPEN
    played.airflow.records.clear(run, user="maria", only_failed=True, note=None)
    played.airflow.records.begins(run)
    played.polls()
    played.airflow.records.ends(run, "success")
    played.polls()

    incident = played.world.incident("revenue")
    assert (incident.status, incident.outcome) == (Status.RESOLVED, Outcome.RECOVERED_BY_HAND)
    assert "maria" in played.world.thread("revenue")


def test_cleared_by_hand_before_our_own_rerun_ours_is_taken_back(played: Played) -> None:
    run = played.fails("revenue", RESET)
    played.airflow.records.clear(run, user="maria", only_failed=True, note=None)
    played.airflow.records.begins(run)
    played.polls()
    played.moves_to("03:25")

    assert played.airflow.clears() == []
    assert run.cleared_by == ["maria"]


def test_a_success_set_by_hand_leaves_it_to_the_owner(played: Played) -> None:
    run = played.fails("revenue", LOST_COLUMN)
    played.airflow.records.patch(run, {"state": "success"}, user="maria")
    played.polls()

    assert played.world.incident("revenue").status is Status.OPEN


def test_a_dag_that_waits_for_an_asset_is_downstream_without_a_word_in_policies(played: Played) -> None:
    played.airflow.records.add_dag("orders")
    played.airflow.records.add_dag("sums")
    played.airflow.records.add_asset("s3://lake/orders", written_by="orders", starts="sums")
    played.fails("orders", LOST_COLUMN)

    assert "Downstream waiting: shop/sums" in played.world.text_of(played.world.root("orders"))
