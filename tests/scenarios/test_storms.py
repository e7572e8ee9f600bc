"""An outage breaks many jobs of one channel at once: one thread for all of them, one ask a team, and each job its own record."""

from collections.abc import Sequence
from typing import Any

import pytest

from bot.incidents.model import Outcome, Status
from bot.incidents.storm import aside
from tests.scenarios.outages import FINANCE, policies
from tests.world.fixtures import Build
from tests.world.people import CHANNELS, LOST_COLUMN, PEOPLE
from tests.world.reports import Report
from tests.world.seen import buttons
from tests.world.world import World

JOBS = tuple(f"feed-{number:03}" for number in range(60))
CALM = 5


def outage(world: World, jobs: Sequence[str] = JOBS, *, log: str = LOST_COLUMN) -> None:
    """At 03:12 all of them fail, in one batch of the scheduler's."""
    if world.now.hour < 3:
        world.moves_to("03:12")
    world.reports(
        *(
            Report(
                kind="failed",
                job=job,
                at=world.now,
                nominal=world.nominal_before(job, world.now),
                error={"log": log, "exit_code": 1},
            )
            for job in jobs
        )
    )


def storm(world: World) -> list[dict[str, Any]]:
    """The messages of the channel's newest storm thread: its root, then its pages and asks."""
    channel = CHANNELS["finance"]
    root = [one for one in world.stage.slack.messages(channel) if "Storm" in world.text_of(one)][-1]
    return [{**message, "channel": channel} for message in world.stage.slack.thread(channel, root["ts"])]


def says(world: World, message: int = 0) -> str:
    return world.text_of(storm(world)[message])


def in_thread(world: World, job: str) -> bool:
    """Whether the job's occurrence has a thread of its own."""
    return not aside(world.incident(job).storm)


@pytest.fixture
def world(build_world: Build) -> World:
    return build_world(policies=policies(storm=CALM, marked=False))


@pytest.mark.scenario(36)
def test_many_failures_of_a_channel_share_one_thread_and_ask_the_team_once(world: World) -> None:
    outage(world)

    own = [job for job in JOBS if in_thread(world, job)]
    assert len(own) == CALM
    assert len(world.stage.slack.messages(CHANNELS["finance"])) == CALM + 1
    assert "60 jobs failed within 1 min, 55 of them listed here" in says(world)
    assert "55 of 55 not settled yet" in says(world)
    assert "The other 5 have threads of their own" in says(world)
    asks = [mention for mention in world.mentions() if "failed at once" in mention.text]
    assert [mention.who for mention in asks] == ["finance-oncall"]
    assert len(world.mentions()) == CALM + 1


@pytest.mark.scenario(36)
def test_every_job_keeps_its_record_closes_by_itself_and_the_thread_says_so(world: World) -> None:
    outage(world)
    row = JOBS[-1]
    world.succeeds(row, generation=1, trigger="rerun", by="Olga")
    assert world.incident(row).outcome is Outcome.RECOVERED_BY_HAND
    assert "54 of 55 not settled yet" in says(world)
    assert "opened" in world.reasons(row)

    for job in JOBS[:-1]:
        world.succeeds(job, generation=1, trigger="rerun", by="Olga")
    assert {world.incident(job).status for job in JOBS} == {Status.RESOLVED}
    assert "Storm over" in says(world)
    assert "all settled" in says(world)
    assert all(world.timeline(job) for job in JOBS)


def test_the_rows_stand_on_pages_that_are_updated_in_place(world: World) -> None:
    outage(world)
    pages = [text for text in (world.text_of(message) for message in storm(world)) if "of the storm" in text]

    assert len(pages) == 2
    assert all(any(job in page for page in pages) for job in JOBS if not in_thread(world, job))
    before = len(storm(world))
    world.succeeds(JOBS[-1], generation=1, trigger="rerun", by="Olga")
    assert len(storm(world)) == before
    shown = "\n".join(world.text_of(message) for message in storm(world))
    assert next(line for line in shown.splitlines() if JOBS[-1] in line).startswith("✅")


def test_a_row_is_opened_into_a_thread_of_its_own_with_evidence_and_buttons(world: World) -> None:
    outage(world)
    row = JOBS[-1]
    page = next(message for message in storm(world) if row in world.text_of(message))
    section = next(block for block in page["blocks"] if row in block.get("text", {}).get("text", ""))
    button = section["accessory"]
    answer = world.stage.slack.click(
        user=PEOPLE["ana"],
        action_id=button["action_id"],
        block_id=section["block_id"],
        channel=page["channel"],
        ts=page["ts"],
    )
    world.settles()

    assert answer["status"] == 200
    assert 'column "amount" does not exist' in world.thread(row)
    world.clicks("ana", "Acknowledge", row)
    assert world.incident(row).acknowledgement is not None
    world.succeeds(row, generation=1, trigger="rerun", by="Olga")
    assert "recovered" in world.text_of(world.root(row)) or "went well" in world.text_of(world.root(row))


def test_the_ladder_climbs_for_the_team_and_not_for_each_job(world: World) -> None:
    outage(world)
    before = len(world.mentions())
    world.passes(minutes=20)
    climbed = world.mentions()[before:]

    assert len([mention for mention in climbed if "failed at once" in mention.text]) == 1
    assert len(climbed) == CALM + 1


