"""Whatever happens in whatever order, from a report to a kill: nothing is lost, nothing is done twice, nobody is forgotten."""

import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from bot.incidents.effects import ReplyKind
from bot.incidents.keys import Action
from bot.store import EffectKind, EffectState
from tests.world.people import LOST_COLUMN, PEOPLE, RESET, STRANGE
from tests.world.seen import buttons
from tests.world.stage import Stage
from tests.world.world import World

Act = Callable[[World], None]
JOBS = ("revenue", "orders", "stock")
LOGS = (RESET, LOST_COLUMN, STRANGE)
PERSONS = ("ana", "ben", "sam")
ONCE = (Action.RERUN, Action.START)
NUMBERS = count(1)


@dataclass(frozen=True, slots=True)
class Doing:
    """One thing that happens, with words for it when a story fails."""

    words: str
    act: Act

    def __repr__(self) -> str:
        return self.words


def reports(job: str, kind: str, log: str, trigger: str) -> Doing:
    def act(world: World) -> None:
        more: dict[str, Any] = {"trigger": trigger, "run_id": f"{trigger}__{next(NUMBERS)}"}
        match kind:
            case "fails":
                world.fails(job, log=log, **more)
            case "succeeds":
                world.succeeds(job, **more)
            case "starts":
                world.starts(job, **more)
            case _:
                world.stopped(job, **more)

    return Doing(f"{job} {kind} ({trigger})", act)


def reruns(how: str) -> Doing:
    """The newest rerun that the scheduler took goes on."""

    def act(world: World) -> None:
        taken = [request for request in world.scheduler.taken.values() if request.action in ONCE and request.run]
        if not taken:
            return
        job = taken[-1].job.name
        match how:
            case "starts":
                world.rerun_starts(job)
            case "succeeds":
                world.rerun_succeeds(job)
            case _:
                world.rerun_fails(job, log=STRANGE)

    return Doing(f"the rerun {how}", act)


def clicks(person: str, job: str, which: int) -> Doing:
    """A person presses one of the buttons of the root, and sends the modal that it opens as it is, or filled in."""

    def act(world: World) -> None:
        threads = [one for one in world.incidents(job) if has_root(world, one.record, one.number)]
        if not threads:
            return
        root = world.root(job, number=threads[0].number)
        labels = sorted(buttons(root))
        if not labels:
            return
        world.clicks_on(person, labels[which % len(labels)], root)
        view = world.stage.slack.view_of(PEOPLE[person])
        if view is not None and buttons(view):
            inside = sorted(buttons(view))
            world.presses(person, inside[which % len(inside)])
            view = world.stage.slack.view_of(PEOPLE[person])
        if view is not None and view.get("submit"):
            world.submits(person, **filled(world, view))
        while world.stage.slack.view_of(PEOPLE[person]) is not None:
            world.stage.slack.close_view(user=PEOPLE[person])

    return Doing(f"{person} presses button {which} of {job}", act)


def filled(world: World, view: dict[str, Any]) -> dict[str, Any]:
    """Something sensible in every field."""
    values: dict[str, Any] = {}
    for block in view["blocks"]:
        element = block.get("element", {})
        match element.get("type"):
            case "plain_text_input":
                values[block["block_id"]] = "words" if not block.get("optional") else ""
            case "datetimepicker":
                values[block["block_id"]] = int((world.now + timedelta(hours=5)).timestamp())
            case "static_select" | "radio_buttons":
                values[block["block_id"]] = element["options"][0]["value"]
            case "checkboxes":
                values[block["block_id"]] = [option["value"] for option in element["options"]]
    return values


def has_root(world: World, record: int, number: int) -> bool:
    thread = world.service.storage.reads.conversation_of(record=record, number=number)
    return thread is not None and thread[1] is not None


def passes(minutes: int) -> Doing:
    return Doing(f"{minutes} min go by", lambda world: world.passes(minutes=minutes))


def dies(looks: int) -> Doing:
    def act(world: World) -> None:
        seen = count(1)
        world.dies_when(lambda: next(seen) == looks)

    return Doing(f"it dies at look {looks}", act)


