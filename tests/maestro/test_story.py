"""The main story, polled over HTTP: an incident of a Maestro workflow opens with its evidence, is rerun or decided, and ends."""

from datetime import timedelta

from bot.incidents.model import Outcome, Status
from tests.maestro.fake.records import millis
from tests.maestro.fake.server import Maestro
from tests.maestro.played import JOB, Played, play
from tests.world.clock import MONDAY_MIDNIGHT
from tests.world.fixtures import Build
from tests.world.people import LOST_COLUMN, PEOPLE, POLICIES, RESET


def fixed(played: Played, choice: str) -> None:
    """Ana fills in what was fixed, and what is to become of what is owed."""
    view = played.world.stage.slack.view_of(PEOPLE["ana"])

    assert view is not None

    owed = [block["block_id"] for block in view["blocks"] if block["block_id"].startswith("owed:")]
    played.world.submits("ana", **{"what": "the column is back", **dict.fromkeys(owed, choice)})


def rerun(played: Played, person: str = "ana") -> None:
    """The button, and the modal where one asks to confirm."""
    played.world.clicks(person, "Rerun", JOB)
    if played.world.screen(person):
        played.world.submits(person)


def test_a_licensed_rerun_is_one_restart_and_its_good_end_resolves(played: Played) -> None:
    played.has_run()
    run = played.fails(log=RESET)
    played.polls()
    played.moves_to("03:20")
    again = played.maestro.run(JOB, run.instance_id)
    played.maestro.succeeds(again)
    played.polls(2)

    incident = played.world.incident(JOB)
    assert (incident.status, incident.outcome) == (Status.RESOLVED, Outcome.RECOVERED)
    assert [(one.run_id, one.initiator["user"]) for one in played.maestro.reruns(JOB)] == [(2, "ontrack")]
    assert played.world.mentions() == []


def test_the_thread_holds_the_error_of_the_step_and_what_changed(played: Played) -> None:
    played.has_run()
    played.moves_to("02:00")
    played.maestro.push(JOB, author="ann", git={"sha": "4f2a9c1", "branch": "main"})
    played.fails(log=LOST_COLUMN)
    played.polls()

    thread = played.world.thread(JOB)
    assert "psycopg.errors.UndefinedColumn" in thread
    assert "definition" in thread.lower()
    assert played.world.incident(JOB).status is Status.OPEN
    assert [mention.who for mention in played.world.mentions()] == ["finance-oncall"]


def test_an_unknown_cause_waits_for_its_owner_who_reruns_it(played: Played) -> None:
    played.has_run()
    run = played.fails(log=LOST_COLUMN)
    played.polls()
    played.moves_to("03:30")

    assert played.maestro.reruns(JOB) == []

    rerun(played)
    played.moves_to("03:31")
    played.maestro.succeeds(played.maestro.run(JOB, run.instance_id))
    played.polls(2)

    incident = played.world.incident(JOB)
    assert incident.status is Status.RESOLVED
    assert [one.initiator["user"] for one in played.maestro.reruns(JOB)] == ["ana"]


def test_the_owners_fix_is_verified_by_the_next_run(played: Played) -> None:
    played.has_run()
    played.fails(log=LOST_COLUMN)
    played.polls()
    played.moves_to("03:40")
    played.world.clicks("ana", "Fixed", JOB)
    fixed(played, "next_run")

    assert played.world.incident(JOB).status is Status.VERIFYING

    played.moves_to("Tue 03:00")
    run = played.maestro.scheduled(JOB, played.world.now.replace(second=0, microsecond=0))
    played.maestro.succeeds(run)
    played.polls(2)

    assert played.world.incident(JOB).status in (Status.RESOLVED, Status.VERIFYING)


def test_a_restart_by_hand_in_maestro_closes_as_recovered_by_hand(played: Played) -> None:
    played.has_run()
    run = played.fails(log=LOST_COLUMN)
    played.polls()
    again = played.maestro.restarts(run, user="maria")
    played.polls(2)
    played.maestro.succeeds(again)
    played.polls(3)

    incident = played.world.incident(JOB)
    assert (incident.status, incident.outcome) == (Status.RESOLVED, Outcome.RECOVERED_BY_HAND)
    assert "maria" in played.world.thread(JOB)


