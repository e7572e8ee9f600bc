"""Thousands of jobs, and many threads that ask at once."""

from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

from bot.incidents.keys import JobKey
from bot.policies import load

JOBS = 3000
TEXT = (
    "version: 1\nteams: {core: {members: [U0ANA]}}\ncauses: [{id: mine.locked, title: L, when: {message: locked}}]\n"
    + (
        "schedulers:\n  cron:\n    type: local\n    jobs:\n"
        + "".join(
            f'      job{at}: {{command: run {at}, cron: "{at % 60} 2 * * *", timeout: 1h}}\n' for at in range(JOBS)
        )
        + "jobs:\n"
        + "".join(
            f"  - match: cron/job{at}{'*' if at % 10 == 0 else ''}\n"
            f"    team: core\n"
            f"    rerun: {{max: {at % 5}, budget: {{limit: {at + 1}}}}}\n"
            f"    safe_to_retry: {{causes: [mine.locked], by: U0ANA, since: 2026-11-02}}\n"
            for at in range(JOBS)
        )
    )
)
KEYS = [JobKey(scheduler="cron", name=f"job{at}") for at in range(JOBS)]


def test_three_thousand_jobs_load_in_a_moment() -> None:
    load(TEXT, env={})
    began = perf_counter()
    policies = load(TEXT, env={})
    loaded = perf_counter() - began

    assert len(policies.declared_jobs()) == JOBS
    assert loaded < 5, f"{loaded:.2f} s"


def test_every_thread_gets_the_same_answers() -> None:
    policies = load(TEXT, env={})
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: [policies.job(key) for key in KEYS[::7]], range(8)))

    assert all(answer == answers[0] for answer in answers)
    assert [policy.rerun.max for policy in answers[0]] == [at % 5 for at in range(0, JOBS, 7)]
