"""Late runs from the first word to the last, sources that fall silent, and times in which ontrack itself was not there."""

from datetime import timedelta

import pytest

from bot.incidents.keys import JobKey
from bot.incidents.model import Incident, Outcome, Status
from bot.intake.heard import Heard
from bot.silence import Silence
from bot.store import Which
from tests.world.fixtures import Build
from tests.world.people import LOST_COLUMN, POLICIES, RESET
from tests.world.world import World

BY_FIVE = POLICIES.replace(
    "fallback:", '  - {match: shop/orders, late: {finish_by: "05:00", timezone: Europe/Berlin}}\nfallback:'
)
LEARNED = POLICIES.replace("finish: off", "finish: learned")
WATCHED = POLICIES.replace("start: off", "start: 0s")
QUIET = WATCHED.replace("shop: {type: events}", "shop: {type: events, silent_after: 2h}")
BESIDE_US = WATCHED.replace(
    "shop: {type: events}",
    'shop: {type: events}\n  here: {type: local, jobs: {nightly: {command: "true", cron: "0 3 * * *"}}}',
)
SOURCE = JobKey(scheduler="ontrack", name="source shop")
STEP = timedelta(minutes=4)


class Watch:
    """What notices silences and absences, driven beside a world: a process that is there says so again and again."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.step()

    def step(self) -> None:
        service = self.world.service
        Silence(
            store=service.storage,
            take_in=service.intake.take_in,
            heard=service.intake.heard,
            policies=lambda: service.policies.current,
            leads=lambda: True,
        ).step(self.world.now)
        self.world.settles()

    def stays(self, **span: float) -> None:
        until = self.world.now + timedelta(**span)
        while self.world.now < until:
            self.world.moves_to(min(self.world.now + STEP, until))
            self.step()

    def is_away(self, **span: float) -> None:
        """The process is gone for so long; when it comes back it says that it is there before it looks at anything."""
        self.world.clock.now += timedelta(**span)
        self.world.kill()
        self.step()


def everywhere(world: World, job: JobKey) -> tuple[Incident, ...]:
    return world.service.storage.reads.incidents(which=Which.ALL, jobs=str(job), limit=100)


@pytest.mark.scenario(33)
def test_a_late_run_says_which_deadline_it_missed_and_closes_itself_with_its_delay(build_world: Build) -> None:
    world = build_world(policies=BY_FIVE)
    world.moves_to("01:00")
    world.has_run("orders")
    world.moves_to("03:00")
    world.starts("orders", nominal="03:00")
    world.moves_to("04:14")
    assert world.incidents() == ()
    world.moves_to("04:15")

    said = "Not finished by 05:15 (policy: 05:00 Europe/Berlin and 15m grace)"
    assert world.incident("orders").failure.title == said
    assert f"Late: {said}" in world.text_of(world.root("orders"))
    assert f"Late: {said}" in "\n".join(world.replies("orders"))
    assert f"opened: {said}" in world.reasons("orders")
    world.succeeds("orders", at="05:45", nominal="03:00", took=timedelta(minutes=165))
    incident = world.incident("orders")
    assert (incident.status, incident.outcome) == (Status.RESOLVED, Outcome.RECOVERED_ALONE)
    assert incident.delay == timedelta(minutes=90)
    assert "Late by 1 h 30 min." in "\n".join(world.replies("orders"))
    assert "resolved: recovered_alone, 1h30m after its deadline" in world.reasons("orders")


def test_a_deadline_that_was_learned_says_from_how_many_runs(build_world: Build) -> None:
    world = build_world(policies=LEARNED)
    world.moves_to("01:00")
    world.has_run("orders", times=6, took=timedelta(minutes=18))
    world.moves_to("03:01")
    world.starts("orders", nominal="03:00")
    world.moves_to("03:42")
    assert world.incidents() == ()
    world.moves_to("03:43")

    said = "Not finished by 03:43 UTC (learned from 6 good runs: usually 18m, at most 27m; grace 15m)"
    assert world.incident("orders").failure.title == said


def test_a_schedulers_own_target_is_kept_and_believed_before_what_was_learned(build_world: Build) -> None:
    world = build_world(policies=LEARNED)
    world.moves_to("01:00")
    world.has_run("orders", times=6, took=timedelta(minutes=18))
    world.changes("orders", target={"finish_within": "2h"})
    world.moves_to("03:00")
    world.starts("orders", nominal="03:00")
    world.moves_to("05:14")
    assert world.incidents() == ()
    world.moves_to("05:15")

    said = "Not finished by 05:15 UTC (shop's own target: 2h and 15m grace)"
    assert world.incident("orders").failure.title == said


def test_a_run_that_is_late_and_then_fails_is_one_occurrence_and_asked_for_anew(build_world: Build) -> None:
    world = build_world(policies=BY_FIVE)
    world.moves_to("01:00")
    world.has_run("orders")
    world.moves_to("03:00")
    world.starts("orders", nominal="03:00")
    world.moves_to("04:16")
    world.clicks("ana", "Acknowledge", "orders")
    world.fails("orders", at="04:50", nominal="03:00", log=LOST_COLUMN)

    (incident,) = world.incidents("orders")
    assert incident.count == 2
    assert [owed.failure.cause for owed in incident.owed] == ["data.schema_changed"]
    assert [ask.at.strftime("%H:%M") for ask in world.asks()] == ["04:15", "04:50"]
    assert world.asks()[1].who == "ana", "she holds it"
    assert "it was late, then failed" in world.reasons("orders")
    assert "orders failed" in world.text_of(world.root("orders"))


def test_a_run_that_is_late_and_then_fails_of_a_safe_cause_is_rerun(build_world: Build) -> None:
    policies = BY_FIVE.replace("shop/orders, late", "shop/revenue, late")
    world = build_world(policies=policies)
    world.moves_to("01:00")
    world.has_run("revenue")
    world.moves_to("03:00")
    world.starts("revenue", nominal="03:00")
    world.moves_to("04:20")
    assert world.reruns() == []
    world.fails("revenue", at="04:50", nominal="03:00", log=RESET)
    world.passes(minutes=6)

    assert [request.nominal_times[0].hour for request in world.reruns()] == [3]
    assert len(world.incidents("revenue")) == 1


def test_a_job_that_tells_only_how_it_ended_is_late_by_its_end(build_world: Build) -> None:
    only_ends = '  - {match: shop/orders, late: {start: off, finish_by: "04:00"}}\n'
    world = build_world(policies=POLICIES.replace("fallback:", f"{only_ends}fallback:"))
    world.moves_to("01:00")
    world.has_run("orders")
    world.succeeds("orders", at="03:20", nominal="03:00")
    world.moves_to("Tue 04:14")
    assert world.incidents() == ()
    world.moves_to("Tue 04:15")

    said = "Not finished by 04:15 (policy: 04:00 UTC and 15m grace)"
    assert world.incident("orders").failure.title == said
    world.succeeds("orders", at="Tue 05:15", nominal="03:00")
    (incident,) = world.incidents("orders")
    assert (incident.status, incident.delay) == (Status.RESOLVED, timedelta(hours=1))


def test_a_source_that_falls_silent_is_one_incident_of_ontrack_itself(build_world: Build) -> None:
    world = build_world(policies=QUIET)
    watch = Watch(world)
    world.succeeds("by_hand_only", at="00:00")
    watch.stays(hours=2)
    assert everywhere(world, SOURCE) == ()
    watch.stays(hours=3)

    (incident,) = everywhere(world, SOURCE)
    assert incident.status is Status.OPEN
    assert incident.failure.cause == "ontrack.source_silent"
    assert incident.failure.never_safe
    assert incident.failure.run.run_id == "silent__2026-11-30T00:00:00Z"
    assert "nothing heard of shop since Mon 30 Nov 00:00 UTC; silent_after is 2h." in incident.failure.message
    asked = [mention for mention in world.mentions() if "source shop" in mention.text]
    assert {mention.who for mention in asked} == {"rita"}, "admins answer for ontrack itself"
    assert {mention.channel for mention in asked} == {"jobs"}
    assert min(mention.at for mention in asked) <= incident.opened_at + timedelta(minutes=1)


def test_the_lates_of_a_silent_source_are_held_and_looked_at_again_when_it_speaks(build_world: Build) -> None:
    world = build_world(policies=QUIET)
    world.has_run("orders")
    world.has_run("report")
    watch = Watch(world)
    watch.stays(hours=5)
    assert [str(one.job) for one in everywhere(world, JobKey(scheduler="*", name="*"))] == [str(SOURCE)]

    nominal = world.now.replace(hour=3, minute=0)
    world.succeeds("orders", nominal=nominal, took=timedelta(minutes=10))
    watch.stays(minutes=16)
    (silence,) = everywhere(world, SOURCE)
    assert (silence.status, silence.outcome) == (Status.RESOLVED, Outcome.RECOVERED_ALONE)
    assert world.incidents("orders") == (), "it had run well all the while"
    (late,) = world.incidents("report")
    assert late.failure.cause == "late.not_started"
    assert late.failure.due_at == nominal + timedelta(minutes=15)


def test_a_silence_that_was_told_but_not_written_down_when_the_process_died_is_told_once(build_world: Build) -> None:
    world = build_world(policies=QUIET)
    watch = Watch(world)
    watch.stays(hours=2, minutes=8)
    storage = world.service.storage
    assert storage.sources()[0].silent_since is not None
    storage.mark_heard(name="shop", now=world.now)
    world.kill()
    watch.stays(minutes=20)

    (incident,) = everywhere(world, SOURCE)
    assert incident.count == 1
    assert world.service.storage.sources()[0].silent_since is not None, "what the death undid is done again"


def test_what_another_process_heard_counts_as_soon_as_it_is_written_down(build_world: Build) -> None:
    world = build_world(policies=QUIET)
    watch, elsewhere = Watch(world), Heard()
    service = world.service
    web = Silence(
        store=service.storage,
        take_in=service.intake.take_in,
        heard=elsewhere,
        policies=lambda: service.policies.current,
        leads=lambda: False,
    )
    for _ in range(3):
        watch.stays(hours=1, minutes=30)
        elsewhere.note(("shop", "ontrack"), world.now)
        web.step(world.now)
    watch.stays(hours=1)

    assert everywhere(world, SOURCE) == ()
    assert [row.name for row in service.storage.sources()] == ["shop"]


def test_a_source_that_speaks_and_falls_silent_again_is_told_of_again(build_world: Build) -> None:
    world = build_world(policies=QUIET)
    watch = Watch(world)
    for _ in range(2):
        world.succeeds("by_hand_only", nominal=world.now)
        watch.stays(hours=2, minutes=12)
        assert everywhere(world, SOURCE)[0].status is Status.OPEN

    assert len(everywhere(world, SOURCE)) == 2
    world.kill()
    watch.step()
    assert len(everywhere(world, SOURCE)) == 2


@pytest.mark.scenario(34)
def test_after_our_own_downtime_jobs_of_a_source_that_only_pushes_start_anew(build_world: Build) -> None:
    world = build_world(policies=QUIET)
    for job in ("orders", "report", "stock", "ads"):
        world.has_run(job)
    watch = Watch(world)
    watch.stays(hours=1)
    world.fails("revenue", nominal=world.now, log=LOST_COLUMN)
    told = len(world.posted())
    watch.is_away(hours=6)
    watch.stays(minutes=50)

    assert [one.job.name for one in everywhere(world, JobKey(scheduler="*", name="*"))] == ["revenue"], "no flood"
    absence = world.service.storage.absences(since=world.now - timedelta(days=1))[0]
    assert str(absence) == "Mon 30 Nov 01:00-07:00 UTC"
    memory = world.service.records.memory_of(JobKey(scheduler="shop", name="orders"))
    assert memory is not None
    assert memory.unobserved == absence
    assert len(world.posted()) <= told + 4
    watch.stays(hours=1)
    (late,) = world.incidents("stock")
    assert late.failure.due_at == world.now.replace(hour=8, minute=15), "the next one is watched as ever"


@pytest.mark.scenario(34)
def test_what_was_not_observed_stands_in_the_timeline_of_an_open_occurrence(build_world: Build) -> None:
    world = build_world(policies=QUIET)
    watch = Watch(world)
    watch.stays(hours=1)
    world.fails("orders", nominal="03:00", log=LOST_COLUMN)
    watch.is_away(hours=6)

    assert "not_observed: not observed Mon 30 Nov 01:00-07:00 UTC" in world.reasons("orders")
    assert len(world.incident("orders").owed) == 1, "no late was told"


@pytest.mark.scenario(34)
def test_lates_of_jobs_that_run_beside_us_are_worked_out_from_the_records(build_world: Build) -> None:
    world = build_world(policies=BESIDE_US)
    watch = Watch(world)
    watch.stays(hours=1)
    watch.is_away(hours=6)
    nightly = JobKey(scheduler="here", name="nightly")
    assert everywhere(world, nightly) == (), "its records are read first"
    watch.stays(minutes=3)

    (late,) = everywhere(world, nightly)
    assert late.failure.cause == "late.not_started"
    assert late.failure.title == "Not started by 03:15 UTC (policy: at its nominal time and 15m grace)"


@pytest.mark.scenario(34)
def test_an_ask_that_fell_into_our_downtime_is_one_ask_and_marked_as_late(build_world: Build) -> None:
    world = build_world(policies=WATCHED)
    watch = Watch(world)
    watch.stays(hours=1)
    world.fails("orders", nominal="01:00", log=LOST_COLUMN)
    assert len(world.asks()) == 1
    watch.is_away(hours=6)
    watch.stays(minutes=8)

    asks = [ask for ask in world.asks() if "orders" in ask.text]
    assert len(asks) == 2
    rows = [row for row in world.timeline("orders") if row.kind == "not_there"]
    assert [row.reason for row in rows] == ["an ask comes late: ontrack was not there Mon 30 Nov 01:00-07:00 UTC"]
    watch.stays(hours=1)
    assert len([row for row in world.timeline("orders") if row.kind == "not_there"]) == 1


@pytest.mark.scenario(34)
def test_a_restart_of_a_few_minutes_is_no_absence(build_world: Build) -> None:
    world = build_world(policies=WATCHED)
    world.has_run("orders")
    watch = Watch(world)
    watch.stays(hours=3, minutes=13)
    watch.is_away(minutes=4)

    assert world.service.storage.absences(since=world.now - timedelta(days=1)) == ()
    assert world.incident("orders").failure.cause == "late.not_started"
