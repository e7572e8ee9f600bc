"""Finds the run that came of a request of ours, wherever it is: a further run of an instance, or an instance of its own.

It must not ask for anything to be done, and it says that there is none only where it has seen all that could be it.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from bot.schedulers.maestro.client import MaestroClient
from bot.schedulers.maestro.requests import milliseconds
from bot.schedulers.maestro.shapes import Instance

MOST_PAGES = 8
FIRST_RUN = 1
CLOCKS_APART = timedelta(hours=1)
"""By so much Maestro's clock may be behind ours."""


class Unsure(Exception):
    """Whether there is one cannot be told; the text says why."""


def rerun_under(client: MaestroClient, workflow: str, instance: int, request_id: str) -> Instance | None:
    """The run of that instance that our request brought."""
    cursor = None
    for _ in range(MOST_PAGES):
        page = client.runs(workflow, instance, cursor=cursor)
        for run in page.elements:
            if _is(run, request_id):
                return run
        if not page.page_info.has_next_page:
            return None
        cursor = page.page_info.end_cursor
    raise Unsure("the instance has more runs than are read")


def start_under(
    client: MaestroClient, workflow: str, request_id: str, *, above: int = 0, since: datetime | None = None
) -> Instance | None:
    """The first run of the instance that our request brought, among those with a number `above`, created `since`."""
    for newest in newest_instances(client, workflow, above=above, since=since):
        if _is(newest, request_id):
            return newest
        if newest.workflow_run_id > FIRST_RUN:
            first = client.run(workflow, newest.workflow_instance_id, run=FIRST_RUN)
            if _is(first, request_id):
                return first
    return None


def newest_instances(
    client: MaestroClient, workflow: str, *, above: int = 0, since: datetime | None = None
) -> Iterator[Instance]:
    """The latest runs of the instances with a number `above`, created `since`: the newest first, and none is left out."""
    begin = milliseconds(since - CLOCKS_APART) if since is not None else 0
    cursor = None
    for _ in range(MOST_PAGES):
        page = client.instances(workflow, cursor=cursor)
        for newest in page.elements:
            first_created = newest.create_time if newest.workflow_run_id == FIRST_RUN else None
            older = first_created is not None and first_created < begin
            if newest.workflow_instance_id <= above or older:
                return
            yield newest
        if not page.page_info.has_next_page:
            return
        cursor = page.page_info.end_cursor
    raise Unsure("the workflow has more instances since than are read")


def _is(run: Instance, request_id: str) -> bool:
    if run.workflow_uuid is None:
        raise Unsure("Maestro does not tell the uuid of its runs")
    return run.workflow_uuid.lower() == request_id
