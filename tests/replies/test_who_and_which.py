"""Which mails act at all: by whom, to what, once; people get one explanation, programs nothing. The reader has tests of its own."""

import logging
from datetime import timedelta

import pytest

from bot.incidents.model import Status
from bot.store import EffectRow
from tests.mail.corpus_cases import FOLDER
from tests.replies.post import BOT, MAILBOX, SERVER, VALIDITY, Post, passed, reason_in
from tests.world.people import LOST_COLUMN
from tests.world.world import World

QUOTED = "\n\nOn Mon, 30 Nov 2026 at 03:12, ontrack <ontrack@bot.example.com> wrote:\n> approve\n> retire it is old\n"


@pytest.fixture(autouse=True)
def failed(world: World) -> None:
    world.has_run("orders")
    world.fails("orders", at="03:12", log=LOST_COLUMN)


@pytest.fixture
def row(failed: None, post: Post) -> EffectRow:
    return post.asks("orders", "ana")


def untouched(world: World) -> bool:
    incident = world.incident("orders")
    return incident.status is Status.OPEN and incident.acknowledgement is None and incident.decision is None


@pytest.mark.scenario(38)
def test_an_out_of_office_that_quotes_a_command_is_met_with_silence(world: World, post: Post, row: EffectRow) -> None:
    assert post.says(row, f"ack\nI am away.{QUOTED}", "Auto-Submitted: auto-replied") == []
    assert untouched(world)


@pytest.mark.scenario(38)
def test_a_forged_sender_is_met_with_silence(world: World, post: Post, row: EffectRow) -> None:
    failed = f"{SERVER}; dmarc=fail header.from=example.com"

    assert post.says(row, "ack", passed=failed) == []
    assert post.says(row, "ack", passed=None) == []
    assert untouched(world)


@pytest.mark.scenario(38)
def test_the_line_above_the_quote_counts_and_nothing_in_it(world: World, post: Post, row: EffectRow) -> None:
    post.says(row, f"ack{QUOTED}")

    assert world.incident("orders").acknowledgement is not None
    assert world.incident("orders").decision is None


@pytest.mark.scenario(38)
def test_an_outsider_to_whom_it_was_forwarded_is_told_once(world: World, post: Post, row: EffectRow) -> None:
    (answer,) = post.says(row, "ack", by="eve@example.org")

    assert answer.content["address"] == "eve@example.org"
    assert "no owner who may decide" in reason_in(answer)
    assert post.says(row, "retire it is mine", by="eve@example.org") == []
    assert untouched(world)


@pytest.mark.scenario(38)
def test_two_commands_in_one_mail_do_nothing(world: World, post: Post, row: EffectRow) -> None:
    (answer,) = post.says(row, "ack\nretire it is old")

    assert "more than one command" in reason_in(answer)
    assert untouched(world)


def test_a_mail_for_one_person_is_no_letter_of_attorney(world: World, post: Post, row: EffectRow) -> None:
    (answer,) = post.says(row, "ack", by="olga")

    assert "for somebody else" in reason_in(answer)
    assert untouched(world)


def test_of_a_list_whoever_is_proven_acts_as_themselves(world: World, post: Post) -> None:
    row = post.asks("orders", "finance@example.com", shared=True)

    post.says(row, "ack", by="olga")

    held = world.incident("orders").acknowledgement
    assert held is not None
    assert held.by.person.id == "U0OLGA"


def test_a_mail_acts_once_by_its_message_id(world: World, post: Post, row: EffectRow) -> None:
    raw = post.reply(row, "ack")
    again = b"X-Trace: another way\r\n" + raw

    assert len(post.takes(raw)) == 1
    assert post.takes(raw) == []
    assert post.takes(again) == []
    assert [one.kind for one in world.timeline("orders")].count("acknowledged") == 1
    place = world.service.storage.place_in(mailbox=MAILBOX)
    assert place is not None
    assert (place.validity, place.uid) == (VALIDITY, post.uid)


def test_nobody_uses_up_the_message_id_of_another(world: World, post: Post) -> None:
    row = post.asks("orders", "finance@example.com", shared=True)
    named = "Message-ID: <the-same@mail.example.com>"

    post.says(row, "ack", named, passed=None)
    post.says(row, "nothing of note", named, by="eve@example.org")
    post.says(row, "ack", named, by="olga")

    held = world.incident("orders").acknowledgement
    assert held is not None
    assert held.by.person.id == "U0OLGA"


def test_a_mail_without_an_id_is_known_by_its_bytes(world: World, post: Post, row: EffectRow) -> None:
    raw = post.reply(row, "ack").replace(b"Message-ID", b"X-Message-ID")

    (answer,) = post.takes(raw)
    assert answer.content["answers"] is None
    assert post.takes(raw) == []


