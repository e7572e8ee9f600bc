"""Loads policies.yaml: text in, `Policies` or every error with its place out. It opens no file."""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from bot.policies.building import built_in, fallback_of, mail_of, settings_of, team_of
from bot.policies.causes import Causes, load_causes
from bot.policies.findings import shape_problems
from bot.policies.layers import Layer, Layers
from bot.policies.model import Policies
from bot.policies.names import name_problems
from bot.policies.nodes import Node, read_nodes
from bot.policies.problems import PolicyError, Problem
from bot.policies.relations import relation_problems
from bot.policies.shapes import PoliciesShape
from bot.policies.specs import scheduler_spec
from bot.policies.values import plain_values

SECTIONS = PoliciesShape.model_fields.keys() - {"version"}
"""The parts of the file that may be there with nothing in them."""


def load(text: str, *, env: Mapping[str, str]) -> Policies:
    """The policies in `text`, with `${NAME}` taken from `env`; raises `PolicyError` with all problems at once."""
    root, problems = read_nodes(text)
    if root is None:
        raise PolicyError(problems)
    raw, missing = plain_values(root, env=env)
    if not isinstance(raw, dict):
        raise PolicyError([Problem(line=root.line, column=root.column, path="", message="expected a map at the top")])
    problems += missing
    raw = {name: value for name, value in raw.items() if value is not None or name not in SECTIONS}
    shape: PoliciesShape | None = None
    try:
        shape = PoliciesShape.model_validate(raw)
    except ValidationError as failed:
        problems += shape_problems(root, failed)
    causes, rule_problems = load_causes(root, raw)
    problems += rule_problems
    problems += relation_problems(root, raw)
    problems += name_problems(root, raw, causes=causes)
    if problems or shape is None:
        raise PolicyError(problems)
    version = sha256(text.encode()).hexdigest()[:16]
    return _policies(shape, root, version=version, raw_causes=raw.get("causes") or [], causes=causes)


def check(text: str, *, env: Mapping[str, str]) -> tuple[Problem, ...]:
    """Every problem of the file in its order; none when `load` would take it."""
    try:
        load(text, env=env)
    except PolicyError as failed:
        return failed.problems
    return ()


def _policies(
    shape: PoliciesShape, root: Node, *, version: str, raw_causes: list[Mapping[str, Any]], causes: Causes
) -> Policies:
    teams = {name: team_of(name, each) for name, each in shape.teams.items()}
    return Policies(
        version=version,
        teams=MappingProxyType(teams),
        schedulers=MappingProxyType({name: scheduler_spec(name, each) for name, each in shape.schedulers.items()}),
        admins=tuple(shape.admins),
        fallback=fallback_of(shape.fallback),
        mail=mail_of(shape.mail),
        causes=tuple(raw_causes),
        rules=causes.company,
        rules_of_layers=MappingProxyType({_entry(at): rules for at, rules in causes.of_entries.items()}),
        layers=Layers(
            base=(Layer(origin="built in", settings=built_in()), *_mail(shape, root), *_defaults(shape, root)),
            teams={
                name: Layer(origin=f"teams.{name}", settings={"mode": team.mode}, node=_at(root, "teams", name))
                for name, team in teams.items()
                if team.mode is not None
            },
            declared=_declared(shape, root),
            jobs=(
                Layer(origin=_entry(at), settings=settings_of(entry), match=entry.match, node=_at(root, "jobs", at))
                for at, entry in enumerate(shape.jobs)
            ),
        ),
    )


def _defaults(shape: PoliciesShape, root: Node) -> Iterator[Layer]:
    if "defaults" in shape.model_fields_set:
        yield Layer(origin="defaults", settings=settings_of(shape.defaults), node=_at(root, "defaults"))


def _mail(shape: PoliciesShape, root: Node) -> Iterator[Layer]:
    """How answers by mail are taken: the same for all jobs."""
    if shape.mail.unproven is not None:
        yield Layer(origin="mail", settings={"mail": shape.mail.model_dump(exclude_unset=True)}, node=root)


def _declared(shape: PoliciesShape, root: Node) -> Iterator[Layer]:
    """What the declarations of local jobs say about policy: the rates that convert their run hours."""
    for name, scheduler in shape.schedulers.items():
        if scheduler.type != "local":
            continue
        for job, declared in scheduler.jobs.items():
            if declared.rate:
                yield Layer(
                    origin=f"schedulers.{name}.jobs.{job}",
                    settings={"rate": declared.rate},
                    match=f"{name}/{job}",
                    node=_at(root, "schedulers", name, "jobs", job),
                )


def _entry(at: int) -> str:
    return f"jobs[{at}]"


def _at(root: Node, *steps: str | int) -> Node:
    node: Any = root
    for step in steps:
        node = node.value[step].node if isinstance(step, str) else node.value[step]
    return node  # type: ignore[no-any-return]
