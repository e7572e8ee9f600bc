"""Turns nodes into plain values, with `${NAME}` taken from the environment. It checks no value.

`${NAME}` stands for a secret: a value from the environment keeps what was written, so that no message quotes it.
Commands and cause rules are left as they are, since a shell and a pattern have their own use for `${`.
"""

import re
from collections.abc import Mapping
from functools import reduce
from typing import Any

from bot.policies.nodes import Node
from bot.policies.problems import Problem, did_you_mean

_VARIABLE = re.compile(r"\$\{([^}]{0,200})\}?")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
Steps = tuple[str | int, ...]
"""The way to a value: keys and indices."""

_LEFT_ALONE = {"command", "causes"}


class Expanded(str):
    """A text with something from the environment in it; `written` is how the file has it."""

    __slots__ = ("written",)
    written: str

    def __new__(cls, value: str, *, written: str) -> "Expanded":
        made = super().__new__(cls, value)
        made.written = written
        return made


def plain_values(root: Node, *, env: Mapping[str, str]) -> tuple[Any, list[Problem]]:
    """The tree as dicts, lists and scalars, and the variables that are missing."""
    reader = _Reader(env)
    return reader.plain(root, (), expand=True), reader.problems


class _Reader:
    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self.problems: list[Problem] = []

    def plain(self, node: Node, steps: Steps, *, expand: bool) -> Any:
        value = node.value
        if isinstance(value, dict):
            return {
                name: self.plain(entry.node, (*steps, name), expand=expand and name not in _LEFT_ALONE)
                for name, entry in value.items()
            }
        if isinstance(value, tuple):
            return [self.plain(item, (*steps, at), expand=expand) for at, item in enumerate(value)]
        if expand and isinstance(value, str) and "${" in value:
            return self._expanded(node, value, reduce(path_to, steps, ""))
        return value

    def _expanded(self, node: Node, written: str, path: str) -> str:
        missing: list[tuple[str, str | None]] = []

        def one(found: re.Match[str]) -> str:
            name = found[1]
            if not _NAME.fullmatch(name) or not found[0].endswith("}"):
                missing.append((f"{found[0][:60]} is not a name in the environment", "only ${NAME} is understood"))
            elif not self._env.get(name):
                unset = f"{name[:60]} is {'empty' if name in self._env else 'not set'} in the environment"
                missing.append((unset, did_you_mean(name, (each for each in self._env if self._env[each]))))
            else:
                return self._env[name]
            return found[0]

        made = _VARIABLE.sub(one, written)
        self.problems += (
            Problem(line=node.line, column=node.column, path=path, message=message, hint=hint)
            for message, hint in missing
        )
        return Expanded(made, written=written)


def path_to(path: str, step: str | int) -> str:
    """`path` with one more key or index."""
    if isinstance(step, int):
        return f"{path}[{step}]"
    name = step if re.fullmatch(r"[\w-]{1,60}", step) else f'"{step[:60]}"'
    return f"{path}.{name}" if path else name
