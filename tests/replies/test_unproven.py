"""A server that tells nothing of senders: with `unproven: confirm` the owner is asked at their own address, and only that acts."""

from typing import Any

import pytest

from bot.replies import LinkDone, LinkView
from bot.store import EffectRow
from tests.replies.post import SERVER, Post
from tests.world.fixtures import Build
from tests.world.people import LOST_COLUMN, POLICIES
from tests.world.world import World

CONFIRMS = f"{POLICIES}mail: {{unproven: confirm}}\n"
SILENT: dict[str, Any] = {"passed": None}


@pytest.fixture
def world(build_world: Build) -> World:
    world = build_world(policies=CONFIRMS)
    world.has_run("orders")
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    return world


@pytest.fixture
def row(world: World, post: Post) -> EffectRow:
    return post.asks("orders", "ana")


def untouched(world: World) -> bool:
    incident = world.incident("orders")
    return (incident.acknowledgement, incident.decision, incident.fix) == (None, None, None)


def test_the_owner_is_asked_at_their_own_address_and_the_link_acts(world: World, post: Post, row: EffectRow) -> None:
    (question,) = post.says(row, "pause until 2026-12-04 the feed is down", **SILENT)

    assert untouched(world)
    assert (question.content["kind"], question.content["address"]) == ("confirm", "ana@example.com")
    assert question.content["facts"]["said"] == "pause until 2026-12-04 the feed is down"
    name = post.link(question, "pause")
    view = post.links.look(name, "pause", sure=False, now=post.now)
    assert isinstance(view, LinkView)
    assert (view.argument, view.until, view.person.id) == ("the feed is down", "2026-12-04", "U0ANA")
    done = post.links.act(name, "pause", argument=view.argument, until=view.until, sure=False, now=post.now)
    assert isinstance(done, LinkDone)
    decision = world.incident("orders").decision
    assert decision is not None
    assert (decision.by.person.id, decision.by.door, decision.reason) == ("U0ANA", "web", "the feed is down")


def test_so_it_is_where_no_server_is_trusted_at_all(world: World, post: Post, row: EffectRow) -> None:
    raw = post.reply(row, "ack", **SILENT)

    (question,) = post.takes(raw, authserv_id=None)

    assert question.content["kind"] == "confirm"
    assert untouched(world)


def test_of_a_list_an_owner_is_asked_at_the_address_that_is_known_of_them(world: World, post: Post) -> None:
    row = post.asks("orders", "finance@example.com", shared=True)

    (question,) = post.says(row, "ack", by="olga", **SILENT)

    assert (question.content["address"], question.content["shared"]) == ("olga@example.com", False)
    assert post.says(row, "ack", by="eve@example.org", **SILENT) == []
    assert untouched(world)


@pytest.mark.parametrize(
    "verdict",
    [
        f"{SERVER}; dmarc=fail header.from=example.com",
        f"{SERVER}; dkim=none; dmarc=none header.from=example.com",
        f"{SERVER}; none",
        f"{SERVER}; dmarc=pass header.from=example.org",
        "mx.example.org; dmarc=fail header.from=example.com",
    ],
)
def test_a_server_that_says_anything_else_than_a_pass_is_believed(
    world: World, post: Post, row: EffectRow, verdict: str
) -> None:
    assert post.says(row, "ack", passed=verdict) == []
    assert untouched(world)


@pytest.mark.parametrize("line", ["go ahead", "approve", "ack\nretire it is old", "", "> ack"])
def test_only_a_whole_command_that_works_is_asked_back(world: World, post: Post, row: EffectRow, line: str) -> None:
    assert post.says(row, line, **SILENT) == []
    assert untouched(world)


def test_nobody_is_asked_about_mails_of_others(world: World, post: Post, row: EffectRow) -> None:
    assert post.says(row, "ack", by="olga", **SILENT) == []
    assert post.says(row, "ack", "Auto-Submitted: auto-replied", **SILENT) == []


def test_the_same_mail_twice_asks_once(world: World, post: Post, row: EffectRow) -> None:
    raw = post.reply(row, "ack", **SILENT)

    assert len(post.takes(raw)) == 1
    assert post.takes(b"X-Trace: again\r\n" + raw) == []


def test_without_links_there_is_nothing_to_ask_back_with(world: World, post: Post, row: EffectRow) -> None:
    post.links_work = False

    assert post.says(row, "ack", **SILENT) == []


def test_a_proven_owner_acts_at_once(world: World, post: Post, row: EffectRow) -> None:
    post.says(row, "ack")

    assert world.incident("orders").acknowledgement is not None


def test_without_the_policy_it_is_silence(world: World, post: Post, row: EffectRow) -> None:
    world.has_policies(POLICIES)

    assert post.says(row, "ack", **SILENT) == []
    assert untouched(world)
