"""A word by mail, a click on its link and the button are one: the record moves alike, and the same is told back."""

from datetime import UTC, datetime
from typing import Any

import pytest

from bot.incidents.model import DecisionKind, Incident, Status
from bot.replies import LinkDone
from tests.replies.post import Post, told_in
from tests.world.people import LOST_COLUMN, STRANGE
from tests.world.world import World

DAY = datetime(2026, 12, 4, 9, tzinfo=UTC)


@pytest.fixture(autouse=True)
def failed(world: World) -> None:
    """Two jobs of one team that fail alike: one is answered by mail, the other in the chat."""
    for job in ("orders", "report"):
        world.has_run(job)
    world.moves_to("03:12")
    world.fails("orders", log=LOST_COLUMN)
    world.moves_to("08:30")
    world.fails("report", log=LOST_COLUMN)


def moved(incident: Incident) -> dict[str, Any]:
    """What a person's word changes of a record, without when it was said and by which door."""
    decision, fix, held = incident.decision, incident.fix, incident.acknowledgement
    return {
        "status": incident.status,
        "held_by": held.by.person.id if held else None,
        "decision": (decision.kind, decision.until, decision.reason, decision.by.person.id) if decision else None,
        "fix": (fix.what, fix.link, fix.by.person.id) if fix else None,
        "rerun": (incident.rerun.phase, incident.rerun.automatic) if incident.rerun else None,
        "owed": [owed.plan for owed in incident.owed],
        "waived": incident.waived,
    }


def test_ack(world: World, post: Post) -> None:
    (answer,) = post.says(post.asks("orders", "ana"), "ack")
    world.clicks("ana", "Acknowledge", "report")

    assert moved(world.incident("orders")) == moved(world.incident("report"))
    assert world.incident("orders").acknowledgement is not None
    assert "It is yours" in post.words(answer)
    assert answer.content["address"] == "ana@example.com"
    assert answer.content["answers"] == "<1@mail.example.com>"


def test_the_timeline_says_by_which_door(world: World, post: Post) -> None:
    post.says(post.asks("orders", "ana"), "ack")

    row = next(row for row in world.timeline("orders") if row.kind == "acknowledged")
    assert row.by is not None
    assert (row.by.person.id, row.by.person.name, row.by.door) == ("U0ANA", "Ana", "email")


def test_rerun(world: World, post: Post) -> None:
    (answer,) = post.says(post.asks("orders", "ana"), "rerun")
    world.clicks("ana", "Rerun", "report")

    assert moved(world.incident("orders")) == moved(world.incident("report"))
    assert world.incident("orders").status is Status.RERUNNING
    assert len(world.reruns()) == 2
    assert "The rerun is on its way" in post.words(answer)


def test_fixed_with_a_link(world: World, post: Post) -> None:
    (answer,) = post.says(post.asks("orders", "ana"), "fixed https://git.example.com/pull/418, the column is back")

    incident = world.incident("orders")
    assert incident.fix is not None
    assert (incident.fix.link, incident.fix.what) == ("https://git.example.com/pull/418", "the column is back")
    assert incident.status is Status.VERIFYING
    assert incident.owed, "what is owed stays owed"
    said = post.words(answer)
    assert "Recorded: a good run confirms it" in said
    assert '"rerun" would run it now' in said
    assert world.reruns() == []


def test_what_is_owed_after_a_fix_is_run_by_a_second_word(world: World, post: Post) -> None:
    (answer,) = post.says(post.asks("orders", "ana"), "fixed the column is back")
    post.says(answer, "rerun")

    assert len(world.reruns()) == 1
    world.rerun_succeeds("orders")
    assert world.incident("orders").status is Status.RESOLVED


