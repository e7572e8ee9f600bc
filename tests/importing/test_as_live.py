"""What an import makes of a past is what ontrack would have made of it, had it looked on then in the mode `observe`."""

import random
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.importing import Importing
from bot.incidents.model import Incident
from bot.intake import Inbound
from bot.store import Reads, Which
from storage.migrating import migrate
from storage.opening import SqlStorage, open_storage
from tests.importing.telling import DAY, Telling
from tests.world.fixtures import Build
from tests.world.people import LOST_COLUMN, POLICIES, RESET, STRANGE
from tests.world.world import World

OBSERVED = POLICIES.replace("defaults:\n", "defaults:\n  mode: observe\n", 1)
JOBS = ("orders", "stock", "revenue")
"""The second one is paid by any later run, the third has a cause that is marked safe."""


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[SqlStorage]:
    url = f"sqlite:///{tmp_path}/elsewhere.db"
    migrate(url)
    storage = open_storage(url, instance="test")
    yield storage
    storage.close()


def some_past(telling: Telling, seed: int) -> None:
    """Three weeks: failures of several kinds, some of them cleared once or twice before the next day's run."""
    chance = random.Random(seed)
    for days_ago in range(21, 1, -1):
        for job in JOBS:
            if chance.random() < 0.5:
                telling.good(job, days_ago, took=chance.randint(5, 40))
                continue
            log = chance.choice((LOST_COLUMN, STRANGE, RESET))
            telling.failed(job, days_ago, log=log)
            if chance.random() < 0.3:
                telling.failed_again(job, days_ago, after=50, log=chance.choice((log, STRANGE)))
                telling.cleared(job, days_ago, after=200, generation=2)
            elif job != "stock" or chance.random() < 0.5:
                telling.cleared(job, days_ago, after=90, by=chance.choice(("maria", "sam")))


def settled(reads: Reads) -> dict[tuple[str, Any], Any]:
    """Every occurrence that ended, by job and beginning, with its timeline; without the numbers that count up."""
    found = reads.incidents(which=Which.ALL, limit=1000)
    return {(one.job.name, one.opened_at): shown(one, reads) for one in found if not one.status.unresolved}


def shown(one: Incident, reads: Reads) -> dict[str, Any]:
    timeline = reads.timeline(record=one.record, number=one.number)
    return {
        "ended": (one.status, one.outcome, one.closed_at, one.closed_by_run),
        "failures": (one.fingerprint, one.fingerprints, one.count, one.failure),
        "returned": (one.number, one.returned and one.returned.times, one.returned and one.returned.last_closed_at),
        "observed": one.observed,
        "measured": one.measured,
        "version": one.version,
        "timeline": [(row.version, row.at, row.kind, row.reason) for row in timeline],
    }


def lives_through(world: World, telling: Telling) -> None:
    """The same events come one by one, each when it happens."""
    for event in sorted(telling.told, key=lambda one: one.at):
        world.clock.now = event.at
        world.service.intake.take_in([Inbound(key=event.key, event=event)])


@pytest.mark.parametrize("seed", range(3))
def test_the_past_is_folded_as_it_would_have_been_live(build_world: Build, elsewhere: SqlStorage, seed: int) -> None:
    world = build_world(policies=OBSERVED)
    telling, now = Telling(now=world.now, size=9), world.now
    some_past(telling, seed)
    importing = Importing(
        storage=elsewhere, worlds=world.service.intake._worlds, clock=lambda: now, said=lambda progress: None
    )
    done = importing.bring_in(telling, since=now - 30 * DAY, until=now - timedelta(hours=1))
    lives_through(world, telling)
    live = settled(world.service.storage.reads)

    assert len(live) > 15
    assert settled(elsewhere.reads) == live
    assert done.tally.occurrences == len(live)
