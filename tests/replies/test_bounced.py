"""A mail system gives a mail of ours back: its address is broken and the record learns of it; a forged report does nothing."""

from datetime import timedelta

import pytest

from bot.directory import BELIEVED
from bot.store import EffectRow
from tests.replies.post import Post
from tests.replies.reports import report
from tests.world.people import LOST_COLUMN
from tests.world.world import World


@pytest.fixture(autouse=True)
def failed(world: World) -> None:
    world.has_run("orders")
    world.fails("orders", at="03:12", log=LOST_COLUMN)


@pytest.fixture
def row(failed: None, post: Post) -> EffectRow:
    return post.asks("orders", "ana")


def broken(world: World) -> list[tuple[str, str]]:
    found = world.service.storage.broken_addresses(now=world.now + timedelta(seconds=1), lasts=BELIEVED)
    return [(one.address, one.status) for one in found]


@pytest.mark.scenario(38)
def test_a_bounce_marks_the_address_and_tells_the_record(world: World, post: Post, row: EffectRow) -> None:
    assert post.takes(report(post.signer.mail(row.id), "ana@example.com")) == []

    assert broken(world) == [("ana@example.com", "5.1.1")]
    assert "not_delivered: ask to ana@example.com: 5.1.1" in world.reasons("orders")


def test_the_same_bounce_twice_is_one(world: World, post: Post, row: EffectRow) -> None:
    raw = report(post.signer.mail(row.id), "ana@example.com")
    post.takes(raw)
    before = len(world.timeline("orders"))

    post.takes(b"X-Trace: twice\r\n" + raw)

    assert len(world.timeline("orders")) == before


def test_a_bounce_without_headers_is_known_by_the_address_it_came_to(world: World, post: Post, row: EffectRow) -> None:
    token = post.signer.mail(row.id)

    post.takes(report(None, "ana@example.com", to=f"ontrack+{token}@bot.example.com"))

    assert broken(world) == [("ana@example.com", "5.1.1")]


@pytest.mark.parametrize(
    ("token", "recipient"),
    [("made-up", "ana@example.com"), (None, "ana@example.com"), ("", "olga@example.com"), ("wrong", "ana@example.com")],
)
def test_a_report_that_names_no_mail_of_ours_to_that_address_does_nothing(
    world: World, post: Post, row: EffectRow, token: str | None, recipient: str
) -> None:
    made = {"": post.signer.mail(row.id), "wrong": f"{row.id}-{'a' * 20}"}.get(token or "none", token)
    before = world.timeline("orders")

    post.takes(report(post.signer.mail(row.id) if token == "" else made, recipient))

    assert broken(world) == []
    assert world.timeline("orders") == before


def test_a_mail_that_is_only_delayed_is_no_news(world: World, post: Post, row: EffectRow) -> None:
    before = world.timeline("orders")

    post.takes(report(post.signer.mail(row.id), "ana@example.com", action="delayed", status="4.4.7"))

    assert broken(world) == []
    assert world.timeline("orders") == before


def test_a_bounce_of_a_mail_about_no_incident_marks_the_address(world: World, post: Post) -> None:
    row = post.writes({"kind": "digest", "shared": True}, "finance@example.com", occurrence=None)

    post.takes(report(post.signer.mail(row.id), "Finance@Example.com"))

    assert broken(world) == [("finance@example.com", "5.1.1")]


def test_a_proven_mail_from_the_address_mends_it(world: World, post: Post, row: EffectRow) -> None:
    post.takes(report(post.signer.mail(row.id), "ana@example.com"))

    post.says(row, "ack", passed=None)
    assert broken(world) == [("ana@example.com", "5.1.1")], "anybody can write that From"
    post.says(row, "ack")

    assert broken(world) == []


def test_an_old_mark_is_not_believed_any_more(world: World, post: Post, row: EffectRow) -> None:
    post.takes(report(post.signer.mail(row.id), "ana@example.com"))

    world.clock.now += BELIEVED + timedelta(hours=1)

    assert broken(world) == []
