"""Messages that do not arrive: an ask goes by mail instead of the chat, a mail that comes back moves the ladder on."""

from dataclasses import replace

import pytest

from bot.incidents.effects import Reply, ReplyKind
from bot.incidents.events import Acknowledged, DeliveryBuried
from bot.incidents.keys import Cost
from bot.incidents.people import Mention, MentionKind
from bot.incidents.policy import Audience, ChasePolicy, Door, Hours, Step, Urgency
from tests.incidents.posted import (
    FALLBACK,
    LADDER,
    OLGA,
    PIA,
    all_mails,
    asked_by_mail,
    bounce,
    late,
    mails,
    pias,
)
from tests.incidents.worlds import (
    ANA,
    BEN,
    DAY,
    HOUR,
    MINUTE,
    MONDAY,
    ONCALL_MENTION,
    POLICY,
    SAFE,
    TEAM,
    UNSAFE,
    Play,
    World,
    by,
    directory,
    effects,
    failed,
    own_address,
    rerun_of,
    succeeded,
)


def test_an_ask_that_does_not_get_into_the_chat_goes_by_mail_once() -> None:
    play = Play()
    play.tell(failed(cause=UNSAFE))
    play.now += 10 * MINUTE
    first, again = play.tell(late(play)), play.tell(late(play))
    (mail,) = effects(Reply, [first])
    play.now += HOUR
    given_up = DeliveryBuried(
        destination="C0FINANCE", what="ask", code="gone", at=play.now, since=play.now - 70 * MINUTE
    )
    buried = play.tell(given_up)

    assert mails(first) == [(ReplyKind.ASK, OLGA)]
    assert not mail.thread
    assert mail.facts["slack_late"] == {"since": MONDAY + 20 * MINUTE, "code": "fatal_error"}
    assert mails(again) == mails(buried) == []


def test_a_late_approval_asks_for_the_yes() -> None:
    play = Play()
    play.tell(failed(cause=SAFE), estimate=Cost(amount=30.0))
    play.now += 10 * MINUTE
    (mail,) = effects(Reply, [play.tell(late(play, what="approval"))])

    assert (mail.kind, mail.facts["number"]) == (ReplyKind.APPROVAL, 1)


def test_a_late_step_is_mailed_to_whom_it_asks() -> None:
    ladder = (Step(after=15 * MINUTE, ask=Audience.MANAGER),)
    play = Play(World(policy=replace(POLICY, chase=ChasePolicy(ladder=ladder))))
    maria = (Mention(kind=MentionKind.PERSON, id="U0MARIA", name="Maria"),)
    play.world.changes = {"directory": directory(play.now, manager_mentions=maria)}
    play.tell(failed(cause=UNSAFE))
    play.after(25 * MINUTE)

    assert mails(play.tell(late(play))) == [(ReplyKind.ASK, "maria@example.com")]


def test_nobody_whose_address_is_known_is_left_out_by_the_chat_for_good() -> None:
    play = Play()
    known = directory(play.now, oncall_mail=(), team_mail=(), manager_mail=())
    play.tell(failed(cause=UNSAFE), directory=known)
    play.now += 10 * MINUTE
    decision = play.tell(late(play), directory=known)

    assert mails(decision) == [(ReplyKind.ASK, FALLBACK)]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("taken", "Ana is on it since"),
        ("settled", ""),
        ("no ask", ""),
        ("mailed", "it was mailed already"),
    ],
)
def test_a_late_message_is_only_noted_where_nobody_needs_it(words: str, why: str) -> None:
    play = asked_by_mail() if words == "mailed" else Play()
    if words != "mailed":
        play.tell(failed(cause=UNSAFE))
    play.now += 10 * MINUTE
    if words == "taken":
        play.tell(Acknowledged(by=by(ANA, play.now)))
    if words == "settled":
        play.tell(succeeded(rerun_of(), at=play.now))
    decision = play.tell(late(play, 11 * MINUTE, what="evidence" if words == "no ask" else "ask"))

    assert mails(decision) == []
    assert why in decision.notes[-1].reason


