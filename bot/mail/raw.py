"""A message as bytes: its header lines and its body, split in linear time. It decodes nothing."""

import re
from dataclasses import dataclass

MOST_HEADER_BYTES = 4 * 1024 * 1024
MOST_HEADERS = 2_000

_LINE = re.compile(rb"([^\n]*)(\n|$)")
_FIELD = re.compile(rb"([!-9;-~]{1,200})[ \t]*:(.*)", re.DOTALL)
_TOKEN = re.compile(r'\\.|[\\"()]|[^\\"()]+', re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Headers:
    """Header fields in their order, names in lower case, values unfolded and otherwise as they were sent."""

    fields: tuple[tuple[str, str], ...]

    def all(self, *names: str) -> tuple[str, ...]:
        """The values of every field of these names, top down."""
        return tuple(value for name, value in self.fields if name in names)

    def first(self, name: str) -> str:
        """The topmost value, empty where there is no such field."""
        return next((value for found, value in self.fields if found == name), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """A message or a part of one."""

    headers: Headers
    body: bytes


def split_entity(raw: bytes) -> Entity:
    """Split at the first blank line; a line that is no header field ends the headers early and begins the body."""
    fields: list[tuple[bytes, list[bytes]]] = []
    at = 0
    while at < len(raw) and at < MOST_HEADER_BYTES:
        line = _LINE.match(raw, at)
        assert line is not None
        text = line[1].removesuffix(b"\r")
        if not text:
            at = line.end()
            break
        if text[:1] in b" \t" and fields:
            fields[-1][1].append(text)
        elif (field := _FIELD.fullmatch(text)) and len(fields) < MOST_HEADERS:
            fields.append((field[1], [field[2]]))
        elif not (text.startswith(b"From ") and not fields):
            break
        at = line.end()
    headers = tuple((name.decode("ascii").lower(), _text(b"".join(value))) for name, value in fields)
    return Entity(headers=Headers(fields=headers), body=raw[at:])


def bare(value: str, *, quoted: bool = False) -> str:
    """The value without comments, and without quoted strings unless they are `quoted` as they stand."""
    kept: list[str] = []
    depth, inside = 0, False
    for match in _TOKEN.finditer(value):
        token = match[0]
        if inside:
            inside = token != '"'
            if quoted:
                kept.append(token)
        elif token == '"' and depth == 0:
            inside = True
            kept.append(token if quoted else " ")
        elif token == "(":
            depth += 1
        elif token == ")" and depth:
            depth -= 1
            kept.append(" ")
        elif depth == 0:
            kept.append(token)
    return "".join(kept)


def parameters(value: str) -> tuple[str, dict[str, str]]:
    """The value of a structured field and its parameters: `text/plain; charset="utf-8"`."""
    head, *rest = split_semicolons(bare(value[:20_000], quoted=True))
    found: dict[str, str] = {}
    for one in rest:
        name, equals, given = one.partition("=")
        if equals:
            found.setdefault(name.strip().lower().removesuffix("*"), _unquoted(given.strip()))
    return head.strip().lower(), found


def split_semicolons(value: str) -> list[str]:
    """The pieces between semicolons that stand outside quoted strings."""
    pieces: list[list[str]] = [[]]
    inside = False
    for token in re.findall(r'\\.|[\\";]|[^\\";]+', value, re.DOTALL):
        if token == '"':
            inside = not inside
        if token == ";" and not inside:
            pieces.append([])
        else:
            pieces[-1].append(token)
    return ["".join(piece) for piece in pieces]


def _unquoted(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] == '"':
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text


def _text(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape").strip(" \t\r")
