"""People's words that meet: each other's, a timer, a good run."""

from datetime import timedelta

from bot.incidents.effects import ToldKind
from bot.incidents.events import Acknowledged, Approved, Declined
from bot.incidents.keys import Action, Trigger
from bot.incidents.model import Outcome, Status
from bot.intake import Result
from tests.races.policies import ANA, BEN
from tests.races.racing import End, Races
from tests.races.reports import REVENUE, failed, succeeded
from tests.races.scenes import Scene, approval_waits, nothing_wrong, said_by
from tests.races.town import Process, Town
from tests.world.people import LOST_COLUMN


def open_incident(town: Town) -> Scene:
    calm = nothing_wrong(town)
    calm.one.hears(failed(log=LOST_COLUMN))
    town.settles(calm.one)
    town.clock.tick()
    return Scene(one=calm.one, other=calm.other, incident=town.incident(REVENUE))


def proposal_has_expired(town: Town) -> Scene:
    """The instant has come, and its timer has not been taken up."""
    scene = approval_waits(town)
    assert scene.incident.proposal is not None
    town.clock.now = scene.incident.proposal.expires_at
    return scene


def approves(process: Process, scene: Scene) -> ToldKind | None:
    outcome = process.is_told(Approved(by=said_by(scene), proposal=1), scene.incident)
    return outcome.told.kind if outcome.told else None


def reruns_asked(end: End[Scene]) -> int:
    return len(end.town.scheduler.requests(Action.RERUN))


def test_two_who_acknowledge_at_once(race: Races) -> None:
    for end in race(
        open_incident,
        ana=lambda scene: scene.one.is_told(Acknowledged(by=said_by(scene, ANA)), scene.incident),
        ben=lambda scene: scene.other.is_told(Acknowledged(by=said_by(scene, BEN)), scene.incident),
    ):
        held = end.town.incident(REVENUE).acknowledgement
        assert held is not None
        winner = held.by.person.name
        loser = {"ana": "ben", "ben": "ana"}[winner]
        assert end.results[winner].told.kind is ToldKind.DONE
        assert end.results[loser].told.kind is ToldKind.TAKEN
        assert str(end.results[loser].told.facts["by"]) == winner
        assert {"acknowledged", "also_acknowledged"} <= end.kinds(REVENUE)


def test_three_who_acknowledge_at_once(race_of_processes: Races) -> None:
    def before(town: Town) -> tuple[Scene, Process]:
        return open_incident(town), town.process()

    for end in race_of_processes(
        before,
        ana=lambda both: both[0].one.is_told(Acknowledged(by=said_by(both[0], ANA)), both[0].incident),
        ben=lambda both: both[0].other.is_told(Acknowledged(by=said_by(both[0], BEN)), both[0].incident),
        again=lambda both: both[1].is_told(Acknowledged(by=said_by(both[0], BEN)), both[0].incident),
    ):
        told = sorted(outcome.result for outcome in end.results.values())
        assert told == [Result.ACCEPTED, Result.ACCEPTED, Result.DUPLICATE]
        assert [row.kind for row in end.timeline(REVENUE)].count("acknowledged") == 1
        assert [row.kind for row in end.timeline(REVENUE)].count("also_acknowledged") == 1


def test_an_acknowledgement_and_the_good_run(race: Races) -> None:
    for end in race(
        open_incident,
        ana=lambda scene: scene.one.is_told(Acknowledged(by=said_by(scene)), scene.incident),
        source=lambda scene: scene.other.hears(succeeded(run_id="by-hand", trigger=Trigger.MANUAL)),
    ):
        incident = end.town.incident(REVENUE)
        told = end.results["ana"].told.kind
        assert incident.status is Status.RESOLVED
        assert incident.outcome is Outcome.RECOVERED_BY_HAND
        assert told in (ToldKind.DONE, ToldKind.SETTLED)
        assert ("acknowledged" in end.kinds(REVENUE)) is (told is ToldKind.DONE)


def test_an_acknowledgement_and_the_ask_that_falls_due(race: Races) -> None:
    def before(town: Town) -> Scene:
        scene = open_incident(town)
        town.clock.now += timedelta(minutes=15)
        return scene

    for end in race(
        before,
        ana=lambda scene: scene.one.is_told(Acknowledged(by=said_by(scene)), scene.incident),
        timer=lambda scene: scene.other.fires(),
    ):
        assert end.town.incident(REVENUE).acknowledgement is not None
        asks = [row.kind for row in end.timeline(REVENUE)].count("asked")
        assert asks in (1, 2)


def test_an_approval_that_comes_twice(race: Races) -> None:
    for end in race(
        approval_waits,
        ana=lambda scene: scene.one.is_told(Approved(by=said_by(scene, ANA), proposal=1), scene.incident),
        ben=lambda scene: scene.other.is_told(Approved(by=said_by(scene, BEN), proposal=1), scene.incident),
    ):
        told = sorted(outcome.told.kind for outcome in end.results.values())
        assert told == [ToldKind.DONE, ToldKind.EXPIRED]
        assert reruns_asked(end) == 1
        assert {"approved", "stale_approval"} <= end.kinds(REVENUE)


def test_an_approval_and_a_refusal(race: Races) -> None:
    for end in race(
        approval_waits,
        ana=lambda scene: approves(scene.one, scene),
        ben=lambda scene: scene.other.is_told(Declined(by=said_by(scene, BEN), proposal=1), scene.incident),
    ):
        approved = end.results["ana"] is ToldKind.DONE
        assert (end.results["ben"].told.kind is ToldKind.DONE) is not approved
        assert reruns_asked(end) == approved
        assert end.town.incident(REVENUE).status is (Status.RERUNNING if approved else Status.OPEN)


def test_an_approval_and_the_good_run(race: Races) -> None:
    for end in race(
        approval_waits,
        ana=lambda scene: approves(scene.one, scene),
        source=lambda scene: scene.other.hears(succeeded(run_id="by-hand", trigger=Trigger.MANUAL)),
    ):
        assert end.town.incident(REVENUE).status is Status.RESOLVED
        assert (end.results["ana"] is ToldKind.DONE) is ("approved" in end.kinds(REVENUE))
        assert reruns_asked(end) == 0


def test_an_approval_that_comes_when_its_time_is_over(race: Races) -> None:
    for end in race(
        proposal_has_expired,
        ana=lambda scene: approves(scene.one, scene),
        timer=lambda scene: scene.other.fires(),
    ):
        assert end.results["ana"] is ToldKind.EXPIRED
        assert reruns_asked(end) == 0


def test_an_approval_and_its_expiry_never_both_count(race: Races) -> None:
    for end in race(
        proposal_has_expired,
        ana=lambda scene: approves(scene.one, scene),
        timer=lambda scene: scene.other.fires(),
    ):
        approved = end.results["ana"] is ToldKind.DONE
        assert reruns_asked(end) == approved
        assert ("expired" in end.kinds(REVENUE)) is not approved
        assert ("approved" in end.kinds(REVENUE)) is approved
