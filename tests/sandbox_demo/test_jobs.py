"""The sample jobs do real work on real files, and fail as what they stand for fails."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.evidence import ErrorReport, load_rules, read_failure
from bot.sandbox.world import World
from tests.sandbox_demo.conftest import Ran

Run = Callable[..., Ran]


def cause_of(ran: Ran) -> str:
    """The cause that the built-in rules give to this run's failure."""
    report = ErrorReport(exit_code=ran.returncode, log=ran.stdout + ran.stderr)
    return read_failure(error=report, facts={}, last_good=None, rules=load_rules()).cause.id


def report_of(world: World, name: str) -> dict[str, object]:
    found: dict[str, object] = json.loads((world.directory / name).read_text())
    return found


def test_the_summary_counts_every_order(ran: Run, world: World) -> None:
    assert ran("orders_summary.py").returncode == 0

    summary = json.loads((world.directory / "out/orders_summary.json").read_text())

    assert sum(country["orders"] for country in summary.values()) == 2000


def test_an_import_takes_in_the_whole_list(ran: Run, world: World) -> None:
    done = ran("feed_import.py", "payments", job="payments_import")

    assert done.returncode == 0, done.stderr
    assert len((world.directory / "data/payments.csv").read_text().splitlines()) == 401
    assert (world.directory / "out/payments_import.done").read_text() == "2026-11-30T06:00:00Z"


def test_a_dropped_connection_is_a_reset_and_leaves_no_half_list(ran: Run, world: World) -> None:
    world.feed.drop("payments")
    dropped = ran("feed_import.py", "payments", job="payments_import")

    assert dropped.returncode != 0
    assert cause_of(dropped) == "network.connection_reset"
    assert not (world.directory / "data/payments.csv").exists()

    assert ran("feed_import.py", "payments", job="payments_import").returncode == 0


def test_a_drop_is_for_its_own_list_only(ran: Run, world: World) -> None:
    world.feed.drop("refunds")

    assert ran("feed_import.py", "payments", job="payments_import").returncode == 0
    assert ran("feed_import.py", "refunds", job="refunds_import").returncode != 0


def test_a_broken_feed_drops_until_it_is_repaired(ran: Run, world: World) -> None:
    world.break_feed()
    results = [ran("feed_import.py", "payments", job="payments_import").returncode for _ in range(2)]
    world.feed.repair()

    assert 0 not in results
    assert ran("feed_import.py", "payments", job="payments_import").returncode == 0


def test_now_and_then_means_after_so_many_good_ones(ran: Run, world: World) -> None:
    world.feed.now_and_then = {"payments": 2}

    results = [ran("feed_import.py", "payments", job="payments_import").returncode == 0 for _ in range(6)]

    assert results == [True, True, False, True, True, False]


def test_a_number_that_is_none_stops_the_rates_until_the_file_is_repaired(ran: Run, world: World) -> None:
    world.break_rates()
    failed = ran("exchange_rates.py", job="exchange_rates")
    world.repair_rates()

    assert cause_of(failed) == "data.bad_record"
    assert ran("exchange_rates.py", job="exchange_rates").returncode == 0
    assert "usd,1.084100" in (world.directory / "data/rates.csv").read_text()


def test_a_lost_column_is_named(ran: Run, world: World) -> None:
    world.lose_column()
    failed = ran("customer_segments.py")
    world.restore_column()

    assert cause_of(failed) == "data.schema_changed"
    assert "column 'country' is missing" in failed.stderr
    assert ran("customer_segments.py").returncode == 0


def test_a_word_among_the_counts_stops_them_until_it_is_a_number_again(ran: Run, world: World) -> None:
    world.miscount_stock()
    failed = ran("stock_count.py")
    world.recount_stock()

    assert cause_of(failed) == "data.bad_record"
    assert ran("stock_count.py").returncode == 0
    assert report_of(world, "out/stock.json")["shelves"] == 300


def test_a_wider_window_takes_as_much_more_memory(ran: Run, world: World) -> None:
    (world.directory / "config/attribution.ini").write_text("[model]\nwindow_days = 20\n")
    done = ran("attribution_model.py")

    held = int(done.stdout.split("weighed ")[1].split()[0])

    assert held == pytest.approx(20_000_000, rel=0.01)
    assert report_of(world, "out/attribution.json")["days"] == 20


def test_the_ledger_is_closed_only_when_nobody_else_holds_it(world: World) -> None:
    world.hold_ledger()
    argv = [sys.executable, "-I", "jobs/ledger_close.py"]
    with subprocess.Popen(argv, cwd=world.directory, stdout=subprocess.PIPE, text=True) as closing:
        assert closing.stdout is not None
        assert closing.stdout.readline() == "waiting for the ledger's lock\n"
        assert closing.poll() is None
        assert not (world.directory / "out/ledger.json").exists()

        world.release_ledger()

        assert closing.wait(timeout=20) == 0
    assert report_of(world, "out/ledger.json")["balance"] == 0


def test_a_follow_up_waits_for_its_own_nominal_time(ran: Run, world: World) -> None:
    assert ran("exchange_rates.py", job="exchange_rates").returncode == 0
    argv = [sys.executable, "-I", "jobs/follow_up.py", "exchange_rates", "data/rates.csv", "out/prices.json"]
    env = {"ONTRACK_NOMINAL_TIME": "2026-11-30T06:00:10Z"}
    with subprocess.Popen(argv, cwd=world.directory, env=env, stdout=subprocess.PIPE, text=True) as following:
        assert following.stdout is not None
        assert following.stdout.readline() == "waiting for exchange_rates\n"
        assert following.poll() is None

        assert ran("exchange_rates.py", job="exchange_rates", nominal_time="2026-11-30T06:00:10Z").returncode == 0

        assert following.wait(timeout=20) == 0
    assert report_of(world, "out/prices.json")["usd"] == 1.0841


def test_the_ledger_lock_may_be_held_and_released_again_and_again(world: World) -> None:
    began = time.monotonic()
    for _ in range(3):
        world.hold_ledger()
        world.hold_ledger()
        world.release_ledger()
        world.release_ledger()

    assert time.monotonic() - began < 5


def test_scripts_are_copied_without_their_package(world: World) -> None:
    names = {path.name for path in Path(world.directory / "jobs").iterdir()}

    assert "orders_summary.py" in names
    assert "__init__.py" not in names
