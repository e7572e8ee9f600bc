"""Whatever fails at whatever moment, a decision brings at most one run, and never without our knowing where it can be."""

from datetime import timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.incidents.keys import Action
from bot.ports import BY_ITSELF, Looked, SchedulerRequest, Taken
from tests.maestro.fake.faults import Fault
from tests.maestro.fake.server import MONDAY, Maestro
from tests.schedulers.maestro.asker import FLOW, LATE, OUR_ID, Asker

BETWEEN = ("works", "ours_fails", "ours_succeeds", "restart", "person_restarts", "tick", "push", "slow", "person_stops")
KINDS = ("lose", "drop", "garbage", "late", 400, 404, 408, 409, 429, 500)
ACTING = "/(restart|start|unblock)$"
READING = "/(runs|latest|overview|instances|1|action-map)$"
RULES = ("SEQUENTIAL", "STRICT_SEQUENTIAL", "FIRST_ONLY", "LAST_ONLY", "SERIAL_LATEST_ONLY", "PARALLEL")

at_the_request = st.builds(
    Fault, kind=st.sampled_from(KINDS), path=st.just(ACTING), times=st.integers(0, 3), method=st.just("POST")
)
elsewhere = st.lists(
    st.builds(
        Fault,
        kind=st.sampled_from(KINDS),
        path=st.sampled_from([ACTING, READING]),
        times=st.integers(1, 2),
        after=st.integers(0, 2),
    ),
    max_size=3,
)
between_asks = st.lists(st.lists(st.sampled_from(BETWEEN), max_size=3), min_size=1, max_size=5)


def happens(asker: Asker, what: str) -> None:
    """What others do, and what becomes of us, between two of our requests."""
    maestro, workflow = asker.maestro, asker.maestro.workflow(FLOW)
    ours = [run for run in asker.ours() if run.alive and not run.queued]
    last = workflow.instances[1][-1] if 1 in workflow.instances else None
    match what:
        case "works":
            maestro.works()
        case "slow":
            maestro.prompt = False
        case "ours_fails" if ours:
            maestro.kills(ours[0], user="ana")
        case "ours_succeeds" if ours:
            maestro.succeeds(ours[0])
        case "restart":
            asker.restarts()
        case "person_restarts" if last is not None and not last.alive:
            maestro.restarts(last, user="maria")
        case "person_stops" if last is not None and last.alive:
            maestro.stops(last, user="maria")
        case "tick":
            maestro.scheduled(FLOW, MONDAY + timedelta(days=workflow.newest_instance + 1))
        case "push":
            maestro.push(FLOW, steps=("load", "publish", "check"))


def delivered(asker: Asker, request: SchedulerRequest, between: list[list[str]]) -> list[Taken]:
    """As delivery does it: asked, after an uncertain answer looked at first, never asked again where a look cannot tell."""
    answers: list[Taken] = []
    for others in between:
        if answers and answers[-1] is Taken.UNCERTAIN:
            looked = asker.scheduler.look(request)
            if looked is not Looked.NOT_STARTED:
                assert looked is Looked.CANNOT_TELL or asker.ours()
                return answers
            assert not asker.ours()
        answer = asker.scheduler.ask(request)
        answers.append(answer.taken)
        if answer.taken in (Taken.TAKEN, Taken.ALREADY) or (answer.taken is Taken.REFUSED and not answer.retry_after):
            return answers
        for what in others:
            happens(asker, what)
    return answers


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    fault=at_the_request,
    faults=elsewhere,
    between=between_asks,
    strategy=st.sampled_from(RULES),
    action=st.sampled_from([Action.RERUN, Action.START]),
    wanted=st.sampled_from(["as it was", "fresh", "fixed"]),
    newer=st.booleans(),
    by=st.sampled_from([BY_ITSELF, "Ana"]),
)
def test_a_decision_brings_at_most_one_run(
    served: Maestro,
    fault: Fault,
    faults: list[Fault],
    between: list[list[str]],
    strategy: str,
    action: Action,
    wanted: str,
    newer: bool,
    by: str,
) -> None:
    served.emptied()
    asker = Asker(served)
    failed = asker.fails(strategy=strategy)
    if newer:
        happens(asker, "push")
    late = MONDAY - timedelta(days=1)
    request = asker.request(
        LATE if action is Action.START else failed,
        action,
        fresh=wanted == "fresh",
        fixed=wanted == "fixed",
        requested_by=by,
        nominal_times=(late if action is Action.START else MONDAY,),
    )
    served.faults = [fault, *faults]
    answers = delivered(asker, request, between)
    asker.scheduler.close()

    ours = asker.ours()
    begun = [run for run in served.workflow(FLOW).runs if run.initiator.get("user") in ("Ana", "ontrack")]
    assert len(ours) <= 1
    assert begun == ours
    if Taken.TAKEN in answers:
        assert [run.uuid for run in ours] == [OUR_ID]
    if set(answers) <= {Taken.REFUSED}:
        assert [run for run in ours if run.run_status != "STOPPED" and run.status != "STOPPED"] == []
