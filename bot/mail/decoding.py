"""A text part's bytes as text: transfer encoding, charset, flowed lines. It reads no markup."""

import binascii
import codecs
import re
from dataclasses import dataclass

from bot.mail.raw import Entity, parameters

MOST_TEXT_BYTES = 4 * 1024 * 1024

_BLANKS = b" \t\r\n"
_KNOWN = re.compile(
    r"ascii|utf-?_?(8(-sig|_sig)?|16|32)([-_](le|be))?|iso8859[-_].*|iso2022.*|cp\d+|koi8.*|gb\d*k?|big5.*|euc.*"
    r"|shift_?jis.*|mac.*|tis[-_]620|johab|kz1048|ptcp154"
)
_MAINFRAME = frozenset({"cp037", "cp273", "cp424", "cp500", "cp875", "cp1026", "cp1140"})
_GUESSED = frozenset({"ascii", "utf-8"})


class Unreadable(Exception):
    """What was written cannot be known for sure; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart:
    """A text part as text; `cut`: the mail ended inside of it."""

    text: str
    cut: bool = False


def decoded(part: Entity, *, cut: bool = False) -> TextPart:
    """The text of the part. Raises Unreadable."""
    _, asked = parameters(part.headers.first("content-type"))
    data = _plain_bytes(part)
    text = _as_text(data, asked.get("charset", ""))
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if asked.get("format", "").lower() == "flowed":
        text = _unflowed(text, joined=asked.get("delsp", "").lower() == "yes")
    return TextPart(text=text, cut=cut and not text.endswith("\n"))


def transfer_encoding(part: Entity) -> str:
    """The one transfer encoding of the part. Raises Unreadable where two differ."""
    named = {parameters(value)[0] for value in part.headers.all("content-transfer-encoding")}
    if len(named) > 1:
        raise Unreadable("the mail names two transfer encodings")
    return next(iter(named), "")


def _plain_bytes(part: Entity) -> bytes:
    if len(part.body) > MOST_TEXT_BYTES:
        raise Unreadable("the text of the mail is too long")
    match transfer_encoding(part):
        case "" | "7bit" | "8bit" | "binary":
            return part.body
        case "quoted-printable":
            return binascii.a2b_qp(part.body)
        case "base64":
            try:
                return binascii.a2b_base64(part.body.translate(None, _BLANKS), strict_mode=True)
            except binascii.Error as failed:
                raise Unreadable("the text of the mail is damaged (base64)") from failed
        case other:
            raise Unreadable(f"the mail is in a transfer encoding that is not read here ({other[:40]!a})")


def _as_text(data: bytes, charset: str) -> str:
    name = _codec(charset.strip().strip("'\""))
    for codec in dict.fromkeys((name, "utf-8")):
        try:
            return data.decode(codec)
        except (UnicodeError, LookupError):
            continue
    if name not in _GUESSED:
        return data.decode(name, "replace")
    try:
        return data.decode("cp1252")
    except UnicodeError:
        return data.decode("latin-1")


def _codec(charset: str) -> str:
    """Python's name of the charset; one that mail clients do not write is refused, an unheard-of one is guessed."""
    if not charset or len(charset) > 60 or not charset.isascii() or "\0" in charset:
        return "utf-8"
    try:
        name = codecs.lookup(charset).name
    except (LookupError, ValueError):
        return "utf-8"
    if not _KNOWN.fullmatch(name) or name in _MAINFRAME:
        raise Unreadable(f"the mail is in a charset that no mail client writes ({name})")
    return name


def _unflowed(text: str, *, joined: bool) -> str:
    """Paragraphs of format=flowed on one line each; `joined`: the blank before a soft break goes with it."""
    lines: list[str] = []
    open_: list[str] = []
    depth = 0
    for line in text.split("\n"):
        content = line.lstrip(">")
        here = len(line) - len(content)
        content = content.removeprefix(" ")
        signature = content in ("-- ", "--")
        if open_ and (here != depth or signature):
            lines.append(_marked(open_, depth))
            open_ = []
        depth = here
        soft = content.endswith(" ") and not signature and bool(content.strip())
        open_.append(content[:-1] if soft and joined else content)
        if not soft:
            lines.append(_marked(open_, depth))
            open_ = []
    if open_:
        lines.append(_marked(open_, depth))
    return "\n".join(lines)


def _marked(pieces: list[str], depth: int) -> str:
    text = "".join(pieces)
    return f"{'>' * depth} {text}" if depth else text
