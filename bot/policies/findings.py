"""Gives every error that the shapes report its place in the file and words for people. It checks nothing itself."""

from collections.abc import Iterator, Mapping
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from bot.policies.nodes import Node
from bot.policies.problems import Problem, nearest
from bot.policies.readings import quoted
from bot.policies.scheduler_shapes import SCHEDULER_TYPES
from bot.policies.shapes import PoliciesShape
from bot.policies.strict import kind_of
from bot.policies.values import Steps, path_to

_EXPECTED = {
    "string_type": "a text",
    "list_type": "a list",
    "dict_type": "a map",
    "model_type": "a map",
    "model_attributes_type": "a map",
}


def problem_at(root: Node, steps: Steps, message: str, hint: str | None = None, *, key: bool = False) -> Problem:
    """A problem at the value that `steps` lead to, or at its key; where a step leads nowhere, at the last that does.

    Steps that pydantic adds for its own unions are no keys of the file, and are passed over.
    """
    node, path = root, ""
    line, column = root.line, root.column
    place = (line, column)
    for at, step in enumerate(steps):
        last = at == len(steps) - 1
        if isinstance(node.value, dict) and isinstance(step, str) and step in node.value:
            entry = node.value[step]
            node, place = entry.node, (entry.line, entry.column)
            line, column = place if key and last else (node.line, node.column)
        elif isinstance(node.value, tuple) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            place = line, column = node.line, node.column
        else:
            line, column = place
            continue
        path = path_to(path, step)
    return Problem(line=line, column=column, path=path, message=message, hint=hint)


def shape_problems(root: Node, failed: ValidationError) -> Iterator[Problem]:
    """One problem for each error of the shapes."""
    for detail in failed.errors(include_url=False):
        yield _problem(root, detail, _file_steps(root, detail["loc"]))


def _file_steps(root: Node, loc: Steps) -> Steps:
    """`loc` without the scheduler's type, which pydantic adds after its name."""
    return loc[:2] + loc[3:] if loc[:1] == ("schedulers",) and len(loc) > 2 else loc


def _problem(root: Node, detail: ErrorDetails, steps: Steps) -> Problem:
    kind, value = detail["type"], detail.get("input")
    context: Mapping[str, Any] = detail.get("ctx") or {}
    match kind:
        case "ontrack":
            return problem_at(root, steps, context["message"], context["hint"])
        case "extra_forbidden":
            known = _known_keys(detail["loc"][:-1])
            return problem_at(root, steps, f"unknown key {quoted(steps[-1])}", nearest(str(steps[-1]), known), key=True)
        case "missing":
            return problem_at(root, steps, f"{steps[-1]} is missing", key=True)
        case "too_short":
            return problem_at(root, steps, "must not be empty")
        case "union_tag_not_found":
            if isinstance(value, dict):
                return problem_at(root, (*steps, "type"), "type is missing", f"one of {', '.join(SCHEDULER_TYPES)}")
            return problem_at(root, steps, f"expected a map, got {kind_of(value)}")
        case "union_tag_invalid":
            named = value.get("type") if isinstance(value, dict) else value
            message = f"{quoted(named)} is not a type of scheduler"
            return problem_at(root, (*steps, "type"), message, nearest(str(named), SCHEDULER_TYPES))
        case _ if kind in _EXPECTED:
            return problem_at(root, steps, f"expected {_EXPECTED[kind]}, got {kind_of(value)}")
        case _:
            return problem_at(root, steps, detail["msg"])


def _known_keys(loc: Steps) -> set[str]:
    """The keys that the map at `loc` takes."""
    shapes = [PoliciesShape]
    for at, step in enumerate(loc):
        if at == 2 and loc[0] == "schedulers":
            shapes = [shape for shape in shapes if _tag(shape) == step]
        else:
            shapes = [each for shape in shapes for each in _below(shape, step)] or shapes
    return {field.alias or name for shape in shapes if _is_shape(shape) for name, field in shape.model_fields.items()}


def _below(shape: Any, step: str | int) -> Iterator[Any]:
    if _is_shape(shape):
        fields = {field.alias or name: field.annotation for name, field in shape.model_fields.items()}
        yield from _alternatives(fields.get(str(step)))
    elif get_origin(shape) is dict:
        yield from _alternatives(get_args(shape)[1])
    elif get_origin(shape) is list and isinstance(step, int):
        yield from _alternatives(get_args(shape)[0])


def _alternatives(annotation: Any) -> Iterator[Any]:
    """The types that `annotation` allows, without what is wrapped around them."""
    if get_origin(annotation) is Annotated:
        yield from _alternatives(get_args(annotation)[0])
    elif get_origin(annotation) in (Union, UnionType):
        for each in get_args(annotation):
            yield from _alternatives(each)
    elif annotation is not None:
        yield annotation


def _is_shape(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _tag(shape: Any) -> str | None:
    """The type of scheduler that `shape` is for."""
    field = shape.model_fields.get("type")
    return get_args(field.annotation)[0] if field else None