def test_one_explanation_for_a_person_and_an_occurrence(world: World, post: Post, row: EffectRow) -> None:
    (answer,) = post.says(row, "go ahead")

    assert "no command" in reason_in(answer)
    assert post.says(row, "please do") == []
    assert len(post.says(row, "ack")) == 1, "a word that works is answered all the same"


def test_an_expired_mail_says_so(world: World, post: Post, row: EffectRow) -> None:
    world.clock.now += timedelta(days=14, hours=1)

    (answer,) = post.says(row, "ack")

    assert "older than 14 days" in reason_in(answer)
    assert untouched(world)


def test_what_is_settled_for_a_day_takes_no_more_answers(world: World, post: Post, row: EffectRow) -> None:
    world.succeeds("orders", at="03:40", nominal="03:00", run_id="again")
    world.passes(hours=25)

    (answer,) = post.says(row, "ack")

    assert "settled for more than a day" in reason_in(answer)


@pytest.mark.scenario(9)
def test_a_mail_from_before_a_reopen_never_acts_on_the_newer_occurrence(
    world: World, post: Post, row: EffectRow
) -> None:
    world.succeeds("orders", at="03:40", nominal="03:00", run_id="again")
    world.fails("orders", at="Tue 03:12", log=LOST_COLUMN)
    assert world.incident("orders").number == 2

    (answer,) = post.says(row, "ack")

    assert "came back since, as occurrence 2" in reason_in(answer)
    assert world.incident("orders").acknowledgement is None


@pytest.mark.scenario(31)
def test_after_a_hand_over_the_old_team_is_told_and_the_new_one_decides(
    world: World, post: Post, row: EffectRow
) -> None:
    world.clicks("olga", "More", "orders")
    world.presses("olga", "Hand over")
    world.submits("olga", team="growth", note="their export")

    (answer,) = post.says(row, "retire it is old")
    post.says(post.asks("orders", "gil"), "ack", by="gil")

    assert "handed to growth since" in reason_in(answer)
    held = world.incident("orders").acknowledgement
    assert held is not None
    assert held.by.person.id == "U0GIL"


def test_a_token_that_we_never_made_does_nothing(world: World, post: Post, row: EffectRow) -> None:
    forged = f"ontrack+{row.id}-{'a' * 20}@bot.example.com"
    headers = (f"In-Reply-To: <{forged}>", f"References: <{forged}>")

    (answer,) = post.says(row, "ack", *headers, to=forged)

    assert "never sent" in reason_in(answer)
    assert untouched(world)


def test_a_mail_about_no_incident_can_be_answered_to_no_effect(world: World, post: Post) -> None:
    row = post.writes({"kind": "digest", "shared": True}, "finance@example.com", occurrence=None)

    (answer,) = post.says(row, "ack")

    assert "no single incident" in reason_in(answer)
    assert (answer.record, answer.content["facts"]["told"]) == (0, None)


def test_a_day_begins_in_the_teams_own_zone(world: World, post: Post, row: EffectRow) -> None:
    world.has_policies(world.policies.replace("timezone: UTC", "timezone: Asia/Tokyo"))

    post.says(row, "leave until 2026-12-04 nobody reads it")

    decision = world.incident("orders").decision
    assert decision is not None
    assert decision.until is not None
    assert decision.until.isoformat() == "2026-12-04T00:00:00+00:00"


def test_no_more_than_thirty_answers_an_hour_go_to_one_address(world: World, post: Post, row: EffectRow) -> None:
    world.passes(hours=1, minutes=1)

    answered = [len(post.says(row, "ack")) for _ in range(33)]

    assert answered == [1] * 30 + [0] * 3
    world.passes(hours=1, minutes=1)
    assert len(post.says(row, "ack")) == 1


def test_an_answer_of_ours_that_comes_back_goes_nowhere(world: World, post: Post, row: EffectRow) -> None:
    assert post.says(row, "ack", sender=BOT, passed=passed(BOT)) == []
    assert untouched(world)


def test_a_mailbox_full_of_strange_mail_is_read_to_its_end(
    world: World, post: Post, caplog: pytest.LogCaptureFixture
) -> None:
    """The corpus names tokens that this world never made, so that no mail of it may act."""
    with caplog.at_level(logging.ERROR):
        for file in sorted(FOLDER.glob("*.eml")):
            post.takes(file.read_bytes())

    assert [record for record in caplog.records if record.name.startswith("bot.replies")] == []
    assert untouched(world)
    assert world.service.storage.broken_addresses(now=world.now, lasts=timedelta(days=1)) == ()
