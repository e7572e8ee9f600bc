"""When a channel is in a storm, where an occurrence stands in it, and which asks say again what was said."""

from dataclasses import replace
from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from bot.incidents import storm
from bot.incidents.policy import StormPolicy
from bot.incidents.storm import Held, Storm, StormPlace
from bot.incidents.tally import Tally, counted, lately
from tests.incidents.worlds import HOUR, MINUTE, MONDAY, by

POLICY = StormPolicy(jobs=10, window=timedelta(minutes=5))
TEAM = storm.team_key("finance")


def opens(known: Storm, at: datetime) -> tuple[Storm, StormPlace | None]:
    place = storm.place_of_next(known, POLICY, at)
    return storm.after_opening(known, place, POLICY, at), place


def burst(known: Storm, count: int, at: datetime) -> tuple[Storm, list[StormPlace | None]]:
    places = []
    for _ in range(count):
        known, place = opens(known, at)
        places.append(place)
    return known, places


def test_the_eleventh_within_five_minutes_is_the_first_row() -> None:
    _, places = burst(Storm(channel="C0"), 13, MONDAY)

    assert places[:10] == [None] * 10
    assert [(place.storm, place.row) for place in places[10:] if place] == [("C0/1", 1), ("C0/1", 2), ("C0/1", 3)]


def test_ten_in_each_half_hour_are_no_storm() -> None:
    known = Storm(channel="C0")
    for half_hours in range(6):
        known, places = burst(known, 10, MONDAY + half_hours * 30 * MINUTE)

        assert places == [None] * 10


def test_a_place_says_how_many_opened_beside_the_rows_and_since_when() -> None:
    known, _ = burst(Storm(channel="C0"), 6, MONDAY)
    known, places = burst(known, 14, MONDAY + 2 * MINUTE)

    assert [(place.row, place.apart, place.since) for place in places if place] == [
        (row, 10, MONDAY) for row in range(1, 11)
    ]


def test_what_opened_alone_too_long_ago_belongs_to_no_storm() -> None:
    known, _ = burst(Storm(channel="C0"), 9, MONDAY)
    _, places = burst(known, 11, MONDAY + 10 * MINUTE)

    assert [(place.apart, place.since) for place in places if place] == [(10, MONDAY + 10 * MINUTE)]


def test_a_storm_that_comes_back_counts_those_that_opened_alone_meanwhile_once() -> None:
    known, _ = burst(Storm(channel="C0"), 20, MONDAY)
    known, places = burst(known, 20, MONDAY + 30 * MINUTE)
    assert [(place.row, place.apart, place.since) for place in places if place][-1] == (20, 20, MONDAY)

    _, places = burst(known, 20, MONDAY + 3 * HOUR)
    assert [(place.row, place.apart) for place in places if place][-1] == (10, 10)


@given(st.lists(st.integers(0, 1800), min_size=1, max_size=120))
def test_rows_and_those_beside_them_are_never_more_than_have_opened(seconds: list[int]) -> None:
    known = Storm(channel="C0")
    for opened, second in enumerate(sorted(seconds), start=1):
        known, place = opens(known, MONDAY + timedelta(seconds=second))
        if place is not None:
            assert POLICY.jobs // 2 < place.row + place.apart <= opened


def test_it_goes_on_while_half_as_many_open_and_ends_when_fewer_do() -> None:
    known, _ = burst(Storm(channel="C0"), 20, MONDAY)
    known, places = burst(known, 8, MONDAY + 4 * MINUTE)
    assert None not in places

    known, place = opens(known, MONDAY + 8 * MINUTE)
    assert place is not None
    _, place = opens(known, MONDAY + 20 * MINUTE)
    assert place is None


def test_a_storm_that_comes_back_within_the_hour_goes_on_in_its_thread_and_later_begins_another() -> None:
    known, _ = burst(Storm(channel="C0"), 20, MONDAY)
    soon, places = burst(known, 20, MONDAY + 30 * MINUTE)
    assert places[-1] is not None
    assert (places[-1].storm, places[-1].row) == ("C0/1", 20)

    _, places = burst(soon, 20, MONDAY + 2 * HOUR)
    assert places[-1] is not None
    assert (places[-1].storm, places[-1].row) == ("C0/2", 10)


def test_an_ask_covers_the_same_and_lower_steps_for_half_an_hour() -> None:
    known = storm.after_ask(Storm(channel="C0"), TEAM, 1, MONDAY)

    assert storm.covers(known, TEAM, 0, MONDAY + 29 * MINUTE)
    assert storm.covers(known, TEAM, 1, MONDAY + 29 * MINUTE)
    assert not storm.covers(known, TEAM, 2, MONDAY + MINUTE)
    assert not storm.covers(known, TEAM, 1, MONDAY + 30 * MINUTE)
    assert not storm.covers(known, storm.team_key("growth"), 0, MONDAY)


def test_a_team_whose_jobs_somebody_has_taken_is_not_asked_until_that_ends() -> None:
    held = Held(who=TEAM, by=by(), until=MONDAY + 4 * HOUR)
    known = storm.after_taking(Storm(channel="C0"), held)

    assert storm.covers(known, TEAM, 5, MONDAY + 3 * HOUR)
    assert not storm.covers(known, TEAM, 0, MONDAY + 4 * HOUR)
    assert storm.held_by(storm.after_taking(known, replace(held, until=MONDAY)), TEAM, MONDAY) is None


@given(st.lists(st.floats(0, 3600), min_size=1, max_size=200))
def test_a_tally_never_counts_less_than_there_was_and_little_that_is_older(seconds: list[float]) -> None:
    window = timedelta(minutes=5)
    tally: Tally = ()
    instants = sorted(MONDAY + timedelta(seconds=each) for each in seconds)
    for at in instants:
        tally = counted(tally, window=window, now=at)
    now = instants[-1]
    within = sum(now - window < at for at in instants)
    nearly = sum(now - window * 1.05 <= at for at in instants)

    assert within <= lately(tally, window=window, now=now) <= nearly
    assert len(tally) <= 22
