"""The processes of the Procfile on one PostgreSQL: each does its part, and together they do everything."""

import signal
from datetime import datetime, timedelta

import psycopg
import pytest

from tests.compose.conftest import Company, Meet
from tests.compose.processes import Json, Process
from tests.world.people import CHANNELS, POLICIES

SPLIT = ("web", "worker", "clock")
QUICK_LADDER = POLICIES.replace("{after: 15m, ask: oncall}, {after: 30m, ask: team}", "{after: 5s, ask: team}").replace(
    "before_next_run: 30m", "before_next_run: 30m\n    floor: 1s"
)
LOCAL = """
version: 1
schedulers:
  here: {type: local, jobs: {load: {command: "sh load.sh", every: 3s}}}
teams:
  finance:
    slack: {channel: C0FINANCE, usergroup: S0FINONCALL}
    members: [ana@example.com]
    budget: {limit: 40, unit: run_hours, per: day}
defaults: {team: finance, rerun: {max: 2, backoff: 1s, budget: {limit: 4, unit: run_hours, per: day}}}
jobs:
  - match: here/load
    team: finance
    open_after: 1
    safe_to_retry: {causes: [network.connection_reset], by: ana@example.com, since: 2026-11-02}
"""
LOAD = """
echo "$ONTRACK_NOMINAL_TIME" >> ran
test "$(wc -l < ran)" -ne 2 && exit 0
echo "ConnectionResetError: [Errno 104] Connection reset by peer" >&2
exit 1
"""
GAP = 10
THREADS = 340
HELD = "SELECT (SELECT count(*) FROM outbox WHERE leased_by IS NOT NULL) + (SELECT count(*) FROM views WHERE leased_by IS NOT NULL)"
UNCERTAIN = "SELECT count(*) FROM outbox WHERE uncertain_at IS NOT NULL"
UNSETTLED = "SELECT count(*) FROM outbox WHERE state NOT IN ('settled', 'cancelled')"


