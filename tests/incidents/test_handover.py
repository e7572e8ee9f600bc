"""An occurrence that was taken to the wrong team: handed over, answered there, handed back; the job's policy stays."""

from dataclasses import replace

import pytest

from bot.incidents.effects import AskScheduler, MarkCause, Reply, ReplyKind, ToldKind
from bot.incidents.events import (
    Acknowledged,
    CauseMarked,
    HandBackWanted,
    HandOverWanted,
    PersonEvent,
    RerunWanted,
)
from bot.incidents.model import Status
from bot.incidents.people import Person
from bot.incidents.policy import Hours, Urgency
from tests.incidents.worlds import (
    ANA,
    BEN,
    GIL,
    MINUTE,
    MONDAY,
    ONCALL_MENTION,
    PLATFORM,
    PLATFORM_MENTION,
    POLICY,
    SAFE,
    STRANGER,
    TEAM,
    UNSAFE,
    Play,
    World,
    answering,
    by,
    directory,
    effects,
    failed,
    mentioned,
    replies,
    told,
)


def opened(cause: str = UNSAFE, world: World | None = None) -> Play:
    play = Play(world)
    play.tell(failed(cause=cause))
    play.now += 5 * MINUTE
    return play


def handed(play: Play, person: Person = ANA, **changes: object) -> Play:
    play.tell(HandOverWanted(by=by(person, play.now), team=PLATFORM.name, note="their gateway is down"), **changes)
    return play


def test_the_other_teams_on_call_is_asked_at_once_in_its_own_channel() -> None:
    play = handed(opened())
    _, decision = play.decisions[-1]

    asked = [reply for reply in effects(Reply, [decision]) if reply.mention]

    assert [(reply.kind, reply.mention, reply.thread) for reply in asked] == [
        (ReplyKind.ASK, (PLATFORM_MENTION,), False)
    ]
    assert [destination.address for reply in asked for destination in reply.elsewhere] == ["C0PLATFORM"]
    assert replies(decision) == [ReplyKind.HANDED, ReplyKind.ASK, ReplyKind.ASK]
    assert play.status is Status.OPEN


def test_it_counts_as_a_correction_of_the_team() -> None:
    _, decision = handed(opened()).decisions[-1]

    (note,) = [note for note in decision.notes if note.kind == "handed_over"]

    assert note.facts == {"team": "platform", "was": "finance-data", "correction": "wrong_team"}
    assert note.by == by(ANA, MONDAY + 25 * MINUTE)


def test_from_then_on_the_other_team_decides_and_the_jobs_own_does_not() -> None:
    play = handed(opened())

    refused = play.tell(Acknowledged(by=by(BEN, play.now)))
    taken = play.tell(Acknowledged(by=by(GIL, play.now)))

    assert told(refused).kind is ToldKind.NOT_YOURS
    assert told(taken).kind is ToldKind.DONE
    assert play.incident.acknowledgement is not None
    assert play.incident.acknowledgement.by.person == GIL


def test_the_ladder_goes_on_with_the_other_team() -> None:
    play = handed(opened())

    fired = play.after(16 * MINUTE)

    assert [mention for decision in fired for mention in mentioned(decision)] == [PLATFORM_MENTION.id]
    assert not any(reply.broadcast for reply in effects(Reply, fired))


def test_whoever_had_it_holds_it_no_more() -> None:
    play = opened()
    play.tell(Acknowledged(by=by(BEN, play.now)))

    assert handed(play).incident.acknowledgement is None


def test_a_rerun_of_the_other_team_is_an_owners_own() -> None:
    play = handed(opened())

    play.tell(RerunWanted(by=by(GIL, play.now)))

    assert play.status is Status.RERUNNING
    assert len(play.all(AskScheduler)) == 1


def test_a_licensed_rerun_goes_on_and_nobody_is_asked() -> None:
    play = handed(opened(SAFE))
    _, decision = play.decisions[-1]

    assert play.status is Status.RERUNNING
    assert replies(decision) == [ReplyKind.HANDED]
    assert mentioned(decision) == []


def test_the_other_team_marks_no_cause_of_a_job_that_is_not_its_own() -> None:
    play = handed(opened())

    decision = play.tell(CauseMarked(by=by(GIL, play.now), cause=UNSAFE))

    assert told(decision).kind is ToldKind.CANNOT
    assert play.all(MarkCause) == []


