"""An allowance that covers one rerun, and two that ask for it at once."""

from datetime import timedelta

import pytest

from bot.incidents.events import Approved
from bot.incidents.keys import Action
from bot.incidents.model import Incident, Status
from bot.sources import SourceKind
from tests.races.policies import POLICIES, TIGHT
from tests.races.racing import Races
from tests.races.reports import NOMINAL, ORDERS, REVENUE, failed, rerun_ended
from tests.races.scenes import Calm, Scene, nothing_wrong, rerun_requested, said_by
from tests.races.town import Town

JOBS_OWN = POLICIES.replace("budget: {limit: 4,", "budget: {limit: 1,")


def licensed(incident: Incident) -> bool:
    return incident.status is Status.RERUNNING


def test_two_jobs_that_ask_for_the_last_of_their_teams_allowance(race: Races) -> None:
    for end in race(
        lambda town: nothing_wrong(town, policies=TIGHT),
        one=lambda calm: calm.one.hears(failed(REVENUE)),
        other=lambda calm: calm.other.hears(failed(ORDERS)),
    ):
        both = [end.town.incident(REVENUE), end.town.incident(ORDERS)]
        assert sorted(one.status for one in both) == [Status.AWAITING_APPROVAL, Status.RERUNNING]
        assert end.used() == pytest.approx(0.6)
        end.town.passes(end.afterwards, minutes=6)

        (request,) = end.town.scheduler.requests(Action.RERUN)
        assert request.job == next(one.job for one in both if licensed(one))


def test_two_batches_that_meet_the_same_jobs_in_other_orders(race: Races) -> None:
    """Other runs of the same times, so that neither batch is a duplicate."""
    for end in race(
        lambda town: nothing_wrong(town, policies=TIGHT),
        one=lambda calm: calm.one.hears_all(failed(REVENUE), failed(ORDERS)),
        other=lambda calm: calm.other.hears_all(failed(ORDERS, run_id="again"), failed(REVENUE, run_id="again")),
    ):
        both = [end.town.incident(REVENUE), end.town.incident(ORDERS)]
        assert [one.count for one in both] == [2, 2]
        assert sum(licensed(one) for one in both) == 1
        assert end.used() == pytest.approx(0.6)


def test_two_times_of_one_job_that_ask_for_the_last_of_its_allowance(race: Races) -> None:
    def before(town: Town) -> Calm:
        calm = nothing_wrong(town, policies=JOBS_OWN)
        town.clock.now = NOMINAL + timedelta(days=1, minutes=12)
        return calm

    for end in race(
        before,
        one=lambda calm: calm.one.hears(failed(REVENUE)),
        other=lambda calm: calm.other.hears(failed(REVENUE, nominal=NOMINAL + timedelta(days=1))),
    ):
        end.town.passes(end.afterwards, minutes=6)
        incident = end.town.incident(REVENUE)

        assert len(incident.owed) == 2
        assert len(end.town.scheduler.requests(Action.RERUN)) == 1
        assert end.used() == pytest.approx(0.6)


def test_what_a_rerun_gives_back_while_another_job_asks_for_it(race: Races) -> None:
    """The first rerun took 12 minutes of the 36 that were reserved; the other job may have come before that was known."""

    def before(town: Town) -> Scene:
        scene = rerun_requested(town, policies=TIGHT)
        town.settles(scene.one)
        return scene

    def ends(scene: Scene) -> None:
        (request,) = scene.one.scheduler.requests(Action.RERUN)
        at = scene.one.clock()
        ended = rerun_ended(SourceKind.RUN_SUCCEEDED, request, at, started_at=at - timedelta(minutes=12), ended_at=at)
        scene.one.hears(ended)

    for end in race(before, source=ends, other=lambda scene: scene.other.hears(failed(ORDERS))):
        granted = licensed(end.town.incident(ORDERS))
        assert end.town.incident(REVENUE).status is Status.RESOLVED
        assert end.used() == pytest.approx(0.2 + 0.6 * granted)


def test_an_approved_rerun_while_an_automatic_one_is_booked(race: Races) -> None:
    """The one that was approved is booked apart, whatever comes first."""

    def before(town: Town) -> Scene:
        calm = nothing_wrong(town, policies=TIGHT.replace("limit: 1,", "limit: 0.5,"))
        calm.one.hears(failed(REVENUE))
        town.policies = calm.other.policies = calm.one.policies
        incident = town.incident(REVENUE)
        assert incident.status is Status.AWAITING_APPROVAL
        return Scene(one=calm.one, other=calm.other, incident=incident)

    for end in race(
        before,
        owner=lambda scene: scene.one.is_told(Approved(by=said_by(scene), proposal=1), scene.incident),
        other=lambda scene: scene.other.hears(failed(ORDERS)),
    ):
        assert end.town.incident(REVENUE).status is Status.RERUNNING
        assert end.town.incident(ORDERS).status is Status.AWAITING_APPROVAL
        assert end.used() == 0.0
        assert len(end.town.scheduler.requests(Action.RERUN)) == 1
