"""Reads what a failed run says of its failure: its failed tasks, and the log of the first. It must not read any other run."""

from datetime import UTC, datetime, timedelta
from typing import Any

from bot.schedulers.airflow.client import AirflowClient
from bot.schedulers.airflow.events import Failed
from bot.schedulers.airflow.shapes import DagRun, TaskInstance
from bot.wire.exchange import NoAnswer, NotSent, Refused, Unwell

TASKS_WITHIN, LOG_WITHIN = timedelta(seconds=20), timedelta(seconds=10)
MOST_PAGES = 10
LAST = datetime(9999, 1, 1, tzinfo=UTC)


def failure_of(client: AirflowClient, run: DagRun) -> Failed:
    """Raises what the client raises where the tasks cannot be read for the moment; without its log a failure is told."""
    try:
        with client.within(TASKS_WITHIN):
            page = client.failed_tasks(run.dag_id, run.dag_run_id)
    except Refused as no:
        if no.retry_after is not None:
            raise
        return Failed(unread=f"its tasks were not shown: {no}")
    tasks = tuple(sorted(page.task_instances, key=lambda task: (task.end_date or LAST, task.task_id, task.map_index)))
    total = max(page.total_entries, len(tasks))
    if not tasks:
        return Failed(unread="Airflow tells of no failed task in this run")
    return with_log(client, run, tasks, total=total)


def with_log(client: AirflowClient, run: DagRun, tasks: tuple[TaskInstance, ...], *, total: int) -> Failed:
    """The failure of these tasks with the log of the first, in the try that is named; raises nothing."""
    try:
        with client.within(LOG_WITHIN):
            return Failed(tasks=tasks, total=total, log=_log_of(client, run, tasks[0]))
    except (Refused, Unwell, NotSent, NoAnswer) as nothing:
        return Failed(tasks=tasks, total=total, unread=f"the log of {tasks[0].called} was not shown: {nothing}")


def _log_of(client: AirflowClient, run: DagRun, task: TaskInstance) -> list[Any]:
    """The log of the task's last try, page by page."""
    found: list[Any] = []
    token: str | None = None
    for _ in range(MOST_PAGES):
        page = client.log(run.dag_id, run.dag_run_id, task, token)
        found += page.content
        token = page.continuation_token
        if not token or not page.content:
            break
    return found
