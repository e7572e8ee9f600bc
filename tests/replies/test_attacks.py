"""What somebody could try by mail who may not, or not that way: nothing happens, and at most one person is told why."""

from datetime import timedelta
from email import message_from_bytes

import pytest

from bot.adapters.smtp_letter import letter
from bot.incidents.model import Status
from bot.ports import MailMessage
from bot.replies import LinkDone
from bot.store import EffectRow
from tests.replies.post import BOT, Post, address_of, passed, reason_in, told_in
from tests.world.people import LOST_COLUMN, RESET, STRANGE
from tests.world.world import World


@pytest.fixture(autouse=True)
def failed(world: World) -> None:
    for job in ("orders", "report"):
        world.has_run(job)
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.fails("report", at="03:13", log=LOST_COLUMN)


@pytest.fixture
def row(failed: None, post: Post) -> EffectRow:
    return post.asks("orders", "ana")


def untouched(world: World, *jobs: str) -> bool:
    found = [world.incident(job) for job in jobs or ("orders", "report")]
    return all(one.status is Status.OPEN and one.acknowledgement is None for one in found) and world.reruns() == []


def address(post: Post, row: EffectRow) -> str:
    return f"ontrack+{post.signer.mail(row.id)}@bot.example.com"


def test_a_server_that_strips_what_follows_the_plus_leaves_what_is_answered(
    world: World, post: Post, row: EffectRow
) -> None:
    post.says(row, "ack", to=BOT)

    held = world.incident("orders").acknowledgement
    assert held is not None
    assert held.by.person.id == "U0ANA"


def test_a_token_in_the_subject_or_the_text_alone_answers_nothing(world: World, post: Post, row: EffectRow) -> None:
    nothing = ("In-Reply-To: <some@mail.example.com>", "References: <some@mail.example.com>")
    subject = f"Subject: Re: {address(post, row)} {post.signer.mail(row.id)}"

    (answer,) = post.says(row, f"ack\n\n{address(post, row)}", *nothing, subject, to=BOT)

    assert "names no notification" in reason_in(answer)
    assert untouched(world)


def test_two_tokens_in_one_mail_are_ambiguous(world: World, post: Post, row: EffectRow) -> None:
    other = post.asks("report", "ana")

    for both in (
        {"to": f"{address(post, row)}, {address(post, other)}"},
        {"to": address(post, other)},
    ):
        post.says(row, "ack", **both)

    assert untouched(world)


def test_a_token_made_longer_shorter_or_for_a_neighbour_is_none(world: World, post: Post, row: EffectRow) -> None:
    number, _, mac = post.signer.mail(row.id).partition("-")
    for token in (f"{int(number) + 1}-{mac}", f"{number}-{mac[:-1]}", f"{number}-{mac}a", mac, f"-{mac}", f"{number}-"):
        named = f"ontrack+{token}@bot.example.com"
        post.says(row, "ack", f"In-Reply-To: <{named}>", f"References: <{named}>", to=named)

    assert untouched(world)


def test_a_list_and_other_people_in_copy_change_nothing_about_who_says_it(
    world: World, post: Post, row: EffectRow
) -> None:
    post.says(row, "ack", "Cc: finance@example.com, Olga <olga@example.com>, tickets+7@bot.example.com")

    held = world.incident("orders").acknowledgement
    assert held is not None
    assert held.by.person.id == "U0ANA"


def test_a_list_that_sends_the_answer_on_is_no_person(world: World, post: Post, row: EffectRow) -> None:
    for header in ("List-Id: <finance.example.com>", "Precedence: list", "X-BeenThere: finance@example.com"):
        assert post.says(row, "ack", header) == []

    assert untouched(world)


def test_an_author_whom_another_header_denies_says_nothing(world: World, post: Post, row: EffectRow) -> None:
    post.says(row, "ack", "Sender: eve@example.org")
    post.says(row, "ack", "From: eve@example.org", "From: ana@example.com")
    post.says(row, "ack", sender='"ana@example.com" <eve@example.org>', passed=passed("eve@example.org"))
    post.says(row, "ack", sender="ana@example.com, eve@example.org")

    assert untouched(world)


def test_a_verdict_that_came_with_the_mail_proves_nothing(world: World, post: Post, row: EffectRow) -> None:
    forged = f"Authentication-Results: {passed('ana@example.com')}\r\n".encode()
    raw = post.reply(row, "ack", passed="mx.example.com; dmarc=fail header.from=example.com")

    assert post.takes(raw.replace(b"From: ", forged + b"From: ", 1)) == []
    assert untouched(world)


