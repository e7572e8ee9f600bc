"""What is asked of the local scheduler takes effect once, across restarts; what cannot be done is refused in words."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from bot.incidents.keys import Action, JobKey, RunRef, Trigger
from bot.ports import Looked, SchedulerAnswer, Taken
from bot.schedulers.local.asking import taken
from bot.sources import SourceKind
from tests.schedulers.shop import ENDED, HOURLY, Shop, nominal, run_of, scheduled


def test_a_rerun_is_a_new_generation_of_the_same_run(shop: Shop) -> None:
    shop.open({"load": shop.job("echo $ONTRACK_GENERATION >> seen; test -f mended")})
    shop.at("02:00:00")
    shop.until(SourceKind.RUN_FAILED)
    (shop.root / "mended").write_text("")

    request = shop.request(Action.RERUN, "load", run=scheduled("02:00"), nominal_times=(nominal("02:00"),))
    answer = shop.scheduler.ask(request)
    ended = shop.until(SourceKind.RUN_SUCCEEDED)

    assert answer == SchedulerAnswer(taken=Taken.TAKEN, message="started scheduled__2026-11-30T02:00:00Z")
    assert run_of(ended) == RunRef(
        run_id="scheduled__2026-11-30T02:00:00Z",
        nominal_time=nominal("02:00"),
        generation=1,
        trigger=Trigger.RERUN,
    )
    assert ended.rerun_key == request.key
    assert ended.by == "ana@example.com"
    assert shop.lines("seen") == ["0", "1"]
    assert shop.scheduler.look(request) is Looked.STARTED


def test_a_rerun_asked_many_times_at_once_starts_one_process(shop: Shop) -> None:
    shop.open({"load": shop.job("echo x >> seen", schedule=None)})
    request = shop.request(Action.RERUN, "load", run=scheduled("01:00"), nominal_times=(nominal("01:00"),))

    with ThreadPoolExecutor(max_workers=8) as pool:
        answers = [answer.taken for answer in pool.map(shop.scheduler.ask, [request] * 8)]
    shop.until(*ENDED)
    shop.open({"load": shop.job("echo x >> seen", schedule=None)})
    again = shop.scheduler.ask(request)

    assert sorted(answers) == [*[Taken.ALREADY] * 7, Taken.TAKEN]
    assert again.taken is Taken.ALREADY
    assert shop.lines("seen") == ["x"]
    assert len(shop.claims()) == 1


def test_reruns_of_several_times_go_oldest_first_and_one_at_a_time(shop: Shop) -> None:
    command = "mkdir alone || exit 9; echo $ONTRACK_NOMINAL_TIME >> seen; rmdir alone"
    shop.open({"load": shop.job(command, schedule=None)})
    times = (nominal("01:00"), nominal("00:00"), nominal("00:30"))

    shop.scheduler.ask(shop.request(Action.RERUN, "load", run=scheduled("01:00"), nominal_times=times))
    shop.until(SourceKind.RUN_SUCCEEDED, count=3)

    assert shop.lines("seen") == ["2026-11-30T00:00:00Z", "2026-11-30T00:30:00Z", "2026-11-30T01:00:00Z"]


def test_reruns_that_wait_are_begun_by_the_next_process(shop: Shop) -> None:
    shop.gate("gate")
    jobs = {
        "load": shop.job(
            "echo $ONTRACK_NOMINAL_TIME >> seen; test $ONTRACK_NOMINAL_TIME != 2026-11-30T00:00:00Z || cat gate"
        )
    }
    shop.open(jobs)
    request = shop.request(Action.RERUN, "load", nominal_times=(nominal("00:00"), nominal("01:00")))
    shop.scheduler.ask(request)
    shop.until(SourceKind.RUN_STARTED)

    shop.open(jobs)
    shop.let_go("gate")
    shop.until(SourceKind.RUN_SUCCEEDED, count=2)

    assert shop.lines("seen") == ["2026-11-30T00:00:00Z", "2026-11-30T01:00:00Z"]


def test_a_request_that_was_accepted_before_a_crash_is_carried_out_after_it(shop: Shop) -> None:
    jobs = {"load": shop.job("echo x >> seen", schedule=None)}
    request = shop.request(Action.START, "load")
    crashed = shop.open(jobs)
    accepted = taken(request, shop.now, runs=(RunRef(run_id=f"manual__{request.key}", trigger=Trigger.MANUAL),))
    assert crashed._requests.take(accepted)

    shop.open(jobs)
    shop.until(SourceKind.RUN_SUCCEEDED)

    assert shop.scheduler.look(request) is Looked.STARTED
    assert shop.scheduler.ask(request).taken is Taken.ALREADY
    assert shop.lines("seen") == ["x"]


def test_a_rerun_waits_for_the_run_that_lives(shop: Shop) -> None:
    shop.gate("gate")
    shop.open({"load": shop.job("echo $ONTRACK_RUN_ID >> seen; test $ONTRACK_GENERATION = 1 || cat gate")})
    shop.at("02:00:00")

    answer = shop.scheduler.ask(
        shop.request(Action.RERUN, "load", nominal_times=(nominal("01:00"),), run=scheduled("01:00"))
    )
    assert answer == SchedulerAnswer(taken=Taken.TAKEN, message="starts when the run that lives has ended")
    assert len(shop.claims()) == 1
    shop.let_go("gate")
    shop.until(SourceKind.RUN_SUCCEEDED, count=2)

    assert shop.lines("seen") == ["scheduled__2026-11-30T02:00:00Z", "scheduled__2026-11-30T01:00:00Z"]


def test_start_runs_a_job_now_without_a_nominal_time(shop: Shop) -> None:
    shop.open({"load": shop.job("echo ${ONTRACK_NOMINAL_TIME-none}", schedule=None)})

    shop.scheduler.ask(shop.request(Action.START, "load", key="k/1"))
    ended = shop.until(SourceKind.RUN_SUCCEEDED)

    assert run_of(ended) == RunRef(run_id="manual__k/1", trigger=Trigger.MANUAL)
    assert (shop.claims()[0] / "log").read_text() == "none\n"


def test_start_of_a_time_that_never_ran_takes_the_schedules_own_place(shop: Shop) -> None:
    shop.open({"load": shop.job("echo x >> seen")})
    shop.now = nominal("02:00:10")

    shop.scheduler.ask(shop.request(Action.START, "load", nominal_times=(nominal("02:00"),)))
    shop.until(SourceKind.RUN_SUCCEEDED)
    shop.at("02:00:20")

    assert shop.lines("seen") == ["x"]
    assert run_of(shop.events[-1]).generation == 0


def test_a_manual_run_is_rerun_under_its_own_name(shop: Shop) -> None:
    shop.open({"load": shop.job("false", schedule=None)})
    shop.scheduler.ask(shop.request(Action.START, "load", key="first"))
    failed = run_of(shop.until(SourceKind.RUN_FAILED))

    shop.scheduler.ask(shop.request(Action.RERUN, "load", run=failed))
    again = run_of(shop.until(SourceKind.RUN_FAILED, count=2))

    assert again == RunRef(run_id="manual__first", generation=1, trigger=Trigger.RERUN)


def test_a_paused_job_starts_nothing_until_it_is_resumed_even_across_a_restart(shop: Shop) -> None:
    jobs = {"load": shop.job("echo $ONTRACK_NOMINAL_TIME >> seen")}
    shop.open(jobs)

    paused = shop.scheduler.ask(shop.request(Action.PAUSE, "load"))
    assert paused == SchedulerAnswer(taken=Taken.TAKEN, message="load is paused")
    assert shop.at("02:00:00") is None
    shop.open(jobs)
    assert shop.at("03:00:00") is None
    shop.at("03:00:30")
    shop.scheduler.ask(shop.request(Action.RESUME, "load"))
    assert shop.at("03:00:31") == nominal("04:00")
    shop.at("04:00:00")
    shop.until(SourceKind.RUN_SUCCEEDED)

    assert shop.lines("seen") == ["2026-11-30T04:00:00Z"]


def test_a_pause_told_twice_does_not_undo_the_resume_between(shop: Shop) -> None:
    shop.open({"load": shop.job("true")})
    pause = shop.request(Action.PAUSE, "load")

    shop.scheduler.ask(pause)
    shop.scheduler.ask(shop.request(Action.RESUME, "load"))
    again = shop.scheduler.ask(pause)

    assert again.taken is Taken.ALREADY
    assert shop.at("02:00:00") == nominal("03:00")
    assert len(shop.claims()) == 1


def test_a_retired_job_is_done_for_until_it_is_resumed(shop: Shop) -> None:
    jobs = {"load": shop.job("true")}
    shop.open(jobs)

    shop.scheduler.ask(shop.request(Action.RETIRE, "load"))
    shop.open(jobs)
    refused = shop.scheduler.ask(shop.request(Action.START, "load"))
    assert refused == SchedulerAnswer(taken=Taken.REFUSED, message="load is retired; resume it first")
    assert shop.at("02:00:00") is None

    shop.scheduler.ask(shop.request(Action.RESUME, "load"))
    assert shop.at("02:00:01") == nominal("03:00")


def test_a_rerun_that_we_started_is_stopped_in_the_name_of_who_asked(shop: Shop) -> None:
    shop.gate("gate")
    shop.open({"load": shop.job("trap 'echo ended; exit 1' TERM; cat gate & wait", schedule=None)})
    shop.scheduler.ask(shop.request(Action.RERUN, "load", nominal_times=(nominal("00:00"), nominal("01:00"))))
    rerun = run_of(shop.until(SourceKind.RUN_STARTED))

    stop = shop.request(Action.STOP, "load", run=rerun, requested_by="ben@example.com")
    answers = [shop.scheduler.ask(stop).taken for _ in range(2)]
    ended = shop.until(*ENDED)
    shop.at("05:00:00")

    assert answers == [Taken.TAKEN, Taken.ALREADY]
    assert ended.kind is SourceKind.RUN_CANCELLED
    assert ended.by == "ben@example.com"
    assert ended.error is not None
    assert ended.error.type == "ontrack.Stopped"
    assert "ended" in ended.error.log
    assert len(shop.claims()) == 1


def test_a_rerun_that_ignores_the_word_is_killed_after_its_grace(shop: Shop) -> None:
    shop.gate("gate")
    command = "trap '' TERM; echo > ready; cat gate; cat gate"
    shop.open({"load": shop.job(command, schedule=None, kill_after=timedelta(seconds=0.2))})
    shop.scheduler.ask(shop.request(Action.START, "load"))
    started = run_of(shop.until(SourceKind.RUN_STARTED))

    shop.scheduler.ask(shop.request(Action.STOP, "load", run=started))
    ended = shop.until(*ENDED)

    assert ended.kind is SourceKind.RUN_CANCELLED


def test_a_rerun_that_waits_is_stopped_before_it_begins(shop: Shop) -> None:
    shop.gate("gate")
    shop.open({"load": shop.job("cat gate")})
    shop.at("02:00:00")
    rerun = shop.request(Action.RERUN, "load", run=scheduled("01:00"), nominal_times=(nominal("01:00"),))
    shop.scheduler.ask(rerun)

    answer = shop.scheduler.ask(shop.request(Action.STOP, "load", run=scheduled("01:00", generation=1)))
    shop.let_go("gate")
    shop.until(*ENDED)
    shop.at("02:00:01")

    assert answer == SchedulerAnswer(taken=Taken.TAKEN, message="not begun, and will not be")
    assert shop.scheduler.look(rerun) is Looked.NOT_STARTED
    assert len(shop.claims()) == 1


def test_a_run_of_the_schedule_is_never_stopped(shop: Shop) -> None:
    shop.gate("gate")
    shop.open({"load": shop.job("cat gate")})
    shop.at("02:00:00")

    refused = shop.scheduler.ask(shop.request(Action.STOP, "load", run=scheduled("02:00")))
    shop.let_go("gate")
    ended = shop.until(*ENDED)

    assert refused == SchedulerAnswer(taken=Taken.REFUSED, message="only a run that was asked for can be stopped")
    assert ended.kind is SourceKind.RUN_SUCCEEDED


@pytest.mark.parametrize(
    ("action", "job", "words"),
    [
        (Action.RERUN, "lode", "there is no local job 'lode'"),
        (Action.PAUSE, "lode", "there is no local job 'lode'"),
        (Action.RERUN, "load", "no run was named to run again"),
        (Action.STOP, "load", "no such run lives"),
    ],
)
def test_what_cannot_be_done_is_refused_with_words(shop: Shop, action: Action, job: str, words: str) -> None:
    shop.open({"load": shop.job("true")})
    request = shop.request(action, job)

    assert shop.scheduler.ask(request) == SchedulerAnswer(taken=Taken.REFUSED, message=words)
    assert shop.scheduler.look(request) is Looked.NOT_STARTED


def test_a_run_that_is_not_due_yet_is_left_to_the_schedule(shop: Shop) -> None:
    shop.open({"load": shop.job("true")})

    answer = shop.scheduler.ask(shop.request(Action.START, "load", nominal_times=(nominal("02:00"),)))

    assert answer.taken is Taken.REFUSED


def test_a_look_without_a_state_directory_cannot_tell(shop: Shop) -> None:
    shop.open({"load": shop.job("true")})
    request = shop.request(Action.START, "load")
    shutil.rmtree(shop.root / "state" / "asked")

    assert shop.scheduler.look(request) is Looked.CANNOT_TELL
    assert shop.scheduler.ask(request).taken is Taken.UNCERTAIN
    assert not shop.claims()


def test_the_schedule_is_told_as_declared_and_follows_a_reload(shop: Shop) -> None:
    job = JobKey(scheduler="cron", name="load")
    shop.open({})
    assert shop.scheduler.schedule_of(job) is None

    shop.scheduler.reload({"load": shop.job("true")})

    assert shop.scheduler.schedule_of(job) == HOURLY
    assert shop.at("01:59:40") == nominal("02:00")


def test_a_reload_changes_neither_a_run_that_lives_nor_the_past(shop: Shop) -> None:
    shop.gate("gate")
    shop.open({"load": shop.job("cat gate; echo old")})
    shop.at("02:00:00")

    shop.scheduler.reload({})
    shop.at("02:00:10")
    shop.let_go("gate")
    ended = shop.until(*ENDED)

    assert ended.kind is SourceKind.RUN_SUCCEEDED
    assert shop.lines(str((shop.claims()[0] / "log").relative_to(shop.root))) == ["old"]
