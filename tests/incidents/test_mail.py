"""Who is mailed about an occurrence beside the chat, and what they hear of it until it is over."""

from dataclasses import replace

from bot.incidents.effects import Reply, ReplyKind
from bot.incidents.events import Acknowledged, Approved, PauseWanted, Released
from bot.incidents.keys import Cost
from bot.incidents.people import Destination
from bot.incidents.policy import Audience, ChasePolicy, Door, Hours, Step, Urgency
from tests.incidents.posted import (
    FALLBACK,
    LIST,
    OLGA,
    PIA,
    all_mails,
    asked_by_mail,
    mails,
    pias,
)
from tests.incidents.worlds import (
    ANA,
    BEN,
    DAY,
    FINANCE_LIST,
    HOUR,
    MINUTE,
    MONDAY,
    SAFE,
    TEAM,
    UNSAFE,
    Play,
    by,
    directory,
    effects,
    failed,
    rerun_of,
    started,
    succeeded,
)


def test_the_opening_mails_nobody_whom_the_chat_reaches() -> None:
    play = Play()
    opening = play.tell(failed(cause=UNSAFE))

    assert mails(opening) == []


def test_a_step_by_mail_reaches_its_audience() -> None:
    play = Play()
    play.tell(failed(cause=UNSAFE))
    play.after(2 * HOUR)

    assert all_mails(play) == [(ReplyKind.ASK, LIST), (ReplyKind.ASK, OLGA)]


def test_an_owner_without_an_account_is_mailed_with_every_ask_of_theirs() -> None:
    play = pias(chase=ChasePolicy(ladder=(Step(after=15 * MINUTE, ask=Audience.TEAM),)))
    opening = play.tell(failed(cause=UNSAFE))
    ask = next(reply for reply in effects(Reply, [opening]) if reply.kind is ReplyKind.ASK)
    play.after(20 * MINUTE)

    assert mails(opening) == [(ReplyKind.ASK, PIA.id)]
    assert not ask.facts["broken_owner"]
    assert ask.mention == ()
    assert all_mails(play) == [(ReplyKind.ASK, PIA.id)] * 2
    assert not any(one.shared for one in play.incident.mailed)


def test_a_member_without_an_account_is_mailed_beside_those_who_are_called() -> None:
    play = Play()
    known = directory(play.now)
    mixed = replace(known, owners=known.owners | {PIA.id}, mail_alone=frozenset({PIA.id}))
    play.world.changes = {"directory": mixed}
    opening = play.tell(failed(cause=UNSAFE))
    play.after(50 * MINUTE)

    assert mails(opening) == [], "Pia is not on call"
    assert all_mails(play) == [(ReplyKind.ASK, LIST), (ReplyKind.ASK, PIA.id)]


def test_without_mail_nobody_is_mailed_and_the_owner_record_is_called_broken() -> None:
    play = pias()
    play.world.changes["doors"] = frozenset({Door.CHANNEL, Door.DM})
    opening = play.tell(failed(cause=UNSAFE))
    ask = next(reply for reply in effects(Reply, [opening]) if reply.kind is ReplyKind.ASK)

    assert [one.address for one in ask.elsewhere] == ["C0JOBS"]
    assert ask.facts["broken_owner"]
    assert play.incident.mailed == ()


def test_a_team_of_nobody_is_told_at_its_list_as_well_as_the_fallback() -> None:
    play = Play()
    nobody = directory(play.now, owners=frozenset(), oncall=frozenset(), oncall_mentions=(), team_mentions=())
    play.world.changes = {"directory": replace(nobody, oncall_mail=(FINANCE_LIST,), manager_mail=())}
    opening = play.tell(failed(cause=UNSAFE))
    ask = next(reply for reply in effects(Reply, [opening]) if reply.kind is ReplyKind.ASK)

    assert [one.address for one in ask.elsewhere] == ["C0JOBS", FALLBACK, LIST]
    assert ask.facts["broken_owner"]


