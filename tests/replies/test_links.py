"""The links of a mail: looking changes nothing, acting does it once, as the person the mail was sent to. It tests no page."""

from datetime import timedelta

import pytest

from bot.incidents.model import Status
from bot.mail import CommandWord
from bot.replies import LinkDone, LinkRefused, LinkTrouble, LinkView
from bot.store import EffectRow
from tests.replies.post import Post
from tests.world.people import LOST_COLUMN, STRANGE
from tests.world.world import World


@pytest.fixture(autouse=True)
def failed(world: World) -> None:
    world.has_run("orders")
    world.fails("orders", at="03:12", log=LOST_COLUMN)


@pytest.fixture
def row(failed: None, post: Post) -> EffectRow:
    return post.asks("orders", "ana")


def looked(post: Post, row: EffectRow, word: str, *, sure: bool = False) -> LinkView:
    view = post.links.look(post.link(row, word, sure=sure), word, sure=sure, now=post.now)
    assert isinstance(view, LinkView)
    return view


def acted(
    post: Post, row: EffectRow, word: str, argument: str = "", until: str = "", *, sure: bool = False
) -> LinkDone:
    post.world.clock.tick()
    name = post.link(row, word, sure=sure)
    done = post.links.act(name, word, argument=argument, until=until, sure=sure, now=post.now)
    assert isinstance(done, LinkDone)
    post.world.settles()
    return done


@pytest.mark.scenario(38)
def test_a_scanner_that_looks_at_every_link_changes_nothing(world: World, post: Post) -> None:
    world.clicks("sam", "Rerun", "orders")
    row = post.wants_approval("orders", "ana")
    before, version = world.timeline("orders"), world.incident("orders").version

    for word in CommandWord:
        for sure in (False, True):
            looked(post, row, word, sure=sure)

    world.settles()
    assert world.timeline("orders") == before
    assert world.incident("orders").version == version
    assert world.reruns() == []


def test_a_look_says_what_would_be_done_and_for_whom(post: Post, row: EffectRow) -> None:
    view = looked(post, row, "pause")

    assert (view.person.id, view.person.name) == ("U0ANA", "Ana")
    assert view.snapshot.incident.job.name == "orders"
    assert (view.wants_words, view.wants_day, view.zone) == (True, True, "UTC")
    assert (view.works, view.done) == (True, None)
    assert not looked(post, row, "approve").works


def test_a_link_acts_once_and_tells_the_same_again(world: World, post: Post, row: EffectRow) -> None:
    first = acted(post, row, "ack")
    again = acted(post, row, "ack")

    assert (first.told.kind, first.again) == ("done", False)
    assert (again.told.reason, again.again) == (first.told.reason, True)
    assert [one.kind for one in world.timeline("orders")].count("acknowledged") == 1
    held = world.incident("orders").acknowledgement
    assert held is not None
    assert (held.by.person.id, held.by.door) == ("U0ANA", "web")
    used = looked(post, row, "ack").done
    assert used is not None
    assert used.reason == first.told.reason


def test_each_word_of_a_mail_is_a_link_of_its_own(world: World, post: Post, row: EffectRow) -> None:
    acted(post, row, "ack")
    acted(post, row, "fixed", "the column is back")

    assert world.incident("orders").status is Status.VERIFYING


def test_a_link_is_for_one_word(post: Post, row: EffectRow) -> None:
    name = post.link(row, "ack")

    for word, sure in (("retire", False), ("ack", True), ("nonsense", False), ("", False)):
        found = post.links.act(name, word, argument="x", until="", sure=sure, now=post.now)
        assert isinstance(found, LinkRefused)
        assert (found.trouble, found.snapshot) == (LinkTrouble.UNKNOWN, None)


def test_a_mail_to_a_list_has_no_link_that_acts(world: World, post: Post) -> None:
    row = post.asks("orders", "finance@example.com", shared=True)

    found = post.links.act(post.link(row, "ack"), "ack", argument="", until="", sure=False, now=post.now)

    assert isinstance(found, LinkRefused)
    assert world.incident("orders").acknowledgement is None


