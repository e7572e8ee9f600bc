"""Scenarios about who has it, who may decide, and whom an ask reaches."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.incidents.effects import AskScheduler, Reply, ReplyKind, ToldKind
from bot.incidents.events import (
    Acknowledged,
    AnswerKind,
    CauseMarked,
    NotNeeded,
    PauseWanted,
    Released,
    RerunWanted,
    RetireWanted,
    WaitWanted,
)
from bot.incidents.keys import Action, Trigger
from bot.incidents.model import AtEnd, Status
from bot.incidents.people import Person
from bot.incidents.policy import Mode
from tests.incidents.worlds import (
    ADMIN,
    ANA,
    BEN,
    BOT,
    DAY,
    HOUR,
    MINUTE,
    MONDAY,
    ONCALL,
    ONCALL_MENTION,
    POLICY,
    STRANGER,
    TEAM,
    UNKNOWN,
    UNSAFE,
    Play,
    World,
    by,
    directory,
    effects,
    failed,
    late,
    mentioned,
    run,
    succeeded,
    told,
)


def opened(world: World | None = None) -> Play:
    play = Play(world)
    play.tell(failed(cause=UNSAFE))
    return play


def paused(at_end: AtEnd = AtEnd.RESUME) -> Play:
    play = opened()
    play.tell(PauseWanted(by=by(at=play.now), until=play.now + 3 * DAY, at_end=at_end))
    play.answer(AnswerKind.TAKEN, Action.PAUSE)
    return play


@pytest.mark.scenario(7)
def test_of_two_acknowledgements_the_first_wins_and_the_other_is_told_who() -> None:
    play = opened()
    play.tell(Acknowledged(by=by(ANA, play.now)))
    second = play.tell(Acknowledged(by=by(BEN, play.now + timedelta(milliseconds=50))))

    assert told(second).kind is ToldKind.TAKEN
    assert told(second).facts["by"] == ANA
    assert play.incident.first_word_at == play.now


@pytest.mark.scenario(8)
def test_an_acknowledgement_that_races_the_good_run_is_told_by_which_run_it_was_resolved() -> None:
    play = opened()
    play.tell(succeeded(run(run_id="manual__9", trigger=Trigger.MANUAL), at=play.now))
    decision = play.tell(Acknowledged(by=by(at=play.now)))

    assert play.status is Status.RESOLVED
    assert told(decision).kind is ToldKind.SETTLED
    assert told(decision).facts["run"] == "manual__9"


@pytest.mark.scenario(9)
@pytest.mark.parametrize("make", [RerunWanted, RetireWanted, Acknowledged, Released, NotNeeded])
def test_a_button_of_a_settled_occurrence_only_tells_the_state(make: type) -> None:
    play = paused()
    before = play.incident
    decision = play.tell(make(by=by(at=play.now)))

    assert told(decision).kind is ToldKind.SETTLED
    assert told(decision).facts["status"] is Status.PAUSED
    assert decision.incident == before
    assert decision.effects == ()


@pytest.mark.parametrize(("who", "kind"), [(STRANGER, ToldKind.NOT_YOURS), (BOT, ToldKind.NOT_YOURS)])
def test_only_those_who_may_decide_decide(who: Person, kind: ToldKind) -> None:
    play = opened()
    decision = play.tell(RetireWanted(by=by(who, play.now)))

    assert told(decision).kind is kind
    assert decision.effects == ()


@pytest.mark.parametrize("who", [ANA, ONCALL, ADMIN])
def test_members_the_oncall_and_admins_decide(who: Person) -> None:
    play = opened()

    assert told(play.tell(RetireWanted(by=by(who, play.now)))).kind is ToldKind.DONE


def test_a_stale_directory_fails_closed_for_deciding_and_open_for_asking() -> None:
    play = opened()
    old = directory(play.now, read_at=play.now - HOUR)
    refused = play.tell(RetireWanted(by=by(at=play.now)), directory=old)
    written_down = play.tell(RetireWanted(by=by(at=play.now)), directory=replace(old, literal=frozenset({ANA.id})))

    assert told(refused).kind is ToldKind.UNSURE
    assert told(written_down).kind is ToldKind.DONE
    assert mentioned(Play().tell(failed(cause=UNSAFE), directory=old)) == [ONCALL_MENTION.id]


def test_only_a_member_marks_a_cause_safe_and_unknown_never_is() -> None:
    play = opened()
    said = [
        told(play.tell(CauseMarked(by=by(who, play.now), cause=cause))).kind
        for who, cause in ((ANA, UNSAFE), (ONCALL, UNSAFE), (ANA, UNKNOWN), (ANA, "late.not_started"))
    ]

    assert said == [ToldKind.DONE, ToldKind.NOT_YOURS, ToldKind.CANNOT, ToldKind.CANNOT]


def test_waiting_for_a_late_run_is_an_acknowledgement_that_ends_when_said() -> None:
    play = Play(now=MONDAY + 15 * MINUTE)
    play.tell(late())
    play.tell(WaitWanted(by=by(at=play.now), until=play.now + HOUR))

    assert play.after(59 * MINUTE) == []
    assert mentioned(play.after(MINUTE)[0]) == [ANA.id]


@pytest.mark.parametrize("mode", [Mode.OBSERVE, Mode.ASK])
def test_only_in_mode_act_something_is_rerun_and_observing_pings_nobody(mode: Mode) -> None:
    play = Play(World(policy=replace(POLICY, mode=mode)))
    play.tell(failed())
    play.after(2 * DAY)

    assert play.all(AskScheduler) == []
    assert "it would be rerun in mode act" in play.incident.reason
    assert bool(play.mentions) == (mode is Mode.ASK)


@pytest.mark.scenario(27)
def test_an_owner_record_that_leads_to_nobody_falls_to_the_fallback_and_says_so() -> None:
    world = World(policy=replace(POLICY, team=replace(TEAM, members=(), usergroup=None)))
    play = Play(world)
    nobody = directory(
        play.now,
        owners=frozenset(),
        oncall=frozenset(),
        oncall_mentions=(),
        team_mentions=(),
        oncall_mail=(),
        team_mail=(),
    )
    decision = play.tell(failed(cause=UNSAFE), directory=nobody)
    ask = next(reply for reply in effects(Reply, [decision]) if reply.kind is ReplyKind.ASK)

    assert ask.facts["broken_owner"]
    assert [destination.address for destination in ask.elsewhere] == ["C0JOBS", "data-oncall@example.com"]
