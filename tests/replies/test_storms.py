"""One mail asks about all jobs of a team in a storm: its answer takes them all, as the button beside that question does."""

import pytest

from bot.incidents.model import Status
from tests.replies.post import Post, told_in
from tests.scenarios.outages import policies
from tests.world.fixtures import Build
from tests.world.people import LOST_COLUMN
from tests.world.reports import Report
from tests.world.world import World

JOBS = tuple(f"feed-{number:03}" for number in range(20))


@pytest.fixture
def world(build_world: Build) -> World:
    world = build_world(policies=policies(storm=5, marked=False))
    world.moves_to("03:12")
    nominal, error = world.nominal_before(JOBS[0], world.now), {"log": LOST_COLUMN, "exit_code": 1}
    world.reports(*(Report(kind="failed", job=job, at=world.now, nominal=nominal, error=error) for job in JOBS))
    return world


@pytest.mark.scenario(36)
def test_ack_takes_all_jobs_of_the_team(world: World, post: Post) -> None:
    row = post.asks(JOBS[-1], "ben", kind="storm_ask")

    (answer,) = post.says(row, "ack", by="ben")

    assert "Taken for all jobs of the team in this storm" in post.words(answer)
    world.passes(hours=3)
    assert "Ben is on it for all jobs of the team in the storm" in world.reasons(JOBS[-2])
    assert world.incident(JOBS[-2]).status is Status.OPEN

    (second,) = post.says(row, "ack", by="ben")
    told = told_in(second)
    assert told is not None
    assert "is on it already, for all jobs of finance" in told.reason


def test_ack_to_a_question_about_one_job_takes_that_one(world: World, post: Post) -> None:
    post.says(post.asks(JOBS[-1], "ben"), "ack", by="ben")

    held = [job for job in JOBS if world.incident(job).acknowledgement is not None]
    assert held == [JOBS[-1]]
