"""What an event says, and what becomes of one that is wrong: its core rejects it, a facet is left out, nothing raises."""

import json
import random
from copy import deepcopy
from typing import Any

import pytest

from bot.schedulers.cloudevents import Rejected
from bot.schedulers.cloudevents_body import NotEvents
from bot.schedulers.openlineage import DatasetHeard, Heard, JobHeard, RunHeard, decode
from bot.schedulers.openlineage.heard import Word
from tests.schedulers.openlineage.events import (
    ROOT,
    TASK,
    captured,
    dag_run,
    dataset,
    error,
    job_type,
    run_event,
    task,
)

WORST: list[Any] = [
    None, True, 0, -1, 1.5, 1e300, 2**70, "", "x", "\x00", "2026", "9999-12-31T23:59:59Z", "\ud800", [], [[]], [None], {},
    {"a": {}}, [{}], ["x"] * 3, {"": ""}, "2026-11-30T06:00:00", "é" * 600,
]  # fmt: skip


def read(event: Any, *, source: str = "airflow-prod") -> Heard | Rejected:
    (one,) = decode(json.dumps([event]).encode(), "application/json", source=source)
    return one


def heard(event: Any, **more: str) -> RunHeard:
    one = read(event, **more)

    assert isinstance(one, RunHeard), one

    return one


def without(event: dict[str, Any], *path: str) -> dict[str, Any]:
    changed = deepcopy(event)
    of = changed
    for name in path[:-1]:
        of = of[name]
    del of[path[-1]]
    return changed


def with_value(event: dict[str, Any], value: Any, *path: str) -> dict[str, Any]:
    changed = deepcopy(event)
    of = changed
    for name in path[:-1]:
        of = of[name]
    of[path[-1]] = value
    return changed


GOOD = run_event("START", "06:00:00")


@pytest.mark.parametrize(
    ("event", "path"),
    [
        (without(GOOD, "eventTime"), "eventTime"),
        (with_value(GOOD, 7, "eventTime"), "eventTime"),
        (with_value(GOOD, "2026-11-30T06:00:00", "eventTime"), "eventTime"),
        (with_value(GOOD, "1800-11-30T06:00:00Z", "eventTime"), "eventTime"),
        (with_value(GOOD, "ENDED", "eventType"), "eventType"),
        (with_value(GOOD, 1, "eventType"), "eventType"),
        (without(GOOD, "run"), "run"),
        (with_value(GOOD, "r1", "run"), "run"),
        (without(GOOD, "run", "runId"), "run.runId"),
        (with_value(GOOD, 1, "run", "runId"), "run.runId"),
        (with_value(GOOD, "", "run", "runId"), "run.runId"),
        (with_value(GOOD, "a\nb", "run", "runId"), "run.runId"),
        (with_value(GOOD, "r" * 501, "run", "runId"), "run.runId"),
        (without(GOOD, "job"), "job"),
        (without(GOOD, "job", "name"), "job.name"),
        (with_value(GOOD, [], "job", "name"), "job.name"),
        (with_value(GOOD, 7, "job", "namespace"), "job.namespace"),
        ({"eventTime": "2026-11-30T06:00:00Z"}, "run"),
        ({"eventTime": "2026-11-30T06:00:00Z", "job": {"namespace": "n"}}, "job.name"),
        ({"eventTime": "2026-11-30T06:00:00Z", "dataset": {"namespace": "n"}}, "dataset.name"),
    ],
)
def test_an_event_whose_core_is_wrong_is_rejected_with_the_path(event: Any, path: str) -> None:
    one = read(event)

    assert isinstance(one, Rejected), one
    assert one.path == path
    assert one.reason


def test_a_bad_event_costs_no_other_one() -> None:
    body = json.dumps([GOOD, {}, [], "x", None, without(GOOD, "job"), run_event("FAIL", "06:01:00")]).encode()
    kinds = [type(one) for one in decode(body, "application/json", source="s")]

    assert kinds == [RunHeard, *[Rejected] * 5, RunHeard]


