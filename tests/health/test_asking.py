"""What people type after `/job-health`: any order, any case, and help for whatever is not understood."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.health.asking import Asked, BaselineAsked, BaselineWanted, Help, Question, understood, words_of
from bot.health.query import Versus
from bot.incidents.health import Scope
from bot.incidents.keys import JobKey

NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
REVENUE = JobKey(scheduler="airflow-prod", name="finance.daily_revenue")
LOAD = JobKey(scheduler="cron", name="load")
OTHER_LOAD = JobKey(scheduler="airflow-prod", name="growth.load")
STOCK = JobKey(scheduler="shop", name="stock count")


@dataclass(frozen=True, kw_only=True)
class Company:
    """Two teams and four jobs."""

    many: int = 0

    def teams(self) -> Sequence[str]:
        return ("finance", "Data Platform")

    def jobs(self) -> Sequence[JobKey]:
        more = [JobKey(scheduler="airflow-prod", name=f"made.job_{number}") for number in range(self.many)]
        return (REVENUE, LOAD, OTHER_LOAD, STOCK, *more)

    def schedulers(self) -> Sequence[str]:
        return ("airflow-prod", "cron", "shop")

    def causes(self) -> Sequence[str]:
        return ("network.timeout", "disk.full", "unknown", "late.not_started")

    def team_of_group(self, group: str) -> str | None:
        return {"S0FIN": "finance"}.get(group)

    def zone(self, scope: Scope) -> str:
        return "Europe/Berlin" if scope.team == "finance" else "UTC"


def asked(text: str, *, names: Company | None = None) -> Asked:
    return understood(text, names=names or Company(), now=NOW)


def question(text: str) -> Question:
    found = asked(text)

    assert isinstance(found, Question), found

    return found


def helped(text: str) -> Help:
    found = asked(text)

    assert isinstance(found, Help), found

    return found


def test_without_words_it_is_the_whole_company_for_thirty_days() -> None:
    found = question("")

    assert found.query.scope == Scope()
    assert (found.query.period.since, found.query.period.until) == (NOW - timedelta(days=30), NOW)
    assert (found.query.period.name, found.query.versus, found.plain_period) == ("30d", None, True)


@pytest.mark.parametrize(
    "text",
    [
        "finance 7d vs previous",
        "vs previous 7d finance",
        "7D FINANCE VS PREVIOUS",
        "  versus   previous team:Finance last 7d ",
        "<!subteam^S0FIN|@finance-oncall> 1w vs previous",
        "&lt;!subteam^S0FIN&gt; 7d against previous",
        "@finance 7d compared with previous",
        'team:"finance" 7d vs previous',
    ],
)
def test_words_come_in_any_order_and_case(text: str) -> None:
    found = question(text)

    assert found.query.scope == Scope(team="finance")
    assert found.query.period.length == timedelta(days=7)
    assert found.query.versus is Versus.PREVIOUS
    assert found.zone == "Europe/Berlin"


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("airflow-prod/finance.daily_revenue", Scope(job=REVENUE)),
        ("AIRFLOW-PROD/finance.daily_revenue", Scope(job=REVENUE)),
        ("daily_revenue", Scope(job=REVENUE)),
        ("finance.daily_revenue", Scope(job=REVENUE)),
        ("load", Scope(job=LOAD)),
        ("growth.load", Scope(job=OTHER_LOAD)),
        ('"shop/stock count"', Scope(job=STOCK)),
        ("data platform", Scope(team="Data Platform")),
        ("Data Platform cause:timeout", Scope(team="Data Platform", cause="network.timeout")),
        ("cause:disk.full scheduler:CRON", Scope(cause="disk.full", scheduler="cron")),
        ("job:daily_revenue", Scope(job=REVENUE)),
        ("team: finance", Scope(team="finance")),
    ],
)
def test_a_name_is_found_by_its_whole_or_its_last_part(text: str, scope: Scope) -> None:
    assert question(text).query.scope == scope


def test_days_begin_in_the_zone_of_the_team() -> None:
    of_finance, of_all = question("finance since 2026-11-01"), question("since 2026-11-01")

    assert of_finance.query.period.since == datetime(2026, 10, 31, 23, tzinfo=UTC)
    assert of_all.query.period.since == datetime(2026, 11, 1, tzinfo=UTC)
    assert of_finance.query.period.name == "since 2026-11-01"


def test_a_range_holds_both_its_days_and_ends_now_at_the_latest() -> None:
    assert question("2026-10-01..2026-10-31").query.period.length == timedelta(days=31)
    assert question("2026-11-30..2026-12-24").query.period.until == NOW


@pytest.mark.parametrize(
    ("text", "says", "near"),
    [
        ("financ", "no team and no job “financ”", "finance"),
        ("daily_revenu", "no team and no job", "airflow-prod/finance.daily_revenue"),
        ("cause:network.timeot", "no cause", "network.timeout"),
        ("scheduler:airflow", "no scheduler", "airflow-prod"),
        ("team:fnance", "no team", "finance"),
        ("job:nothing_like_it", "no job “nothing_like_it”", ""),
        ("<!subteam^S0GROWTH>", "has that group", "finance"),
        ("<@U0ANA|ana>", "never of a person", ""),
        ("7d 30d", "One period at a time", ""),
        ("finance data platform", "One team at a time", ""),
        ("vs last year", "vs previous", ""),
        ("vs", "vs baseline", ""),
        ("since", "Since when", ""),
        ("since tomorrow", "no day", ""),
        ("since 2026-12-24", "still to come", ""),
        ("since 2020-01-01", "400 days", ""),
        ("0d", "1 to 400 days", ""),
        ("401d", "1 to 400 days", ""),
        ("2026-10-31..2026-10-01", "ends before it begins", ""),
        ("2026-13-01..2026-13-02", "no day", ""),
        ("baseline finance", "baseline set", ""),
        ("baseline set 2026-10-01", "no period", ""),
        ("baseline set 2026-11-01..2026-12-31", "days that are over", ""),
        ("baseline set 2026-10-01..2026-10-31 review 2026-10-15..2026-11-15", "begins after", ""),
    ],
)
def test_what_is_not_understood_is_said_with_near_names_and_two_examples(text: str, says: str, near: str) -> None:
    found = helped(text)

    assert says in found.problem
    assert near in found.near if near else True
    assert found.examples == ("finance 30d vs previous", "since 2026-11-01 vs baseline")
    assert all(isinstance(asked(each), Question) for each in found.examples)


def test_a_last_part_of_several_jobs_asks_which() -> None:
    twice = (JobKey(scheduler="cron", name="a.sync"), JobKey(scheduler="cron", name="b.sync"))

    @dataclass(frozen=True, kw_only=True)
    class Twins(Company):
        def jobs(self) -> Sequence[JobKey]:
            return twice

    found = asked("sync", names=Twins())

    assert isinstance(found, Help)
    assert found.near == ("cron/a.sync", "cron/b.sync")


@pytest.mark.parametrize("text", ["help", "HELP", "finance help", "?"])
def test_help_is_given_where_it_is_asked_for(text: str) -> None:
    assert helped(text).problem == ""


def test_the_baseline_is_shown_and_set() -> None:
    assert asked("baseline") == BaselineAsked()
    wanted = asked("Baseline SET 2026-10-01..2026-10-31")

    assert isinstance(wanted, BaselineWanted)
    assert wanted.period.since == datetime(2026, 10, 1, tzinfo=UTC)
    assert (wanted.review.since, wanted.review.name) == (wanted.period.until, "2026-11-01..2026-12-01")

    wanted = asked("baseline set 2026-10-01..2026-10-31 review 2026-11-15..2026-12-15")

    assert isinstance(wanted, BaselineWanted)
    assert wanted.review.until == datetime(2026, 12, 16, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "7d",
        "finance since 2026-11-01 vs previous",
        "data platform cause:timeout",
        "daily_revenue 2026-10-01..2026-10-31",
    ],
)
def test_a_query_is_written_as_words_that_ask_for_it_again(text: str) -> None:
    query = question(text).query

    assert question(words_of(query)).query == query


def test_a_company_of_very_many_jobs_is_answered_at_once() -> None:
    found = asked("made.jb_7", names=Company(many=20_000))

    assert isinstance(found, Help)


PIECES = st.sampled_from(
    [
        *(
            "finance",
            "Data",
            "Platform",
            "load",
            "sync",
            "vs",
            "previous",
            "baseline",
            "set",
            "review",
            "since",
            "last",
        ),
        *("7d", "0d", "99999w", "2026-10-01..2026-10-31", "..", "2026-02-30", "team:", "job:", "cause:x", "scheduler:"),
        *('"', "“", "<!subteam^S0FIN>", "<@U1>", "<!channel>", "&lt;", "help", "\x00", "\u202e", "ﬁ", "İ", "²d"),
    ]
)


@given(st.one_of(st.text(max_size=600), st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=12).map(" ".join)))
@example("since 9999-12-31")
@example("0001-01-01..9999-12-31")
@example("²d")
def test_any_text_gives_an_answer(text: str) -> None:
    found = asked(text)

    assert isinstance(found, Question | Help | BaselineAsked | BaselineWanted)
    if isinstance(found, Question):
        period = found.query.period
        assert period.since < period.until <= NOW
        assert period.length <= timedelta(days=400, hours=1)
        assert question(words_of(found.query)).query.scope == found.query.scope
