"""The Home tab: what waits for a person first, what their teams have open, and nothing of it for anybody else."""

from datetime import timedelta
from typing import Any

import pytest

from bot.incidents.model import Status
from tests.scenarios.home_steps import buttons_of, clicks_home, home_of, opens_home, opens_home_late, view_of
from tests.world.fixtures import Build
from tests.world.people import GROUPS, LOST_COLUMN, PEOPLE, POLICIES
from tests.world.world import World

MARK = "finance/network.connection_reset"
SMALL_BUDGET = POLICIES.replace("budget: {limit: 40,", "budget: {limit: 0.01,")


def test_with_nothing_open_it_says_so(world: World) -> None:
    text = opens_home(world, "ana")

    assert "Your jobs: finance" in text
    assert "Nothing is open: every job of yours is on track." in text
    assert "How the teams do" not in text


def test_an_open_record_stands_there_with_the_buttons_of_its_thread(world: World) -> None:
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    text = opens_home(world, "ana")

    assert "orders failed" in text
    assert "Nobody yet; asks the on-call" in text
    assert buttons_of(world, "ana", "orders") == ["Acknowledge", "Rerun", "Fixed", "More"]
    root = world.root("orders")
    shown = [one["text"]["text"] for block in root["blocks"] if block["type"] == "actions" for one in block["elements"]]
    assert buttons_of(world, "ana", "orders") == shown


def test_what_is_pressed_there_acts_as_in_the_thread_and_is_shown_at_once(world: World) -> None:
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    opens_home(world, "ana")
    told = clicks_home(world, "ana", "Acknowledge", "orders")

    assert told.text == ""
    assert "On it: ana" in world.text_of(world.root("orders"))
    text = home_of(world, "ana")
    assert "you are on 1" in text
    assert "You are on it until" in text
    assert "waits for you" not in text.lower()
    assert buttons_of(world, "ana", "orders") == ["Rerun", "Fixed", "More"]


def test_a_form_from_there_shows_the_page_anew_when_it_is_sent(world: World) -> None:
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    opens_home(world, "ana")
    clicks_home(world, "ana", "More", "orders")
    world.presses("ana", "Leave")
    world.submits("ana", why="known", until="Fri 12:00")

    assert world.incident("orders").status is Status.LEFT
    text = home_of(world, "ana")
    assert "Nothing is open" in text
    assert "orders is left until Fri 4 Dec 12:00" in text


def test_more_acts_from_there_as_well(world: World) -> None:
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    opens_home(world, "ana")
    clicks_home(world, "ana", "Acknowledge", "orders")
    clicks_home(world, "ana", "More", "orders")
    world.presses("ana", "Release")

    assert world.incident("orders").acknowledgement is None
    assert "You are on it" not in home_of(world, "ana")


def test_who_was_asked_finds_it_first(world: World) -> None:
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    (mention,) = world.mentions()
    assert mention.who == "finance-oncall"

    asked = opens_home(world, "ben")
    assert "1 waits for you" in asked
    assert "You were asked Mon 30 Nov 03:12" in asked
    assert "waits for you" not in opens_home(world, "ana"), "the team was not asked yet"
    world.moves_to("04:05")
    assert "You were asked Mon 30 Nov 03:57" in opens_home(world, "ana")
    world.moves_to("05:30")
    assert len(world.mentions()) > 3
    assert "You were asked Mon 30 Nov 03:57" in opens_home(world, "ana"), "later asks named others"


def test_an_approval_waits_for_whoever_may_give_it(build_world: Build) -> None:
    world = build_world(policies=SMALL_BUDGET)
    world.has_run("revenue")
    world.fails("revenue", at="03:12")
    assert world.incident("revenue").status is Status.AWAITING_APPROVAL

    for person in ("ana", "ben", "rita"):
        assert "Waits for your yes or no until" in opens_home(world, person), person
        assert buttons_of(world, person, "revenue")[:2] == ["Approve", "Decline"], person
    assert "Waits for your yes or no" not in opens_home(world, "maria")
    assert "revenue" not in opens_home(world, "gil")

    clicks_home(world, "ben", "Approve", "revenue")
    assert len(world.reruns()) == 1
    assert "yes or no" not in home_of(world, "ben")


