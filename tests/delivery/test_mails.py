"""Mail as it leaves: named so that an answer finds it, never sent a third time, and no fault of an address but its own."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from bot.compose.post import Post
from bot.delivery.refusals import RecipientRefused
from bot.ports import SendFailed
from bot.signed import ActingLink, Signer
from bot.store import EffectKind, EffectRow, EffectState, NewMail
from tests.world.fixtures import Build
from tests.world.mail import AUTHSERV_ID, SENDER, FakeMail, FakeMailbox
from tests.world.people import LOST_COLUMN, POLICIES
from tests.world.world import World

KEY = "the key of the world, long enough to be one"
PUBLIC_URL = "https://ontrack.example.com"
LADDER = "ladder: [{after: 15m, ask: oncall}, {after: 30m, ask: team}, {after: 1h, ask: oncall, by: [dm]}]"
BY_MAIL = "ladder: [{after: 15m, ask: oncall, by: [email]}, {after: 30m, ask: team, by: [email]}]"
MAILED = POLICIES.replace(LADDER, BY_MAIL).replace(
    "    manager: maria@example.com", "    manager: maria@example.com\n    email: finance@example.com"
)
BEN, LIST = "ben@example.com", "finance@example.com"
LOST = SendFailed("smtp_connection_lost", uncertain=True)
DOWN = SendFailed("smtp_unreachable")
Company = Callable[..., World]


@pytest.fixture
def post() -> FakeMail:
    return FakeMail()


@pytest.fixture
def company(build_world: Build, post: FakeMail) -> Company:
    def build(*, replies: bool = True, public_url: str | None = PUBLIC_URL, **more: Any) -> World:
        box = FakeMailbox() if replies else None
        given = Post(mail=post, sender=f"ontrack <{SENDER}>", mailbox=box, authserv_id=AUTHSERV_ID)
        env = {"SECRET_KEY": KEY, **({"PUBLIC_URL": public_url} if public_url else {})}
        return build_world(**{"policies": MAILED, "post": given, "env": env} | more)

    return build


def mails(world: World, *states: EffectState) -> list[EffectRow]:
    return [row for row in world.outbox(*states) if row.kind is EffectKind.EMAIL]


def asked_by_mail(company: Company, **more: Any) -> World:
    """Ben was asked by mail at 03:27."""
    world = company(**more)
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.moves_to("03:28")
    return world


def test_a_mail_is_named_so_that_an_answer_finds_it(company: Company, post: FakeMail) -> None:
    world = asked_by_mail(company)
    (message,) = post.to(BEN)
    (row,) = mails(world, EffectState.SETTLED)
    own = f"ontrack+{Signer(KEY).mail(row.id)}@bot.example.com"

    assert (message.message_id, message.reply_to) == (f"<{own}>", own)
    assert message.references == (f"<record-{row.record}@bot.example.com>",)
    assert (row.record, row.number) == (world.incident("orders").record, 1)


def test_the_mails_of_a_record_are_one_conversation(company: Company, post: FakeMail) -> None:
    world = asked_by_mail(company)
    world.moves_to("04:00")
    world.clicks("ana", "Acknowledge", "orders")

    assert [message.to for message in post.sent] == [BEN, LIST, BEN, LIST]
    assert len({message.subject for message in post.sent}) == 1
    assert len({message.references for message in post.sent}) == 1
    assert len({message.message_id for message in post.sent}) == 4


def test_links_that_act_go_to_one_person_alone_and_pages_to_everybody(company: Company, post: FakeMail) -> None:
    asked_by_mail(company).moves_to("04:00")
    alone, shared = post.to(BEN)[0], post.to(LIST)[0]

    assert f"{PUBLIC_URL}/d/" in alone.html
    assert f"{PUBLIC_URL}/d/" in alone.text
    assert "/d/" not in shared.html + shared.text
    assert f"{PUBLIC_URL}/i/" in alone.text
    assert f"{PUBLIC_URL}/i/" in shared.text


def test_without_a_mailbox_nobody_is_told_to_answer_and_without_an_address_there_are_no_links(
    company: Company, post: FakeMail
) -> None:
    asked_by_mail(company, replies=False, public_url=None)
    (message,) = post.to(BEN)

    assert message.reply_to is None
    assert "ontrack.example.com" not in message.html + message.text
    assert "eply with" not in message.text


@pytest.mark.parametrize("times", [1, 2])
def test_what_may_have_arrived_is_sent_once_more_at_most_as_the_same_mail(
    company: Company, post: FakeMail, times: int
) -> None:
    world = company()
    post.fails.extend([LOST] * times)
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.moves_to("03:29")

    taken = [message.message_id for message in post.to(BEN)]
    (row,) = mails(world)
    assert row.state is EffectState.SETTLED
    assert (len(taken), post.fails) == (2 - times, [])
    assert world.service.storage.broken_addresses(now=world.now, lasts=timedelta(days=9)) == ()


def test_a_server_that_is_down_is_no_fault_of_the_address(company: Company, post: FakeMail) -> None:
    world = company()
    post.fails.extend([DOWN, SendFailed("5.7.8", retry_after=timedelta(minutes=1)), DOWN])
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.moves_to("03:29")

    assert len(post.to(BEN)) == 1
    assert mails(world, EffectState.BURIED) == []
    assert world.service.storage.broken_addresses(now=world.now, lasts=timedelta(days=9)) == ()


def test_after_an_answer_that_was_lost_a_server_that_is_down_does_not_make_it_certain(
    company: Company, post: FakeMail
) -> None:
    world = company()
    post.fails.extend([LOST, DOWN, LOST])
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.moves_to("03:35")

    assert post.to(BEN) == [], "it was sent twice already, whatever became of it"
    assert [row.state for row in mails(world)] == [EffectState.SETTLED]


@pytest.mark.parametrize("refused", [SendFailed("5.1.1", permanent=True), RecipientRefused("5.4.1")])
def test_an_address_that_is_refused_is_marked_and_the_ladder_goes_on_at_once(
    company: Company, post: FakeMail, refused: SendFailed
) -> None:
    world = company()
    post.fails.append(refused)
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.moves_to("03:28")

    (broken,) = world.service.storage.broken_addresses(now=world.now, lasts=timedelta(days=9))
    assert (broken.address, broken.status) == (BEN, refused.code)
    assert [row.content["address"] for row in mails(world, EffectState.BURIED)] == [BEN]
    assert [message.to for message in post.sent] == [LIST]


@pytest.mark.parametrize("code", ["5.7.1", "smtp_554", "5.1.8"])
def test_a_mail_that_is_refused_says_nothing_of_its_address(company: Company, post: FakeMail, code: str) -> None:
    world = company()
    post.fails.append(SendFailed(code, permanent=True))
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.moves_to("03:28")

    assert world.service.storage.broken_addresses(now=world.now, lasts=timedelta(days=9)) == ()
    assert len(mails(world, EffectState.BURIED)) == 1


def test_an_ask_that_could_not_leave_in_time_is_not_sent_once_somebody_is_on_it(
    company: Company, post: FakeMail
) -> None:
    world = company()
    post.fails.extend([DOWN] * 8)
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.moves_to("03:28")
    world.clicks("ana", "Acknowledge", "orders")
    world.moves_to("03:40")

    assert [message for message in post.sent if "needs someone" in message.text] == []
    assert mails(world, EffectState.WAITING) == []


def test_a_process_that_dies_in_the_middle_sends_the_same_mail_once_more(company: Company, post: FakeMail) -> None:
    world = company()
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.dies_when(lambda: bool(post.sent))
    world.moves_to("03:40")

    sent = post.to(BEN)
    assert len(sent) == 2
    assert sent[0].message_id == sent[1].message_id


def test_a_word_of_ontrack_itself_that_is_refused_is_given_up_without_an_incident(
    company: Company, post: FakeMail
) -> None:
    world = company()
    post.refuses.add("rita@example.com")
    content = {"kind": "fault", "facts": {"title": "A title", "lines": ["a line"]}}
    world.service.storage.put_mail(
        NewMail(key="f", address="rita@example.com", content=content, due_at=world.now), now=world.now
    )
    world.settles()

    assert [row.key for row in mails(world, EffectState.BURIED)] == ["f"]


def test_a_mail_that_came_too_late_says_nothing(company: Company, post: FakeMail) -> None:
    world = company()
    content = {"kind": "fault", "facts": {"title": "A title"}, "until": world.now.isoformat()}
    world.service.storage.put_mail(
        NewMail(key="f", address="rita@example.com", content=content, due_at=world.now), now=world.now
    )
    world.settles()

    assert post.sent == []
    assert [row.state for row in mails(world)] == [EffectState.SETTLED]


@pytest.mark.parametrize("sure", [False, True])
def test_a_mail_that_asks_to_confirm_has_the_one_link_that_does(company: Company, post: FakeMail, sure: bool) -> None:
    world = company()
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    incident = world.incident("orders")
    content = {
        "kind": "confirm",
        "facts": {"said": "rerun", "sure": sure},
        "shared": False,
        "word": "rerun",
        "sure": sure,
        "answers": "<her-mail@example.com>",
    }
    mail = NewMail(
        key="c", address=BEN, content=content, due_at=world.now, occurrence=(incident.record, incident.number)
    )
    assert world.service.storage.put_mail(mail, now=world.now)
    world.settles()

    (message,) = post.to(BEN)
    (row,) = mails(world)
    link = Signer(KEY).link(ActingLink(mail=row.id, word="rerun", sure=sure))
    assert f'{PUBLIC_URL}/d/{link}/rerun{"?sure=1" if sure else ""}"' in message.html
    assert message.html.count("/d/") == 1
    assert message.answers == "<her-mail@example.com>"


def test_without_a_mail_server_every_mail_is_given_up_on(build_world: Build) -> None:
    world = build_world()
    world.service.storage.put_mail(
        NewMail(key="f", address="rita@example.com", content={"kind": "fault"}, due_at=world.now), now=world.now
    )
    world.settles()

    assert [row.key for row in mails(world, EffectState.BURIED)] == ["f"]
