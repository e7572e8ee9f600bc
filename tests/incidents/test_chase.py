"""When people are asked: the ladder, the ask before the next run, its floors, low urgency, the holder's notes and the lapse."""

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from itertools import pairwise

import pytest

from bot.incidents.effects import Reply, ReplyKind
from bot.incidents.events import Acknowledged, FixDeclared, Released, RunStarted, ScheduleChanged
from bot.incidents.keys import Trigger
from bot.incidents.model import AskKind
from bot.incidents.people import Person
from bot.incidents.policy import Audience, ChasePolicy, Door, Hours, Step, Urgency
from tests.incidents.worlds import (
    ANA,
    BEN,
    DAY,
    HOUR,
    MINUTE,
    MONDAY,
    ONCALL_MENTION,
    POLICY,
    TEAM,
    TEAM_MENTION,
    UNSAFE,
    Play,
    World,
    by,
    effects,
    failed,
    mentioned,
    run,
)

START = MONDAY + 20 * MINUTE
OFFICE = Hours(days=(0, 1, 2, 3, 4), starts=time(8), ends=time(18), zone="Europe/Berlin")
RELAXED = replace(POLICY, urgency=Urgency.LOW, team=replace(TEAM, hours=OFFICE))


def asks(play: Play) -> list[tuple[timedelta, str]]:
    """Every ask so far: how long after the opening, and of which kind."""
    return [
        (at - START, str(reply.facts["ask"]))
        for at, decision in play.decisions
        for reply in effects(Reply, [decision])
        if reply.kind is ReplyKind.ASK
    ]


def opened(world: World | None = None, now: datetime = START) -> Play:
    play = Play(world, now=now)
    play.tell(failed(cause=UNSAFE, at=now))
    return play


@pytest.mark.parametrize("every", [MINUTE, 10 * MINUTE, 20 * MINUTE, HOUR])
def test_asks_before_frequent_runs_do_not_keep_the_ladder_from_its_steps(every: timedelta) -> None:
    play = opened(World(every=every))
    play.until(START + 3 * HOUR)
    ladder = [at for at, kind in asks(play) if kind == "ladder"]

    assert len(ladder) == len(POLICY.chase.ladder)
    assert ladder[-1] <= 105 * MINUTE + 2 * len(ladder) * POLICY.chase.floor
    assert all(later - sooner >= POLICY.chase.floor for (sooner, _), (later, _) in pairwise(asks(play)))


def test_the_opening_then_the_ladder_then_once_more_before_each_run() -> None:
    play = opened()
    play.until(MONDAY + 2 * DAY - MINUTE)

    assert asks(play) == [
        (timedelta(), "opening"),
        (15 * MINUTE, "ladder"),
        (45 * MINUTE, "ladder"),
        (105 * MINUTE, "ladder"),
        (DAY - 50 * MINUTE, "before_run"),
        (2 * DAY - 50 * MINUTE, "before_run"),
    ]
    assert [whom[0] for _, whom in play.mentions][:3] == [ONCALL_MENTION, ONCALL_MENTION, TEAM_MENTION]


def test_a_step_by_message_and_mail_that_reaches_nobody_there_asks_in_the_channel() -> None:
    play = opened(World(changes={"doors": frozenset({Door.CHANNEL})}))
    play.until(START + 2 * HOUR)

    assert len(play.mentions) == 4


@pytest.mark.scenario(32)
@pytest.mark.parametrize(
    ("every", "within", "expected"),
    [
        (MINUTE, 16 * MINUTE, [timedelta(), 5 * MINUTE, 10 * MINUTE, 15 * MINUTE]),
        (2 * MINUTE, 11 * MINUTE, [timedelta(), 5 * MINUTE, 10 * MINUTE]),
        (
            None,
            11 * HOUR,
            [timedelta(), 15 * MINUTE, 45 * MINUTE, 105 * MINUTE, 105 * MINUTE + 4 * HOUR, 105 * MINUTE + 8 * HOUR],
        ),
        (
            30 * DAY,
            50 * HOUR,
            [timedelta(), 15 * MINUTE, 45 * MINUTE, 105 * MINUTE, 105 * MINUTE + DAY, 105 * MINUTE + 2 * DAY],
        ),
    ],
    ids=["every minute", "in two minutes", "never", "once a month"],
)
def test_frequent_jobs_are_asked_at_a_floor_and_rare_ones_by_an_interval(
    every: timedelta | None, within: timedelta, expected: list[timedelta]
) -> None:
    play = opened(World(every=every))
    play.until(START + within)

    assert [after for after, _ in asks(play)] == expected


