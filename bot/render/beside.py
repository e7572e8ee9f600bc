"""What a rerun does to the job's other runs, in a sentence, by its run strategy. It must not decide whether one is made."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from jinja2 import pass_context
from jinja2.runtime import Context

from bot.incidents import strategy
from bot.incidents.strategy import Consequence, RunStrategy
from bot.render.moments import needs_seconds, written
from bot.render.readings import field, instant
from bot.render.segments import Words, words
from bot.render.snapshot import Snapshot

MOST = 300
AT_COST = frozenset({RunStrategy.LAST_ONLY, RunStrategy.SERIAL_LATEST_ONLY, RunStrategy.FIRST_ONLY})
"""Under those a person must have read what a rerun does before a click counts."""


def beside(snapshot: Snapshot) -> str:
    """What a rerun of what is owed does to other runs of the job, as things stand; empty where it does nothing to them."""
    times = [owed.nominal_time for owed in snapshot.incident.owed]
    return said(snapshot.run_strategy, strategy.others(snapshot.live, times), snapshot.zone)


def at_cost(snapshot: Snapshot) -> bool:
    """A rerun may stop others, or come to nothing."""
    return snapshot.run_strategy in AT_COST


def said(rule: RunStrategy | None, others: Sequence[datetime | None], zone: str) -> str:
    """The sentence for a run strategy and the nominal times of the job's other living runs."""
    those = _those(others, zone)
    match strategy.consequence_of(rule, others_live=bool(others)):
        case Consequence.STOPS:
            text = f"lets only the newest run live, so that a rerun stops {those}"
        case Consequence.MAY_STOP:
            text = "lets only the newest run live, so that a rerun stops one that has begun by then"
        case Consequence.DROPS:
            text = f"lets only the newest request wait: a rerun waits for {those}, and stops newer runs that wait"
        case Consequence.MAY_DROP:
            text = "lets only the newest request wait: a rerun stops newer runs that wait by then"
        case Consequence.GIVEN_UP:
            text = f"lets no second run begin: a rerun comes to nothing until {those} {_has(others)} ended"
        case Consequence.MAY_BE_GIVEN_UP:
            text = "lets no second run begin: a rerun comes to nothing if another has begun by then"
        case Consequence.RELEASES:
            text = "holds back all later runs until this one is good"
        case Consequence.WAITS:
            text = f"runs one after the other: a rerun waits for {those}"
        case _:
            return ""
    return f"The run strategy {rule} {text}."


@pass_context
def beside_told(context: Context, value: Any) -> Words:
    """The same from the facts of a message; a filter of the templates."""
    named, times = field(value, "strategy"), field(value, "others")
    rule = RunStrategy.__members__.get(named) if isinstance(named, str) else None
    listed = times if isinstance(times, list | tuple) else ()
    return words(said(rule, [instant(one) for one in listed], context["zone"]), MOST)


def _those(others: Sequence[datetime | None], zone: str) -> str:
    match others:
        case [None]:
            return "the run that lives"
        case [datetime() as time]:
            return f"the run of {written(time, zone, exact=needs_seconds(time))}"
        case _:
            return f"the {len(others)} runs that live"


def _has(others: Sequence[datetime | None]) -> str:
    return "has" if len(others) == 1 else "have"
