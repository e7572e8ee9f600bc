"""A rerun that is due or asked for, against what takes it back, pays it or forbids it."""

from datetime import timedelta
from typing import Any

import pytest

from bot.incidents.events import PauseWanted, StopRerunWanted
from bot.incidents.keys import Action, Trigger
from bot.incidents.model import Outcome, RerunPhase, Status
from bot.incidents.people import By
from bot.sources import SourceKind
from bot.store import EffectRow
from tests.races.policies import ANA, UNMARKED
from tests.races.racing import End, Races
from tests.races.reports import REVENUE, failed, rerun_ended, succeeded
from tests.races.scenes import Scene, nothing_wrong, rerun_planned, rerun_requested, said_by
from tests.races.town import Town, loaded
from tests.world.clock import Clock

DAYS = timedelta(days=2)


def reruns_asked(end: End[Any]) -> int:
    return len(end.town.scheduler.requests(Action.RERUN))


def pause(scene: Scene, *, said: timedelta = timedelta()) -> PauseWanted:
    """Ana's word, said so long before it arrives."""
    now = scene.one.clock()
    return PauseWanted(by=By(person=ANA, at=now - said), until=now + DAYS)


def claimed_request(scene: Scene) -> EffectRow:
    """One process has the request in hand."""
    (row,) = scene.one.storage.claim_effects(now=scene.one.clock(), limit=1)
    return row


def test_a_rerun_that_falls_due_while_its_owner_pauses_the_job(race: Races) -> None:
    for end in race(
        rerun_planned,
        timer=lambda scene: scene.one.fires(),
        owner=lambda scene: scene.other.is_told(pause(scene), scene.incident),
    ):
        incident = end.town.incident(REVENUE)
        assert incident.status is Status.PAUSED
        assert len(end.town.scheduler.requests(Action.PAUSE)) == 1
        assert reruns_asked(end) == 0
        assert incident.rerun is None
        assert end.used() == 0.0
        assert "decided" in end.kinds(REVENUE)
        assert {"rerun_withdrawn", "rerun_dropped"} & end.kinds(REVENUE)


def test_a_rerun_that_falls_due_while_its_owner_stops_it(race: Races) -> None:
    for end in race(
        rerun_planned,
        timer=lambda scene: scene.one.fires(),
        owner=lambda scene: scene.other.is_told(StopRerunWanted(by=said_by(scene)), scene.incident),
    ):
        incident = end.town.incident(REVENUE)
        stopped = len(end.town.scheduler.requests(Action.STOP))
        assert incident.acknowledgement is not None
        assert reruns_asked(end) == stopped
        assert end.used() == pytest.approx(0.6 if stopped else 0.0)
        assert incident.status is (Status.RERUNNING if stopped else Status.OPEN)


def test_a_request_that_is_about_to_go_out_while_its_owner_pauses_the_job(race: Races) -> None:
    def before(town: Town) -> tuple[Scene, EffectRow]:
        scene = rerun_requested(town)
        return scene, claimed_request(scene)

    for end in race(
        before,
        worker=lambda both: both[0].one.requester.perform(both[1]),
        owner=lambda both: both[0].other.is_told(pause(both[0]), both[0].incident),
    ):
        if end.first_to("commits") == "owner":
            assert reruns_asked(end) == 0
            assert end.used() == 0.0
        else:
            assert reruns_asked(end) == 1
        assert end.town.incident(REVENUE).status is Status.PAUSED


def test_a_pause_that_was_said_before_the_rerun_fell_due_and_arrives_after(race_of_processes: Races) -> None:
    def before(town: Town) -> tuple[Scene, EffectRow]:
        scene = rerun_requested(town)
        return scene, claimed_request(scene)

    for end in race_of_processes(
        before,
        worker=lambda both: both[0].one.requester.perform(both[1]),
        owner=lambda both: both[0].other.is_told(pause(both[0], said=timedelta(seconds=1)), both[0].incident),
    ):
        if end.first_to("commits") == "owner":
            assert reruns_asked(end) == 0


def test_a_request_that_is_about_to_go_out_while_somebody_brings_the_run(race: Races) -> None:
    def before(town: Town) -> tuple[Scene, EffectRow]:
        scene = rerun_requested(town)
        return scene, claimed_request(scene)

    for end in race(
        before,
        worker=lambda both: both[0].one.requester.perform(both[1]),
        source=lambda both: both[0].other.hears(succeeded(run_id="by-hand", trigger=Trigger.MANUAL)),
    ):
        if end.first_to("commits") == "source":
            assert reruns_asked(end) == 0
        assert end.town.incident(REVENUE).status is Status.RESOLVED


