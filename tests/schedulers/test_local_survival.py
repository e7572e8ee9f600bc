"""The local scheduler, its guards and intake die and fail at the worst moments; each run is still told once, truly."""

import fcntl
import json
import os
import select
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bot.incidents.keys import Action
from bot.incidents.policy import Schedule
from bot.ports import Taken
from bot.schedulers.local.launch import GUARD, ROOT, environment, launch
from bot.schedulers.local.records import RunRecord
from bot.sources import SourceKind
from tests.schedulers.shop import ENDED, NotStored, Shop, error_of, nominal, run_of, scheduled

PROCESS = """
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from bot.incidents.policy import Schedule
from bot.schedulers.local.job import LocalJob
from bot.schedulers.local.scheduler import LocalScheduler

root = Path(sys.argv[1])
job = LocalJob(command="cat gate; echo survived; exit 4", directory=root, schedule=Schedule(cron="0 * * * *"))
now = datetime(2026, 11, 30, 1, 59, 30, tzinfo=UTC)
scheduler = LocalScheduler("cron", {"load": job}, state=root / "state", clock=lambda: now, report=lambda events: None)
scheduler.step(now)
now = datetime(2026, 11, 30, 2, tzinfo=UTC)
scheduler.step(now)
print("started", flush=True)
sys.stdin.read()
"""


def guard_of(claim: Path) -> int:
    return int(json.loads((claim / "run.json").read_text())["guard_pid"])


def ended_process(handle: int) -> bool:
    return bool(select.select([handle], [], [], 20)[0])


def let_go(claim: Path) -> None:
    """Return when nothing of the run lives any more: all that was forked from its guard has let its lock go."""
    with (claim / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)


def test_a_run_outlives_a_killed_scheduler_and_the_next_one_tells_its_end_at_once(shop: Shop) -> None:
    shop.gate("gate")
    place = Path(__file__).resolve().parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", PROCESS, str(shop.root)], cwd=place, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as earlier:
        assert earlier.stdout is not None
        assert earlier.stdout.readline() == b"started\n"
        earlier.kill()

    shop.now = nominal("02:10")
    shop.open({"load": shop.job("echo another")})
    assert shop.kinds() == ["started"]
    shop.let_go("gate")
    failed = shop.until(*ENDED)

    assert run_of(failed).run_id == "scheduled__2026-11-30T02:00:00Z"
    assert failed.started_at == nominal("02:00")
    assert (error_of(failed).exit_code, error_of(failed).log) == (4, "survived\n")
    assert len(shop.claims()) == 1


def test_a_run_that_ended_while_nobody_looked_is_told_by_the_next_scheduler(shop: Shop) -> None:
    jobs = {"load": shop.job("exit 5")}
    shop.open(jobs)
    shop.refuse = True
    with pytest.raises(NotStored):
        shop.at("02:00:00")
    with pytest.raises(NotStored):
        shop.until(*ENDED)
    shop.refuse = False

    shop.now = nominal("08:00:30")
    shop.open(jobs)
    failed = shop.until_seen(
        lambda event: event.run is not None and event.run.nominal_time == nominal("02:00"), count=2
    )

    assert error_of(failed).exit_code == 5


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="waits for a process that is not its child")
def test_a_guard_that_is_killed_leaves_a_lost_run_told_once_and_nothing_running(shop: Shop) -> None:
    shop.gate("gate")
    jobs = {"load": shop.job("echo $$ > pid; echo > ready; cat gate; cat gate")}
    os.mkfifo(shop.root / "ready")
    shop.open(jobs)
    shop.at("02:00:00")
    (shop.root / "ready").read_text()
    command = os.pidfd_open(int((shop.root / "pid").read_text()))

    os.killpg(guard_of(shop.claims()[0]), signal.SIGKILL)
    (shop.claims()[0] / "log").write_text("begun\n")
    lost = shop.until(*ENDED)
    shop.open(jobs)

    assert error_of(lost).type == "ontrack.WorkerLost"
    assert error_of(lost).log == "begun\n"
    assert lost.cost is None
    assert shop.kinds() == ["started", "failed"]
    assert ended_process(command)
    os.close(command)


