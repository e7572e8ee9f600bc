"""What holds for the jobs that are ontrack's own, such as the silence of a source."""

from bot.incidents.keys import JobKey
from bot.incidents.policy import JobPolicy, Mode
from bot.policies import load

SOURCE = JobKey(scheduler="ontrack", name="source shop")


def policy(text: str) -> JobPolicy:
    return load(f"version: 1\n{text}", env={}).job(SOURCE)


def test_the_admins_answer_for_ontrack_itself_whatever_holds_for_jobs() -> None:
    text = """
schedulers: {shop: {type: events, silent_after: 2h}}
teams: {finance: {slack: {channel: C0FIN}}, platform: {slack: {channel: C0PLATFORM}}}
defaults: {team: finance, mode: ask, urgency: low, open_after: 3, schedule: {cron: "0 3 * * *"}}
jobs: [{match: "*", team: finance, open_after: 5}, {match: shop/a, team: platform}]
fallback: {channel: C0JOBS, email: jobs@example.com}
admins: [U0RITA]
"""
    ours = policy(text)

    assert ours.team is not None
    assert (ours.team.channel, ours.team.email, ours.team.members) == ("C0JOBS", "jobs@example.com", ("U0RITA",))
    assert (ours.mode, ours.urgency) == (Mode.ASK, "low")
    assert (ours.open_after, ours.schedule) == (None, None)


def test_an_entry_that_names_ontracks_own_jobs_gives_them_a_team() -> None:
    text = """
teams: {platform: {slack: {channel: C0PLATFORM}}}
jobs: [{match: "ontrack/*", team: platform}]
fallback: {channel: C0JOBS}
"""
    ours = policy(text)

    assert ours.team is not None
    assert ours.team.name == "platform"
