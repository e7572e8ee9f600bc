"""What a style lets a person see: hidden, struck through, in the colour of its ground. It knows no markup but styles."""

import re

WHITE = "ffffff"
LONGEST_SHEET = 50_000
LEAST_CONTRAST = 16

_HIDES = re.compile(
    r"(?:^|;)(?:display:none|visibility:(?:hidden|collapse)|mso-hide:all|opacity:0?(?:0|\.0\d*)(?=;|%|$|!)"
    r"|font-size:(?:0(?:px|pt|em|rem|%)?|0?\.\d+(?:px|pt)|1(?:px|pt))(?=;|$|!)"
    r"|(?:max-|line-)?(?:height|width):(?:0(?:px|pt|em|%)?|1px)(?=;|$|!)|text-indent:-\d{3,}|(?:left|top|right):-\d{3,}"
    r"|clip:rect\(0|clip-path:inset\((?:50|100)%|transform:scale\(0\))"
)
_COLOUR = re.compile(r"(?:^|;)color:([^;!]+)")
_GROUND = re.compile(r"(?:^|;)background(?:-color)?:([^;!]+)")
_RGB = re.compile(r"rgba?\((\d{1,3}),(\d{1,3}),(\d{1,3})(?:,([\d.]+))?\)")
_HEX = re.compile(r"#([0-9a-f]{3}|[0-9a-f]{6})(?![0-9a-f])")
_NAMED = {"white": WHITE, "black": "000000", "red": "ff0000", "gray": "808080", "grey": "808080", "silver": "c0c0c0"}
_CLASS = re.compile(r"\.([\w-]{1,80})$")


def tidy(style: str) -> str:
    """A style without blanks and comments, in lower case."""
    kept, comment, rest = style[:4_000].partition("/*")
    while comment:
        more, comment, rest = rest.partition("*/")[2].partition("/*")
        kept += more
    return "".join(kept.lower().split())


def hides(style: str) -> bool:
    """Whether a tidy style lets nothing be seen."""
    return bool(_HIDES.search(style))


def strikes(style: str) -> bool:
    """Whether a tidy style draws a line through the text."""
    return "line-through" in style


def turns(style: str) -> bool:
    """Whether a tidy style shows the letters in another order than they are written."""
    return "bidi-override" in style or "isolate-override" in style


def hardly_differ(colour: str, ground: str) -> bool:
    """Whether a text of that colour cannot be told from its ground."""
    if not colour or not ground:
        return not colour
    pairs = ((int(colour[at : at + 2], 16), int(ground[at : at + 2], 16)) for at in (0, 2, 4))
    return all(abs(one - other) < LEAST_CONTRAST for one, other in pairs)


def colour_of(style: str) -> str | None:
    """The text's colour as six hex digits, `""` where it is transparent, None where the tidy style names none."""
    found = _COLOUR.search(style)
    return named_colour(found[1]) if found else None


def ground_of(style: str) -> str | None:
    """The colour behind the text, None where the tidy style names none."""
    found = _GROUND.search(style)
    return named_colour(found[1]) if found else None


def named_colour(text: str) -> str | None:
    """A colour as HTML and CSS write it, as six hex digits; `""` is transparent, None cannot be told."""
    text = text.strip().lower()
    if text.startswith("transparent"):
        return ""
    if found := _HEX.search(text):
        digits = found[1]
        return digits if len(digits) == 6 else "".join(digit * 2 for digit in digits)
    if found := _RGB.search(text):
        if found[4] is not None and found[4].strip("0.") == "":
            return ""
        return "".join(f"{min(int(part), 255):02x}" for part in found.group(1, 2, 3))
    return next((code for name, code in _NAMED.items() if text.startswith(name)), None)


def hiding_classes(sheet: str) -> frozenset[str]:
    """The classes that a style sheet hides."""
    found: set[str] = set()
    for rule in sheet[:LONGEST_SHEET].split("}"):
        selectors, brace, body = rule.rpartition("{")
        if brace and hides(tidy(body)):
            chosen = selectors.rpartition("{")[2].split(",")
            found |= {name[1].lower() for one in chosen if (name := _CLASS.search(one[-100:].rstrip()))}
    return frozenset(found)
