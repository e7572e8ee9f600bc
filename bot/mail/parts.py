"""The parts of a message: which text speaks, and what else is there. It walks without recursion, capped in depth and number."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from bot.mail.raw import Entity, parameters, split_entity

DEEPEST = 20
MOST_PARTS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part that holds no others. `alternative`: the multipart/alternative that it is a version of; `cut`: the mail ends in it."""

    entity: Entity
    kind: str
    attached: bool
    alternative: int | None
    cut: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a message holds, in order. `kinds`: every content type met; `whole`: no cap was hit."""

    leaves: tuple[Part, ...]
    kinds: tuple[str, ...]
    whole: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Open:
    entity: Entity
    depth: int = 0
    alternative: int | None = None
    default: str = "text/plain"
    cut: bool = False


def parts_of(message: Entity) -> Parts:
    """Walk the message, first part first; what is attached as a message is not entered."""
    waiting = [_Open(entity=message)]
    leaves: list[Part] = []
    kinds: list[str] = []
    whole = True
    while waiting:
        here = waiting.pop()
        kind, asked = _kind(here)
        kinds.append(kind)
        if len(kinds) > MOST_PARTS or here.depth > DEEPEST:
            whole = False
            break
        if not kind.startswith("multipart/"):
            attached = _attached(here.entity)
            leaves.append(
                Part(entity=here.entity, kind=kind, attached=attached, alternative=here.alternative, cut=here.cut)
            )
            continue
        family = len(kinds) if kind == "multipart/alternative" else here.alternative
        default = "message/rfc822" if kind == "multipart/digest" else "text/plain"
        children = [
            _Open(entity=split_entity(body), depth=here.depth + 1, alternative=family, default=default, cut=cut)
            for body, cut in _children(here.entity.body, asked.get("boundary", ""))
        ]
        waiting.extend(reversed(children))
    return Parts(leaves=tuple(leaves), kinds=tuple(kinds), whole=whole)


def _kind(here: _Open) -> tuple[str, dict[str, str]]:
    kind, asked = parameters(here.entity.headers.first("content-type"))
    return (kind if "/" in kind else here.default), asked


def _attached(part: Entity) -> bool:
    """Whether the part is a file beside the text: the text itself has no name."""
    how, asked = parameters(part.headers.first("content-disposition"))
    return how == "attachment" or "filename" in asked


def _children(body: bytes, boundary: str) -> Iterator[tuple[bytes, bool]]:
    """The bodies between the boundary lines, one more than may be walked at most, each with whether the mail ends in it."""
    if not boundary or len(boundary) > 200:
        return
    mark = re.escape(b"--" + boundary.encode("utf-8", "surrogateescape"))
    delimiter = re.compile(rb"(?:^|(?<=\n))" + mark + rb"(--)?[ \t]*\r?(?:\n|\Z)")
    begins: int | None = None
    for number, found in enumerate(delimiter.finditer(body)):
        if begins is not None:
            yield _without_end(body[begins : found.start()]), False
        if found[1] or number > MOST_PARTS:
            return
        begins = found.end()
    if begins is not None:
        yield body[begins:], True


def _without_end(body: bytes) -> bytes:
    return body.removesuffix(b"\n").removesuffix(b"\r")