def test_an_event_that_is_nested_too_deeply_is_rejected_alone() -> None:
    deep = b'{"eventTime": ' + b"[" * 5000 + b"]" * 5000 + b"}"
    nested = with_value(GOOD, json.loads("[" * 150 + "]" * 150), "run", "facets", "ours")
    body = b"[" + b",".join([json.dumps(GOOD).encode(), deep, json.dumps(nested).encode()]) + b"]"
    one, two, three = decode(body, "application/json", source="s")

    assert isinstance(one, RunHeard)
    assert getattr(two, "reason", None) == "nested too deeply"
    assert isinstance(three, RunHeard)
    assert three.known.kept == {}


def test_there_are_so_many_events_at_once_and_no_more() -> None:
    with pytest.raises(NotEvents, match="at most 20000 events at once, got 20001"):
        decode(b"[" + b",".join([b"{}"] * 20_001) + b"]", "application/json", source="s")


@pytest.mark.parametrize(
    ("told", "word"),
    [
        ("start", Word.START),
        (" Complete ", Word.COMPLETE),
        ("ABORT", Word.ABORT),
        ("Other", Word.OTHER),
        (None, Word.OTHER),
    ],
)
def test_the_type_of_an_event_is_told_in_any_case(told: str | None, word: Word) -> None:
    assert heard(run_event(told, "06:00:00")).word is word


@pytest.mark.parametrize(
    ("namespace", "name", "job"),
    [
        ("default", "load", "load"),
        ("dbt", "load", "load"),
        ("shop", "load", "shop:load"),
        ("s" * 400, "n" * 400, None),
    ],
)
def test_how_a_job_is_called(namespace: str, name: str, job: str | None) -> None:
    called = heard(run_event("START", "06:00:00", namespace=namespace, job=name), source="dbt").job

    assert called == job if job is not None else len(called) <= 500


def test_a_name_that_was_cut_is_told_apart_from_its_like() -> None:
    one, other = (heard(run_event("START", "06:00:00", namespace="s" * 400, job="n" * 400 + end)).job for end in "ab")

    assert one != other


@pytest.mark.parametrize(
    ("facet", "value", "said"),
    [
        ("parent", {"run": {"runId": 7}}, "run.facets.parent.run.runId: expected text"),
        ("parent", "x", "run.facets.parent: expected an object"),
        ("errorMessage", {"message": ["x"]}, "run.facets.errorMessage.message: expected text"),
        ("nominalTime", {"nominalStartTime": "soon"}, "run.facets.nominalTime.nominalStartTime: expected a time"),
        (
            "airflowDagRun",
            {"dagRun": {"dag_id": "d", "clear_number": "1"}},
            "run.facets.airflowDagRun.dagRun.clear_number:",
        ),
        ("airflowState", {"tasksState": []}, "run.facets.airflowState.tasksState: expected an object"),
        ("processing_engine", {"name": {}}, "run.facets.processing_engine.name: expected text"),
    ],
)
def test_a_facet_of_wrong_types_is_left_out_and_said(facet: str, value: Any, said: str) -> None:
    one = heard(run_event("START", "06:00:00", facets={facet: value}))

    assert [found for found in one.ignored if found.startswith(said)], one.ignored


def test_facets_that_are_no_object_cost_the_facets_only() -> None:
    one = heard(with_value(with_value(GOOD, "x", "run", "facets"), 7, "job", "facets"))

    assert one.ignored == ("run.facets: expected an object", "job.facets: expected an object")


def test_a_facet_that_was_deleted_is_not_there() -> None:
    assert (
        heard(run_event("FAIL", "06:00:00", facets={"errorMessage": {"_deleted": True, "message": "x"}})).known.error
        is None
    )


def test_facets_that_nobody_reads_are_kept_without_secrets_and_within_bounds() -> None:
    facets = {
        "ours": {"team": "a", "password": "hunter2hunter2"},
        "huge": {"text": "x" * 100_000},
        "deep": json.loads("[" * 50 + "]" * 50),
    }
    kept = heard(run_event("START", "06:00:00", facets=facets)).known.kept

    assert set(kept) == {"ours"}
    assert kept["ours"]["team"] == "a"
    assert "hunter2" not in json.dumps(kept)


def test_secrets_in_an_error_and_in_names_of_datasets_are_masked_before_anything_is_kept() -> None:
    dsn = "postgresql://loader:s3cr3tpassw0rd@db.example.com/shop"
    one = heard(
        run_event(
            "FAIL",
            "06:00:00",
            facets={**error(f"cannot reach {dsn}", f"Error: {dsn}")},
            inputs=[dataset("t", namespace=dsn)],
        )
    )

    assert "s3cr3tpassw0rd" not in repr(one)


