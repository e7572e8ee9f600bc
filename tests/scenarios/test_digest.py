"""The digest: one hand-over message a team and working day, when its hours begin, and nobody's phone rings for it."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from bot.incidents.model import Status
from bot.store import EffectKind, EffectRow, EffectState
from tests.scenarios.test_chronic import fails_and_recovers
from tests.world.fixtures import Build
from tests.world.people import GROUPS, LOST_COLUMN, PEOPLE, POLICIES
from tests.world.world import World

TITLE = "Hand-over: "
WATCHING = POLICIES.replace("defaults:\n", "defaults:\n  mode: observe\n")


@pytest.fixture
def company(build_world: Build) -> Callable[..., World]:
    """The company, with digests; nobody is asked about anything, so that nothing else is in the channel."""

    def build(policies: str = WATCHING, **more: Any) -> World:
        return build_world(policies=policies, handing_over=True, **more)

    return build


def digests(world: World, channel: str = "finance") -> list[str]:
    return [text for text in world.channel(channel) if TITLE in text]


def rows(world: World) -> list[EffectRow]:
    return [row for row in world.outbox() if row.kind is EffectKind.NOTICE]


def test_in_the_morning_the_team_reads_what_is_open_and_who_is_on_it(company: Callable[..., World]) -> None:
    world = company(POLICIES)
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.fails("stock", at="04:01", log=LOST_COLUMN)
    world.clicks("ana", "Acknowledge", "stock")
    rang = len(world.mentions())
    world.moves_to("07:59")
    assert digests(world) == []
    rang = len(world.mentions())
    world.moves_to("08:01")

    (text,) = digests(world)
    assert "Hand-over: finance" in text
    assert "orders failed, since Mon 30 Nov 03:12" in text
    assert "nobody is on it" in text
    assert "stock failed, since Mon 30 Nov 04:01" in text
    assert "on it: Ana until Tue 1 Dec 04:01" in text
    assert text.index("orders") < text.index("stock"), "what nobody is on comes first"
    assert len(world.mentions()) == rang
    assert digests(world, "growth") == [], "a team without hours has none"


def test_what_was_decided_since_the_last_one_is_told_with_who_decided(company: Callable[..., World]) -> None:
    world = company(POLICIES)
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.moves_to("08:00")
    world.clicks("ana", "More", "orders")
    world.presses("ana", "Leave")
    world.submits("ana", why="known", until="Fri 12:00", reason="the ledger moves")
    world.fails("stock", at="10:01", log=LOST_COLUMN)
    world.succeeds("stock", at="11:03")
    world.moves_to("Tue 08:00")

    _, text = digests(world)
    assert "Nothing is open." in text
    assert "Settled since Mon 30 Nov 08:00" in text
    assert "orders is left as it is until Fri 4 Dec 12:00 UTC by ana" in text
    assert "1 record recovered without a decision" in text
    assert "Ends within 7 days" in text
    world.moves_to("Wed 08:00")
    assert "Settled since" not in digests(world)[-1]


def test_with_nothing_to_say_there_is_none_for_the_whole_day(company: Callable[..., World]) -> None:
    world = company()
    world.moves_to("09:00")
    assert digests(world) == []
    world.fails("orders", at="10:00", log=LOST_COLUMN)
    world.moves_to("17:59")

    assert digests(world) == []
    assert len(rows(world)) == 1
    world.moves_to("Tue 08:00")
    assert len(digests(world)) == 1


def test_the_weekend_goes_without_and_monday_tells_of_it(company: Callable[..., World]) -> None:
    world = company()
    world.moves_to("Fri 08:30")
    world.fails("orders", at="Sat 03:12", log=LOST_COLUMN)
    world.moves_to("Sun 23:00")
    assert digests(world) == []
    world.moves_to("Mon 08:00")

    (text,) = digests(world)
    assert "orders failed, since Sat 5 Dec 03:12" in text


def test_a_team_chooses_its_own_time_or_none(company: Callable[..., World]) -> None:
    at_nine = WATCHING.replace("    budget: {limit: 40,", '    digest: {at: "09:30"}\n    budget: {limit: 40,')
    world = company(at_nine)
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.moves_to("09:29")
    assert digests(world) == []
    world.moves_to("09:30")
    assert len(digests(world)) == 1

    world.has_policies(at_nine.replace('{at: "09:30"}', "off"))
    world.moves_to("Tue 18:00")
    assert len(digests(world)) == 1


def test_after_a_morning_of_downtime_it_comes_late_the_same_day(company: Callable[..., World]) -> None:
    world = company()
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.clock.now = world.clock.now.replace(hour=11)
    world.kill()
    world.settles()

    (text,) = digests(world)
    assert "As of Mon 30 Nov 11:12" in text


def test_a_day_that_was_missed_whole_is_never_made_up_for(company: Callable[..., World]) -> None:
    world = company()
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.clock.now = world.clock.now.replace(hour=18, minute=0)
    world.kill()
    world.settles()
    assert digests(world) == []
    world.moves_to("Tue 08:00")

    (text,) = digests(world)
    assert "As of Tue 1 Dec 08:00" in text


@pytest.mark.scenario(2)
def test_a_restart_on_the_same_day_says_nothing_twice(company: Callable[..., World]) -> None:
    world = company()
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.moves_to("08:00")
    for hour in range(9, 18):
        world.kill()
        world.moves_to(f"{hour:02}:00")

    assert len(digests(world)) == 1
    assert len(rows(world)) == 1


@pytest.mark.scenario(3)
def test_killed_after_slack_took_it_it_is_found_again_and_not_said_twice(company: Callable[..., World]) -> None:
    world = company()
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.moves_to("07:59")
    world.dies_when(lambda: bool(digests(world)))
    world.moves_to("08:00")
    world.moves_to("08:05")

    assert len(digests(world)) == 1
    (row,) = rows(world)
    assert row.attempt == 1


def test_while_slack_is_away_over_a_day_only_the_newest_is_said(company: Callable[..., World]) -> None:
    world = company()
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.moves_to("07:59")
    world.stage.slack.inject("chat.postMessage", contains="Hand-over", status=503, count=None)
    world.moves_to("08:30")
    assert digests(world) == []
    world.clock.now += timedelta(hours=9, minutes=15)
    world.passes(minutes=10)
    (row,) = rows(world)
    assert row.state is EffectState.WAITING
    world.clock.now += timedelta(hours=14)
    world.passes(minutes=15)
    assert digests(world) == []
    world.stage.slack.heal()
    world.moves_to("Tue 12:00")

    (text,) = digests(world)
    assert "As of Tue 1 Dec 08:00" in text


def test_a_channel_that_is_gone_costs_nobody_else_anything(company: Callable[..., World]) -> None:
    hours = '    hours: {days: mon-fri, from: "08:00", to: "18:00", timezone: UTC}\n'
    world = company(WATCHING.replace("    members: [U0GIL]\n", f"    members: [U0GIL]\n{hours}"))
    world.fails("ads", at="03:12", log=LOST_COLUMN)
    world.fails("orders", log=LOST_COLUMN)
    world.stage.slack.change_channel("C0GROWTH", archived=True)
    world.moves_to("20:00")

    assert len(digests(world)) == 1
    assert digests(world, "growth") == []
    assert digests(world, "jobs") == [], "it is the team's own, and of no use elsewhere"
    assert world.ready().status_code == 200


def test_marks_whose_maker_left_and_owner_records_that_lead_to_nobody_are_in_it(
    company: Callable[..., World],
) -> None:
    world = company(POLICIES)
    world.has_run("orders")
    world.fails("orders", at="03:12")
    world.clicks("ana", "More", "orders")
    world.presses("ana", "Mark safe")
    world.submits("ana")
    gone = [{"id": PEOPLE["ana"], "name": "ana", "email": "ana@example.com", "deleted": True}]
    groups = [{"id": GROUPS["finance-data"], "handle": "finance-data", "users": [PEOPLE["olga"]]}]
    world.stage.slack.change_people(users=gone, usergroups=groups)
    world.moves_to("08:00")

    (text,) = digests(world)
    assert "Safe marks to confirm" in text
    assert "who marked it is no longer in the team" in text
    assert "Owner records that lead to nobody" in text
    assert "members ana@example.com: deactivated, a guest or a bot" in text


def test_a_pause_that_ends_soon_is_in_it_until_it_has_ended(company: Callable[..., World]) -> None:
    world = company(POLICIES)
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.clicks("ana", "More", "orders")
    world.presses("ana", "Pause")
    world.submits("ana", until="Wed 07:00", reason="moving", at_end="resume")
    assert world.incident("orders").status is Status.PAUSED
    world.moves_to("Tue 08:00")

    assert "orders is paused until Wed 2 Dec 07:00 UTC; then it resumes by itself (ana: moving)" in digests(world)[-1]
    world.moves_to("Wed 08:00")
    assert "is paused" not in digests(world)[-1]


def test_what_a_rerun_mends_again_and_again_is_handed_over(company: Callable[..., World]) -> None:
    world = company(POLICIES)
    world.has_run("revenue")
    for day in ("Mon", "Tue", "Wed"):
        fails_and_recovers(world, day)
    world.moves_to("Wed 08:01")

    (text,) = [text for text in digests(world) if "Comes back" in text]
    assert re.search(r"revenue .*: 3 times in 7 days, last Wed", text)