@pytest.mark.scenario(32)
def test_no_ask_about_a_run_that_has_begun_while_we_were_down() -> None:
    play = opened(World(policy=replace(POLICY, chase=ChasePolicy(ladder=()))))
    ask = play.incident.chase.next
    assert ask is not None
    assert (ask.kind, ask.at) == (AskKind.BEFORE_RUN, MONDAY + DAY - 30 * MINUTE)

    play.now = MONDAY + DAY + MINUTE
    play.until(play.now)

    assert asks(play) == [(timedelta(), "opening")]
    assert play.incident.chase.next is not None
    assert play.incident.chase.next.at > play.now


@pytest.mark.scenario(34)
def test_asks_that_were_missed_collapse_into_one() -> None:
    play = opened()
    play.now = START + 6 * HOUR
    play.until(play.now)

    assert len(asks(play)) == 2


@pytest.mark.scenario(33)
def test_the_run_after_the_next_is_the_schedules_own_word_across_the_change_of_clocks() -> None:
    sunday = datetime(2027, 3, 28, 1, 0, tzinfo=UTC)
    saturday = sunday - DAY
    runs = {"next_run_at": saturday, "following_run_at": sunday, "interval": DAY}
    play = opened(World(every=None, changes=runs), now=saturday - 5 * HOUR)
    play.until(saturday - 30 * MINUTE)
    early = play.incident.chase.next
    assert early is not None

    moved = sunday - HOUR
    play.tell(ScheduleChanged(at=play.now), following_run_at=moved)
    ask = play.incident.chase.next
    assert ask is not None

    assert (early.at, early.run_at) == (sunday - 30 * MINUTE, sunday)
    assert (ask.at, ask.run_at) == (moved - 30 * MINUTE, moved)


@pytest.mark.scenario(43)
def test_low_urgency_on_friday_night_is_asked_at_the_next_hour_that_helps_not_at_three() -> None:
    friday_night = datetime(2026, 12, 4, 22, 0, tzinfo=UTC)
    play = Play(World(policy=RELAXED, every=DAY), now=friday_night)
    play.tell(failed(run(friday_night - HOUR), UNSAFE, friday_night))
    play.until(friday_night + 6 * DAY)
    at = [when for when, _ in play.mentions]

    assert at[0] == datetime(2026, 12, 7, 7, 0, tzinfo=UTC)
    assert all(8 <= (when + HOUR).hour < 18 and (when + HOUR).weekday() < 5 for when in at)


@pytest.mark.scenario(43)
def test_low_urgency_is_asked_before_the_run_at_the_last_hour_that_helps() -> None:
    monday_noon = datetime(2026, 11, 30, 11, 0, tzinfo=UTC)
    policy = replace(RELAXED, chase=ChasePolicy(ladder=()))
    play = Play(World(policy=policy, changes={"next_run_at": monday_noon + 15 * HOUR}), now=monday_noon)
    play.tell(failed(cause=UNSAFE, at=monday_noon))
    ask = play.incident.chase.next
    assert ask is not None

    assert (ask.kind, ask.at) == (AskKind.BEFORE_RUN, datetime(2026, 11, 30, 16, 30, tzinfo=UTC))


def test_what_becomes_needed_at_night_is_asked_in_the_morning_with_its_reason_even_of_a_holder() -> None:
    evening = datetime(2026, 11, 30, 17, 30, tzinfo=UTC)
    play = Play(World(policy=RELAXED, every=None), now=evening)
    play.tell(failed(at=evening))
    play.tell(Acknowledged(by=by(at=evening)))
    play.after(5 * MINUTE)
    assert play.incident.rerun is not None
    play.tell(failed(run(generation=1, trigger=Trigger.RERUN), UNSAFE, play.now, rerun_key=play.incident.rerun.key))

    assert play.mentions == []

    morning = play.until(datetime(2026, 12, 1, 7, 0, tzinfo=UTC))

    assert mentioned(morning[0]) == [ANA.id]
    assert effects(Reply, morning)[0].facts["reason"] == "the rerun failed"