def test_the_other_team_may_take_a_mark_back() -> None:
    play = handed(opened())

    play.tell(CauseMarked(by=by(GIL, play.now), cause=SAFE, safe=False))

    assert [mark.safe for mark in play.all(MarkCause)] == [False]


@pytest.mark.parametrize("person", [ANA, GIL])
def test_handed_back_the_jobs_own_team_is_asked_again_in_the_thread(person: Person) -> None:
    play = handed(opened())

    decision = play.tell(HandBackWanted(by=by(person, play.now), note="it is ours after all"))

    assert play.incident.handed == ()
    asked = [reply for reply in effects(Reply, [decision]) if reply.mention]
    assert [(reply.mention, reply.thread) for reply in asked] == [((ONCALL_MENTION,), True)]


@pytest.mark.parametrize("person", [BEN, STRANGER])
def test_others_than_those_who_decide_or_handed_it_over_cannot_take_it_back(person: Person) -> None:
    play = handed(opened())

    decision = play.tell(HandBackWanted(by=by(person, play.now)))

    assert told(decision).kind is ToldKind.NOT_YOURS
    assert [step.team for step in play.incident.handed] == ["platform"]


def test_who_was_deactivated_since_takes_nothing_back() -> None:
    play = handed(opened())
    gone = replace(answering(PLATFORM, play.now).directory, inactive=frozenset({ANA.id}))

    decision = play.tell(HandBackWanted(by=by(ANA, play.now)), directory=gone)

    assert told(decision).kind is ToldKind.NOT_YOURS


@pytest.mark.parametrize(("team", "said"), [("nobody", "there is no team nobody"), (TEAM.name, "answers it already")])
def test_a_team_that_is_not_there_or_has_it_already_is_a_mistake_in_the_form(team: str, said: str) -> None:
    play = opened()

    answer = told(play.tell(HandOverWanted(by=by(ANA, play.now), team=team)))

    assert (answer.kind, answer.input) == (ToldKind.INVALID, "team")
    assert said in answer.reason
    assert play.incident.handed == ()


def test_handed_on_to_the_jobs_own_team_it_is_as_if_it_never_left() -> None:
    play = handed(opened())

    play.tell(HandOverWanted(by=by(GIL, play.now), team=TEAM.name))

    assert play.incident.handed == ()
    assert play.mentions[-1][1] == (ONCALL_MENTION,)


def test_a_settled_occurrence_is_not_handed_over() -> None:
    play = opened()
    play.tell(HandOverWanted(by=by(ANA, play.now), team=PLATFORM.name), directory=directory(play.now))
    settled = replace(play.incident, status=Status.RESOLVED)
    play.current = settled
    events: list[PersonEvent] = [HandOverWanted(by=by(GIL, play.now), team=TEAM.name), HandBackWanted(by=by(GIL))]

    assert [told(play.tell(event)).kind for event in events] == [ToldKind.SETTLED, ToldKind.SETTLED]


def test_a_low_urgency_job_is_asked_in_the_other_teams_hours() -> None:
    office = Hours(
        days=(0, 1, 2, 3, 4), starts=MONDAY.time().replace(hour=8), ends=MONDAY.time().replace(hour=18), zone="UTC"
    )
    night = Hours(days=(0, 1, 2, 3, 4, 5, 6), starts=MONDAY.time().replace(hour=0), ends=office.starts, zone="UTC")
    low = replace(POLICY, urgency=Urgency.LOW, team=replace(TEAM, hours=office))
    play = opened(world=World(policy=low))
    by_night = replace(answering(PLATFORM, play.now), team=replace(PLATFORM, hours=night))

    decision = play.tell(HandOverWanted(by=by(ANA, play.now), team=PLATFORM.name), other=by_night)

    assert mentioned(decision) == [PLATFORM_MENTION.id]


def test_the_next_occurrence_is_the_jobs_own_teams_and_gets_a_thread_of_its_own() -> None:
    play = handed(opened())
    before = replace(play.incident, status=Status.RESOLVED, closed_at=play.now)
    again = Play(now=play.now + 30 * MINUTE)

    again.tell(failed(cause=UNSAFE), previous=before, times=1)

    assert again.incident.handed == ()
    assert again.incident.returned is not None
    assert not again.incident.returned.same_thread
