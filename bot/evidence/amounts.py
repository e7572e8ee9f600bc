"""Writes sizes, durations and numbers so that people read them at a glance; it compares nothing."""

import re

_SIZE = re.compile(r"(?<![\w.,])(\d{5,18}) ?bytes\b")
_LIMIT = re.compile(r"(\b(?:limit|maximum|of|than|at|for) (?:is |of )?)(\d{6,18})(?![\w.,%]|\s{0,2}[A-Za-z]{1,6}\b)")
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")
_STEPS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k"))
_THOUSAND = 1e3


def readable_sizes(text: str) -> str:
    """Return `text` with counts of bytes told in a unit that fits, a limit beside one too."""
    if "bytes" not in text:
        return text
    told = _SIZE.sub(lambda found: size(int(found[1])), text)
    return text if told == text else _LIMIT.sub(lambda found: found[1] + size(int(found[2])), told)


def size(count: float) -> str:
    """Return a count of bytes with the largest unit of which it holds one."""
    value, step = float(count), 0
    while abs(value) >= 1024 and step < len(_UNITS) - 1:
        value, step = value / 1024, step + 1
    return f"{number(value)} {_UNITS[step]}"


def count(value: float) -> str:
    """Return how many there are: `31`, `9805`, `12.3 k`, `1.2 M`."""
    for least, unit in _STEPS:
        if abs(value) >= least * 0.9995:
            return f"{value / max(_THOUSAND if unit == 'k' else least, 1):.3g} {unit}"
    return number(value)


def span(seconds: float) -> str:
    """Return a duration in its two largest units."""
    if abs(seconds) < 60:
        return f"{number(round(seconds, 2))} s"
    rest = round(abs(seconds))
    parts: list[str] = []
    for unit, length in (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1)):
        amount, rest = divmod(rest, length)
        if amount or parts:
            parts.append(f"{amount} {unit}" if amount else "")
        if len(parts) == 2:
            break
    return ("-" if seconds < 0 else "") + " ".join(filter(None, parts))


def share(before: float, after: float) -> str | None:
    """Return the relative change of two numbers in words; None where there is none."""
    if before == 0:
        return None
    part = (float(after) - float(before)) / abs(float(before))
    percent = part * 100
    if percent > 1000:
        return f"{part + 1:,.0f} times as much".replace(",", " ")
    digits = 3 if -100 < percent < -99.9 else 1 if abs(percent) < 10 else 0
    return f"{percent:+.{digits}f} %"


def number(value: float) -> str:
    """Return a number with the three digits that people compare, a whole one as it is."""
    if isinstance(value, int) or value.is_integer():
        return str(int(value)) if abs(value) < 1e16 else f"{value:.3g}"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
