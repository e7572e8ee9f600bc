"""The storm of a channel: when many occurrences open at once they share one thread, as rows, and one ask a team. Pure values.

It decides where a new occurrence is shown and whether an ask would say again what was said; the rest is the incident's own.

    calm           an occurrence has a thread of its own
    more than N    within the window: what opens from then on is a row of the channel's storm thread
    it goes on     while more than half of N open within the window
    it is over     as soon as all its rows are settled; what opens after a calmer window has a thread of its own again,
                   and a storm that begins within an hour goes on in the same thread
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.incidents.people import By
from bot.incidents.policy import StormPolicy
from bot.incidents.tally import Tally, counted, lately

SAME_THREAD_WITHIN = timedelta(hours=1)
ASKS_EVERY = timedelta(minutes=30)
ROWS_A_PAGE = 40
KEEP_ASKS = 200
TEAM = "team "


@dataclass(frozen=True, slots=True, kw_only=True)
class StormPlace:
    """The row of an occurrence in the storm of that number in the channel; `opened`: it has a thread of its own since.

    `apart`: so many opened with it, or before it in the storm, that have their threads and no row; `since`: about when the
    first of all these opened.
    """

    channel: str
    number: int
    row: int
    opened: bool = False
    apart: int = 0
    since: datetime | None = None

    @property
    def storm(self) -> str:
        """The storm's name."""
        return f"{self.channel}/{self.number}"

    @property
    def page(self) -> int:
        """The page of rows that shows it, from 1 on."""
        return 1 + (self.row - 1) // ROWS_A_PAGE

    @property
    def begins_page(self) -> bool:
        return self.row % ROWS_A_PAGE == 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Somebody was asked in the storm's thread, up to that step of the ladder."""

    who: str
    step: int
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Somebody is on it for all of `who`, until then."""

    who: str
    by: By
    until: datetime

    @property
    def team(self) -> str:
        """The name of the team, as rows have it."""
        return self.who.removeprefix(TEAM)


@dataclass(frozen=True, slots=True, kw_only=True)
class Storm:
    """What a channel knows of its occurrences lately, and of its newest storm: its number (0: none yet), its rows, whom
    it asked, who is on it.

    `alone` are those of lately that got threads of their own and that no storm has counted; `apart` and `since`: as the
    place of the storm's newest row says.
    """

    channel: str
    opened: Tally = ()
    alone: Tally = ()
    apart: int = 0
    since: datetime | None = None
    number: int = 0
    rows: int = 0
    last_at: datetime | None = None
    asked: tuple[Asked, ...] = ()
    held: tuple[Held, ...] = ()


def aside(place: StormPlace | None) -> bool:
    """An occurrence at this place has no thread of its own: a row of its channel's storm shows it."""
    return place is not None and not place.opened


def place_of_next(storm: Storm, policy: StormPolicy, now: datetime) -> StormPlace | None:
    """Where an occurrence that opens now is shown; None: in a thread of its own."""
    many = lately(storm.opened, window=policy.window, now=now) + 1
    goes_on = storm.last_at is not None and now - storm.last_at < policy.window
    if many <= (policy.jobs // 2 if goes_on else policy.jobs):
        return None
    with_this = counted(storm.alone, window=policy.window, now=now)
    apart, since = lately(with_this, window=policy.window, now=now) - 1, min(step.begins_at for step in with_this)
    if storm.last_at is not None and now - storm.last_at < SAME_THREAD_WITHIN:
        return StormPlace(
            channel=storm.channel,
            number=storm.number,
            row=storm.rows + 1,
            apart=storm.apart + apart,
            since=storm.since or since,
        )
    return StormPlace(channel=storm.channel, number=storm.number + 1, row=1, apart=apart, since=since)


def after_opening(storm: Storm, place: StormPlace | None, policy: StormPolicy, now: datetime) -> Storm:
    """The channel once an occurrence has opened at that place."""
    storm = replace(storm, opened=counted(storm.opened, window=policy.window, now=now))
    if place is None:
        return replace(storm, alone=counted(storm.alone, window=policy.window, now=now))
    if place.row == 1:
        storm = replace(storm, number=storm.number + 1, asked=(), held=())
    return replace(storm, rows=place.row, last_at=now, alone=(), apart=place.apart, since=place.since)


def team_key(name: str) -> str:
    """The team as asks of the storm name it."""
    return f"{TEAM}{name}"


def covers(storm: Storm, who: str, step: int, now: datetime) -> bool:
    """Whether one of them is on it, or an ask of theirs, at that step or a later one, is still fresh."""
    return held_by(storm, who, now) is not None or any(
        one.who == who and one.step >= step and now - one.at < ASKS_EVERY for one in storm.asked
    )


def held_by(storm: Storm, who: str, now: datetime) -> Held | None:
    """Who is on it for all of them, if somebody is."""
    return next((one for one in in_force(storm.held, now) if one.who == who), None)


def in_force(held: tuple[Held, ...], now: datetime) -> tuple[Held, ...]:
    """Those of them who are still on it."""
    return tuple(one for one in held if now < one.until)


def after_ask(storm: Storm, who: str, step: int, now: datetime) -> Storm:
    others = tuple(one for one in storm.asked if (one.who, one.step) != (who, step))
    return replace(storm, asked=(*others, Asked(who=who, step=step, at=now))[-KEEP_ASKS:])


def after_taking(storm: Storm, held: Held) -> Storm:
    return replace(storm, held=(*(one for one in storm.held if one.who != held.who), held))