def test_a_trace_with_halves_of_characters_is_read_all_the_same() -> None:
    trace = "File \udcff.py \N{GRINNING FACE} and \\ud800 as words"
    body = json.dumps(run_event("FAIL", "06:00:00", facets=error("m", trace)))
    (one,) = decode(body.encode(), "application/json", source="s")

    assert isinstance(one, RunHeard), one
    assert one.known.error is not None
    assert "\N{GRINNING FACE} and \\ud800 as words" in one.known.error.trace


def test_an_event_outside_any_run() -> None:
    job, data = (
        read({"eventTime": "2026-11-30T06:00:00Z", "job": {"namespace": "n", "name": "j"}, "inputs": [dataset("a")]}),
        read({"eventTime": "2026-11-30T06:00:00Z", "dataset": dataset("a", columns=("x",))}),
    )

    assert isinstance(job, JobHeard)
    assert (job.job, job.uses.reads) == ("n:j", ("s3://lake/a",))
    assert isinstance(data, DatasetHeard)
    assert (data.name, data.described) == ("s3://lake/a", {"schema": [{"name": "x", "type": "string"}]})


def whole() -> list[dict[str, Any]]:
    """Events that hold every facet that is read."""
    used = {
        "symlinks": {"identifiers": [{"namespace": "n", "name": "x"}]},
        "columnLineage": {"fields": {"a": {"inputFields": [{"namespace": "n", "name": "y", "field": "b"}]}}},
        "version": {"datasetVersion": "1"},
        "dataQualityMetrics": {"rowCount": 1, "bytes": 2},
    }
    run = {
        **dag_run(),
        **error("m", "Traceback:\nError: m"),
        "airflowState": {"tasksState": {"t": "failed"}},
        "nominalTime": {"nominalStartTime": "2026-11-30T05:00:00Z", "nominalEndTime": "2026-11-30T06:00:00Z"},
        "processing_engine": {"name": "n", "version": "1", "openlineageAdapterVersion": "2"},
        "environmentVariables": {"environmentVariables": [{"name": "A", "value": "b"}]},
        "jobDependencies": {"upstream": [{"job": {"namespace": "n", "name": "u"}}]},
    }
    job = {
        **job_type("AIRFLOW", "DAG"),
        "ownership": {"owners": [{"name": "o"}]},
        "tags": {"tags": [{"key": "k", "value": "v", "source": "s"}]},
        "sourceCodeLocation": {"version": "v", "url": "u", "path": "p", "branch": "b"},
        "documentation": {"description": "d"},
    }
    uses: dict[str, Any] = {"inputs": [dataset("a", columns=("x",), rows=1, size=2, facets=used)]}
    uses["outputs"] = [dataset("b", columns=("x",), rows=1, size=2, facets=used, written=True)]
    parent: dict[str, Any] = {"parent": TASK, "root": ROOT}
    return [
        run_event("FAIL", "06:00:00", facets=run, job_facets=job, **uses),
        run_event("FAIL", "06:00:00", run="r", facets={**task("t", retries=1), **error("m")}, **parent, **uses),
        run_event("FAIL", "06:00:00", run="r", job_facets=job_type("FLINK", "JOB", "STREAMING"), **parent, **uses),
        {"eventTime": "2026-11-30T06:00:00Z", "job": {"namespace": "n", "name": "j", "facets": job}, **uses},
        {"eventTime": "2026-11-30T06:00:00Z", "dataset": dataset("a", columns=("x",), facets=used)},
    ]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place of an event at which something else may stand."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for name, one in inner for place in places(one, (*path, name)))]


def put(event: Any, place: tuple[Any, ...], value: Any) -> Any:
    if not place:
        return value
    changed = deepcopy(event)
    of = changed
    for name in place[:-1]:
        of = of[name]
    of[place[-1]] = value
    return changed


def test_whatever_stands_at_whatever_place_an_event_is_understood_or_rejected_with_words() -> None:
    for event in [*whole(), *captured()[2:4]]:
        assert not isinstance(read(event), Rejected)
        for place in places(event):
            for value in random.Random(repr(place)).sample(WORST, k=4):
                one = read(put(event, place, value))

                assert not isinstance(one, Rejected) or one.reason
                if isinstance(one, RunHeard):
                    assert len(one.job) <= 500