def refuses(world: World) -> None:
    for action in Action:
        world.scheduler.refuses(action, "403")


def lost_answers(world: World) -> None:
    for action in Action:
        world.scheduler.times_out(action, after_taking=action is not Action.PAUSE)


def slack_is(words: str, **fault: Any) -> Doing:
    return Doing(f"Slack {words}", lambda world: void(world.stage.slack.inject("*", count=2, **fault)))


def void(_: object) -> None:
    return


DOINGS = st.one_of(
    st.builds(
        reports,
        st.sampled_from(JOBS),
        st.sampled_from(["fails", "fails", "fails", "succeeds", "starts", "is stopped"]),
        st.sampled_from(LOGS),
        st.sampled_from(["schedule", "schedule", "manual", "rerun"]),
    ),
    st.builds(reruns, st.sampled_from(["starts", "succeeds", "fails"])),
    st.builds(clicks, st.sampled_from(PERSONS), st.sampled_from(JOBS), st.integers(0, 11)),
    st.builds(clicks, st.just("ana"), st.sampled_from(JOBS), st.integers(0, 11)),
    st.builds(passes, st.sampled_from([1, 6, 31, 400])),
    st.builds(dies, st.integers(1, 20)),
    st.sampled_from(
        [
            Doing("it is killed", World.kill),
            Doing("the scheduler refuses", refuses),
            Doing("the scheduler's answers are lost", lost_answers),
            Doing("the scheduler is well again", lambda world: world.scheduler.is_well_again()),
            slack_is("loses its answers", after="drop"),
            slack_is("is down", status=503),
            slack_is("wants to be left alone", status=429, retry_after=20),
        ]
    ),
)


@pytest.mark.slow
@settings(
    max_examples=6,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    report_multiple_bugs=False,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(story=st.lists(DOINGS, min_size=5, max_size=25))
def test_any_story_ends_well(stage: Stage, migrated_file: Path, tmp_path: Path, story: list[Doing]) -> None:
    directory = tmp_path / f"story-{next(NUMBERS)}"
    directory.mkdir()
    shutil.copyfile(migrated_file, directory / "ontrack.db")
    stage.reset()
    world = World(stage, f"sqlite:///{directory / 'ontrack.db'}", directory)
    try:
        for job in JOBS:
            world.has_run(job)
        world.moves_to("03:12")
        for doing in story:
            doing.act(world)
            nobody_is_forgotten(world)
        world.scheduler.is_well_again()
        world.stage.slack.heal()
        world.passes(minutes=30)
        nobody_is_forgotten(world)
        nothing_is_done_twice(world)
        nothing_is_lost(world)
    finally:
        world.close()


def nobody_is_forgotten(world: World) -> None:
    """Every unresolved occurrence has a timer, at most so far away as people may be left in peace."""
    far = world.now + timedelta(days=365)
    timers = {(row.record, row.number) for row in world.service.storage.due_timers(now=far, limit=1000)}
    unresolved = [one for one in world.incidents() if one.status.unresolved]

    assert {(one.record, one.number) for one in unresolved} <= timers
    assert len({one.job for one in unresolved}) == len(unresolved)


def nothing_is_done_twice(world: World) -> None:
    assert [request.key for request in world.scheduler.asked_again if request.action in ONCE] == []
    twice = {key: times for key, times in posted_keys(world).items() if times > 1}
    assert twice == {}


def nothing_is_lost(world: World) -> None:
    """All that was to be said has arrived; asks alone may come to nothing, when they came too late to help."""
    arrived = posted_keys(world)
    assert world.outbox(EffectState.WAITING, EffectState.SENDING, EffectState.BURIED) == ()
    for row in world.outbox(EffectState.SETTLED):
        if row.kind in (EffectKind.REPLY, EffectKind.DIRECT) and row.content["kind"] != ReplyKind.ASK:
            assert arrived[row.key] == 1, row.key
    for one in world.incidents():
        assert has_root(world, one.record, one.number), one.id


def posted_keys(world: World) -> Counter[str]:
    return Counter(row["result"]["message"]["metadata"]["event_payload"]["key"] for row in world.posted())
