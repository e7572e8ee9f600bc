"""Turns any text into plain printable lines; it masks nothing and judges nothing."""

import re
import unicodedata
from functools import lru_cache

_ANSI = re.compile(
    r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b\n]{0,512}(?:\x07|\x1b\\)?|[PX^_][^\x1b\n]{0,512}\x1b\\|[ -/]{0,4}[0-~])?"
    r"|\x9b[0-?]{0,64}[ -/]{0,8}[@-~]"
)
_PLAIN = re.compile(r"[\n\t -~]*\Z")
_PRINTED = bytes((*range(0x20, 0x7F), 0x0A, 0x09))
_CHUNK = 256 * 1024
_GONE = {"Cc", "Cf", "Co", "Cn"}
_SPACE = {"Zs", "Zl", "Zp"}


def clean(text: str) -> str:
    """Return `text` without colours, controls, direction marks and broken characters; newlines and tabs stay."""
    if _PLAIN.match(text):
        return text
    text = text.replace("\r\n", "\n")
    if "\x1b" in text or "\x9b" in text:
        text = _ANSI.sub("", text)
    if "\r" in text:
        text = "\n".join(_last_drawn(line) if "\r" in line else line for line in text.split("\n"))
    unusual = {ord(one): plain for one in set(text) if (plain := _plain(one)) != one}
    return text.translate(unusual) if unusual else text


def cleaned(text: str) -> bytes:
    """Return `clean(text)` encoded, without ever holding two copies of a long text as characters."""
    if text.isascii():
        data = text.encode()
        if not data.translate(None, _PRINTED):
            return data
    parts: list[bytes] = []
    start = 0
    while start < len(text):
        end = text.find("\n", start + _CHUNK) + 1 or len(text)
        parts.append(clean(text[start:end]).encode())
        start = end
    return b"".join(parts)


def _last_drawn(line: str) -> str:
    """Return what a terminal would show last of a line that was drawn over."""
    end = len(line)
    while end > 0:
        start = line.rfind("\r", 0, end) + 1
        if line[start:end].strip():
            return line[start:end]
        end = start - 1
    return ""


@lru_cache(maxsize=4096)
def _plain(character: str) -> str:
    if character in "\n\t":
        return character
    category = unicodedata.category(character)
    if category in _GONE:
        return ""
    if category in _SPACE:
        return " "
    return "\N{REPLACEMENT CHARACTER}" if category == "Cs" else character