def test_a_rerun_that_fails_again_asks_the_owner(played: Played) -> None:
    played.has_run()
    run = played.fails(log=RESET)
    played.polls()
    played.moves_to("03:20")
    lines = tuple(LOST_COLUMN.strip().splitlines())
    played.maestro.fails_for_good(played.maestro.run(JOB, run.instance_id), message=lines[-1], errors=lines)
    played.polls(2)

    assert played.world.incident(JOB).status is Status.OPEN
    assert [mention.who for mention in played.world.mentions()] == ["finance-oncall"]
    assert len(played.maestro.reruns(JOB)) == 1


def test_a_pause_stops_the_schedule_and_until_starts_it_again(played: Played) -> None:
    played.maestro.push(JOB, cron="0 3 * * *")
    played.has_run()
    played.fails(log=LOST_COLUMN)
    played.polls()
    played.world.clicks("ana", "More", JOB)
    played.world.presses("ana", "Pause")
    played.world.submits("ana", until="Wed 12:00", reason="the source is down", at_end="resume")
    played.moves_to("03:50")
    off = played.maestro.workflow(JOB).properties[-1].get("time_trigger_disabled")
    played.moves_to("Wed 12:05")
    on = played.maestro.workflow(JOB).properties[-1].get("time_trigger_disabled")

    assert (off, on) == (True, False)
    assert "no longer" not in played.world.thread(JOB)


def test_a_retirement_that_is_taken_back_activates_the_version_that_was_active(played: Played) -> None:
    played.has_run()
    played.fails(log=LOST_COLUMN)
    played.polls()
    played.world.clicks("ana", "More", JOB)
    played.world.presses("ana", "Retire")
    played.world.submits("ana", reason="replaced by the new report")
    played.moves_to("03:20")
    retired = played.maestro.workflow(JOB).active
    played.world.clicks("ana", "Un-retire", JOB)
    played.moves_to("03:25")

    assert (retired, played.maestro.workflow(JOB).active) == (None, 1)
    assert played.world.incident(JOB).status is Status.VERIFYING


def test_after_a_fix_in_a_new_definition_a_fresh_start_pays_what_is_owed(played: Played) -> None:
    played.has_run()
    played.fails(log=LOST_COLUMN)
    played.polls()
    played.maestro.push(JOB, steps=("load", "check", "publish"), author="ana")
    played.polls()
    played.world.clicks("ana", "Fixed", JOB)
    fixed(played, "fresh_start")
    played.moves_to("03:20")
    fresh = played.maestro.workflow(JOB).runs[-1]
    played.maestro.succeeds(fresh)
    played.polls(2)

    incident = played.world.incident(JOB)
    assert (incident.status, incident.outcome) == (Status.RESOLVED, Outcome.FIXED)
    assert (fresh.version.number, fresh.initiator["user"], fresh.run_id) == (2, "ana", 1)
    assert fresh.params["RUN_TS"]["evaluated_result"] == millis(MONDAY_MIDNIGHT + timedelta(hours=3))
    assert played.maestro.reruns(JOB) == []


def test_a_kill_by_a_person_opens_nothing(played: Played) -> None:
    played.has_run()
    played.moves_to("03:00")
    run = played.maestro.scheduled(JOB, played.world.now.replace(minute=0, second=0, microsecond=0))
    played.maestro.kills(run, user="ann")
    played.polls(2)

    assert run.status == "FAILED"
    assert played.world.incidents(JOB) == ()


def test_under_last_only_the_safe_rerun_waits_for_the_owner_while_a_newer_run_lives(played: Played) -> None:
    played.maestro.push(JOB, strategy="LAST_ONLY")
    played.has_run()
    run = played.fails(log=RESET)
    newer = played.maestro.started(JOB, user="ann")
    played.polls()
    played.moves_to("03:30")

    assert (newer.status, played.maestro.reruns(JOB)) == ("IN_PROGRESS", [])
    assert played.world.incident(JOB).status is Status.OPEN
    assert "LAST_ONLY" in played.world.thread(JOB)

    rerun(played)
    played.moves_to("03:31")

    assert newer.status == "STOPPED"
    assert [one.initiator["user"] for one in played.maestro.reruns(JOB)] == ["ana"]
    assert played.maestro.run(JOB, run.instance_id).status == "IN_PROGRESS"


