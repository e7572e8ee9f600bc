"""Looks over the schedulers that are asked over the network: reached, believed, what they show us. It asks only to be shown."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import timedelta

from bot.compose.finding import Finding, Health
from bot.policies import Policies
from bot.policies.specs import AirflowSpec, MaestroSpec
from bot.ports import Clock
from bot.schedulers.airflow.audit import OF_RUNS
from bot.schedulers.airflow.client import PAGE, AirflowClient
from bot.schedulers.airflow.scheduler import AirflowScheduler
from bot.schedulers.maestro.client import MaestroClient
from bot.schedulers.maestro.scheduler import MaestroScheduler
from bot.wire.exchange import NoAnswer, NotSent, Refused, Unwell

LOOK_WITHIN = timedelta(seconds=15)
SHOWN_OF = timedelta(days=1)
NAMED = 10
UNREACHED = (NotSent, NoAnswer)
TROUBLES = (*UNREACHED, Refused, Unwell)

SEE_URL = "see `url` in policies.yaml, and that this host may reach it"
SEE_AIRFLOW_LOGIN = (
    "see `token`, or `user` and `password`, in policies.yaml: the user must be allowed to read and edit DAG runs"
)
SEE_MAESTRO_LOGIN = "see `user` and `token` in policies.yaml"
SEE_VERSION = "name the address under which Airflow 3's own pages are: its REST API v2 is at /api/v2 below it"
SEE_ITSELF = "look at the scheduler itself: it answers, but is not well"
SHOW_AUDIT = "let the user read the audit log: without it nobody knows who cleared a run, and who marked one"
SHOW_TASKS = "let the user read task instances and task logs: without them no failure has a cause"
SHOW_ASSETS = "let the user read assets, or name what is downstream in policies.yaml"
SHOW_DAGS = "let the user read DAGs: next runs, owners and pauses are not known without them"
ONLY_WHEN_ASKED = "whether it may clear, mark and pause shows only when it is asked to"


def examine_schedulers(policies: Policies, *, clock: Clock) -> Iterator[Finding]:
    """Each Airflow and each Maestro that policies.yaml declares."""
    for spec in policies.schedulers.values():
        match spec:
            case AirflowSpec():
                with closing(AirflowScheduler(spec, clock=clock)) as one:
                    yield from _airflow(f"scheduler {spec.name}", one.client, clock)
            case MaestroSpec():
                with closing(MaestroScheduler(spec, clock=clock)) as other:
                    yield from _maestro(f"scheduler {spec.name}", other.client, spec.workflows)


def _airflow(part: str, client: AirflowClient, clock: Clock) -> Iterator[Finding]:
    try:
        with client.within(LOOK_WITHIN):
            release = client.release()
            runs = client.changed_runs(clock() - SHOWN_OF, offset=0).dag_runs
    except TROUBLES as trouble:
        yield _broken(part, trouble, login=SEE_AIRFLOW_LOGIN, absent=SEE_VERSION)
        return
    hidden: list[Finding] = []
    dags = 0

    def count() -> None:
        nonlocal dags
        dags = client.dags(offset=0).total_entries

    looks: list[tuple[str, str, Callable[[], object]]] = [
        ("DAGs", SHOW_DAGS, count),
        ("the audit log", SHOW_AUDIT, lambda: client.audited(OF_RUNS, after=clock() - SHOWN_OF, offset=0)),
        ("assets", SHOW_ASSETS, lambda: client.assets(offset=0)),
    ]
    if runs:
        looks.append(("tasks of runs", SHOW_TASKS, lambda: client.failed_tasks(runs[0].dag_id, runs[0].dag_run_id)))
    for what, fix, look in looks:
        try:
            with client.within(LOOK_WITHIN):
                look()
        except TROUBLES as trouble:
            hidden.append(Finding(part=part, health=Health.WARN, says=f"{what} cannot be read: {trouble}", fix=fix))
    says = f"Airflow {release}, {dags} DAGs, {len(runs)}{'+' if len(runs) >= PAGE else ''} runs changed today"
    yield Finding(part=part, health=Health.OK, says=f"{says}; {ONLY_WHEN_ASKED}")
    yield from hidden


def _maestro(part: str, client: MaestroClient, workflows: Sequence[str]) -> Iterator[Finding]:
    missing: list[str] = []
    unread: list[str] = []
    try:
        with client.within(LOOK_WITHIN):
            client.action_map()
    except TROUBLES as trouble:
        yield _broken(part, trouble, login=SEE_MAESTRO_LOGIN, absent=SEE_MAESTRO_LOGIN)
        return
    for workflow in workflows:
        try:
            with client.within(LOOK_WITHIN):
                client.overview(workflow)
        except Refused as no:
            (missing if no.status == 404 else unread).append(workflow if no.status == 404 else f"{workflow} ({no})")
        except (*UNREACHED, Unwell) as trouble:
            unread.append(f"{workflow} ({trouble})")
    found = len(workflows) - len(missing) - len(unread)
    yield Finding(part=part, health=Health.OK, says=f"Maestro answers, {found} of {len(workflows)} workflows are read")
    if missing:
        fix = "correct `workflows` in policies.yaml: these are ids as Maestro has them"
        yield Finding(part=part, health=Health.WARN, says=f"no such workflow: {_named(missing)}", fix=fix)
    if unread:
        yield Finding(part=part, health=Health.WARN, says=f"not read: {_named(unread)}", fix=SEE_ITSELF)


def _broken(part: str, trouble: Exception, *, login: str, absent: str) -> Finding:
    """The fix of a refusal is `login`, of a 404 `absent`."""
    if isinstance(trouble, UNREACHED):
        return Finding(part=part, health=Health.BROKEN, says=f"it cannot be reached: {trouble}", fix=SEE_URL)
    if isinstance(trouble, Refused):
        fix = absent if trouble.status == 404 else login
        return Finding(part=part, health=Health.BROKEN, says=f"it refuses us: {trouble}", fix=fix)
    return Finding(part=part, health=Health.BROKEN, says=f"it is unwell: {trouble}", fix=SEE_ITSELF)


def _named(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")
