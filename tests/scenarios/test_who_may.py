"""Who may decide: the owning team and whoever is on call, as last read; everybody else is told privately who can."""

from typing import Any

import pytest

from tests.world.fixtures import Build
from tests.world.people import GROUPS, LOST_COLUMN, PEOPLE, POLICIES
from tests.world.seen import Told
from tests.world.world import World

WITH_ROTA = POLICIES.replace(
    "slack: {channel: C0GROWTH, usergroup: S0GROWTH}\n    members: [U0GIL]",
    "slack: {channel: C0GROWTH}\n    members: [U0GIL]\n"
    '    oncall: {rota: [sam@example.com, U0BEN], every: 1d, from: "2026-11-30T00:00", timezone: UTC}',
)


def person(name: str, **changes: bool) -> dict[str, Any]:
    return {"id": PEOPLE[name], "name": name, "email": f"{name}@example.com", **changes}


def becomes(world: World, name: str, **changes: bool) -> None:
    """The person is changed in the workspace, and the directory has read it."""
    world.stage.slack.change_people(users=[person(name, **changes)])
    world.passes(minutes=6)


def says_fixed(world: World, name: str, job: str = "orders") -> Told:
    """Declares it fixed, as only somebody who decides may."""
    world.clicks(name, "Fixed", job)
    return world.submits(name, what="mended the view")


def has_decided(world: World, job: str = "orders") -> bool:
    return world.incident(job).fix is not None


@pytest.mark.parametrize("name", ["ana", "olga", "ben", "rita"])
def test_members_by_address_and_by_id_the_on_call_group_and_admins_decide(world: World, name: str) -> None:
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    says_fixed(world, name)

    assert has_decided(world)


def test_a_member_by_group_alone_decides(build_world: Build) -> None:
    world = build_world(policies=POLICIES.replace("members: [ana@example.com, U0OLGA]", "members: []"))
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    says_fixed(world, "olga")

    assert has_decided(world)


def test_whose_turn_it_is_in_the_rota_decides_and_is_called_and_nobody_elses(build_world: Build) -> None:
    world = build_world(policies=WITH_ROTA)
    world.fails("ads", at="03:12", log=LOST_COLUMN)
    assert [mention.who for mention in world.mentions()] == ["sam"]

    told = says_fixed(world, "ben", "ads")
    assert "Only the owning team growth can decide this: Gil, Rita and Sam" in told.text
    assert not has_decided(world, "ads")
    says_fixed(world, "sam", "ads")
    assert has_decided(world, "ads")


def test_when_the_turn_passes_the_next_one_decides(build_world: Build) -> None:
    world = build_world(policies=WITH_ROTA)
    world.fails("ads", at="03:12", log=LOST_COLUMN)
    world.moves_to("Tue 00:10")
    says_fixed(world, "sam", "ads")
    assert not has_decided(world, "ads")

    says_fixed(world, "ben", "ads")
    assert has_decided(world, "ads")


@pytest.mark.parametrize("changes", [{"is_restricted": True}, {"is_bot": True}, {"is_stranger": True}])
@pytest.mark.parametrize("name", ["ana", "olga", "ben", "rita"])
def test_guests_bots_and_strangers_never_decide_however_they_are_named(
    world: World, name: str, changes: dict[str, bool]
) -> None:
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    becomes(world, name, **changes)
    if changes.get("is_stranger"):
        told = world.clicks(name, "Fixed", "orders")
        assert told.status == 403
        assert "Only people of the workspace" in told.text
    else:
        told = says_fixed(world, name)
        assert "Only the owning team finance can decide" in told.text
        assert name.title() not in told.text.partition(":")[2]

    assert not has_decided(world)
    assert name not in str([row.by.person.name for row in world.timeline("orders") if row.by and row.kind != "refused"])


@pytest.mark.parametrize("named", ["ana@example.com", "U0ANA"])
def test_a_deactivated_member_stops_counting_also_where_only_the_address_is_written(
    build_world: Build, named: str
) -> None:
    policies = POLICIES.replace(", team_usergroup: S0FINDATA", "").replace("[ana@example.com, U0OLGA]", f"[{named}]")
    world = build_world(policies=policies)
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    message = world.message_with("Acknowledge", "orders")
    world.stage.slack.change_people(users=[person("ana", deleted=True)])
    world.passes(minutes=6)
    world.stage.slack.change_people(users=[person("ana")])

    told = world.clicks_on("ana", "Acknowledge", message)
    assert "Only the owning team finance can decide" in told.text
    assert "Ana" not in told.text
    assert world.incident("orders").acknowledgement is None


def test_a_group_that_could_not_be_read_lately_lets_nobody_decide_but_those_whom_the_policies_name(
    world: World,
) -> None:
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.stage.slack.inject("usergroups.users.list", error="internal_error", count=None)
    world.passes(minutes=21)

    told = says_fixed(world, "ben")
    assert "cannot be checked right now" in told.text
    assert not has_decided(world)
    says_fixed(world, "ana")
    assert has_decided(world)


def test_a_group_member_who_could_not_be_read_does_not_decide_unseen(world: World) -> None:
    world.stage.slack.inject("users.info", error="internal_error", count=None)
    group = {"id": GROUPS["finance-oncall"], "handle": "finance-oncall", "users": [PEOPLE["ben"], PEOPLE["sam"]]}
    world.stage.slack.change_people(usergroups=[group])
    world.passes(minutes=6)
    world.fails("orders", at="03:12", log=LOST_COLUMN)

    told = says_fixed(world, "sam")
    assert "cannot be checked right now" in told.text
    assert not has_decided(world)


def test_an_outsiders_refusal_is_private_and_says_who_can(world: World) -> None:
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    before = world.thread("orders")
    told = says_fixed(world, "gil")

    assert "Only the owning team finance can decide this: Ana, Ben, Olga and Rita" in told.text
    assert world.thread("orders") == before


@pytest.mark.scenario(30)
def test_a_revoked_token_is_asked_about_people_more_and_more_rarely(world: World) -> None:
    world.stage.slack.change_token(revoked=True)
    before = len(world.stage.slack.calls())
    world.passes(minutes=60)
    calls = world.stage.slack.calls()[before:]

    assert len(calls) <= 30
    world.stage.slack.change_token(revoked=False)
    world.passes(minutes=6)
    world.fails("orders", log=LOST_COLUMN)
    says_fixed(world, "ben")
    assert has_decided(world)