def test_a_timer_that_two_processes_take_up(race: Races) -> None:
    for end in race(rerun_planned, one=lambda scene: scene.one.fires(), other=lambda scene: scene.other.fires()):
        assert reruns_asked(end) == 1
        assert end.town.incident(REVENUE).status is Status.RERUNNING
        assert [row.kind for row in end.timeline(REVENUE)].count("rerun_requested") == 1


def test_a_request_that_two_processes_have_in_hand(race_of_processes: Races) -> None:
    """It begins to send late in its lease, which has lapsed by then for a process whose clock is a little ahead."""

    def before(town: Town) -> tuple[Scene, EffectRow]:
        scene = rerun_requested(town)
        row = claimed_request(scene)
        town.clock.now += timedelta(seconds=87)
        ahead = town.process(clock=Clock(town.clock.now + timedelta(seconds=4)))
        return Scene(one=scene.one, other=ahead, incident=scene.incident), row

    for end in race_of_processes(
        before, holder=lambda both: both[0].one.requester.perform(both[1]), other=lambda both: both[0].other.delivers()
    ):
        assert reruns_asked(end) == 1
        assert end.town.incident(REVENUE).status is Status.RERUNNING


def test_other_policies_while_a_failure_is_decided(race: Races) -> None:
    """Its mark is gone: whatever was planned before that, nothing is asked for afterwards."""
    for end in race(
        nothing_wrong,
        source=lambda calm: calm.one.hears(failed()),
        reload=lambda calm: calm.one.follows(loaded(UNMARKED), REVENUE),
    ):
        end.afterwards.policies = loaded(UNMARKED)
        end.town.passes(end.afterwards, minutes=6)

        assert end.town.scheduler.asked == []
        assert end.town.incident(REVENUE).status is Status.OPEN
        assert end.used() == 0.0


def test_other_policies_while_a_rerun_falls_due(race: Races) -> None:
    for end in race(
        rerun_planned,
        timer=lambda scene: scene.one.fires(),
        reload=lambda scene: scene.one.follows(loaded(UNMARKED), REVENUE),
    ):
        asked = "rerun_requested" in end.kinds(REVENUE)
        assert reruns_asked(end) == asked
        assert ("rerun_withdrawn" in end.kinds(REVENUE)) is not asked
        assert end.used() == pytest.approx(0.6 if asked else 0.0)


def test_the_result_of_a_rerun_while_its_deadline_passes(race: Races) -> None:
    def before(town: Town) -> Scene:
        scene = rerun_requested(town)
        town.settles(scene.one)
        incident = town.incident(REVENUE)
        assert incident.rerun is not None
        assert incident.rerun.due_at is not None
        town.clock.now = incident.rerun.due_at
        return Scene(one=scene.one, other=scene.other, incident=incident)

    def ends(scene: Scene) -> None:
        (request,) = scene.other.scheduler.requests(Action.RERUN)
        scene.other.hears(rerun_ended(SourceKind.RUN_SUCCEEDED, request, scene.other.clock()))

    for end in race(before, timer=lambda scene: scene.one.fires(), source=ends):
        incident = end.town.incident(REVENUE)
        assert incident.status is Status.RESOLVED
        assert incident.outcome is Outcome.RECOVERED
        assert incident.rerun is None
        assert reruns_asked(end) == 1


def test_a_look_that_comes_back_while_the_rerun_reports_that_it_runs(race: Races) -> None:
    def before(town: Town) -> tuple[Scene, EffectRow]:
        scene = rerun_requested(town)
        town.settles(scene.one)
        rerun = town.incident(REVENUE).rerun
        assert rerun is not None
        assert rerun.due_at is not None
        town.clock.now = rerun.due_at
        scene.one.fires()
        return scene, claimed_request(scene)

    def starts(both: tuple[Scene, EffectRow]) -> None:
        scene, _ = both
        (request,) = scene.other.scheduler.requests(Action.RERUN)
        scene.other.hears(rerun_ended(SourceKind.RUN_STARTED, request, scene.other.clock()))

    for end in race(before, looker=lambda both: both[0].one.requester.perform(both[1]), source=starts):
        incident = end.town.incident(REVENUE)
        assert incident.rerun is not None
        assert incident.rerun.phase is RerunPhase.RUNNING
        assert reruns_asked(end) == 1
