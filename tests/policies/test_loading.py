"""What a good policies file comes to: defaults, matching entries, safe marks, schedulers."""

from datetime import UTC, datetime, time, timedelta
from pathlib import Path

import pytest

from bot.incidents.keys import Capability, JobKey
from bot.incidents.policy import (
    Audience,
    BudgetLimit,
    Door,
    JobPolicy,
    MailPolicy,
    Mode,
    Period,
    Schedule,
    Step,
    Unproven,
)
from bot.policies import EventsSpec, LocalJobSpec, LocalSpec, Policies, WebhookSpec, check, load, void_marks
from tests.policies.texts import ENV, SKETCH

EXAMPLE = Path(__file__).parents[2] / "policies.yaml"


def policy(text: str, *, job: str = "airflow/sales") -> JobPolicy:
    scheduler, _, name = job.partition("/")
    return load(f"version: 1\n{text}", env={}).job(JobKey(scheduler=scheduler, name=name))


@pytest.fixture(scope="module")
def sketch() -> Policies:
    return load(SKETCH, env=ENV)


def test_the_example_of_the_project_is_good() -> None:
    text = EXAMPLE.read_text()

    assert check(text, env={}) == ()
    assert [str(job) for job in load(text, env={}).declared_jobs()] == ["cron/disk_report", "cron/disk_check"]


def test_a_job_that_nothing_speaks_of_gets_what_is_built_in() -> None:
    assert policy("") == JobPolicy()


def test_sections_may_be_empty() -> None:
    assert policy("teams:\njobs:\ndefaults:\nschedulers:\ncauses:\nfallback:\nadmins:\n") == JobPolicy()


def test_the_version_is_that_of_the_content() -> None:
    assert load("version: 1", env={}).version == load("version: 1", env={"A": "b"}).version
    assert load("version: 1", env={}).version != load("version: 1\n", env={}).version
    assert len(load("version: 1", env={}).version) == 16


def test_later_entries_win_and_maps_merge() -> None:
    made = policy(
        """
defaults: {mode: ask, rerun: {max: 2, budget: {limit: 4, per: day}}, downstream: [airflow/a, airflow/b]}
schedulers: {airflow: {type: events}}
jobs:
  - {match: "*", rerun: {budget: {per: week}}, mode: act}
  - {match: airflow/s*, rerun: {max: 5}, downstream: [airflow/c]}
  - {match: other/*, mode: observe}
  - {match: airflow/sales, rerun: {budget: {timezone: Asia/Tokyo}}}
"""
    )

    assert made.mode is Mode.ACT
    assert made.rerun.max == 5
    assert made.rerun.budget == BudgetLimit(limit=4, per=Period.WEEK, zone="Asia/Tokyo")
    assert made.downstream == ("airflow/c",)


def test_an_exact_entry_keeps_its_place_among_globs() -> None:
    entries = '[{match: airflow/sales, open_after: 2}, {match: "*", open_after: 3}]'

    assert policy(f"jobs: {entries}").open_after == 3


def test_a_glob_minds_case_and_matches_the_whole_name() -> None:
    assert policy("jobs: [{match: Airflow/*, open_after: 2}]").open_after is None
    assert policy("jobs: [{match: airflow/sale, open_after: 2}]").open_after is None
    assert policy("jobs: [{match: 'airflow/s[!x]l??', open_after: 2}]").open_after == 2


def test_null_takes_back_what_an_earlier_entry_said() -> None:
    made = policy(
        """
defaults: {open_after: 3, rerun: {max: 7, budget: {limit: 4}}, runbook: https://a.example.com}
jobs: [{match: "*", open_after: null, runbook: null, rerun: {budget: null, max: null}}]
"""
    )

    assert made == JobPolicy()


def test_no_null_leaves_a_job_without_a_budget() -> None:
    for taken_back in ("budget: null", "budget: {limit: null, unit: run_hours}"):
        assert policy(f"jobs: [{{match: '*', rerun: {{{taken_back}}}}}]").rerun == JobPolicy().rerun


def test_a_ladder_replaces_the_one_below() -> None:
    made = policy(
        """
defaults: {chase: {floor: 1s, ladder: [{after: 1m, ask: oncall}, {after: 2m, ask: team}]}}
jobs: [{match: "*", chase: {ladder: [{after: 0s, ask: manager, by: [dm, email]}]}}]
"""
    )

    assert made.chase.floor == timedelta(seconds=1)
    assert made.chase.ladder == (Step(after=timedelta(0), ask=Audience.MANAGER, by=(Door.DM, Door.EMAIL)),)


