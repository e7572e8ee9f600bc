"""Requests to jobs that run beside the leader, among several processes that could claim them: performed once, by the leader."""

import signal
import threading
import time
from collections import Counter

import psycopg
import pytest

from tests.compose.conftest import Company

POLICIES = """
version: 1
schedulers:
  here:
    type: local
    jobs:
      orders: {command: "sh load.sh orders", every: 4s}
      refunds: {command: "sh load.sh refunds", every: 4s}
      ledger: {command: "sh load.sh ledger", every: 4s}
teams:
  finance:
    slack: {channel: C0FINANCE, usergroup: S0FINONCALL}
    members: [ana@example.com]
    budget: {limit: 40, unit: run_hours, per: day}
defaults: {team: finance, rerun: {max: 2, backoff: 200ms, budget: {limit: 4, unit: run_hours, per: day}}}
jobs:
  - match: here/*
    team: finance
    open_after: 1
    safe_to_retry: {causes: [network.connection_reset], by: ana@example.com, since: 2026-11-02}
"""
FAILS_ONCE = """
echo "$ONTRACK_NOMINAL_TIME $ONTRACK_GENERATION" >> ran.$1
test "$(wc -l < ran.$1)" -ne 2 && exit 0
echo "ConnectionResetError: [Errno 104] Connection reset by peer" >&2
exit 1
"""
REQUESTS = "SELECT state, attempt, code, (settled_at - due_at) / 1000000 FROM outbox WHERE kind = 'request'"
BEFORE_ANY_SWEEP = 20
PATIENCE, LOOK_AGAIN = 180.0, 0.2
JOBS = ("orders", "refunds", "ledger")


def requests_of(company: Company) -> list[tuple[str, int, str | None, int]]:
    with psycopg.connect(company.database_url) as connection:
        return connection.execute(REQUESTS).fetchall()


def settled(company: Company) -> list[tuple[str, int, str | None, int]]:
    """The requests that were answered, once each job had one."""
    rows = [row for row in requests_of(company) if row[0] == "settled"]
    return rows if len(rows) == len(JOBS) else []


def wait_until_settled(company: Company) -> None:
    pause, until = threading.Event(), time.monotonic() + PATIENCE
    while not settled(company):
        assert time.monotonic() < until, requests_of(company)
        pause.wait(LOOK_AGAIN)


@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.parametrize("processes", [("web", "worker", "worker", "clock"), ("run", "run")])
def test_a_request_to_a_local_job_is_performed_once_by_the_leader_and_never_handed_over(
    company: Company, processes: tuple[str, ...]
) -> None:
    """A row that another process claimed, and gave back, would have the code of a row that waits for the leader."""
    company.has_policies(POLICIES)
    (company.directory / "load.sh").write_text(FAILS_ONCE)
    started = [company.starts(role) for role in processes]

    wait_until_settled(company)
    for process in started:
        process.tell(signal.SIGTERM)

    assert [process.ends() for process in started] == [0] * len(started)
    assert {(attempt, code) for _, attempt, code, _ in settled(company)} == {(1, None)}
    assert max(seconds for *_, seconds in settled(company)) < BEFORE_ANY_SWEEP
    for job in JOBS:
        ran = Counter((company.directory / f"ran.{job}").read_text().splitlines())
        assert max(ran.values()) == 1
        assert sum(line.endswith(" 1") for line in ran) == 1