def test_the_same_words_as_another_mail_are_another_mail_but_the_record_takes_them_once(
    world: World, post: Post
) -> None:
    """Somebody who catches a signed mail may send it on under another Message-ID: a word that counted counts no more."""
    world.fails("stock", at="04:12", log=RESET)
    row = post.asks("stock", "ana")
    post.says(row, "rerun")
    assert len(world.reruns()) == 1

    post.says(row, "rerun")

    assert len(world.reruns()) == 1


def test_a_yes_after_a_no_reruns_nothing(world: World, post: Post) -> None:
    world.fails("revenue", at="04:12", log=STRANGE)
    world.clicks("sam", "Rerun", "revenue")
    assert world.incident("revenue").proposal is not None
    row = post.wants_approval("revenue", "ana")
    name = post.link(row, "approve")

    post.says(row, "decline")
    (answer,) = post.says(row, "approve")
    done = post.links.act(name, "approve", argument="", until="", sure=False, now=post.now)
    world.settles()

    assert world.reruns() == []
    told = told_in(answer)
    assert told is not None
    assert told.kind != "done"
    assert isinstance(done, LinkDone)
    assert done.told.kind == told.kind


@pytest.mark.parametrize("gone", ["policies", "team"])
def test_a_member_who_left_between_the_mail_and_the_answer_decides_nothing(
    world: World, post: Post, row: EffectRow, gone: str
) -> None:
    if gone == "policies":
        world.has_policies(world.policies.replace("members: [ana@example.com, U0OLGA]", "members: [U0OLGA]"))
        groups = [{"id": "S0FINDATA", "handle": "finance-data", "users": ["U0OLGA"]}]
        world.stage.slack.change_people(usergroups=groups)
    else:
        world.stage.slack.change_people(users=[{"id": "U0ANA", "name": "ana", "deleted": True}])
    world.passes(minutes=6)
    before = world.incident("orders").acknowledgement

    post.says(row, "retire it is mine")
    post.links.act(post.link(row, "retire"), "retire", argument="mine", until="", sure=False, now=post.now)
    world.settles()

    assert world.incident("orders").decision is None
    assert world.incident("orders").acknowledgement == before


def test_an_admin_of_no_team_decides_by_mail_as_by_a_click(world: World, post: Post) -> None:
    post.says(post.asks("orders", "rita"), "retire nobody needs it", by="rita")

    decision = world.incident("orders").decision
    assert decision is not None
    assert decision.by.person.id == "U0RITA"


def test_a_team_that_is_called_otherwise_meanwhile_is_answered_as_what_it_is_now(
    world: World, post: Post, row: EffectRow
) -> None:
    world.has_policies(world.policies.replace("  finance:", "  money:").replace("team: finance", "team: money"))

    post.says(row, "ack")

    assert world.incident("orders").acknowledgement is not None


@pytest.mark.parametrize("ahead", [timedelta(days=-400), timedelta(days=400)])
def test_the_writers_clock_does_not_count(world: World, post: Post, row: EffectRow, ahead: timedelta) -> None:
    day = (post.now + ahead).strftime("%d %b %Y %H:%M:%S +0000")

    post.says(row, "ack", f"Date: {day}")

    assert world.incident("orders").acknowledgement is not None


def test_two_ontracks_that_answer_each_other_fall_silent_at_once(world: World, post: Post, row: EffectRow) -> None:
    """What another one of us sends, byte for byte, as an answer to our mail."""
    theirs = "ontrack@bot.example.org"
    sent = letter(
        MailMessage(
            key="answer:1",
            message_id="<ontrack+9-aaaaaaaaaaaaaaaaaaaa@bot.example.org>",
            to=address(post, row),
            subject="Re: [ontrack] orders failed (#1)",
            text="ack\n",
            html="<p>ack</p>",
            references=("<record-9@bot.example.org>",),
            answers=f"<{address(post, row)}>",
            reply_to="ontrack+9-aaaaaaaaaaaaaaaaaaaa@bot.example.org",
        ),
        sender=theirs,
        at=post.now,
    )
    proven = "Authentication-Results: mx.example.com; dmarc=pass header.from=bot.example.org\r\n"

    assert message_from_bytes(sent.text)["Auto-Submitted"] == "auto-replied"
    assert post.takes(proven.encode() + sent.text) == []
    assert untouched(world)


def test_a_mail_of_a_megabyte_of_one_line_is_refused_in_words(world: World, post: Post, row: EffectRow) -> None:
    (answer,) = post.says(row, "retire " + "x" * 1_000_000)

    assert "too long" in reason_in(answer)
    assert answer.content["address"] == address_of("ana")
    assert untouched(world)