@pytest.mark.parametrize(
    ("text", "unproven"),
    [
        ("", Unproven.REFUSE),
        ("mail:", Unproven.REFUSE),
        ("mail: {}", Unproven.REFUSE),
        ("mail: {unproven: null}", Unproven.REFUSE),
        ("mail: {unproven: refuse}", Unproven.REFUSE),
        ("mail: {unproven: confirm}", Unproven.CONFIRM),
    ],
)
def test_an_answer_of_an_unproven_sender_is_refused_unless_the_file_says_otherwise(
    text: str, unproven: Unproven
) -> None:
    assert load(f"version: 1\n{text}", env={}).mail == MailPolicy(unproven=unproven)


def test_an_ask_that_is_late_goes_by_mail_after_the_time_of_the_file() -> None:
    assert policy("").chase.mail_after == timedelta(minutes=10)
    assert policy("defaults: {chase: {mail_after: 90s}}").chase.mail_after == timedelta(seconds=90)


@pytest.mark.parametrize(
    ("late", "start", "finish", "learned"),
    [
        ("{}", timedelta(0), None, True),
        ("{start: off, finish: off}", None, None, False),
        ("{start: 5m, finish: 2h}", timedelta(minutes=5), timedelta(hours=2), False),
        ("{finish: learned}", timedelta(0), None, True),
    ],
)
def test_deadlines(late: str, start: timedelta | None, finish: timedelta | None, learned: bool) -> None:
    made = policy(f"defaults: {{late: {late}}}").late

    assert (made.start_within, made.finish_within, made.learned) == (start, finish, learned)


def test_a_time_of_day_needs_no_quotes() -> None:
    made = policy("defaults: {late: {finish_by: 18:30, timezone: Europe/Berlin}}").late

    assert (made.finish_by, made.zone) == (time(18, 30), "Europe/Berlin")


def test_merge_keys_and_anchors_are_understood() -> None:
    made = policy('defaults: &base {open_after: 2, mode: ask}\njobs: [{match: "*", <<: *base, mode: act}]')

    assert (made.open_after, made.mode) == (2, Mode.ACT)


@pytest.mark.parametrize(
    ("team", "defaults", "entry", "mode"),
    [
        ("", "{team: core}", "{match: '*'}", Mode.ACT),
        ("mode: observe", "{team: core, mode: act}", "{match: '*'}", Mode.OBSERVE),
        ("mode: observe", "{mode: ask}", "{match: '*', team: core}", Mode.OBSERVE),
        ("mode: observe", "{team: core}", "{match: '*', mode: ask}", Mode.ASK),
    ],
)
def test_a_teams_mode_stands_between_defaults_and_entries(team: str, defaults: str, entry: str, mode: Mode) -> None:
    assert policy(f"teams: {{core: {{{team}}}}}\ndefaults: {defaults}\njobs: [{entry}]").mode is mode


MARKED = """
teams:
  core: {{members: [Ana@example.com]}}
  other: {{members: [ben@example.com]}}
causes: [{{id: mine.locked, title: Locked, when: {{message: locked}}}}]
jobs:
  - {{match: "*", team: core, safe_to_retry: {{causes: [mine.locked], by: {by}, since: 2026-11-02}}}}
  - {{match: airflow/moved, team: other}}
  - {{match: airflow/orphan, team: null}}
"""


@pytest.mark.parametrize(
    ("by", "job", "void"),
    [
        ("ana@example.com", "airflow/sales", None),
        ("ben@example.com", "airflow/sales", "marked by ben@example.com, who is not a member of core"),
        ("ana@example.com", "airflow/moved", "marked by core, but the job belongs to other"),
        ("ana@example.com", "airflow/orphan", "the job has no owning team"),
    ],
)
def test_only_a_mark_of_the_owning_team_counts(by: str, job: str, void: str | None) -> None:
    (mark,) = policy(MARKED.format(by=by), job=job).safe_marks

    assert (mark.cause, mark.team, mark.by, mark.void) == ("mine.locked", "core", by, void)
    assert mark.since == datetime(2026, 11, 2, tzinfo=UTC)


def test_marks_that_count_for_nothing_are_told_with_their_place() -> None:
    local = (
        "schedulers: {airflow: {type: local, jobs: {moved: {command: x, every: 1h}, kept: {command: x, every: 1h}}}}"
    )
    outsider, member = (
        [str(problem) for problem in void_marks(load(f"version: 1\n{local}{MARKED.format(by=by)}", env={}))]
        for by in ("ben@example.com", "ana@example.com")
    )

    assert outsider == [
        (
            "8:30: jobs[0].safe_to_retry: the mark of mine.locked counts for nothing:"
            " marked by ben@example.com, who is not a member of core"
        )
    ]
    assert member == [
        (
            "8:30: jobs[0].safe_to_retry: the mark of mine.locked counts for nothing:"
            " for airflow/moved, marked by core, but the job belongs to other"
        )
    ]