@pytest.mark.scenario(44)
def test_an_hourly_job_held_for_four_hours_asks_nobody_until_then_the_holder_then_the_ladder() -> None:
    play = opened(World(every=HOUR))
    play.tell(Acknowledged(by=by(at=play.now), lasts=4 * HOUR))
    held = play.until(START + 4 * HOUR - MINUTE)
    play.until(START + 4 * HOUR)
    lapsed = play.mentions[-1]
    play.until(START + 4 * HOUR + 15 * MINUTE)

    assert [reply.kind for reply in effects(Reply, held)] == [ReplyKind.HOLDER_NOTE]
    assert lapsed[0] == START + 4 * HOUR
    assert [mention.id for mention in lapsed[1]] == [ANA.id]
    assert play.mentions[-1][1] == (ONCALL_MENTION,)


def test_the_holder_gets_one_quiet_note_before_a_run_at_most_every_four_hours() -> None:
    play = opened(World(every=HOUR))
    play.tell(Acknowledged(by=by(at=play.now), lasts=13 * HOUR))
    fired = play.until(START + 13 * HOUR - MINUTE)
    notes = [
        (at, reply.facts["next_run_at"])
        for at, decision in play.decisions
        for reply in effects(Reply, [decision])
        if reply.kind is ReplyKind.HOLDER_NOTE
    ]

    assert len(fired) == len(notes) == 4
    assert all(later[0] - earlier[0] >= 4 * HOUR for earlier, later in pairwise(notes))
    assert all(at < next_run_at <= at + HOUR for at, next_run_at in notes)


def test_the_notes_to_the_holder_are_private_and_mention_nobody() -> None:
    play = opened()
    play.tell(Acknowledged(by=by(at=play.now), lasts=2 * DAY))
    note = effects(Reply, play.until(MONDAY + DAY))[0]

    assert (note.kind, note.thread, note.mention) == (ReplyKind.HOLDER_NOTE, False, ())
    assert [(one.door, one.address) for one in note.elsewhere] == [(Door.DM, ANA.id)]


@pytest.mark.parametrize("who", [ANA, BEN])
def test_released_the_ladder_begins_anew(who: Person) -> None:
    play = opened()
    play.until(START + 16 * MINUTE)
    play.tell(Acknowledged(by=by(ANA, play.now)))
    play.tell(Released(by=by(who, play.now)))
    ask = play.incident.chase.next
    assert ask is not None

    assert (ask.kind, ask.step, ask.at) == (AskKind.LADDER, 0, play.now + 15 * MINUTE)


def test_an_acknowledgement_that_ended_while_verifying_does_not_fire_when_the_owner_goes_on() -> None:
    play = opened()
    play.tell(FixDeclared(by=by(at=play.now)))
    play.now += 25 * HOUR
    play.tell(Acknowledged(by=by(at=play.now)))

    assert play.incident.acknowledgement is not None
    assert play.incident.acknowledgement.until == play.now + DAY


def test_while_a_run_that_may_pay_is_under_way_only_the_ask_before_the_next_run_goes_out() -> None:
    play = opened()
    play.tell(RunStarted(run=run(generation=1, trigger=Trigger.MANUAL), at=play.now, by="Olga"))

    assert play.after(44 * MINUTE) == []
    assert [kind for _, kind in asks(play)] == ["opening"]

    play.after(MINUTE)

    assert [kind for _, kind in asks(play)] == ["opening", "ladder"]


def test_a_ladder_that_was_shortened_meanwhile_still_asks() -> None:
    play = opened()
    play.world.policy = replace(POLICY, chase=ChasePolicy(ladder=()))
    play.after(15 * MINUTE)

    assert [kind for _, kind in asks(play)] == ["opening", "again"]


def test_a_step_may_ask_the_manager_and_falls_to_the_team_where_none_is_known() -> None:
    chase = ChasePolicy(ladder=(Step(after=15 * MINUTE, ask=Audience.MANAGER),))
    play = opened(World(policy=replace(POLICY, chase=chase)))
    play.after(15 * MINUTE)

    assert play.mentions[-1][1] == (TEAM_MENTION,)