def test_a_guard_that_died_while_nobody_looked_is_lost_too_and_its_time_is_not_started_again(shop: Shop) -> None:
    shop.gate("gate")
    jobs = {"load": shop.job("cat gate")}
    first = shop.open(jobs)
    shop.at("02:00:00")
    handle = os.pidfd_open(guard_of(shop.claims()[0]))
    os.killpg(guard_of(shop.claims()[0]), signal.SIGKILL)
    assert ended_process(handle)
    os.close(handle)
    let_go(shop.claims()[0])
    assert first is shop.scheduler

    shop.now = nominal("02:00:20")
    shop.open(jobs)
    shop.open(jobs)

    assert shop.kinds() == ["started", "started", "failed"]
    assert error_of(shop.events[-1]).type == "ontrack.WorkerLost"
    assert len(shop.claims()) == 1


def test_a_guard_that_the_machine_ends_has_failed_and_was_not_stopped_by_a_person(shop: Shop) -> None:
    shop.gate("gate")
    shop.open({"load": shop.job("cat gate")})
    shop.at("02:00:00")

    os.kill(guard_of(shop.claims()[0]), signal.SIGTERM)
    failed = shop.until(*ENDED)

    assert (error_of(failed).type, error_of(failed).signal) == ("ontrack.Stopped", "SIGTERM")


def test_what_intake_did_not_take_is_told_again_until_it_does(shop: Shop) -> None:
    shop.open({"load": shop.job("true")})
    shop.refuse = True
    with pytest.raises(NotStored):
        shop.at("02:00:00")
    shop.woken.get(timeout=30)
    with pytest.raises(NotStored):
        shop.at("02:00:01")
    shop.refuse = False

    shop.at("02:00:02")
    shop.at("02:00:03")

    assert shop.refused == 2
    assert shop.kinds() == ["started", "succeeded"]
    assert (shop.claims()[0] / "reported").exists()


def test_a_time_missed_by_less_than_a_minute_is_caught_up_and_an_older_one_is_left_to_the_deadlines(shop: Shop) -> None:
    jobs = {"load": shop.job("echo $ONTRACK_NOMINAL_TIME >> seen")}
    shop.open(jobs)

    shop.now = nominal("03:00:40")
    shop.open(jobs)
    shop.until(SourceKind.RUN_SUCCEEDED)
    shop.now = nominal("05:01:00")
    shop.open(jobs)
    shop.at("06:00:00")
    shop.until(SourceKind.RUN_SUCCEEDED, count=2)

    assert shop.lines("seen") == ["2026-11-30T03:00:00Z", "2026-11-30T06:00:00Z"]


def test_a_directory_that_no_guard_made_is_passed_over(shop: Shop) -> None:
    jobs = {"load": shop.job("true")}
    shop.open(jobs)
    (shop.root / "state" / "runs" / "lost+found").mkdir()
    (shop.root / "state" / "runs" / ".new-999999999-1").mkdir()

    shop.open(jobs)
    shop.at("02:00:00")
    shop.until(SourceKind.RUN_SUCCEEDED)

    assert [path.name for path in shop.claims()][1:] == ["lost+found"]
    assert not list((shop.root / "state" / "runs").glob(".new-*"))


def test_standings_that_cannot_be_read_start_nothing(shop: Shop) -> None:
    jobs = {"load": shop.job("true")}
    shop.open(jobs)
    (shop.root / "state" / "jobs.json").write_text("{")

    with pytest.raises(ValueError, match="Expecting"):
        shop.open(jobs)
    assert shop.scheduler.ask(shop.request(Action.START, "load")).taken is Taken.UNCERTAIN
    assert not shop.claims()


def test_a_job_that_is_new_does_not_catch_up(shop: Shop) -> None:
    shop.now = nominal("02:00:10")

    shop.open({"load": shop.job("true")})

    assert not shop.claims()


