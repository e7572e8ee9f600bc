"""A yes by mail is bound to its proposal: given twice, too late, beside a pause, or with a second thought. It tests no text."""

import pytest

from bot.incidents.model import Outcome, Status
from tests.replies.post import Post, reason_in
from tests.world.fixtures import Build
from tests.world.people import POLICIES
from tests.world.world import World

SCARCE = POLICIES.replace("budget: {limit: 4,", "budget: {limit: 0.1,")


@pytest.fixture
def world(build_world: Build) -> World:
    """A rerun of revenue waits for a yes."""
    world = build_world(policies=SCARCE)
    world.has_run("revenue")
    world.fails("revenue", at="03:12")
    assert world.incident("revenue").status is Status.AWAITING_APPROVAL
    return world


@pytest.mark.scenario(18)
def test_approve_after_what_was_owed_is_paid_reruns_nothing_and_says_why(world: World, post: Post) -> None:
    row = post.wants_approval("revenue", "ana")
    world.succeeds("revenue", at="03:40", trigger="manual", run_id="manual__1", by="olga")

    (answer,) = post.says(row, "approve")

    assert world.incident("revenue").outcome is Outcome.RECOVERED_BY_HAND
    assert world.reruns() == []
    assert "already resolved by run manual__1" in post.words(answer)


@pytest.mark.scenario(18)
def test_an_approval_that_nobody_gave_in_time_means_no(world: World, post: Post) -> None:
    row = post.wants_approval("revenue", "ana")
    world.moves_to("Tue 03:00")

    (answer,) = post.says(row, "approve")

    assert "no longer open" in post.words(answer)
    assert world.reruns() == []


@pytest.mark.scenario(19)
def test_approve_twice_is_one_rerun(world: World, post: Post) -> None:
    row = post.wants_approval("revenue", "finance@example.com", shared=True)
    (first,) = post.says(row, "approve", by="ana")
    (second,) = post.says(row, "approve", by="olga")

    assert len(world.reruns()) == 1
    assert "on its way" in post.words(first)
    assert "no longer open" in post.words(second)


@pytest.mark.scenario(19)
def test_approve_then_pause_cancels_what_was_not_yet_requested(world: World, post: Post) -> None:
    row = post.wants_approval("revenue", "ana")
    with world.undelivered():
        post.says(row, "approve")
        post.says(row, "pause until 2026-12-04 the supplier is down")

    assert world.reruns() == []
    assert world.incident("revenue").status is Status.PAUSED


@pytest.mark.scenario(17)
def test_an_approved_rerun_is_booked_apart(world: World, post: Post) -> None:
    post.says(post.wants_approval("revenue", "ana"), "approve")

    assert len(world.reruns()) == 1
    assert world.used("revenue") == 0
    (booking,) = world.service.storage.reads.reruns_of(record=1, number=1)
    assert (booking.automatic, booking.by) == (False, "U0ANA")


def test_decline(world: World, post: Post) -> None:
    (answer,) = post.says(post.wants_approval("revenue", "ana"), "decline")

    assert "Declined" in post.words(answer)
    assert world.incident("revenue").status is Status.OPEN
    assert world.incident("revenue").acknowledgement is not None


def test_a_rerun_said_to_the_question_is_asked_back(world: World, post: Post) -> None:
    row = post.wants_approval("revenue", "ana")

    (answer,) = post.says(row, "rerun")

    assert 'answer "approve" or "decline"' in reason_in(answer)
    assert world.incident("revenue").status is Status.AWAITING_APPROVAL
    assert world.reruns() == []
    (approved,) = post.says(answer, "approve")
    assert "on its way" in post.words(approved), "the answer is about the same proposal"
    assert len(world.reruns()) == 1


def test_a_mail_that_asked_for_no_yes_gives_none(world: World, post: Post) -> None:
    (answer,) = post.says(post.asks("revenue", "ana"), "approve")

    assert "not possible" in reason_in(answer)
    assert world.reruns() == []


def test_a_yes_to_an_older_proposal_is_none_to_the_newer(world: World, post: Post) -> None:
    row = post.wants_approval("revenue", "ana")
    world.clicks("ana", "Decline", "revenue")
    world.clicks("sam", "Rerun", "revenue")
    waiting = world.incident("revenue").proposal
    assert waiting is not None
    assert waiting.number == 2

    (answer,) = post.says(row, "approve")

    assert "no longer open" in post.words(answer)
    assert world.reruns() == []


def test_a_mail_and_a_click_at_once_have_one_outcome(world: World, post: Post) -> None:
    row = post.wants_approval("revenue", "ana")
    world.clicks("olga", "Approve", "revenue")

    (answer,) = post.says(row, "approve")

    assert len(world.reruns()) == 1
    assert "no longer open" in post.words(answer)
    assert "being rerun" in post.words(answer)
