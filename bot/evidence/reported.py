"""Puts what the scheduler reported of a failure beside what the log says; it reads no causes out of either."""

import re
import signal as signals
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.evidence.cleaning import clean, cleaned
from bot.evidence.finding import Finding, Weight
from bot.evidence.findings import find_failures, is_wrapper
from bot.evidence.log import Log
from bot.evidence.roots import Reading, choose_root
from bot.evidence.shapes import POINTS
from bot.evidence.types import ErrorReport

_OWN = "ontrack."
_LAST_NAME = re.compile(r"[.:$]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How the process ended, by one convention: a death by signal has the signal's name."""

    exit_code: int | None
    signal: str | None

    @property
    def words(self) -> str:
        code = "" if self.exit_code is None else f"exit code {self.exit_code}"
        killed = "" if self.signal is None else f"killed by {self.signal}"
        return ", ".join(filter(None, (code, killed)))

    @property
    def of_an_empty_log(self) -> str:
        """What is to be said of a failure that left no words."""
        ended = f"killed by {self.signal}" if self.signal is not None else self.words
        return f"{ended}, the log is empty" if ended else "the log is empty"


def ending_of(error: ErrorReport) -> Ending:
    """Return exit code and signal; an exit code that stands for a signal gives its name."""
    code = error.exit_code
    number = None
    if error.signal:
        name = clean(error.signal[:80]).strip().upper()
        if not name.lstrip("-").isdecimal():
            return Ending(exit_code=code, signal=name if name.startswith("SIG") else f"SIG{name}"[:20])
        number = abs(int(name[:6]))
    elif code is not None and (-64 <= code < 0 or 128 < code <= 192):
        number = -code if code < 0 else code - 128
    try:
        return Ending(exit_code=code, signal=None if number is None else signals.Signals(number).name)
    except ValueError:
        return Ending(exit_code=code, signal=None)


def with_report(reading: Reading, error: ErrorReport) -> Reading:
    """Put the error that the scheduler named at its place among what the log says."""
    name = clean((error.type or "")[:400])[:200].strip() or None
    message = _without_pointers(clean((error.message or "")[:8000])[:4000].strip())
    if name is None and not message:
        return reading
    told = _reported(name, message)
    own = name is not None and name.startswith(_OWN)
    if not own and reading.root is not None and reading.root.weight >= Weight.TOLD:
        known = told.weight is Weight.WRAPPER or _same(told, (reading.root, *reading.chain))
        if known:
            return reading
    rest = (reading.root,) if reading.root is not None else ()
    return Reading(root=told, chain=(), beside=(*rest, *reading.chain, *reading.beside), earlier=reading.earlier)


def _without_pointers(message: str) -> str:
    """The message without the statement that a database shows below it."""
    first, *rest = message.split("\n")
    return "\n".join((first, *(line for line in rest if not POINTS.match(line)))).rstrip()


def _reported(name: str | None, message: str) -> Finding:
    if "\n" in message:
        lines = Log(cleaned(message))
        found = choose_root(find_failures(lines), lines).root
        if found is not None and found.weight is Weight.TYPED:
            return replace(found, first=-1, last=-1)
    wrapper = is_wrapper(message or name or "") and not (name or "").startswith(_OWN)
    weight = Weight.WRAPPER if wrapper else Weight.TYPED
    text = message or (name or "")
    return Finding(type=name, message=text, text=text, first=-1, last=-1, weight=weight)


def _same(told: Finding, chain: Sequence[Finding]) -> bool:
    name = _LAST_NAME.split(told.type)[-1] if told.type else None
    for finding in chain:
        if name is not None and finding.type is not None and _LAST_NAME.split(finding.type)[-1] == name:
            return True
        if told.message and told.message[:120] in finding.text:
            return True
    return False
