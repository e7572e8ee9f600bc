"""The small parts: texts, durations, button values, the markup of templates."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.render import offers
from bot.render.actions import ActionId, CallbackId, read_value, value_of
from bot.render.markup import drafted
from bot.render.moments import span, written
from bot.render.offers import shown, under_more
from bot.render.plain import plain, plain_mrkdwn
from bot.render.readings import amount, duration, instant, name_of
from bot.render.root import root
from bot.render.segments import link, literal, moment, mrkdwn, rich, words
from bot.render.text import escaped, one_line, shortened_middle, unescaped
from tests.render import cases

NAMES = (
    "ack ack_1h ack_4h ack_morning release take_over rerun rerun_choose stop_rerun approve decline fixed not_fixed "
    "not_needed still_needed start_now wait_until pause change_until resume retire unretire leave not_left reopen cause "
    "mark_safe revoke_mark hand_over hand_back revoke_marks confirm_marks more open_record open_thread "
    "take_storm share_health"
)


def test_the_names_of_the_buttons_are_those_agreed_on() -> None:
    assert [str(action) for action in ActionId] == NAMES.split()
    assert all(callback.startswith("modal_") for callback in CallbackId)


@pytest.mark.parametrize("proposal", [None, 1, 42])
def test_a_buttons_value_is_read_back(proposal: int | None) -> None:
    incident = replace(cases.incident(), record=7, number=3)

    assert read_value(value_of(incident, proposal)) == (7, 3, proposal)


@pytest.mark.parametrize(
    "value", ["", "7", "7.", ".3", "7.3#", "7.3#x", "-7.3", "7.3 ", "7.3\n", "7.3.1", "٧.٣", "1" * 40 + ".1", "7.3#1#2"]
)
def test_any_other_value_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="not the value of a button"):
        read_value(value)


@given(st.text(), st.integers(min_value=8, max_value=60))
def test_escaped_text_fits_and_holds_no_cut_entity(text: str, most: int) -> None:
    found = escaped(text, most)

    assert len(found) <= most
    assert not set(found) & {"<", ">"}
    assert text.startswith(unescaped(found).removesuffix("…")) or text == unescaped(found)


@given(st.text(alphabet=st.characters(codec=None), max_size=200))
def test_one_line_is_one_line_of_visible_text(text: str) -> None:
    found = one_line(text, 50)

    assert len(found) <= 50
    assert len(found.splitlines()) <= 1
    assert not set(found) & set("\x00\x1b\u202e\u2066\u200f\ufeff\r\t")


def test_both_ends_of_a_long_name_are_kept() -> None:
    found = shortened_middle("a" * 300 + "_eu_west", 60)

    assert len(found) == 60
    assert found.endswith("_eu_west")


@pytest.mark.parametrize(
    ("duration_", "said"),
    [
        (timedelta(0), "0 s"),
        (timedelta(milliseconds=300), "under 1 s"),
        (timedelta(seconds=45), "45 s"),
        (timedelta(minutes=1), "1 min"),
        (timedelta(seconds=90), "1 min 30 s"),
        (timedelta(minutes=80), "1 h 20 min"),
        (timedelta(days=1), "1 day"),
        (timedelta(days=30), "30 days"),
        (timedelta(days=1, hours=2, minutes=5), "1 day 2 h"),
        (timedelta(hours=1, seconds=5), "1 h"),
    ],
)
def test_a_duration_is_said_in_its_two_largest_units(duration_: timedelta, said: str) -> None:
    assert span(duration_) == said


def test_an_instant_is_written_in_the_zone_asked_for_across_dst() -> None:
    before = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)

    assert written(before, "Europe/Berlin") == "Sun 25 Oct 02:30 CEST"
    assert written(before + timedelta(hours=1), "Europe/Berlin") == "Sun 25 Oct 02:30 CET"
    assert written(before, "No/Such_Zone") == "Sun 25 Oct 00:30 UTC"


def test_an_exact_instant_shows_its_seconds() -> None:
    at = datetime(2026, 11, 30, 6, 0, 20, tzinfo=UTC)
    found = moment(at, "Europe/Berlin", beside=True, exact=True)

    assert literal([found]) == "Mon 30 Nov 06:00:20 UTC"
    assert "{time_secs}" in mrkdwn([found], 500)
    assert "(07:00:20 Europe/Berlin)" in mrkdwn([found], 500)


@pytest.mark.parametrize("at", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)])
def test_an_instant_that_slack_cannot_show_is_written_out(at: datetime) -> None:
    found = moment(at, "UTC")

    assert literal([found]) == at.isoformat()


@pytest.mark.parametrize(
    ("cost", "unit", "said"),
    [
        (0.4, None, "24 min of run time"),
        ({"amount": 3.2, "unit": "core_hours"}, None, "3.2 core hours"),
        (-0.5, None, "-30 min of run time"),
        (2, "core_hours", "2 core hours"),
        (None, None, ""),
        ({"amount": "many"}, None, ""),
        (float("nan"), None, ""),
        (float("inf"), None, ""),
    ],
)
def test_a_cost_is_said_in_its_unit(cost: Any, unit: str | None, said: str) -> None:
    assert amount(cost, unit) == said


@pytest.mark.parametrize("value", [None, "soon", 7.5, [], {}])
def test_facts_of_another_shape_are_no_instants_and_no_names_of_somebody(value: Any) -> None:
    assert instant(value) is None
    assert isinstance(name_of(value if isinstance(value, str) else None), str)


def test_durations_are_read_as_they_come_from_the_database() -> None:
    assert duration("PT83M") == timedelta(minutes=83)
    assert duration(90.0) == timedelta(seconds=90)
    assert duration("long") is None


def test_links_to_other_than_the_web_are_shown_as_words() -> None:
    for address in ("javascript:alert(1)", "https://a b", "https://x|y", "<https://x>", "https://" + "x" * 2000):
        assert "link" not in [element["type"] for element in rich([link(address, "Runbook")])]


def test_a_value_is_never_read_as_markup() -> None:
    slots = [(words("*bold* `code` # header"),), (words("! text"),)]

    draft = drafted("\x001\x00\n\x000\x00 *and* more", slots)

    assert draft.text == ""
    assert draft.blocks == (
        {
            "type": "rich_text",
            "elements": [
                {
                    "type": "rich_text_section",
                    "elements": [
                        {"type": "text", "text": "! text\n*bold* `code` # header "},
                        {"type": "text", "text": "and", "style": {"bold": True}},
                        {"type": "text", "text": " more"},
                    ],
                }
            ],
        },
    )


def test_mrkdwn_escapes_words_and_keeps_to_its_length() -> None:
    segments = [words("<!channel> & co"), words("x" * 200), words("y" * 200)]

    found = mrkdwn(segments, 300)

    assert found == "&lt;!channel&gt; &amp; co" + "x" * 200


def test_plain_text_names_dates_links_and_calls() -> None:
    text = "<@U0ANA> *now* <!date^1^{time}|Mon 02:00> <https://x.example|Runbook> &lt;b&gt;"

    assert plain_mrkdwn(text) == "@U0ANA now Mon 02:00 Runbook (https://x.example) <b>"


def test_at_most_four_buttons_are_offered_and_none_twice() -> None:
    for snapshot in cases.SNAPSHOTS.values():
        for can in (frozenset[Any](), cases.ALL_POWERS):
            able = replace(snapshot, can=can)
            assert len(shown(able)) <= 4
            assert set(shown(able)).isdisjoint(under_more(able))


def test_what_the_scheduler_cannot_do_is_not_offered() -> None:
    for name, snapshot in cases.SNAPSHOTS.items():
        offered = {*shown(replace(snapshot, can=frozenset())), *under_more(replace(snapshot, can=frozenset()))}
        assert offered.isdisjoint({ActionId.RERUN, ActionId.RERUN_CHOOSE, ActionId.START_NOW}), name


def test_a_scheduler_that_only_reports_is_said_to() -> None:
    assert offers.cannot(cases.SNAPSHOTS["open scheduler only reports"])
    assert "ontrack can only watch this scheduler" in plain(root(cases.SNAPSHOTS["open scheduler only reports"]))
