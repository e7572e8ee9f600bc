"""In strict order a failed run holds back all later ones: given up by a person's word, it is let go."""

from datetime import timedelta
from typing import Any

import pytest

from bot.incidents.decide import still_wanted
from bot.incidents.effects import AskScheduler, Reply, ReplyKind
from bot.incidents.events import (
    AnswerKind,
    FixDeclared,
    LeaveWanted,
    NotFixed,
    NotNeeded,
    OwedChoice,
    RerunWanted,
    StillNeeded,
)
from bot.incidents.keys import Action, Capability
from bot.incidents.model import Status
from bot.incidents.strategy import RunStrategy
from tests.incidents.worlds import (
    ALL,
    DAY,
    MONDAY,
    TUESDAY,
    UNSAFE,
    Play,
    World,
    by,
    effects,
    failed,
    late,
    run,
    started,
)

STRICT = {"run_strategy": RunStrategy.STRICT_SEQUENTIAL, "can": ALL | {Capability.UNBLOCK}}


def play(*events: Any, **changes: Any) -> Play:
    story = Play(World(changes={**STRICT, **changes}))
    for event in events or (failed(cause=UNSAFE),):
        story.tell(event)
    return story


def let_go(story: Play) -> list[AskScheduler]:
    return [ask for ask in story.all(AskScheduler) if ask.action is Action.UNBLOCK]


def test_a_run_that_is_not_needed_is_let_go() -> None:
    story = play()
    story.tell(NotNeeded(by=by()))

    (asked,) = let_go(story)
    assert (asked.run, asked.nominal_times, asked.by) == (run(), (MONDAY,), by())
    assert story.status is Status.RESOLVED
    assert still_wanted(story.incident, asked.key, Action.UNBLOCK, story.now)


def test_a_run_that_the_next_one_pays_is_let_go_so_that_there_is_a_next_one() -> None:
    story = play()
    story.tell(FixDeclared(by=by(), choices=((MONDAY, OwedChoice.NEXT_RUN),)))

    (asked,) = let_go(story)
    assert still_wanted(story.incident, asked.key, Action.UNBLOCK, story.now)
    story.tell(NotFixed(by=by()))
    assert not still_wanted(story.incident, asked.key, Action.UNBLOCK, story.now)


@pytest.mark.parametrize("choice", [OwedChoice.RERUN_NOW, OwedChoice.FRESH_START])
def test_a_run_that_is_rerun_is_not_let_go(choice: OwedChoice) -> None:
    story = play()
    story.tell(FixDeclared(by=by(), choices=((MONDAY, choice),)))

    assert let_go(story) == []


def test_a_failure_that_is_left_as_it_is_is_left_in_its_scheduler_too() -> None:
    story = play()
    story.tell(LeaveWanted(by=by(), until=MONDAY + 2 * DAY))

    assert story.status is Status.LEFT
    assert let_go(story) == []


def test_each_of_several_runs_is_let_go_under_a_key_of_its_own() -> None:
    story = play(failed(cause=UNSAFE), failed(run(TUESDAY), UNSAFE))
    story.tell(NotNeeded(by=by()))

    asked = let_go(story)
    assert [one.nominal_times for one in asked] == [(MONDAY,), (TUESDAY,)]
    assert len({one.key for one in asked}) == 2


def test_a_run_that_never_began_holds_up_nothing() -> None:
    story = play(late())
    story.tell(NotNeeded(by=by()))

    assert let_go(story) == []


def test_a_run_that_runs_again_is_let_be() -> None:
    story = play()
    story.tell(RerunWanted(by=by()))
    story.tell(started(run(generation=1), rerun_key=story.all(AskScheduler)[0].key))
    story.tell(NotNeeded(by=by()))

    assert let_go(story) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"can": ALL},
        *({"run_strategy": rule} for rule in (None, *RunStrategy) if rule is not RunStrategy.STRICT_SEQUENTIAL),
    ],
)
def test_nothing_is_asked_where_nothing_is_held_up_or_it_cannot_be_asked(changes: dict[str, Any]) -> None:
    story = play(**changes)
    story.tell(NotNeeded(by=by()))

    assert let_go(story) == []


def test_a_word_that_is_taken_back_takes_the_request_with_it() -> None:
    story = play(failed(cause=UNSAFE), failed(run(TUESDAY), UNSAFE))
    story.tell(NotNeeded(by=by(), nominal_times=(MONDAY,)))
    (asked,) = let_go(story)
    story.tell(StillNeeded(by=by()))

    assert not still_wanted(story.incident, asked.key, Action.UNBLOCK, story.now)


@pytest.mark.parametrize("answer", AnswerKind)
def test_what_its_scheduler_refuses_is_told_and_what_it_does_is_not(answer: AnswerKind) -> None:
    story = play()
    story.tell(NotNeeded(by=by()))
    story.now += timedelta(seconds=1)
    decision = story.answer(answer, Action.UNBLOCK, message="403: may not")

    told = [reply.facts["reason"] for reply in effects(Reply, [decision]) if reply.kind is ReplyKind.CHANGED]
    done = answer in (AnswerKind.TAKEN, AnswerKind.STARTED)
    assert told == ([] if done else ["later runs of it still wait in its scheduler: 403: may not"])
    assert story.status is Status.RESOLVED