@pytest.mark.parametrize(
    ("line", "label", "fields", "kind"),
    [
        ("pause until 2026-12-04 the feed is down", "Pause", {"reason": "the feed is down"}, DecisionKind.PAUSED),
        ("leave until 2026-12-04 nobody reads it", "Leave it", {"reason": "nobody reads it"}, DecisionKind.LEFT),
        ("retire ledger_v2 does this", "Retire", {"reason": "ledger_v2 does this"}, DecisionKind.RETIRED),
    ],
)
def test_a_decision(
    world: World, post: Post, line: str, label: str, fields: dict[str, Any], kind: DecisionKind
) -> None:
    (answer,) = post.says(post.asks("orders", "ana"), line)

    incident = world.incident("orders")
    assert incident.decision is not None
    assert (incident.decision.kind, incident.decision.reason) == (kind, fields["reason"])
    assert incident.decision.by.person.id == "U0ANA"
    assert incident.decision.until == (None if kind is DecisionKind.RETIRED else DAY)
    assert not incident.status.unresolved
    told = told_in(answer)
    assert told is not None
    assert told.kind == "done"


@pytest.mark.parametrize("line", ["ack", "rerun", "fixed the column is back", "retire it is old"])
def test_a_link_does_what_the_line_does(world: World, post: Post, line: str) -> None:
    word, _, argument = line.partition(" ")
    post.says(post.asks("orders", "ana"), line)
    row = post.asks("report", "ana")

    done = post.links.act(post.link(row, word), word, argument=argument, until="", sure=False, now=post.now)

    world.settles()
    assert isinstance(done, LinkDone)
    assert done.told.kind == "done"
    assert moved(world.incident("orders")) == moved(world.incident("report"))


def test_what_is_too_late_is_told_in_the_same_words(world: World, post: Post) -> None:
    row = post.asks("orders", "ana")
    clicked_on = world.message_with("Acknowledge", "report")
    world.succeeds("orders", nominal="03:00", run_id="again")
    world.succeeds("report", nominal="03:00", run_id="again")
    assert world.incident("orders").status is Status.RESOLVED

    (answer,) = post.says(row, "ack")
    told = world.clicks_on("ana", "Acknowledge", clicked_on)

    assert "already resolved" in post.words(answer)
    assert post.words(answer).split(" by run ")[0] == told.text.split(" by run ")[0]
    assert world.incident("orders").acknowledgement is None


def test_an_owner_of_another_team_reads_who_can(world: World, post: Post) -> None:
    (answer,) = post.says(post.asks("orders", "finance-list@example.com", shared=True), "retire it is ours", by="gil")
    assert "Only the owning team finance can decide this" in post.words(answer)
    assert world.incident("orders").status is Status.OPEN
    assert "RetireWanted by Gil, who may not decide" in world.reasons("orders")


def test_a_rerun_of_an_unknown_cause_is_confirmed_by_a_link_of_the_answer(world: World, post: Post) -> None:
    world.has_run("stock")
    world.fails("stock", at="09:05", log=STRANGE)
    row = post.asks("stock", "team@example.com", shared=True)

    (question,) = post.says(row, "rerun", by="olga")

    assert world.reruns() == []
    assert question.content["kind"] == "confirm"
    assert question.content["address"] == "olga@example.com"
    assert question.content["shared"] is False
    assert (question.content["word"], question.content["sure"]) == ("rerun", True)
    name = post.link(question, "rerun", sure=True)
    done = post.links.act(name, "rerun", argument="", until="", sure=True, now=post.now)
    world.settles()
    assert isinstance(done, LinkDone)
    assert done.told.kind == "done"
    (request,) = world.reruns()
    assert "Olga" in request.requested_by


def test_without_links_the_warning_is_answered_in_words(world: World, post: Post) -> None:
    world.has_run("stock")
    world.fails("stock", at="09:05", log=STRANGE)
    post.links_work = False

    (answer,) = post.says(post.asks("stock", "ana"), "rerun")

    assert answer.content["kind"] == "answer"
    assert "The cause is not known" in post.words(answer)
    assert world.reruns() == []


def test_a_word_the_scheduler_cannot_follow_is_answered_as_a_click_is(world: World, post: Post) -> None:
    world.scheduler.cannot(*world.scheduler.can)

    (answer,) = post.says(post.asks("orders", "ana"), "rerun")

    assert "its scheduler cannot be asked for reruns" in post.words(answer)
    assert world.reruns() == []