def test_an_ask_of_low_urgency_that_is_late_waits_for_the_hours() -> None:
    hours = Hours(days=(0,), starts=MONDAY.time(), ends=(MONDAY + 25 * MINUTE).time(), zone="UTC")
    play = Play(World(policy=replace(POLICY, urgency=Urgency.LOW, team=replace(TEAM, hours=hours))))
    play.tell(failed(cause=UNSAFE))
    play.now += 10 * MINUTE

    assert play.mentions
    assert mails(play.tell(late(play))) == []


def test_a_mail_that_does_not_arrive_moves_the_ladder_on_at_once_and_once() -> None:
    play = asked_by_mail()
    moved, again = play.tell(bounce(play)), play.tell(bounce(play))
    (ask,) = effects(Reply, [moved])

    assert (ask.kind, ask.mention) == (ReplyKind.ASK, (ONCALL_MENTION,))
    assert "mail to finance-data@example.com could not be delivered" in ask.facts["reason"]
    assert play.incident.chase.step == 2
    assert effects(Reply, [again]) == []


def test_the_ladder_waits_while_another_address_of_the_ask_may_be_read() -> None:
    both = (own_address(ANA), own_address(BEN))
    play = asked_by_mail(directory=directory(MONDAY, team_mail=both))
    first = play.tell(bounce(play, "Ana@example.com"))
    second = play.tell(bounce(play, "ben@example.com"))

    assert effects(Reply, [first]) == []
    assert [reply.kind for reply in effects(Reply, [second])] == [ReplyKind.ASK]


def test_a_mail_that_does_not_arrive_moves_nothing_once_somebody_is_on_it() -> None:
    play = asked_by_mail()
    play.tell(Acknowledged(by=by(ANA, play.now)))

    assert effects(Reply, [play.tell(bounce(play))]) == []


def test_an_address_that_did_not_take_a_mail_gets_no_other_about_it() -> None:
    play = pias()
    play.tell(failed(cause=UNSAFE))
    play.tell(bounce(play, PIA.id))
    play.after(5 * DAY)

    assert [address for _, address in all_mails(play) if address == PIA.id] == [PIA.id]
    assert (ReplyKind.ASK, FALLBACK) in all_mails(play), "and the owner record is broken by it"


def test_a_bounce_out_of_hours_wakes_nobody() -> None:
    hours = Hours(days=(0,), starts=MONDAY.time(), ends=(MONDAY + HOUR).time(), zone="UTC")
    play = Play(
        World(
            policy=replace(
                POLICY, chase=ChasePolicy(ladder=LADDER), urgency=Urgency.LOW, team=replace(TEAM, hours=hours)
            )
        )
    )
    play.tell(failed(cause=UNSAFE))
    play.after(16 * MINUTE)
    play.now = MONDAY + 2 * HOUR
    decision = play.tell(bounce(play))
    asks = play.until(MONDAY + 7 * DAY + MINUTE)

    assert effects(Reply, [decision]) == []
    assert effects(Reply, asks)[0].mention == (ONCALL_MENTION,)


def test_a_bounce_a_moment_after_the_team_was_called_in_the_chat_as_well_keeps_the_distance_between_asks() -> None:
    ladder = (
        Step(after=15 * MINUTE, ask=Audience.TEAM, by=(Door.CHANNEL, Door.EMAIL)),
        Step(after=8 * HOUR, ask=Audience.ONCALL),
    )
    play = Play(World(policy=replace(POLICY, chase=ChasePolicy(ladder=ladder))))
    play.tell(failed(cause=UNSAFE))
    play.after(16 * MINUTE)
    at_once = play.tell(bounce(play))
    asks = play.after(4 * MINUTE)

    assert effects(Reply, [at_once]) == []
    assert effects(Reply, asks)[0].mention == (ONCALL_MENTION,)
    assert play.incident.chase.asked_at == MONDAY + (20 + 15 + 5) * MINUTE
