"""What the first day is like after an import: deadlines, estimates and comparisons are there."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.incidents.model import Status
from storage.migrating import migrate
from tests.importing.telling import Telling, imports
from tests.importing.test_command import ran, rows
from tests.maestro.fake.records import Clock
from tests.maestro.fake.server import Maestro
from tests.world.fixtures import Build
from tests.world.people import POLICIES, RESET
from tests.world.world import World

LEARNING = POLICIES.replace("finish: off", "finish: learned")


def has_a_past(world: World, job: str) -> None:
    telling = Telling(now=world.now)
    for days_ago in range(8, 1, -1):
        telling.good(job, days_ago, took=10)
    imports(world, telling)


def test_a_run_that_takes_too_long_is_late_by_what_was_learned(build_world: Build) -> None:
    world = build_world(policies=LEARNING)
    has_a_past(world, "orders")
    world.starts("orders", at="03:00")
    world.moves_to("03:30")
    late = world.incident("orders")

    assert late.failure.cause == "late.not_finished"
    assert "usually" in world.thread("orders")


def test_without_a_past_nobody_knows_that_it_is_late(build_world: Build) -> None:
    world = build_world(policies=LEARNING)
    world.starts("orders", at="03:00")
    world.moves_to("03:30")

    assert world.incidents("orders") == ()


def test_a_rerun_fits_its_budget_since_its_cost_is_known(world: World) -> None:
    has_a_past(world, "revenue")
    world.fails("revenue", at="03:12", log=RESET)

    assert world.incident("revenue").status is Status.RERUNNING


def test_without_a_past_the_cost_is_unknown_and_the_owner_is_asked(world: World) -> None:
    world.fails("revenue", at="03:12", log=RESET)

    assert world.incident("revenue").status is Status.AWAITING_APPROVAL


def test_a_maestro_tells_of_its_past_as_an_airflow_does(tmp_path: Path) -> None:
    noon = (datetime.now(UTC) - timedelta(days=3)).replace(hour=12)
    maestro = Maestro(Clock(noon))
    maestro.push("sales.daily", steps=("load",), cron="0 6 * * *")
    for days in (0, 1):
        maestro.moves_to(maestro.clock.now + timedelta(hours=days))
        maestro.succeeds(maestro.started("sales.daily", user="ann"))
    declared = f'  flows: {{type: maestro, url: "{maestro.url}", user: ontrack, workflows: [sales.daily]}}\nteams:'
    (tmp_path / "policies.yaml").write_text(POLICIES.replace("teams:", declared, 1))
    url = f"sqlite:///{tmp_path}/ontrack.db"
    migrate(url)
    done = ran("import", "--since", "5d", "--json", DATABASE_URL=url, POLICIES=str(tmp_path / "policies.yaml"))
    maestro.close()

    assert done.exit_code == 0, done.stderr
    (told,) = rows(done.stdout)
    assert (told["scheduler"], told["jobs"], told["trouble"]) == ("flows", 1, None)
    assert told["runs"] >= 2