def test_the_team_takes_the_storm_with_one_click_and_is_asked_no_more_until_that_ends(world: World) -> None:
    outage(world)
    ask = next(message for message in storm(world) if "We are on it" in buttons(message))
    refused = world.clicks_on("gil", "We are on it", ask)
    assert "finance" in refused.text or "Ana" in refused.text

    world.clicks_on("ana", "We are on it", ask)
    assert "is on it for all jobs of finance" in "\n".join(world.text_of(message) for message in storm(world))
    world.passes(hours=20)
    assert len([mention for mention in world.mentions() if "failed at once" in mention.text]) == 1
    assert "on it: ana" in "\n".join(world.text_of(message) for message in storm(world))

    world.passes(hours=5)
    _, lapsed, *_ = [mention for mention in world.mentions() if "failed at once" in mention.text]
    assert lapsed.who == "ana"


def rows(world: World) -> list[str]:
    """The lines of all pages of the channel's newest storm."""
    pages = [world.text_of(message) for message in storm(world)]
    return [line for page in pages if "of the storm" in page for line in page.splitlines() if "feed-" in line]


def test_the_click_is_seen_at_once_in_the_root_and_in_every_row_and_touches_no_other_record(world: World) -> None:
    outage(world)
    ask = next(message for message in storm(world) if "We are on it" in buttons(message))
    assert "On it" not in says(world)
    before = {job: world.incident(job).version for job in JOBS}
    world.clicks_on("ana", "We are on it", ask)

    assert "On it: ana for finance since Mon 30 Nov 03:12 UTC, until Tue 1 Dec 03:12 UTC" in says(world)
    assert len(rows(world)) == 55
    assert all("on it: ana" in row for row in rows(world))
    assert sum(world.incident(job).version != before[job] for job in JOBS) == 1


def test_who_comes_second_is_told_privately_who_is_on_it_and_changes_nothing(world: World) -> None:
    outage(world)
    ask = next(message for message in storm(world) if "We are on it" in buttons(message))
    world.clicks_on("ana", "We are on it", ask)
    before = [world.text_of(message) for message in storm(world)]

    told = world.clicks_on("olga", "We are on it", ask)
    assert "ana is on it already" in told.text
    assert "ana is on it already" in world.clicks_on("ana", "We are on it", ask).text
    assert [world.text_of(message) for message in storm(world)] == before


def test_a_row_that_opens_later_is_held_as_well_and_one_with_a_thread_or_an_end_is_not(world: World) -> None:
    outage(world, JOBS[:20])
    ask = next(message for message in storm(world) if "We are on it" in buttons(message))
    world.clicks_on("ana", "We are on it", ask)
    world.passes(minutes=1)
    outage(world, JOBS[20:30])
    assert len(rows(world)) == 25
    assert all("on it: ana" in row for row in rows(world))

    world.succeeds(JOBS[29], generation=1, trigger="rerun", by="Olga")
    assert [JOBS[29] in row for row in rows(world) if "on it" not in row] == [True]


def test_a_calm_channel_beside_the_storm_is_not_drawn_into_it(world: World) -> None:
    outage(world)
    world.fails("ads", log=LOST_COLUMN)

    assert in_thread(world, "ads")
    assert "gil" in {mention.who for mention in world.mentions()} or "growth-oncall" in {
        mention.who for mention in world.mentions()
    }


def test_when_the_storm_has_passed_a_failure_has_a_thread_of_its_own_again(world: World) -> None:
    outage(world, JOBS[:20])
    world.passes(minutes=11)
    world.fails(JOBS[30], log=LOST_COLUMN)

    assert in_thread(world, JOBS[30])


def test_the_storm_goes_on_in_its_thread_when_it_comes_back_soon(world: World) -> None:
    outage(world, JOBS[:20])
    world.passes(minutes=15)
    outage(world, JOBS[20:40])

    assert len([one for one in world.channel("finance") if "Storm" in one]) == 1
    assert "40 jobs failed within 15 min, 30 of them listed here" in says(world)


def test_the_team_that_answers_for_the_cause_is_asked_once_beside_the_owner(build_world: Build) -> None:
    rule = "- {id: warehouse.down, title: The warehouse is down, when: {message: the warehouse is down}, platform_team: growth}"
    world = build_world(policies=policies(storm=CALM, marked=False) + f"causes:\n  {rule}\n")
    outage(world, log="RuntimeError: the warehouse is down")
    asks = [mention.who for mention in world.mentions() if "at once" in mention.text or "answers for" in mention.text]

    assert sorted(asks) == ["finance-oncall", "growth-oncall"]


def test_in_observe_mode_a_storm_calls_nobody(build_world: Build) -> None:
    world = build_world(
        policies=policies(storm=CALM, marked=False).replace("defaults:\n", "defaults:\n  mode: observe\n")
    )
    outage(world)
    world.passes(hours=2)

    assert world.mentions() == []
    assert "60 jobs failed within 1 min, 55 of them listed here" in says(world)


def test_killed_in_the_middle_of_the_storm_nothing_is_lost(world: World) -> None:
    with world.undelivered():
        outage(world, JOBS[:30])
        world.kill()
        outage(world, JOBS[30:])
    world.kill()
    world.settles()

    assert "55 of 55 not settled yet" in says(world)
    assert len(world.incidents()) == len(JOBS)


def test_licensed_jobs_in_a_storm_wake_nobody_until_the_canary_fails(build_world: Build) -> None:
    world = build_world(policies=policies(storm=CALM, canary=3))
    for job in FINANCE:
        world.has_run(job)
    world.moves_to("03:12")
    for job in FINANCE:
        world.fails(job)
    assert world.mentions() == []
    assert "being rerun or held for a rerun" in says(world)

    world.moves_to("03:18")
    first = world.reruns()[0].job.name
    world.rerun_fails(first)
    assert [mention.who for mention in world.mentions()] == ["finance-oncall"]
    assert {world.incident(job).status for job in FINANCE} == {Status.OPEN}
