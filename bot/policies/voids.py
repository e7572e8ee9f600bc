"""Tells which safe marks of a file count for nothing, and why. The file is good all the same: such a mark licenses nothing."""

from collections.abc import Iterator

from bot.incidents.policy import SafeMark
from bot.policies.building import weighed
from bot.policies.findings import problem_at
from bot.policies.layers import Layer
from bot.policies.model import Policies
from bot.policies.problems import Problem


def void_marks(policies: Policies) -> tuple[Problem, ...]:
    """A warning for each mark that its own team cannot give, and for each that a declared job of another team gets."""
    told: dict[tuple[Layer, SafeMark], Problem] = {}
    for layer in policies.layers.everything():
        for mark in _marks(layer):
            if void := weighed(mark, policies.team(mark.team)).void:
                told[layer, mark] = _warning(layer, mark, void)
    moved: list[Problem] = []
    for job in policies.declared_jobs():
        marking = [layer for layer in policies.layers.of(job) if "safe_to_retry" in layer.settings]
        for mark, held in zip(_marks(marking[-1]) if marking else (), policies.job(job).safe_marks, strict=False):
            if held.void and (marking[-1], mark) not in told:
                moved.append(_warning(marking[-1], mark, f"for {job}, {held.void}"))
    return tuple(sorted([*told.values(), *moved]))


def _marks(layer: Layer) -> Iterator[SafeMark]:
    yield from layer.settings.get("safe_to_retry") or ()


def _warning(layer: Layer, mark: SafeMark, void: str) -> Problem:
    message = f"the mark of {mark.cause} counts for nothing: {void}"
    if layer.node is None:
        return Problem(line=1, column=1, path=layer.origin, message=message)
    found = problem_at(layer.node, ("safe_to_retry",), message, key=True)
    return Problem(line=found.line, column=found.column, path=f"{layer.origin}.{found.path}", message=message)
