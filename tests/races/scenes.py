"""How the races begin: what happened before, and the processes that meet."""

from dataclasses import dataclass
from datetime import timedelta

from bot.incidents.model import Incident, Status
from bot.incidents.people import By, Person
from tests.races.policies import ANA, POLICIES
from tests.races.reports import BROKE_AT, NOMINAL, ORDERS, REVENUE, failed, succeeded
from tests.races.town import Process, Town, loaded


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Two processes, and the incident as it stands."""

    one: Process
    other: Process
    incident: Incident


@dataclass(frozen=True, slots=True, kw_only=True)
class Calm:
    """Two processes, and nothing is wrong yet."""

    one: Process
    other: Process


def said_by(scene: Scene, person: Person = ANA) -> By:
    """A person's word, said now."""
    return By(person=person, at=scene.one.clock())


def nothing_wrong(town: Town, *, policies: str = POLICIES, born_leased: bool = False) -> Calm:
    """Both jobs ran well for three days, 36 minutes each."""
    town.policies = loaded(policies)
    one, other = town.process(born_leased=born_leased), town.process(born_leased=born_leased)
    town.clock.now = NOMINAL - timedelta(hours=1)
    for job in (REVENUE, ORDERS):
        for days in (3, 2, 1):
            one.hears(succeeded(job, nominal=NOMINAL - timedelta(days=days), took=timedelta(minutes=36)))
    town.clock.now = BROKE_AT
    return Calm(one=one, other=other)


def never_ran(town: Town) -> Calm:
    """Nobody has heard of any job."""
    town.clock.now = BROKE_AT
    return Calm(one=town.process(), other=town.process())


def broken_once(town: Town) -> Calm:
    """A failure that its owner was asked about."""
    calm = nothing_wrong(town)
    calm.one.hears(failed())
    town.settles(calm.one)
    town.clock.tick()
    return calm


def rerun_planned(town: Town, *, policies: str = POLICIES) -> Scene:
    """A failure with a licensed rerun, whose back-off is over now."""
    calm = nothing_wrong(town, policies=policies)
    calm.one.hears(failed())
    town.settles(calm.one)
    incident = town.incident(REVENUE)

    assert incident.status is Status.RERUNNING
    assert incident.rerun is not None
    assert incident.rerun.due_at is not None
    town.clock.now = incident.rerun.due_at
    return Scene(one=calm.one, other=calm.other, incident=incident)


def rerun_requested(town: Town, *, policies: str = POLICIES) -> Scene:
    """The rerun is to be asked for; nobody has begun to."""
    scene = rerun_planned(town, policies=policies)
    scene.one.fires()
    return Scene(one=scene.one, other=scene.other, incident=town.incident(REVENUE))


def approval_waits(town: Town) -> Scene:
    """A failure of a job that never ran well: what a rerun costs is unknown, so its owner is asked."""
    calm = never_ran(town)
    calm.one.hears(failed())
    town.settles(calm.one)
    incident = town.incident(REVENUE)

    assert incident.status is Status.AWAITING_APPROVAL
    town.clock.tick()
    return Scene(one=calm.one, other=calm.other, incident=incident)
