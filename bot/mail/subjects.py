"""A subject's beginning as text. It never raises and decodes no more than a person would look at."""

import binascii
import re

MOST = 2_000

_WORD = re.compile(r"=\?([\w.+-]{1,40})(?:\*[\w-]*)?\?([bqBQ])\?([^?\s]{0,400})\?=(?:\s+(?==\?))?")


def decoded_subject(value: str) -> str:
    """The first characters of a subject, encoded words decoded, control characters as blanks."""
    told = _WORD.sub(_decoded, value[:MOST])
    return "".join(one if one.isprintable() else " " for one in told)


def _decoded(found: re.Match[str]) -> str:
    charset, how, text = found[1], found[2].lower(), found[3]
    try:
        if how == "b":
            data = binascii.a2b_base64(text + "=" * (-len(text) % 4))
        else:
            data = binascii.a2b_qp(text.encode("ascii", "replace"), header=True)
        return data.decode(charset, "replace")
    except (binascii.Error, LookupError, UnicodeError, ValueError):
        return found[0]