@pytest.mark.scenario(9)
def test_a_button_of_an_old_page_is_refused_with_the_present_state(world: World) -> None:
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    opens_home(world, "ana")
    world.succeeds("orders", at="04:00", generation=1)
    told = clicks_home(world, "ana", "Acknowledge", "orders")

    assert "resolved" in told.text
    assert world.incident("orders").acknowledgement is None
    assert "Nothing is open" in home_of(world, "ana")


def test_a_manager_reads_without_buttons_and_sees_how_old_things_are(world: World) -> None:
    world.fails("ads", at="01:00", log=LOST_COLUMN)
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.fails("report", at="06:30", log=LOST_COLUMN)
    world.clicks("ana", "Acknowledge", "orders")
    world.moves_to("07:00")
    text = opens_home(world, "maria")

    assert "orders failed" in text
    assert buttons_of(world, "maria", "orders") == []
    assert "finance: 2 open, nobody on 1 · by age: 1 under 1 h, 1 under 4 h, 0 under a day, 0 older" in text
    assert "growth" not in text
    assert "ads" not in text


def test_an_admin_sees_every_team(world: World) -> None:
    world.fails("ads", at="01:00", log=LOST_COLUMN)
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    text = opens_home(world, "rita")

    assert "finance: 1 open" in text
    assert "growth: 1 open" in text
    assert buttons_of(world, "rita", "ads")[0] == "Acknowledge"


def test_on_call_decides_there_and_between_shifts_only_reads(build_world: Build) -> None:
    rota = "oncall: {rota: [U0GIL, U0SAM], every: 1w, from: 2026-11-02T09:00, timezone: UTC}"
    world = build_world(policies=POLICIES.replace("members: [U0GIL]", f"members: [U0GIL]\n    {rota}"))
    world.fails("ads", at="03:12", log=LOST_COLUMN)
    opens_home(world, "sam")
    assert buttons_of(world, "sam", "ads")[0] == "Acknowledge"
    world.moves_to("09:01")

    assert "ads failed" in opens_home(world, "sam")
    assert buttons_of(world, "sam", "ads") == []


def test_nothing_of_one_team_is_seen_by_another(world: World) -> None:
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    text = opens_home(world, "gil")

    assert "Your jobs: growth" in text
    assert "orders" not in text
    assert "finance" not in text


@pytest.mark.parametrize(
    "change",
    [
        {"deleted": True},
        {"is_restricted": True},
        {"is_stranger": True},
        {"is_bot": True},
    ],
    ids=lambda change: next(iter(change)),
)
def test_who_is_deactivated_a_guest_or_a_stranger_sees_nothing(world: World, change: dict[str, Any]) -> None:
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    assert "orders" in opens_home(world, "olga")
    user = {"id": PEOPLE["olga"], "name": "olga", "real_name": "Olga", "email": "olga@example.com", **change}
    world.stage.slack.change_people(users=[user])
    world.passes(minutes=6)
    text = opens_home_late(world, "olga")

    assert "Nothing here for you yet" in text
    assert not any(word in text for word in ("orders", "finance", "reset"))
    assert not [block for block in view_of(world, "olga")["blocks"] if block["type"] == "actions"]


def test_a_person_of_no_team_gets_a_page_that_helps(world: World) -> None:
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    text = opens_home(world, "sam")

    assert "You belong to no team that owns jobs" in text
    assert "policies.yaml" in text
    assert "orders" not in text


def test_a_stale_group_list_shows_nothing_rather_than_too_much(world: World) -> None:
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.stage.slack.inject("usergroups.users.list", error="internal_error", count=None)
    world.passes(minutes=30)
    text = opens_home(world, "ben")

    assert "could not be read lately" in text
    assert "orders" not in text
    assert "orders" in opens_home(world, "olga"), "named in policies.yaml, so no list is needed"


def test_safe_marks_stand_there_with_how_reruns_went(world: World) -> None:
    world.has_run("revenue")
    world.fails("revenue", at="03:12")
    world.moves_to("03:20")
    world.rerun_succeeds("revenue")
    text = opens_home(world, "ana")

    assert "A connection broke off" in text
    assert "1 of 1 rerun worked in 90 days" in text
    assert "1 job · marked in policies.yaml by Ana" in text
    assert "Revoke" not in text


