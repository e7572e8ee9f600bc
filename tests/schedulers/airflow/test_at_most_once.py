"""Whatever fails at whatever moment, a decision clears a run at most once, and never without our knowing where it can be."""

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.ports import Looked, Taken
from tests.schedulers.airflow.desk import KEY, Desk
from tests.schedulers.airflow.server import USER, Airflow, Fault

PATHS = ("/auth/token$", "dagRuns/[^/]+$", "/clear$", "/eventLogs$")
BETWEEN = ("runs_and_fails", "runs_and_is_noted", "note_over", "restart", "audit_hidden", "person_clears")
MEANT = '"dry_run": false'

faults = st.lists(
    st.builds(
        Fault,
        kind=st.sampled_from(["lose", "drop", "garbage", "late", 401, 403, 429, 500]),
        path=st.sampled_from(PATHS),
        times=st.integers(1, 2),
    ),
    max_size=3,
)
at_the_clear = st.builds(
    Fault,
    kind=st.sampled_from(["lose", "drop", "late", "garbage", 500, 429, 401]),
    path=st.just("/clear$"),
    times=st.integers(0, 2),
    body_holds=st.just(MEANT),
)
between_asks = st.lists(st.lists(st.sampled_from(BETWEEN), max_size=4), min_size=1, max_size=4)


def happens(desk: Desk, what: str) -> None:
    """What others do, and what becomes of us, between two of our requests."""
    records, run = desk.airflow.records, desk.airflow.records.runs[0]
    match what:
        case "runs_and_fails" if run.state == "queued":
            records.begins(run)
            records.ends(run, "failed")
        case "runs_and_is_noted" if run.state == "queued":
            happens(desk, "runs_and_fails")
            happens(desk, "note_over")
        case "note_over":
            records.patch(run, {"note": "written over"}, user="maria")
        case "restart":
            desk.scheduler = Desk(desk.airflow, desk.path).scheduler
        case "audit_hidden":
            desk.airflow.audit_hidden = True
        case "person_clears":
            records.clear(run, user="maria", only_failed=True, note=None)


def delivered(desk: Desk, between: list[list[str]]) -> list[Taken]:
    """As delivery does it: asked, after an uncertain answer looked at first, never asked again where a look cannot tell."""
    run = desk.airflow.records.runs[0]
    answers: list[Taken] = []
    for others in between:
        if answers and answers[-1] is Taken.UNCERTAIN:
            looked = desk.scheduler.look(desk.request(run))
            if looked is not Looked.NOT_STARTED:
                return answers
        answer = desk.scheduler.ask(desk.request(run))
        answers.append(answer.taken)
        if answer.taken in (Taken.TAKEN, Taken.ALREADY) or (answer.taken is Taken.REFUSED and not answer.retry_after):
            return answers
        for what in others:
            happens(desk, what)
    return answers


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(fault=at_the_clear, faults=faults, between=between_asks)
def test_a_decision_clears_at_most_once(fault: Fault, faults: list[Fault], between: list[list[str]]) -> None:
    airflow = Airflow()
    with TemporaryDirectory() as path:
        desk = Desk(airflow, Path(path))
        run = desk.fails()
        airflow.faults = [fault, *faults]
        answers = delivered(desk, between)
        airflow.close()

    ours = run.cleared_by.count(USER)
    told = [row for row in airflow.records.audit if row["owner"] == USER and KEY in row["extra"]]
    assert ours <= 1
    assert len(told) == ours
    if Taken.TAKEN in answers:
        assert ours == 1
    if set(answers) <= {Taken.REFUSED}:
        assert ours == 0