def test_a_clock_that_jumps_back_starts_no_time_twice_even_in_a_new_process(shop: Shop) -> None:
    jobs = {"load": shop.job("echo x >> seen")}
    shop.open(jobs)
    shop.at("02:00:00")
    shop.until(SourceKind.RUN_SUCCEEDED)

    shop.now = nominal("01:59:50")
    shop.open(jobs)
    shop.at("02:00:00")
    shop.at("02:00:10")

    assert shop.lines("seen") == ["x"]


@pytest.mark.scenario(33)
def test_the_night_of_the_gap_runs_the_job_once_at_three(shop: Shop) -> None:
    jobs = {
        "load": shop.job(
            "echo $ONTRACK_NOMINAL_TIME >> seen", schedule=Schedule(cron="30 2 * * *", zone="Europe/Berlin")
        )
    }
    shop.now = nominal("02:00").replace(month=3, day=29, hour=0, minute=59)
    shop.open(jobs)

    for minute in (0, 30):
        shop.now = shop.now.replace(hour=1, minute=minute)
        shop.scheduler.step(shop.now)
    shop.until(SourceKind.RUN_SUCCEEDED)

    assert shop.lines("seen") == ["2026-03-29T01:00:00Z"]


@pytest.mark.scenario(20)
def test_a_rerun_that_still_runs_when_the_next_time_comes_is_not_overlapped(shop: Shop) -> None:
    shop.gate("gate")
    shop.open({"load": shop.job("cat gate")})
    rerun = shop.request(Action.RERUN, "load", nominal_times=(nominal("01:00"),))
    shop.scheduler.ask(rerun)

    shop.at("02:00:00")
    shop.let_go("gate")
    shop.until(SourceKind.RUN_SUCCEEDED)

    told = [(event.kind, run_of(event).nominal_time) for event in shop.events]
    assert told == [
        (SourceKind.RUN_STARTED, nominal("01:00")),
        (SourceKind.RUN_SKIPPED, nominal("02:00")),
        (SourceKind.RUN_SUCCEEDED, nominal("01:00")),
    ]


def test_of_guards_that_race_for_one_run_one_starts_the_command(shop: Shop) -> None:
    shop.open({})
    job = shop.job("echo x >> seen")
    record = RunRecord(job="load", run=scheduled("02:00"), started_at=shop.now)
    claim = shop.root / "state" / "runs" / record.claim
    env = environment(job=job, name="load", run=record.run, claim=claim)

    with ThreadPoolExecutor(max_workers=6) as pool:
        guards = [guard for guard in pool.map(lambda _: launch(job, record, claim=claim, env=env), range(6)) if guard]
    for guard in guards:
        guard.wait(timeout=30)

    assert len(guards) == 1
    assert shop.lines("seen") == ["x"]
    assert [path.name for path in claim.parent.iterdir()] == [record.claim]


def test_a_guard_that_cannot_make_its_claim_is_a_failed_run_with_words(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(shop.root / "gone"))
    shop.open({"load": shop.job("true")})

    shop.at("02:00:00")
    failed = shop.until(*ENDED)

    assert error_of(failed).type == "ontrack.CannotStart"
    assert (error_of(failed).message or "").startswith("the guard cannot be started: ")


def test_the_guard_loads_nothing_but_the_standard_library_and_itself(shop: Shop) -> None:
    watched = f"{GUARD.rpartition(';')[0]}; print(*sorted(name for name in sys.modules if name not in names))"
    program = f"import sys; names = sys.stdlib_module_names | set(sys.modules); {watched}"

    loaded = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, str(ROOT)],
        check=True,
        capture_output=True,
        text=True,
        cwd=shop.root,
    ).stdout.split()

    foreign = [name for name in loaded if name.partition(".")[0] not in sys.stdlib_module_names]
    assert foreign == [
        "bot",
        "bot.schedulers",
        "bot.schedulers.local",
        "bot.schedulers.local.shim",
        "bot.schedulers.local.shim_log",
        "bot.schedulers.local.shim_watch",
    ]
