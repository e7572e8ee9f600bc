"""When a team's digest is due, as policies.yaml says it."""

from datetime import time

import pytest

from bot.policies import check, load

TEAM = """version: 1
teams:
  core:
    slack: {channel: C0CORE}
    hours: {days: mon-fri, from: "08:30", to: "18:00", timezone: Europe/Berlin}
"""


def due(text: str) -> time | None:
    team = load(text, env={}).team("core")

    assert team is not None
    return team.digest_at


def test_it_is_due_when_the_hours_begin_unless_the_team_says_otherwise() -> None:
    assert due(TEAM) == time(8, 30)
    assert due(f'{TEAM}    digest: {{at: "09:00"}}\n') == time(9)


@pytest.mark.parametrize("word", ["off", "false", '"off"'])
def test_a_team_may_do_without(word: str) -> None:
    assert due(f"{TEAM}    digest: {word}\n") is None


@pytest.mark.parametrize("reader", ["email: core@example.com", "manager: maria@example.com"])
def test_mail_can_carry_it_as_well(reader: str) -> None:
    assert due(TEAM.replace("slack: {channel: C0CORE}", reader)) == time(8, 30)


def test_without_hours_or_anybody_to_read_it_there_is_none() -> None:
    assert due("version: 1\nteams: {core: {slack: {channel: C0CORE}}}") is None
    assert due(TEAM.replace("channel: C0CORE", "usergroup: S0CORE")) is None


@pytest.mark.parametrize(
    ("digest", "told"),
    [
        ('{at: "07:00"}', "6:18: teams.core.digest.at: at is outside the team's hours (08:30 to 18:00)"),
        ('{at: "18:00"}', "6:18: teams.core.digest.at: at is outside the team's hours (08:30 to 18:00)"),
        ("{at: nine}", "6:18: teams.core.digest.at: 'nine' is not a time of day"),
        ("{}", "at is missing"),
        ("on", "6:5: teams.core.digest: expected off, or a map with at"),
        ('{at: "09:00", days: mon}', "unknown key 'days'"),
    ],
)
def test_what_cannot_be_is_refused_with_its_place(digest: str, told: str) -> None:
    (problem,) = check(f"{TEAM}    digest: {digest}\n", env={})

    assert told in str(problem)


def test_a_digest_that_nobody_could_get_is_refused() -> None:
    problems = check('version: 1\nteams: {core: {digest: {at: "09:00"}}}', env={})

    assert [problem.message for problem in problems] == [
        "a digest needs the team's channel, its email or its manager",
        "a digest needs the team's hours",
    ]
