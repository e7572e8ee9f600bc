"""Chooses the lines that show a failure, masks them and marks the decisive ones; it decides nothing about causes."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain

from bot.evidence.amounts import readable_sizes
from bot.evidence.facts import capped
from bot.evidence.finding import Weight
from bot.evidence.lines import Level
from bot.evidence.log import Log
from bot.evidence.masking import mask
from bot.evidence.reported import Ending
from bot.evidence.roots import Reading, shown_root
from bot.evidence.shapes import POINTS
from bot.evidence.signs import Place
from bot.evidence.types import REPORTED, EvidenceLine
from bot.evidence.verdict import Verdict

MOST = 12
WIDTH = 400
LEADING = 3


def shown_lines(reading: Reading, log: Log, verdict: Verdict, ending: Ending) -> tuple[EvidenceLine, ...]:
    """Return at most twelve lines, masked: what was reported where that decides, then those of the log."""
    reported = _reported(reading, verdict, ending)
    lines = {line.number: line for line in reported}
    if verdict.said_at is not None:
        line = _line_at(log, verdict.said_at)
        lines[line.number] = line
    for line in _of_the_log(reading, log):
        if line.number not in lines and len(lines) < MOST:
            lines[line.number] = line
    return tuple(replace(lines[number], text=capped(mask(lines[number].text), WIDTH)) for number in sorted(lines))


def _reported(reading: Reading, verdict: Verdict, ending: Ending) -> list[EvidenceLine]:
    root = reading.root
    said = ""
    if root is not None and root.first < 0:
        named = root.type is not None and root.type != root.message
        said = f"{root.type}: {root.message}" if named else root.message
    parts = (said, ending.words if verdict.place is Place.ENDING else "")
    text = readable_sizes(", ".join(filter(None, parts)).replace("\n", " "))
    return [EvidenceLine(number=REPORTED, text=text, decisive=True)] if text else []


def _line_at(log: Log, end: int) -> EvidenceLine:
    """Return the line of the log in which a match ends."""
    start = log.data.rfind(b"\n", 0, max(end - 1, 0)) + 1
    stop = log.data.find(b"\n", start) % (len(log.data) + 1)
    text = log.data[start : min(stop, start + 8 * WIDTH)].decode("utf-8", "ignore").rstrip()
    return EvidenceLine(number=log.data.count(b"\n", 0, start) + 1, text=text, decisive=True)


def _of_the_log(reading: Reading, log: Log) -> Iterable[EvidenceLine]:
    """Return lines of the log, the likeliest to tell first: the error, what else failed, what leads to it."""
    root = shown_root(reading)
    decisive = range(0)
    wanted: Iterable[int] = range(len(log) - 1, -1, -1)
    if root is not None:
        span = range(root.first, min(root.last, root.first + 3) + 1)
        decisive = span if root is reading.root or root.weight >= Weight.TOLD else decisive
        before = range(root.first - 1, max(root.first - 1 - LEADING, -1), -1)
        beside = (finding.first for finding in (*reading.chain, *reading.beside) if finding.first >= 0)
        wanted = chain(span, beside, (at for at in before if log[at].level not in (Level.DEBUG, Level.INFO)))
    for at in wanted:
        line = log[at]
        if line.shown.strip():
            yield EvidenceLine(
                number=line.number, text=line.shown, decisive=at in decisive and not POINTS.match(line.text)
            )