def test_a_rerun_lets_go_on_what_a_failure_blocked(played: Played) -> None:
    played.maestro.push(JOB, strategy="STRICT_SEQUENTIAL")
    played.has_run()
    run = played.fails(log=RESET)
    blocked = played.maestro.started(JOB, user="ann")
    played.polls()

    assert blocked.status == "CREATED"

    played.moves_to("03:20")
    played.maestro.succeeds(played.maestro.run(JOB, run.instance_id))
    played.polls(2)

    assert blocked.status == "IN_PROGRESS"
    assert played.world.incident(JOB).outcome is Outcome.RECOVERED


def test_what_is_not_needed_holds_up_nothing_any_more(played: Played) -> None:
    played.maestro.push(JOB, strategy="STRICT_SEQUENTIAL")
    played.has_run()
    run = played.fails(log=LOST_COLUMN)
    blocked = played.maestro.started(JOB, user="ann")
    played.polls()
    played.world.clicks("ana", "More", JOB)
    played.world.presses("ana", "Not needed")
    played.world.submits("ana", reason="Tuesday holds it as well")
    played.moves_to("03:30")

    assert (run.db_status, blocked.status) == ("FAILED_1", "IN_PROGRESS")
    assert [one.user for one in played.maestro.calls("PUT", "/unblock$")] == ["ana"]
    assert played.maestro.reruns(JOB) == []


def test_who_may_not_decide_alone_restarts_nothing_until_an_owner_approves(played: Played) -> None:
    played.has_run()
    played.fails(log=LOST_COLUMN)
    played.polls()
    rerun(played, "gil")
    played.moves_to("03:25")

    assert played.maestro.reruns(JOB) == []
    assert played.world.incident(JOB).status is Status.AWAITING_APPROVAL

    played.world.clicks("ana", "Approve", JOB)
    if played.world.screen("ana"):
        played.world.submits("ana")
    played.moves_to("03:26")

    assert [one.initiator["user"] for one in played.maestro.reruns(JOB)] == ["ana"]


def test_a_run_that_misses_its_completion_time_is_told_as_late(build_world: Build, maestro: Maestro) -> None:
    played = play(build_world, maestro, base=POLICIES.replace("finish: off", "finish: learned"))
    played.maestro.push(JOB, alerting={"tct": {"completed_by_hour": 4, "tz": "UTC"}})
    played.has_run()
    played.moves_to("03:00")
    run = played.maestro.scheduled(JOB, played.world.now.replace(minute=0, second=0, microsecond=0))
    played.polls()
    played.moves_to("05:00")

    assert played.world.incident(JOB).status is Status.OPEN
    assert "revenue has not finished in time" in played.world.thread(JOB)

    played.maestro.succeeds(run)
    played.polls(2)

    assert played.world.incident(JOB).outcome is Outcome.RECOVERED_ALONE


def test_a_run_that_never_began_is_started_for_its_own_time(build_world: Build, maestro: Maestro) -> None:
    played = play(build_world, maestro, base=POLICIES.replace("start: off", "start: 0s"))
    played.has_run()
    played.moves_to("03:20")

    assert played.world.incident(JOB).status is Status.OPEN

    played.world.clicks("ana", "Start now", JOB)
    if played.world.screen("ana"):
        played.world.submits("ana")
    played.moves_to("03:22")
    run = played.maestro.workflow(JOB).runs[-1]
    played.maestro.succeeds(run)
    played.polls(2)

    assert (run.run_id, run.initiator["user"]) == (1, "ana")
    assert run.params["RUN_TS"]["evaluated_result"] == millis(MONDAY_MIDNIGHT + timedelta(hours=3))
    assert played.world.incident(JOB).status is Status.RESOLVED
    assert len(played.maestro.workflow(JOB).instances) == 4


def test_ontrack_killed_between_the_decision_and_the_answer_asks_once(played: Played) -> None:
    played.has_run()
    run = played.fails(log=RESET)
    played.polls()
    played.world.dies_when(lambda: bool(played.maestro.reruns(JOB)))
    played.maestro.fails_to_answer("lose", "/restart$")
    played.moves_to("03:25")
    played.kill()
    played.moves_to("03:40")
    again = played.maestro.run(JOB, run.instance_id)
    played.maestro.succeeds(again)
    played.polls(2)

    assert len(played.maestro.calls("POST", "/restart$")) == 1
    assert [one.run_id for one in played.maestro.reruns(JOB)] == [2]
    assert played.world.incident(JOB).outcome is Outcome.RECOVERED
