"""Whatever goes wrong at whatever moment: one restart a decision, ever, nothing at another run's cost, and nothing lost."""

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from bot.incidents.model import Status
from tests.maestro.fake.records import Run
from tests.maestro.seeded import JOB, Place, Story

STORIES = int(os.environ.get("MAESTRO_STORIES", "120"))
"""So many seeds are played; thousands by hand (MAESTRO_STORIES=5000: about half an hour)."""
EACH = 20
DECIDED = (Status.RESOLVED, Status.LEFT, Status.PAUSED, Status.RETIRED)
MOST_AUTOMATIC = 2


def played(seed: int, place: Place) -> Story:
    place.emptied()
    story = Story(seed, place)
    story.plays()
    return story


@pytest.fixture
def place(migrated_file: Path, tmp_path: Path) -> Iterator[Place]:
    """In memory where the system has a place for that: every story commits a hundred times."""
    shared = Path("/dev/shm")
    with TemporaryDirectory(dir=shared if shared.is_dir() else tmp_path) as path:
        place = Place(migrated_file, Path(path))
        yield place
        place.close()


def wrong(story: Story) -> list[str]:
    """The rules that the story broke."""
    found: list[str] = []
    known, ours = story.request_ids(), story.by_us()
    if unasked := [run.identity for run in ours if run.uuid not in known]:
        found.append(f"runs that nobody decided: {unasked}")
    if len({run.uuid for run in ours}) != len(ours):
        found.append("two runs of one decision")
    automatic = [run for run in ours if run.initiator["user"] == "ontrack"]
    if len(ours) - len(automatic) > story.wishes:
        found.append(f"{len(ours) - len(automatic)} reruns of Ana's, who asked {story.wishes} times")
    for time in {run.params["RUN_TS"]["evaluated_result"] for run in automatic}:
        count = sum(run.params["RUN_TS"]["evaluated_result"] == time for run in automatic)
        if count > MOST_AUTOMATIC:
            found.append(f"{count} automatic reruns of one nominal time")
    found += [f"{run.identity} was stopped for an automatic rerun" for run in stopped_for(story, automatic)]
    return found + lost(story)


def stopped_for(story: Story, automatic: list[Run]) -> list[Run]:
    names = [run.identity for run in automatic]
    return [
        run
        for run in story.maestro.workflow(JOB.name).runs
        for attempts in run.attempts.values()
        for entry in attempts[-1].timeline.entries
        if any(f"to start a new instance: {name}" in entry["message"] for name in names)
    ]


def lost(story: Story) -> list[str]:
    """What is failed in Maestro is owed, and nobody waits for a rerun that is over."""
    found: list[str] = []
    unresolved = [one for one in story.incidents() if one.status not in DECIDED]
    owed = {owed.nominal_time for one in unresolved for owed in one.owed}
    for runs in story.maestro.workflow(JOB.name).instances.values():
        last = runs[-1]
        due = story.nominal_of(last)
        killed = any("take action [KILL]" in line or "action to KILL" in line for line in story.said_of(last))
        if last.status == "FAILED" and not killed and due not in owed:
            found.append(f"{last.identity} failed and nobody is asked about it")
    living = any(run.alive for run in story.maestro.workflow(JOB.name).runs)
    if any(one.status is Status.RERUNNING for one in unresolved) and not living:
        found.append("a rerun is waited for that is over")
    return found


@pytest.mark.parametrize("first", range(0, STORIES, EACH))
def test_one_restart_a_decision_whatever_happens(first: int, place: Place) -> None:
    for seed in range(first, first + EACH):
        story = played(seed, place)
        found = wrong(story)

        assert not found, f"seed {seed}, {story.rule}: {found} after {story.happened}"


def test_the_stories_are_about_something(place: Place) -> None:
    happened: list[str] = []
    reruns: list[str] = []
    for seed in range(30):
        story = played(seed, place)
        happened += story.happened
        reruns += [run.initiator["user"] for run in story.by_us()]

    assert len(reruns) > 10
    assert happened.count("- dies") > 10
    assert sum(deed.endswith("at the request") for deed in happened) > 5