def test_a_mark_made_in_slack_is_revoked_there(world: World) -> None:
    world.has_run("orders")
    world.fails("orders", at="03:12")
    world.clicks("ana", "More", "orders")
    world.presses("ana", "Mark safe")
    world.submits("ana")
    assert "1 job · marked by Ana," in opens_home(world, "olga")

    clicks_home(world, "olga", "Revoke", MARK)

    assert "marked by Ana," not in home_of(world, "olga")
    assert "mark_revoked: network.connection_reset" in world.reasons("orders")
    assert "olga took the safe mark on network.connection_reset back." in world.replies("orders")[-1]


def test_an_old_mark_is_confirmed_there_by_a_member_only(world: World) -> None:
    world.has_run("orders")
    world.fails("orders", at="03:12")
    world.clicks("ana", "More", "orders")
    world.presses("ana", "Mark safe")
    world.submits("ana")
    world.succeeds("orders", at="04:00", generation=1)
    world.clock.now += timedelta(days=91)
    world.passes(minutes=6)
    assert "please confirm: it is older than 90 days" in opens_home(world, "ben")
    told = clicks_home(world, "ben", "Confirm", MARK)
    assert "only" in told.text.lower()
    assert "please confirm" in home_of(world, "ben")
    opens_home(world, "olga")
    clicks_home(world, "olga", "Confirm", MARK)

    assert "please confirm" not in home_of(world, "olga")
    assert "1 job · marked by Olga," in home_of(world, "olga")


@pytest.mark.scenario(27)
def test_an_owner_record_that_leads_to_nobody_is_shown_and_told_to_the_fallback_once(world: World) -> None:
    olga = {"id": PEOPLE["olga"], "name": "olga", "email": "olga@example.com", "deleted": True}
    groups = [{"id": GROUPS["growth-oncall"], "handle": "growth-oncall", "users": []}]
    world.stage.slack.change_people(users=[olga], usergroups=groups)
    world.passes(hours=3)

    (told,) = world.channel("jobs")
    assert "finance, members U0OLGA: deactivated, a guest or a bot" in told
    assert "usergroup S0GROWTH: nobody active is in the user group" in told
    assert world.mentions() == []
    assert "members U0OLGA: deactivated" in opens_home(world, "ana")
    assert "S0GROWTH" not in opens_home(world, "ana")
    assert "S0GROWTH" in opens_home(world, "rita")

    maria = {"id": PEOPLE["maria"], "name": "maria", "email": "maria@example.com", "deleted": True}
    world.stage.slack.change_people(users=[maria])
    world.passes(hours=3)
    world.kill()
    world.passes(hours=3)
    _, more = world.channel("jobs")
    assert "manager maria@example.com: deactivated, a guest or a bot" in more
    assert "U0OLGA" not in more


def test_people_that_could_not_be_read_are_not_called_unknown(world: World) -> None:
    world.stage.slack.inject("users.info", error="internal_error", count=None)
    world.has_policies(POLICIES.replace("members: [U0GIL]", "members: [U0GIL, U0SAM]"))
    world.passes(minutes=30)

    assert world.channel("jobs") == []
    world.stage.slack.heal()
    world.passes(minutes=30)
    assert world.channel("jobs") == []


@pytest.mark.scenario(36)
def test_a_row_of_a_storm_gets_its_own_thread_from_there(world: World) -> None:
    for number in range(12):
        world.fails(f"feed_{number}", at="03:12" if number == 0 else None, log=LOST_COLUMN)
    opens_home(world, "ana")
    assert "Open thread" not in buttons_of(world, "ana", "feed_0")
    assert buttons_of(world, "ana", "feed_11")[-1] == "Open thread"

    clicks_home(world, "ana", "Open thread", "feed_11")
    assert "feed_11" in world.text_of(world.root("feed_11"))
    opens_home(world, "ana")
    assert "Open thread" not in buttons_of(world, "ana", "feed_11")


def test_whatever_there_is_slack_takes_the_page(world: World) -> None:
    for number in range(40):
        world.fails(f"feed_{number}", at="03:12" if number == 0 else None, log=LOST_COLUMN)
    text = opens_home(world, "ana")

    assert "40 records are open" in text
    assert "and 28 more: `/job-health`" in text
