"""Who is asked by mail, beside Slack and in its place, and what they hear of it afterwards."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from bot.compose.post import Post
from bot.incidents.events import DeliveryBuried, DeliveryLate
from bot.incidents.model import Status
from bot.incidents.policy import Door
from bot.intake import Inbound, Outcome
from bot.store import EffectKind, EffectRow
from tests.world.fixtures import Build
from tests.world.mail import SENDER, FakeMail
from tests.world.people import CHANNELS, GROUPS, LOST_COLUMN, PEOPLE, POLICIES, RESET
from tests.world.world import World

LADDER = "ladder: [{after: 15m, ask: oncall}, {after: 30m, ask: team}, {after: 1h, ask: oncall, by: [dm]}]"
BY_MAIL = "ladder: [{after: 15m, ask: oncall, by: [channel, email]}, {after: 30m, ask: team, by: [email]}]"
MAILED = (
    POLICIES.replace("    manager: maria@example.com", "    manager: maria@example.com\n    email: finance@example.com")
    .replace(LADDER, BY_MAIL)
    .replace("    members: [U0GIL]", "    members: [Pia@partner.example.com]")
    .replace("C0GROWTH, usergroup: S0GROWTH", "C0GROWTH")
    .replace("fallback: {channel: C0JOBS}", "fallback: {channel: C0JOBS, email: jobs@example.com}")
)
PIA = "pia@partner.example.com"
KEY = {"SECRET_KEY": "the key of the world, long enough to be one"}
Company = Callable[..., World]


@pytest.fixture
def company(build_world: Build) -> Company:
    """The company with a mail server; nobody of growth is in Slack."""

    def build(policies: str = MAILED, **more: Any) -> World:
        return build_world(policies=policies, post=Post(mail=FakeMail(), sender=SENDER), env=KEY, **more)

    return build


def rows(world: World) -> list[EffectRow]:
    return sorted((row for row in world.outbox() if row.kind is EffectKind.EMAIL), key=lambda row: row.id)


def mails(world: World) -> list[tuple[str, str]]:
    """What was mailed to whom, in order."""
    return [(row.content["kind"], row.content["address"]) for row in rows(world)]


def happens(world: World, job: str, event: DeliveryLate | DeliveryBuried, key: str) -> Outcome:
    """Delivery, or the mailbox, tells what became of a message about the job."""
    incident = world.incident(job)
    (outcome,) = world.service.intake.take_in(
        [Inbound(key=key, event=event, occurrence=(incident.record, incident.number))]
    )
    world.settles()
    return outcome


def bounce(world: World, address: str) -> DeliveryBuried:
    return DeliveryBuried(destination=address, what="ask", code="5.1.1", at=world.now, door=Door.EMAIL)


def test_a_step_by_mail_reaches_the_on_call_at_their_own_address_and_the_team_at_its_list(company: Company) -> None:
    world = company()
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    assert mails(world) == [], "the opening asks in Slack"
    world.moves_to("04:00")

    assert mails(world) == [("ask", "ben@example.com"), ("ask", "finance@example.com")]
    assert [row.content["shared"] for row in rows(world)] == [False, True]
    assert [ask.who for ask in world.mentions()] == ["finance-oncall", "finance-oncall"], (
        "the second step is by mail alone"
    )


def test_an_owner_who_is_not_in_slack_is_mailed_when_the_incident_opens(company: Company) -> None:
    world = company()
    world.fails("ads", at="03:12", log=LOST_COLUMN)

    (row,) = rows(world)
    assert (row.content["kind"], row.content["address"], row.content["shared"]) == ("ask", PIA, False)
    assert not row.content["facts"]["broken_owner"]
    assert world.mentions() == []
    assert "leads to no one" not in world.thread("ads")


@pytest.mark.scenario(27)
def test_an_owner_record_that_leads_to_nobody_falls_to_the_fallback_mail_as_well_and_says_so(company: Company) -> None:
    world = company(MAILED.replace("\n    email: finance@example.com", ""))
    gone = [{"id": PEOPLE[name], "name": name, "deleted": True} for name in ("ana", "olga")]
    groups: list[dict[str, Any]] = [
        {"id": GROUPS["finance-oncall"], "handle": "finance-oncall", "users": [], "disabled": True},
        {"id": GROUPS["finance-data"], "handle": "finance-data", "users": [PEOPLE["ana"], PEOPLE["olga"]]},
    ]
    world.stage.slack.change_people(users=gone, usergroups=groups)
    world.passes(minutes=6)
    world.fails("orders", at="03:12")

    asks = [row for row in rows(world) if row.content["kind"] == "ask"]
    assert [row.content["address"] for row in asks] == ["jobs@example.com"]
    assert asks[0].content["facts"]["broken_owner"]
    assert "the owner record of this job leads to no one" in world.channel("jobs")[-1]
    world.succeeds("orders", at="03:20", trigger="manual", run_id="manual__1", by="olga")
    assert mails(world)[-1] == ("resolved", "jobs@example.com")


@pytest.mark.scenario(5)
def test_an_ask_that_is_not_in_slack_in_time_goes_by_mail_once(company: Company) -> None:
    world = company()
    with world.undelivered():
        world.fails("orders", at="03:12", log=LOST_COLUMN)
        asked_at = world.now
        world.passes(minutes=9)
        assert mails(world) == []
        world.passes(minutes=2)
        (row,) = rows(world)
        again = DeliveryLate(destination=CHANNELS["finance"], what="ask", code="timeout", since=asked_at, at=world.now)
        happens(world, "orders", again, "late:again")

        assert mails(world) == [("ask", "ben@example.com")]
        assert "slack_late" in row.content["facts"]
    assert world.reasons("orders").count("asked by mail") == 1
    assert [ask.who for ask in world.mentions()] == ["finance-oncall"], "and it is in Slack once that is back"


def test_an_ask_that_somebody_took_meanwhile_is_not_mailed(company: Company) -> None:
    world = company()
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    asked_at = world.now
    world.clicks("ana", "Acknowledge", "orders")
    late = DeliveryLate(destination=CHANNELS["finance"], what="ask", code="timeout", since=asked_at, at=world.now)
    happens(world, "orders", late, "late:1")

    assert mails(world) == []
    assert "the ask needs no mail: ana is on it since" in world.reasons("orders")


def test_a_mail_that_comes_back_moves_the_ladder_on_at_once(company: Company) -> None:
    world = company(
        MAILED.replace(BY_MAIL, "ladder: [{after: 15m, ask: team, by: [email]}, {after: 8h, ask: manager}]")
    )
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.moves_to("03:30")
    rang = len(world.mentions())
    happens(world, "orders", bounce(world, "finance@example.com"), "bounce:1")
    happens(world, "orders", bounce(world, "finance@example.com"), "bounce:2")

    assert mails(world) == [("ask", "finance@example.com")]
    assert [ask.who for ask in world.mentions()[rang:]] == ["maria"]
    assert "mail to finance@example.com could not be delivered: step 2 of the ladder" in world.reasons("orders")


def test_the_only_owner_whose_mail_comes_back_is_not_mailed_again_and_the_fallback_learns_of_it(
    company: Company,
) -> None:
    world = company()
    world.fails("ads", at="03:12", log=LOST_COLUMN)
    happens(world, "ads", bounce(world, PIA), "bounce:1")
    world.moves_to("09:00")

    assert mails(world).count(("ask", PIA)) == 1
    assert ("ask", "jobs@example.com") in mails(world)
    assert "the owner record of this job leads to no one" in world.thread("ads")


def test_whoever_was_asked_by_mail_hears_by_mail_how_it_goes_on(company: Company) -> None:
    world = company()
    world.fails("ads", at="03:12", log=LOST_COLUMN)
    world.clicks("rita", "Acknowledge", "ads")
    world.succeeds("ads", at="03:40", trigger="manual", run_id="manual__1", by="olga")

    assert world.incident("ads").status is Status.RESOLVED
    assert mails(world) == [("ask", PIA), ("acknowledged", PIA), ("resolved", PIA)]
    world.fails("orders", at="03:50", log=LOST_COLUMN)
    world.succeeds("orders", at="03:55", trigger="manual", run_id="manual__1", by="olga")
    assert len(mails(world)) == 3, "nobody was mailed about orders, so nobody is told by mail"


def test_what_came_back_mails_only_whom_it_asks(company: Company) -> None:
    world = company()
    world.fails("orders", at="03:12", log=LOST_COLUMN)
    world.moves_to("03:58")
    world.succeeds("orders", at="04:00", trigger="manual", run_id="manual__1", by="olga")
    before = len(mails(world))
    world.fails("orders", at="Tue 03:12", log=LOST_COLUMN)

    assert world.incident("orders").number == 2
    assert world.incident("orders").mailed == ()
    assert len(mails(world)) == before


def test_nobody_is_mailed_about_what_heals_by_itself(company: Company) -> None:
    safe = "team: growth, safe_to_retry: {causes: [network.connection_reset], by: Pia@partner.example.com, since: 2026-11-02}"
    world = company(MAILED.replace("shop/ads, team: growth", f"shop/ads, {safe}"))
    world.has_run("ads")
    world.fails("ads", at="03:12", log=RESET)
    world.passes(minutes=6)
    world.rerun_starts("ads")
    world.rerun_succeeds("ads")

    assert world.incident("ads").status is Status.RESOLVED
    assert mails(world) == []


def test_what_can_wait_for_the_morning_is_mailed_in_the_morning(company: Company) -> None:
    hours = 'hours: {days: mon-fri, from: "08:00", to: "18:00", timezone: UTC}'
    world = company(
        MAILED.replace("  growth:\n", f"  growth:\n    {hours}\n").replace(
            "shop/ads, team: growth", "shop/ads, team: growth, urgency: low"
        )
    )
    world.fails("ads", at="03:12", log=LOST_COLUMN)
    world.moves_to("07:59")
    assert mails(world) == []
    world.moves_to("08:01")

    assert mails(world) == [("ask", PIA)]


def test_a_holder_who_is_not_in_slack_is_asked_by_mail_when_it_lapses(company: Company) -> None:
    world = company(MAILED.replace("before_next_run: 30m", "before_next_run: 30m\n    acknowledgement: 1h"))
    world.fails("ads", at="03:12", log=LOST_COLUMN)
    incident = world.incident("ads")
    assert incident.chase.asked_at == world.now

    world.moves_to(world.now + timedelta(hours=2))
    assert [mail for mail in mails(world) if mail[1] == PIA] == [("ask", PIA)] * 3
