"""Characters that a person does not see, or that show something else than what was written. Pure; one character at a time."""

import unicodedata

_OVERRIDES = frozenset("\u202a\u202b\u202d\u202e\u202c\u2066\u2067\u2068\u2069")
_BLANK_LETTERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\u00ad\ufe0e\ufe0f")


def unseen(character: str) -> bool:
    """Whether a person sees nothing where it stands: blanks and invisible characters, overrides of direction aside."""
    if character.isspace() or character in _BLANK_LETTERS:
        return True
    return unicodedata.category(character) == "Cf" and character not in _OVERRIDES


def trimmed(line: str) -> str:
    """The line without unseen characters at its ends."""
    start, end = 0, len(line)
    while start < end and unseen(line[start]):
        start += 1
    while end > start and unseen(line[end - 1]):
        end -= 1
    return line[start:end]


def plain(line: str) -> str:
    """The line without any invisible character or override, blanks collapsed: for comparing, never for acting."""
    if line.isascii() and line.isprintable():
        return " ".join(line.split())
    seen = ("" if unicodedata.category(one) in ("Cf", "Cc") and not one.isspace() else one for one in line)
    return " ".join("".join(seen).split())


def deceives(line: str) -> bool:
    """Whether the line holds control characters, overrides of direction or what could not be decoded."""
    return any(
        one in _OVERRIDES or one == "\ufffd" or (one != "\t" and unicodedata.category(one) in ("Cc", "Cs"))
        for one in line
    )
