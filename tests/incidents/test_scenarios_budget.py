"""Scenarios about approval and budget, and runs by hand that overtake them, each told as its line tells it."""

import pytest

from bot.incidents.effects import (
    AskScheduler,
    Release,
    Reply,
    Settle,
    ToldKind,
)
from bot.incidents.events import (
    Approved,
    Declined,
    FixDeclared,
    OwedChoice,
    PauseWanted,
    RerunWanted,
)
from bot.incidents.keys import Action, Cost, Trigger
from bot.incidents.model import Outcome, ProposalReason, RerunPhase, Status
from bot.incidents.situation import Allowance
from tests.incidents.worlds import (
    ANA,
    BEN,
    DAY,
    HOUR,
    MINUTE,
    MONDAY,
    ONCALL_MENTION,
    SAFE,
    STRANGER,
    TUESDAY,
    UNKNOWN,
    UNSAFE,
    Play,
    World,
    by,
    effects,
    failed,
    mentioned,
    rerun_of,
    run,
    started,
    succeeded,
    told,
)


def key_of(play: Play) -> str:
    assert play.incident.rerun is not None
    return play.incident.rerun.key


def over_budget() -> Play:
    play = Play(World(changes={"estimate": Cost(amount=30.0)}))
    play.tell(failed())
    return play


@pytest.mark.scenario(15)
def test_an_unknown_cause_is_never_rerun_but_by_an_owner_who_was_told_so() -> None:
    play = Play()
    play.tell(failed(cause=UNKNOWN))
    outsider = play.tell(RerunWanted(by=by(STRANGER, play.now)))
    refused = play.tell(Approved(by=by(STRANGER, play.now), proposal=1, confirmed=True))
    warned = play.tell(Approved(by=by(ANA, play.now), proposal=1))

    assert outsider.incident is not None
    assert outsider.incident.status is Status.AWAITING_APPROVAL
    assert (told(refused).kind, told(warned).kind) == (ToldKind.NOT_YOURS, ToldKind.CONFIRM_UNKNOWN)
    assert play.all(AskScheduler) == []

    play.tell(Approved(by=by(ANA, play.now), proposal=1, confirmed=True))

    assert [(ask.action, ask.by and ask.by.person) for ask in play.all(AskScheduler)] == [(Action.RERUN, ANA)]
    assert [reserve.automatic for reserve in play.reserved] == [False]


@pytest.mark.scenario(16)
def test_the_budget_is_reserved_before_the_request_and_settled_after() -> None:
    play = Play()
    play.tell(failed())

    assert [reserve.estimate for reserve in play.reserved] == [Cost(amount=0.5)]
    assert play.all(AskScheduler) == []

    play.after(5 * MINUTE)
    key = key_of(play)
    play.tell(succeeded(rerun_of(), rerun_key=key, cost=Cost(amount=0.7)))

    assert [(one.key, one.cost) for one in play.all(Settle)] == [(key, Cost(amount=0.7))]


@pytest.mark.scenario(17)
def test_what_the_allowance_does_not_cover_waits_for_a_yes_and_is_booked_apart() -> None:
    play = over_budget()

    assert play.incident.proposal is not None
    assert play.incident.proposal.reason is ProposalReason.OVER_BUDGET

    play.tell(Approved(by=by(ANA, play.now), proposal=1))

    assert [(one.automatic, one.estimate) for one in play.reserved] == [(False, Cost(amount=30.0))]


@pytest.mark.scenario(18)
def test_an_approval_after_the_good_run_or_after_its_time_reruns_nothing() -> None:
    paid, expired = over_budget(), over_budget()
    paid.tell(succeeded(run(run_id="manual__1", trigger=Trigger.MANUAL), at=paid.now))
    too_late = paid.tell(Approved(by=by(ANA, paid.now), proposal=1))
    assert expired.incident.proposal is not None
    expired.until(expired.incident.proposal.expires_at)
    after_expiry = expired.tell(Approved(by=by(ANA, expired.now), proposal=1))

    assert told(too_late).kind is ToldKind.SETTLED
    assert told(too_late).facts["run"] == "manual__1"
    assert told(after_expiry).kind is ToldKind.EXPIRED
    assert (expired.status, expired.now) == (Status.OPEN, TUESDAY)
    assert [*paid.all(AskScheduler), *expired.all(AskScheduler)] == []


@pytest.mark.scenario(19)
def test_approved_twice_is_one_rerun() -> None:
    play = over_budget()
    play.tell(Approved(by=by(ANA, play.now), proposal=1))
    second = play.tell(Approved(by=by(BEN, play.now), proposal=1))

    assert len(play.all(AskScheduler)) == 1
    assert told(second).kind is ToldKind.EXPIRED


@pytest.mark.scenario(19)
def test_a_pause_takes_back_a_rerun_that_was_not_requested_yet() -> None:
    play = Play()
    play.tell(failed())
    decision = play.tell(PauseWanted(by=by(at=play.now), until=play.now + DAY))
    play.after(HOUR)

    assert len(effects(Release, [decision])) == 1
    assert [ask.action for ask in play.all(AskScheduler)] == [Action.PAUSE]


@pytest.mark.scenario(45)
def test_somebody_clears_the_task_in_the_scheduler_while_an_approval_waits() -> None:
    play = over_budget()
    by_hand = play.tell(started(rerun_of(), at=play.now, by="Olga"))

    assert play.incident.proposal is None
    assert effects(Reply, [by_hand])[0].facts["by"] == "Olga"
    assert effects(Reply, [by_hand])[0].facts["withdrew"]
    assert play.after(44 * MINUTE) == [], "while it runs nobody is asked"

    play.tell(succeeded(rerun_of(), at=play.now, by="Olga"))

    assert (play.status, play.incident.outcome) == (Status.RESOLVED, Outcome.RECOVERED_BY_HAND)


def test_when_the_run_by_hand_fails_too_the_owner_is_asked_again() -> None:
    play = over_budget()
    play.tell(started(rerun_of(trigger=Trigger.MANUAL), at=play.now, by="Olga"))
    decision = play.tell(failed(rerun_of(trigger=Trigger.MANUAL), SAFE, play.now + 5 * MINUTE))

    assert mentioned(decision) == [ONCALL_MENTION.id]


def test_a_decline_is_a_no_and_the_decliner_holds_it() -> None:
    play = over_budget()
    play.tell(Declined(by=by(BEN, play.now), proposal=1))

    assert play.status is Status.OPEN
    assert play.incident.acknowledgement is not None
    assert play.incident.acknowledgement.by.person == BEN


def test_fixed_with_a_rerun_that_cannot_be_made_waits_and_gives_nothing_up() -> None:
    play = Play(World(changes={"can": frozenset()}))
    play.tell(failed(cause=UNSAFE))
    decision = play.tell(FixDeclared(by=by(at=play.now), choices=((MONDAY, OwedChoice.RERUN_NOW),)))
    play.now = TUESDAY + HOUR
    play.tell(succeeded(run(TUESDAY), at=play.now))

    assert "cannot be asked for reruns" in told(decision).reason
    assert play.status is Status.VERIFYING
    assert [owed.nominal_time for owed in play.incident.owed] == [MONDAY]


def test_an_allowance_that_shrank_during_the_back_off_does_not_unmake_a_booked_rerun() -> None:
    play = Play()
    play.tell(failed())
    play.after(5 * MINUTE, allowance=Allowance(unit="run_hours", job=0.0))

    assert play.incident.rerun is not None
    assert play.incident.rerun.phase is RerunPhase.REQUESTED
