"""Killed at each of the named moments, and started again, the product has lost nothing and done nothing twice."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.kills.audit import World, problems
from tests.kills.load import Load
from tests.kills.picture import Watch
from tests.kills.points import POINTS, Stage, in_migration
from tests.kills.rest import BOUND, Rest
from tests.kills.source import Source
from tests.kills.town import Town, opened


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_killed_at_every_named_moment_nothing_is_lost_and_nothing_doubled(empty_url: str, tmp_path: Path) -> None:
    teams = [point.name for point in POINTS]
    with opened(Town(tmp_path, empty_url, teams)) as town:
        watch = Watch(empty_url)
        load = Load(town, Source(town.url))
        stage = Stage(town=town, load=load, watch=watch)
        in_migration(stage)
        for point in POINTS:
            town.start()
            point.play(stage, point.name)
        begun_at = datetime.now(UTC)
        town.start()
        rest = Rest.of(town, load, watch)
        rest.after_beginning(begun_at)
        world = World(picture=watch.picture(), seen=town.seen, stories=load.stories, ledger=town.ledger)
        found = problems(world)
        town.seen.repeat_the_last()
        would_be_found = {problem.partition(":")[0] for problem in problems(world)}
        load.close()
        watch.close()

    assert found == []
    assert {"no_message_is_doubled", "no_rerun_is_doubled"} <= would_be_found
    assert town.died > len(POINTS)
    assert max(rest.backlog_took) < BOUND
