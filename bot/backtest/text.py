"""A backtest's report as one screen of text. It counts nothing."""

from collections.abc import Iterator
from datetime import datetime

from bot.backtest.figures import Figures
from bot.backtest.report import Compared, Report

NAME, CELL = 34, 12


def as_text(found: Report) -> str:
    return "\n".join(_lines(found))


def _lines(found: Report) -> Iterator[str]:
    yield f"Backtest of policies {found.policies}, {_written(found.since)} to {_written(found.until)} UTC"
    yield f"{found.played.events} events played, from {_written(found.begins)} on"
    yield ""
    yield _row("", "happened", "would have", "difference")
    yield from _whole(found.everything)
    went = found.openings
    yield (
        f"incidents opened as then {went.same}, earlier {went.earlier}, later {went.later}, "
        f"never {went.never}, new {went.new}"
    )
    if found.unknown:
        yield f"reruns whose end is not known: {found.unknown}"
    yield ""
    yield _row("by team", "incidents", "reruns", "asks", "at night")
    yield from (_brief(one) for one in found.teams)
    if found.jobs:
        yield ""
        yield _row("jobs that differ most", "incidents", "reruns", "asks", "at night")
        yield from (_brief(one) for one in found.jobs)
    yield ""
    yield from (f"Assumed: {each}." for each in found.assumed)
    yield from (f"EXCEEDED {each}" for each in found.exceeded)


def _whole(one: Compared) -> Iterator[str]:
    was, would_be = one.happened, one.replayed
    counts = (
        ("incidents opened", "opened"),
        ("  of them unresolved at the end", "unresolved"),
        ("reruns, automatic", "automatic"),
        ("reruns, approved or asked for", "approved"),
    )
    yield from (_counted(label, getattr(was, name), getattr(would_be, name)) for label, name in counts)
    for unit in sorted(was.costs.keys() | would_be.costs.keys()):
        before, after = was.cost(unit), would_be.cost(unit)
        yield _row(f"cost of reruns, {unit}", f"{before:.2f}", f"{after:.2f}", f"{after - before:+.2f}")
    yield _row("first reruns that succeeded", _of(was), _of(would_be), f"{would_be.good - was.good:+d}")
    yield _counted("asks", was.asks, would_be.asks)
    yield _counted("  of them at night", was.night_asks, would_be.night_asks)


def _of(figures: Figures) -> str:
    return f"{figures.good} of {figures.known}"


def _counted(label: str, was: int, would_be: int) -> str:
    return _row(label, str(was), str(would_be), f"{would_be - was:+d}" if would_be != was else "0")


def _brief(one: Compared) -> str:
    was, would_be = one.happened, one.replayed
    return _row(
        one.name,
        _moved(was.opened, would_be.opened),
        _moved(was.reruns, would_be.reruns),
        _moved(was.asks, would_be.asks),
        _moved(was.night_asks, would_be.night_asks),
    )


def _moved(was: int, would_be: int) -> str:
    return str(was) if was == would_be else f"{was} > {would_be}"


def _row(label: str, *cells: str) -> str:
    name = label if len(label) <= NAME else f"{label[: NAME - 1]}…"
    return (name.ljust(NAME) + "".join(cell.rjust(CELL) for cell in cells)).rstrip()


def _written(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M}"
