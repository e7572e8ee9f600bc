"""Reads YAML into a tree of nodes that know their line and column. It knows nothing of policies.

Scalars follow YAML 1.2's core rules, so that `18:00`, `off` and `2026-11-02` stay texts; tags are refused. Size, depth
and what aliases may unfold to are bounded: the text may come from anywhere.
"""

import re
from collections.abc import Mapping
from itertools import chain
from math import isfinite
from typing import Any, NamedTuple

import yaml

from bot.policies.problems import Problem

MAX_BYTES = 5 * 1024 * 1024
MAX_DEPTH = 32
MAX_NODES = 1_000_000

_UNPRINTABLE = re.compile(r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LINE_BREAK = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})")
_FLOAT = re.compile(r"[-+]?(?:[0-9]{1,30}\.[0-9]{0,30}|\.[0-9]{1,30}|[0-9]{1,30})(?:[eE][-+]?[0-9]{1,4})?")
_CONSTANTS = {"": None, "~": None, "null": None, "true": True, "false": False}
_PLAIN_TAGS = {None, "!", "tag:yaml.org,2002:str", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"}

Scalar = str | int | float | bool | None


class Node(NamedTuple):
    """A value at its place. `text` is a scalar as written; `size` and `depth` count what is below, aliases unfolded."""

    line: int
    column: int
    value: "Scalar | tuple[Node, ...] | Mapping[str, Entry]"
    text: str = ""
    size: int = 1
    depth: int = 0


class Entry(NamedTuple):
    """A key of a map at its place, and the node that it names."""

    line: int
    column: int
    node: Node


class _Unreadable(Exception):
    def __init__(self, mark: Any, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.problem = Problem(line=mark.line + 1, column=mark.column + 1, path="", message=message, hint=hint)


class _Frame:
    """A list or a map that has begun and not yet ended."""

    __slots__ = ("anchor", "entries", "is_map", "items", "key", "mark", "merged")

    def __init__(self, *, is_map: bool, mark: Any, anchor: str | None) -> None:
        self.is_map, self.mark, self.anchor = is_map, mark, anchor
        self.key: tuple[str, int, int] | None = None
        self.items: list[Node] = []
        self.entries: dict[str, Entry] = {}
        self.merged: list[Node] = []


def read_nodes(text: str) -> tuple[Node | None, list[Problem]]:
    """The tree of the one document in `text` and what is wrong with it; no tree when it cannot be read at all."""
    text = text.removeprefix("\ufeff")
    if too_big := size_problem(len(text)):
        return None, [too_big]
    if bad := _UNPRINTABLE.search(text):
        line, column = _position(text, bad.start())
        return None, [
            Problem(line=line, column=column, path="", message=f"character U+{ord(bad[0]):04X} is not allowed")
        ]
    if too_big := size_problem(len(text.encode())):
        return None, [too_big]
    tree = _Tree()
    try:
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            tree.take(event)
    except _Unreadable as broken:
        return None, [*tree.problems, broken.problem]
    except yaml.MarkedYAMLError as broken:
        return None, [*tree.problems, _syntax_problem(broken, text)]
    if tree.root is None:
        return None, [Problem(line=1, column=1, path="", message="the file is empty", hint="it starts with version: 1")]
    return tree.root, tree.problems


def size_problem(size: int) -> Problem | None:
    """The problem of a file that is too big, if it is."""
    if size <= MAX_BYTES:
        return None
    return Problem(line=1, column=1, path="", message=f"the file is larger than {MAX_BYTES // 1024**2} MiB")


class _Tree:
    """Builds nodes bottom-up from the parser's events, without recursion."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.root: Node | None = None
        self._stack: list[_Frame] = []
        self._anchors: dict[str, Node] = {}
        self._size = 0
        self._documents = 0

    def take(self, event: yaml.Event) -> None:
        match event:
            case yaml.ScalarEvent():
                self._scalar(event)
            case yaml.CollectionStartEvent():
                self._begin(event)
            case yaml.CollectionEndEvent():
                self._end()
            case yaml.AliasEvent():
                self._alias(event)
            case yaml.DocumentStartEvent():
                self._documents += 1
                if self._documents > 1:
                    raise _Unreadable(event.start_mark, "a second document begins here", "one file holds one document")
            case _:
                pass

    def _alias(self, event: yaml.AliasEvent) -> None:
        name, mark = str(event.anchor), _mark(event)
        if (node := self._anchors.get(name)) is None:
            raise _Unreadable(mark, f"*{_short(name)} has no anchor before it")
        self._add(node._replace(line=mark.line + 1, column=mark.column + 1), mark)

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        mark, text = _mark(event), event.value
        frame = self._stack[-1] if self._stack else None
        _check_tag(event)
        if frame is not None and frame.is_map and frame.key is None:
            frame.key = (text, mark.line + 1, mark.column + 1)
            if event.anchor:
                self._anchors[event.anchor] = Node(mark.line + 1, mark.column + 1, text, text)
            return
        value = _resolve(text) if event.implicit[0] else text
        node = Node(mark.line + 1, mark.column + 1, value, text)
        if event.anchor:
            self._anchors[event.anchor] = node
        self._add(node, mark)

    def _begin(self, event: yaml.CollectionStartEvent) -> None:
        mark = _mark(event)
        _check_tag(event)
        frame = self._stack[-1] if self._stack else None
        if frame is not None and frame.is_map and frame.key is None:
            raise _Unreadable(mark, "a key must be a text, not a list or a map", "quote ${NAME} and {...}")
        if len(self._stack) >= MAX_DEPTH:
            raise _Unreadable(mark, f"nested deeper than {MAX_DEPTH} levels")
        is_map = isinstance(event, yaml.MappingStartEvent)
        self._stack.append(_Frame(is_map=is_map, mark=mark, anchor=event.anchor))

    def _end(self) -> None:
        frame = self._stack.pop()
        for name, entry in chain.from_iterable(
            node.value.items() for node in frame.merged if isinstance(node.value, dict)
        ):
            frame.entries.setdefault(name, entry)
        below = frame.items if not frame.is_map else [entry.node for entry in frame.entries.values()]
        node = Node(
            frame.mark.line + 1,
            frame.mark.column + 1,
            frame.entries if frame.is_map else tuple(frame.items),
            size=1 + sum(child.size for child in below),
            depth=1 + max((child.depth for child in below), default=0),
        )
        if frame.anchor:
            self._anchors[frame.anchor] = node
        self._add(node, frame.mark)

    def _add(self, node: Node, mark: Any) -> None:
        self._size += 1
        if node.size > MAX_NODES or self._size > MAX_NODES:
            raise _Unreadable(mark, f"more than {MAX_NODES:,} values, aliases unfolded")
        if node.depth > MAX_DEPTH:
            raise _Unreadable(mark, f"nested deeper than {MAX_DEPTH} levels, aliases unfolded")
        if not self._stack:
            self.root = node
            return
        frame = self._stack[-1]
        if not frame.is_map:
            frame.items.append(node)
            return
        if frame.key is None:
            raise _Unreadable(mark, "a key must be a text, not an alias")
        (name, line, column), frame.key = frame.key, None
        if name == "<<":
            frame.merged += self._merged(node, mark)
        elif name in frame.entries:
            first = frame.entries[name].line
            message = f"the key {_short(name)} stands twice in this map"
            self.problems.append(
                Problem(line=line, column=column, path="", message=message, hint=f"first on line {first}")
            )
        else:
            frame.entries[name] = Entry(line, column, node)

    def _merged(self, node: Node, mark: Any) -> tuple[Node, ...]:
        nodes = node.value if isinstance(node.value, tuple) else (node,)
        if not all(isinstance(each.value, dict) for each in nodes):
            raise _Unreadable(mark, "<< takes a map or a list of maps")
        return nodes


def _resolve(text: str) -> Scalar:
    if text[:1].isalpha() or text.lower() in _CONSTANTS:
        return _CONSTANTS.get(text.lower(), text)
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text) and not re.fullmatch(r"[-+]?\d+", text) and isfinite(number := float(text)):
        return number
    return text


def _mark(event: yaml.Event) -> Any:
    return event.start_mark


def _check_tag(event: Any) -> None:
    if event.tag not in _PLAIN_TAGS:
        raise _Unreadable(event.start_mark, f"the tag {_short(event.tag)} is not used here", "leave it out")


def _syntax_problem(broken: yaml.MarkedYAMLError, text: str) -> Problem:
    mark = broken.problem_mark or broken.context_mark
    message = ", ".join(part for part in (broken.problem, broken.context) if part) or "not readable"
    hint = "YAML indents with spaces, not with tabs" if "cannot start any token" in message else None
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    if re.search(r"[:,\[{] *\$\{", "".join(text.splitlines()[line - 1 : line])):
        hint = 'put ${NAME} in quotes: "${NAME}"'
    return Problem(line=line, column=column, path="", message=f"not valid YAML: {message}", hint=hint)


def _position(text: str, offset: int) -> tuple[int, int]:
    breaks = [found.end() for found in _LINE_BREAK.finditer(text, 0, offset)]
    return len(breaks) + 1, offset - (breaks[-1] if breaks else 0) + 1


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
