"""Occurrences of a job whose other runs live: with a run strategy, by which a rerun is at their cost. Values only."""

from dataclasses import replace
from datetime import timedelta

from bot.incidents.keys import Capability
from bot.incidents.strategy import RunStrategy
from tests.render import cases
from tests.render.cases import DUE

TOMORROW = DUE + timedelta(days=1)
OPEN = replace(cases.snapshot(), run_strategy=RunStrategy.LAST_ONLY, live=frozenset({DUE, TOMORROW}))
AWAITING = replace(
    cases.SNAPSHOTS["awaiting over budget"], run_strategy=RunStrategy.LAST_ONLY, live=frozenset({TOMORROW})
)
STRICT = replace(OPEN, run_strategy=RunStrategy.STRICT_SEQUENTIAL, can=frozenset(Capability), live=frozenset())
