"""The facts of a run by what its facets say: code, parameters, configuration, environment, whose job it is.

They are masked and bounded here already, since they are kept before intake sees them.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from bot.evidence.facts import read_run_facts
from bot.schedulers.openlineage.nodes import Facets, Node, plain
from bot.store.lineage import PartError

MOST_TAGS = 50
MESSAGE = 4000
TRACE = 32 * 1024
KEPT = 16 * 1024
MOST_KEPT = 200
DEEPEST = 12


def read_facts(run: Facets, job: Facets) -> dict[str, Any]:
    """What is told of a run's code and surroundings; only what is there."""
    nothing: dict[str, Any] = {}
    dag = {**run.read("airflowDagRun", _of_dag, nothing)}
    owner = job.read("ownership", read_owner, None) or dag.pop("owner", None)
    facts: dict[str, dict[str, Any]] = {
        "code": {**dag.pop("code", {}), **job.read("sourceCodeLocation", _code, {})},
        "params": dag.pop("params", {}),
        "config": dag.pop("config", {}),
        "env": {**run.read("processing_engine", _engine, {}), **run.read("environmentVariables", _variables, {})},
        "job": {
            "owner": owner,
            "tags": job.read("tags", _tags, None),
            "documentation": job.read("documentation", _documentation, None),
        },
    }
    told = {space: {name: value for name, value in of.items() if value is not None} for space, of in facts.items()}
    return read_run_facts({space: of for space, of in told.items() if of})


def read_owner(facet: Node) -> str | None:
    """The owners of a job, the first ones of many."""
    names = [owner.text("name", most=200) for owner in facet.nodes("owners", most=10)]
    return ", ".join(dict.fromkeys(filter(None, names))) or None


def read_error(facet: Node) -> PartError | None:
    message, trace = facet.text("message", most=MESSAGE), facet.raw_text("stackTrace")
    trace = plain(trace[-TRACE:], TRACE) if trace else ""
    return PartError(message=message or "", trace=trace) if message or trace else None


def kept_of(facets: Mapping[str, Any]) -> dict[str, Any]:
    """The facets that nobody here reads, as far as there is room for them."""
    kept: dict[str, Any] = {}
    room = KEPT
    for name, facet in list(facets.items())[:MOST_KEPT]:
        size = len(msgspec.json.encode(facet))
        if size <= room and _is_shallow(facet, DEEPEST):
            kept |= read_run_facts({name: facet})
            room -= size
    return kept


def _is_shallow(value: Any, depth: int) -> bool:
    if depth == 0:
        return False
    if isinstance(value, dict):
        return all(_is_shallow(one, depth - 1) for one in value.values())
    return all(_is_shallow(one, depth - 1) for one in value) if isinstance(value, list) else True


def _of_dag(facet: Node) -> dict[str, Any]:
    dag = facet.node("dag") or Node({}, facet.at("dag"))
    run = facet.node("dagRun") or Node({}, facet.at("dagRun"))
    number = run.count("dag_version_number")
    bundle = run.text("dag_bundle_version", most=200)
    code = {
        "version": bundle or (str(number) if number is not None else None),
        "definition_version": number if bundle else None,
        "bundle": run.text("dag_bundle_name", most=200),
        "file": dag.text("fileloc"),
    }
    conf = run.get("conf")
    return {
        "code": code,
        "params": conf if isinstance(conf, dict) else {},
        "config": {"schedule": dag.text("timetable_summary", most=500) or _plain_schedule(dag)},
        "owner": dag.text("owner", most=200),
    }


def _plain_schedule(dag: Node) -> str | None:
    """The schedule as Airflow 2 tells it, where that is words."""
    return dag.text("schedule_interval", most=500) if isinstance(dag.get("schedule_interval"), str) else None


def _code(facet: Node) -> dict[str, Any]:
    told = {
        "version": facet.text("version", most=200),
        "branch": facet.text("branch", most=200) or facet.text("tag", most=200),
        "url": facet.text("url") or facet.text("repoUrl"),
        "file": facet.text("path"),
    }
    return {name: value for name, value in told.items() if value is not None}


def _engine(facet: Node) -> dict[str, Any]:
    name = (facet.text("name", most=80) or "engine").lower()
    adapter = facet.text("openlineageAdapterVersion", most=80)
    return {name: facet.text("version", most=200), **({"openlineage_adapter": adapter} if adapter else {})}


def _variables(facet: Node) -> dict[str, Any]:
    found = [(one.text("name", most=200), one.get("value")) for one in facet.nodes("environmentVariables", most=200)]
    return {name: value for name, value in found if name}


def _tags(facet: Node) -> list[str] | None:
    tags = []
    for tag in facet.nodes("tags", most=MOST_TAGS):
        key, value = tag.text("key", most=200), tag.text("value", most=200)
        if key:
            tags.append(key if value in (None, key, "true") else f"{key}={value}")
    return tags or None


def _documentation(facet: Node) -> str | None:
    return facet.text("description", most=500)