def counted(url: str, query: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute(query.encode()).fetchone()
    assert row is not None
    return int(row[0])


def test_what_web_takes_in_becomes_a_thread_and_is_chased(company: Company) -> None:
    company.has_policies(QUICK_LADDER)
    web, *others = [company.starts(role) for role in SPLIT]
    for process in others:
        process.said("started")

    company.fails(web, "orders")
    root = company.sees(company.roots)[0]
    company.sees(lambda: sum("finance-data" in text for text in company.replies(root)) >= 1)

    assert "Connection reset" in company.slack.text_of(root) or "orders" in company.slack.text_of(root)
    assert len(company.roots()) == 1


def test_web_alone_sends_what_its_commits_left_and_the_rest_waits_for_a_worker(company: Company) -> None:
    web = company.starts("web")
    company.fails(web, "orders")
    root = company.sees(company.roots)[0]

    assert company.replies(root) == []

    company.starts("worker")
    company.sees(lambda: company.replies(root))
    assert len(company.roots()) == 1


def test_a_request_to_a_local_job_finds_the_leader(company: Company) -> None:
    """The rerun's row is claimed by the worker, too, which cannot start it."""
    company.has_policies(LOCAL)
    (company.directory / "load.sh").write_text(LOAD)
    for role in SPLIT:
        company.starts(role)

    def is_recovered() -> bool:
        return any("load recovered" in company.slack.text_of(root) for root in company.roots())

    company.sees(is_recovered)

    nominal_times = (company.directory / "ran").read_text().split()
    assert nominal_times[1] in nominal_times[2:]
    assert len(company.roots()) == 1


@pytest.mark.slow
def test_a_killed_leader_is_followed_and_its_timers_go_on(company: Company) -> None:
    company.has_policies(QUICK_LADDER)
    web = company.starts("web")
    company.starts("worker").said("started")
    first = company.starts("clock")
    first.said("leads")
    second = company.starts("clock")
    second.said("started")
    assert not second.has_said("leads")

    company.fails(web, "orders")
    root = company.sees(company.roots)[0]
    first.tell(signal.SIGKILL)
    first.ends()

    second.said("leads", within=timedelta(seconds=30))
    company.sees(lambda: any("finance-data" in text for text in company.replies(root)))


@pytest.mark.parametrize("role", SPLIT)
def test_a_split_process_refuses_sqlite_and_says_what_to_do(company_on: Meet, sqlite_url: str, role: str) -> None:
    process = company_on(sqlite_url).starts(role)

    assert process.ends() == 2
    process.said(
        f"{role} is one of several processes, and SQLite serves one: start `python -m bot run`, which does everything "
        "in one process, or set DATABASE_URL to PostgreSQL (postgresql://user:password@host/database)"
    )


@pytest.mark.parametrize("role", SPLIT)
def test_a_split_process_does_not_migrate(company_on: Meet, empty_postgresql_url: str, role: str) -> None:
    process = company_on(empty_postgresql_url).starts(role)

    assert process.ends() == 2
    assert any("python -m bot migrate" in line["event"] for line in process.lines)


@pytest.mark.parametrize("role", ["run", *SPLIT])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_idle_process_ends_cleanly_when_told(company: Company, role: str, number: signal.Signals) -> None:
    process = company.starts(role)
    process.said("started")

    process.tell(number)

    assert process.ends() == 0
    process.said("stopped")


def test_the_one_process_of_sqlite_ends_cleanly_when_told(company_on: Meet, sqlite_url: str) -> None:
    process = company_on(sqlite_url).starts("run")
    process.said("leads")

    process.tell(signal.SIGTERM)

    assert process.ends() == 0
    process.said("stopped")


def test_a_worker_told_to_stop_in_the_middle_of_a_send_hands_everything_back(company: Company) -> None:
    worker = hanging_worker(company)

    worker.tell(signal.SIGTERM)

    assert worker.ends() == 0
    assert counted(company.database_url, HELD) == 0
    assert counted(company.database_url, UNCERTAIN) == 1
    assert counted(company.database_url, UNSETTLED) >= 2


def test_the_second_signal_ends_a_process_at_once(company: Company) -> None:
    worker = hanging_worker(company)

    worker.tell(signal.SIGTERM)
    worker.tell(signal.SIGINT)

    assert worker.ends(within=timedelta(seconds=2)) in (128 + signal.SIGTERM, 128 + signal.SIGINT)
    assert not worker.has_said("stopped")


def hanging_worker(company: Company) -> Process:
    """A worker whose first reply was posted, and never answered."""
    web = company.starts("web")
    company.fails(web, "orders")
    root = company.sees(company.roots)[0]
    company.slack.inject("chat.postMessage", after="hang")
    worker = company.starts("worker")
    company.sees(lambda: company.replies(root))
    return worker


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_two_workers_deliver_a_thousand_effects_to_one_channel_at_its_pace(company: Company) -> None:
    company.has_policies(POLICIES.replace("defaults:\n", "defaults:\n  storm: {jobs: 100000}\n"))
    web = company.starts("web", str(GAP), module="tests.compose.quick")
    workers = [company.starts("worker", str(GAP), module="tests.compose.quick") for _ in range(2)]
    for worker in workers:
        worker.said("started")
    jobs = [f"job_{number}" for number in range(THREADS)]

    for first in range(0, THREADS, 50):
        company.fails(web, *jobs[first : first + 50])
    company.sees(lambda: is_empty(company), within=timedelta(seconds=180))

    posts = [
        row for row in company.slack.journal(method="chat.postMessage") if row["args"]["channel"] == CHANNELS["finance"]
    ]
    assert len(posts) >= 1000
    assert none_twice(posts)
    assert span(posts) >= 0.95 * (len(posts) - 1) * timedelta(milliseconds=GAP)
    assert at_most_in_a_second(posts) <= 1000 / GAP * 1.5
    assert in_order(posts)
    assert len(company.roots()) == THREADS


def is_empty(company: Company) -> bool:
    return counted(company.database_url, UNSETTLED) == 0 and len(company.roots()) == THREADS


def key_of(row: Json) -> str:
    """The key that a message carries; those of one decision end in its number."""
    return str(row["args"]["metadata"]["event_payload"]["key"])


def none_twice(posts: list[Json]) -> bool:
    return len({key_of(row) for row in posts}) == len(posts)


def in_order(posts: list[Json]) -> bool:
    """Within each thread."""
    threads: dict[str, list[str]] = {}
    for row in posts:
        threads.setdefault(row["args"].get("thread_ts") or "", []).append(key_of(row))
    roots = threads.pop("")
    return len(threads) == len(roots) and all(len(keys) > 1 and keys == sorted(keys) for keys in threads.values())


def span(posts: list[Json]) -> timedelta:
    return datetime.fromisoformat(posts[-1]["at"]) - datetime.fromisoformat(posts[0]["at"])


def at_most_in_a_second(posts: list[Json]) -> int:
    instants = [datetime.fromisoformat(row["at"]) for row in posts]
    return max(sum(0 <= (other - at).total_seconds() < 1 for other in instants) for at in instants)