def test_several_members_may_mark() -> None:
    marks = policy(
        """
teams: {core: {members: [U0ANA, U0BEN]}}
causes: [{id: mine.locked, title: Locked, when: {message: locked}}, {id: mine.slow, title: Slow, when: {message: slow}}]
defaults:
  team: core
  safe_to_retry: [{causes: [mine.locked], by: U0ANA, since: 2026-11-02}, {causes: [mine.slow], by: U0BEN, since: 2026-11-03}]
"""
    ).safe_marks

    assert [(mark.cause, mark.by, mark.void) for mark in marks] == [
        ("mine.locked", "U0ANA", None),
        ("mine.slow", "U0BEN", None),
    ]


def test_the_sketch_of_the_design_loads(sketch: Policies) -> None:
    finance = sketch.job(JobKey(scheduler="airflow-prod", name="finance.daily_revenue"))

    assert finance.team is sketch.team("finance-data")
    assert {mark.cause for mark in finance.safe_marks if mark.void is None} == {
        "network.connection_reset",
        "platform.spot_reclaimed",
        "service.throttled",
    }
    assert finance.late.finish_by == time(7, 0)
    assert finance.fallback.channel == "C0JOBS"
    assert finance.admins == ("U0ROOT",)
    assert sketch.causes[0]["id"] == "finance.ledger_locked"
    assert "finance.ledger_locked" in sketch.rules.ids()


def test_a_rota_begins_at_its_local_time(sketch: Policies) -> None:
    team = sketch.teams["finance-data"]

    assert team.rota is not None
    assert team.rota.since == datetime(2026, 11, 2, 8, 0, tzinfo=UTC)
    assert team.hours is not None
    assert (team.hours.days, team.hours.starts, team.hours.ends) == ((0, 1, 2, 3, 4), time(8), time(18))


def test_schedulers_become_what_their_type_says(sketch: Policies) -> None:
    hook, local = sketch.schedulers["inhouse"], sketch.schedulers["cron"]

    assert hook == WebhookSpec(
        name="inhouse",
        url="https://jobs.example.com/ontrack",
        secret=ENV["INHOUSE_SECRET"],
        can=frozenset({Capability.RERUN, Capability.PAUSE, Capability.RESUME}),
    )
    assert isinstance(local, LocalSpec)
    assert local.jobs["nightly_load"] == LocalJobSpec(
        command="./load.sh",
        schedule=Schedule(cron="30 2 * * *", zone="Europe/Berlin"),
        timeout=timedelta(hours=1),
        inputs=("data/orders.csv",),
    )


def test_secrets_are_in_no_repr(sketch: Policies) -> None:
    assert not [secret for secret in ENV.values() if secret in repr(sketch) + repr(sketch.schedulers)]


def test_a_local_jobs_rate_converts_its_budget() -> None:
    text = """
schedulers: {cron: {type: local, jobs: {a: {command: x, every: 1h, rate: {usd: 2, kwh: 3}}}}}
defaults: {rerun: {budget: {limit: 5, unit: usd}}, rate: {usd: 1}}
jobs: [{match: "cron/*", rate: {kwh: 4}}]
"""

    assert policy(text, job="cron/a").rates == (("kwh", 4.0), ("usd", 2.0))
    assert policy(text, job="airflow/a").rates == (("usd", 1.0),)


def test_local_jobs_keep_what_belongs_to_the_shell() -> None:
    made = load(
        """
version: 1
schedulers:
  cron: {type: local, silent_after: 2h, jobs: {a: {command: "echo ${HOME}", every: 90s, env: {TOKEN: "x${TOKEN}"}, memory: 2GiB}}}
  feed: {type: events}
""",
        env={"TOKEN": "t0k"},
    )
    local = made.schedulers["cron"]

    assert isinstance(local, LocalSpec)
    job = local.jobs["a"]
    assert (job.command, job.env, job.memory) == ("echo ${HOME}", (("TOKEN", "xt0k"),), 2 * 1024**3)
    assert job.schedule == Schedule(every=timedelta(seconds=90))
    assert local.silent_after == timedelta(hours=2)
    assert made.schedulers["feed"] == EventsSpec(name="feed")