def test_an_old_link_has_expired_and_shows_its_record(world: World, post: Post, row: EffectRow) -> None:
    world.clock.now += timedelta(days=15)

    for found in (
        post.links.look(post.link(row, "ack"), "ack", sure=False, now=post.now),
        post.links.act(post.link(row, "ack"), "ack", argument="", until="", sure=False, now=post.now),
    ):
        assert isinstance(found, LinkRefused)
        assert found.trouble is LinkTrouble.EXPIRED
        assert "older than 14 days" in found.says
        assert found.snapshot is not None


def test_a_used_link_says_so_also_when_it_has_expired(world: World, post: Post, row: EffectRow) -> None:
    acted(post, row, "ack")
    world.clock.now += timedelta(days=15)

    assert looked(post, row, "ack").done is not None


@pytest.mark.parametrize(
    ("word", "argument", "until", "field"),
    [
        ("pause", "the feed is down", "", "until"),
        ("pause", "the feed is down", "2026-11-30", "until"),
        ("pause", "the feed is down", "2026-02-31", "until"),
        ("pause", "the feed is down", "tomorrow", "until"),
        ("pause", "", "2026-12-04", "until"),
        ("leave", "nobody reads it", "2029-12-04", "until"),
        ("retire", "", "", "argument"),
        ("fixed", " \u202e ", "", "argument"),
    ],
)
def test_a_form_to_be_mended_does_not_use_the_link_up(
    world: World, post: Post, row: EffectRow, word: str, argument: str, until: str, field: str
) -> None:
    refused = acted(post, row, word, argument, until)

    assert refused.told.kind == "invalid"
    assert refused.told.input == field
    assert world.incident("orders").status is Status.OPEN
    done = acted(post, row, word, "the reason", "2026-12-04" if word in ("pause", "leave") else "")
    assert (done.told.kind, done.again) == ("done", False)
    assert acted(post, row, word, "the reason", "2026-12-04").again


def test_while_it_cannot_be_told_who_decides_the_link_is_not_used_up(world: World, post: Post) -> None:
    row = post.asks("orders", "ben")
    world.clock.now += timedelta(minutes=20)

    name = post.link(row, "ack")
    unsure = post.links.act(name, "ack", argument="", until="", sure=False, now=post.now)
    assert isinstance(unsure, LinkDone)
    assert unsure.told.kind == "unsure"

    world.settles()
    assert acted(post, row, "ack").told.kind == "done"


def test_whoever_decides_no_more_is_told_who_can(world: World, post: Post, row: EffectRow) -> None:
    world.has_policies(
        world.policies.replace("members: [ana@example.com, U0OLGA]", "members: [U0OLGA]")
        .replace("by: ana@example.com", "by: U0OLGA")
        .replace("team_usergroup: S0FINDATA", "team_usergroup: S0GROWTH")
    )

    told = acted(post, row, "retire", "it is old").told

    assert told.kind == "not_yours"
    assert world.incident("orders").status is Status.OPEN


def test_a_rerun_of_an_unknown_cause_asks_once_more(world: World, post: Post) -> None:
    world.has_run("stock")
    world.fails("stock", at="04:05", log=STRANGE)
    row = post.asks("stock", "ana")

    asked = acted(post, row, "rerun")

    assert asked.told.kind == "confirm_unknown"
    assert asked.sure == post.link(row, "rerun", sure=True)
    assert world.reruns() == []
    done = acted(post, row, "rerun", sure=True)
    assert done.told.kind == "done"
    assert len(world.reruns()) == 1
    assert acted(post, row, "rerun", sure=True).again


@pytest.mark.scenario(19)
def test_approve_by_link_and_by_mail_is_one_rerun(world: World, post: Post) -> None:
    world.clicks("sam", "Rerun", "orders")
    row = post.wants_approval("orders", "ana")

    done = acted(post, row, "approve")
    (answer,) = post.says(row, "approve")

    assert done.told.kind == "done"
    assert "no longer open" in post.words(answer)
    assert len(world.reruns()) == 1


def test_a_word_that_the_mail_did_not_ask_for_does_nothing(world: World, post: Post, row: EffectRow) -> None:
    assert acted(post, row, "approve").told.kind == "cannot"
    assert world.incident("orders").status is Status.OPEN