def test_what_heals_by_itself_is_mailed_to_nobody() -> None:
    play = pias()
    play.tell(failed(cause=SAFE))
    play.after(6 * MINUTE)
    play.tell(started(rerun_of(), at=play.now))
    play.tell(succeeded(rerun_of(), at=play.now + MINUTE))

    assert all_mails(play) == []


def test_low_urgency_is_mailed_within_the_hours_only() -> None:
    hours = Hours(days=(0, 1, 2, 3, 4), starts=(MONDAY + 5 * HOUR).time(), ends=(MONDAY + 9 * HOUR).time(), zone="UTC")
    play = pias(urgency=Urgency.LOW, team=replace(TEAM, hours=hours))
    opening = play.tell(failed(cause=UNSAFE))
    play.until(MONDAY + 5 * HOUR + MINUTE)

    assert mails(opening) == []
    assert all_mails(play) == [(ReplyKind.ASK, PIA.id)]


def test_an_approval_is_mailed_with_the_number_that_a_yes_answers() -> None:
    play = pias()
    decision = play.tell(failed(cause=SAFE), estimate=Cost(amount=30.0))
    ask = next(reply for reply in effects(Reply, [decision]) if reply.kind is ReplyKind.APPROVAL)
    approved = play.tell(Approved(by=by(PIA, play.now), proposal=1))

    assert mails(decision) == [(ReplyKind.APPROVAL, PIA.id)]
    assert ask.facts["number"] == 1
    assert approved.told
    assert approved.told.reason == "approved: the rerun is on its way"


def test_a_holder_without_an_account_gets_notes_and_the_lapse_by_mail() -> None:
    play = pias(chase=ChasePolicy(acknowledgement=2 * DAY))
    play.tell(failed(cause=UNSAFE))
    play.tell(Acknowledged(by=by(PIA, play.now)))
    play.after(3 * DAY)

    kinds = [kind for kind, _ in all_mails(play)]
    assert kinds[:2] == [ReplyKind.ASK, ReplyKind.HOLDER_NOTE]
    assert ReplyKind.ASK in kinds[2:]
    assert not play.mentions


def test_whoever_was_asked_by_mail_is_told_how_it_goes_on() -> None:
    play = asked_by_mail()
    told = [
        play.tell(Acknowledged(by=by(BEN, play.now))),
        play.tell(Released(by=by(BEN, play.now))),
        play.tell(PauseWanted(by=by(ANA, play.now), until=play.now + DAY)),
        play.tell(succeeded(rerun_of(), at=play.now + MINUTE)),
    ]

    assert [mails(each) for each in told] == [
        [(ReplyKind.ACKNOWLEDGED, LIST)],
        [],
        [(ReplyKind.DECISION, LIST)],
        [(ReplyKind.RESOLVED, LIST)],
    ]


def test_nobody_is_mailed_their_own_word_but_what_became_of_it() -> None:
    play = pias()
    play.tell(failed(cause=UNSAFE))
    word = play.tell(Acknowledged(by=by(PIA, play.now)))
    end = play.tell(succeeded(rerun_of(), at=play.now + MINUTE))

    assert mails(word) == []
    assert mails(end) == [(ReplyKind.RESOLVED, PIA.id)]


def test_one_mail_an_address_tells_what_failed_and_asks() -> None:
    play = pias()
    play.tell(failed(cause=SAFE), estimate=Cost(amount=30.0))
    play.tell(Approved(by=by(PIA, play.now), proposal=1))
    decision = play.tell(failed(rerun_of(), cause=SAFE, at=play.now + MINUTE))

    assert mails(decision) == [(ReplyKind.ASK, PIA.id)]


def test_a_new_occurrence_begins_with_nobody_mailed() -> None:
    play = asked_by_mail()
    play.tell(succeeded(rerun_of(), at=play.now))
    before, play.current = play.incident, None
    assert before.mailed == (Destination(door=Door.EMAIL, address=LIST, shared=True),)

    play.now += HOUR
    play.tell(failed(cause=UNSAFE, at=play.now), previous=before)

    assert play.incident.number == 2
    assert play.incident.mailed == ()
