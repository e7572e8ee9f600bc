"""The backtest of the policies that really ran says exactly what happened: the same occurrences, reruns and asks, to the instant.

The tales are those of the scenarios, each with a world that ends as it ends there.
"""

import inspect
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from tests.backtest.replays import differences, played_again, story
from tests.scenarios import (
    test_approvals,
    test_canaries,
    test_decisions,
    test_handover,
    test_job_changes,
    test_lateness,
    test_reruns,
    test_storms,
    test_taking_back,
    test_week,
)
from tests.scenarios.outages import policies
from tests.scenarios.week import BEGINS, ON_CALL_CHANGES_AT, busy_week
from tests.world.fixtures import Build
from tests.world.people import POLICIES
from tests.world.world import World

MARKER = "fallback: {channel"
OWN_POLICIES = {
    test_canaries.__name__: policies(),
    test_storms.__name__: policies(storm=test_storms.CALM, marked=False),
}
TALES: tuple[Callable[..., None], ...] = (
    test_approvals.test_an_overdraft_is_recorded_and_the_next_rerun_needs_approval,
    test_approvals.test_an_approval_that_nobody_gave_in_time_means_no,
    test_approvals.test_a_pause_cancels_an_approved_rerun_that_was_not_yet_requested,
    test_canaries.test_the_first_failure_stops_the_waves_and_asks_each_team_once,
    test_canaries.test_a_held_job_that_recovers_by_hand_is_not_rerun,
    test_decisions.test_paused_until_monday_it_resumes_by_itself_and_a_good_run_verifies_it,
    test_decisions.test_a_pause_that_the_scheduler_refuses_is_recorded_but_not_in_force,
    test_handover.test_the_ladder_goes_on_where_the_other_team_reads,
    test_job_changes.test_a_renamed_job_keeps_its_record_its_marks_and_its_budget_and_old_events_find_it,
    test_lateness.test_a_run_that_is_late_and_then_fails_of_a_safe_cause_is_rerun,
    test_lateness.test_the_lates_of_a_silent_source_are_held_and_looked_at_again_when_it_speaks,
    test_lateness.test_after_our_own_downtime_jobs_of_a_source_that_only_pushes_start_anew,
    test_reruns.test_a_rerun_whose_request_timed_out_is_looked_up_before_any_second_try,
    test_reruns.test_a_rerun_of_which_nobody_can_tell_is_never_asked_for_again,
    test_reruns.test_a_rerun_that_fails_with_another_error_gets_no_second_licence,
    test_storms.test_the_team_takes_the_storm_with_one_click_and_is_asked_no_more_until_that_ends,
    test_storms.test_killed_in_the_middle_of_the_storm_nothing_is_lost,
    test_taking_back.test_a_fix_is_taken_back_while_its_rerun_runs,
)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_busy_week_comes_out_as_it_was(build_world: Build) -> None:
    week = busy_week()
    world = build_world(policies=POLICIES.replace(MARKER, "\n".join(week.jobs) + "\n" + MARKER))
    week.at(ON_CALL_CHANGES_AT, test_week.olga_takes_over)
    for step in sorted(week.steps, key=lambda step: step.at):
        world.moves_to(step.at)
        step.do(world)
    world.moves_to(BEGINS + timedelta(days=7))

    with played_again(world) as found:
        told = {name: rows.total() for name, rows in story(found.happened).items()}
        assert told == {"occurrences": 49, "reruns": 24, "asks": 37}
        assert differences(found) == {}
        assert found.played.inapplicable == found.played.refused == 0
        assert found.played.unknown == set()

    later = BEGINS + timedelta(days=2)
    with played_again(world, since=later) as found:
        assert differences(found, since=later) == {}


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("tale", TALES, ids=lambda tale: tale.__name__.removeprefix("test_"))
def test_what_a_scenario_tells_comes_out_as_it_was(tale: Callable[..., None], build_world: Build) -> None:
    made: list[World] = []

    def build(**settings: Any) -> World:
        made.append(build_world(**settings))
        return made[-1]

    if "build_world" in inspect.signature(tale).parameters:
        tale(build)
    else:
        tale(build(policies=OWN_POLICIES.get(tale.__module__, POLICIES)))

    with played_again(made[-1]) as found:
        assert story(found.happened)["occurrences"].total() > 0
        assert differences(found) == {}
        assert found.played.refused == 0


def test_a_comparison_tells_what_is_different(build_world: Build) -> None:
    """The measure itself: another policy is not taken for the same."""
    world = build_world()
    world.fails("orders", at="03:12")
    world.moves_to("04:00")

    with played_again(world, POLICIES.replace("{after: 15m, ask: oncall}", "{after: 20m, ask: oncall}")) as found:
        (was, would_be) = differences(found)["asks"]

    assert [one[1].minute for one in was] == [27, 57]
    assert [one[1].minute for one in would_be] == [32]
