"""A workflow's run strategy as Maestro tells it, and what it would do to a run that we ask for now. Pure."""

from collections.abc import Mapping
from typing import Any

from bot.incidents.strategy import RunStrategy, alone_only, ends_others
from bot.schedulers.maestro.shapes import OPEN, Overview, Properties

QUEUED = "CREATED"


def strategy_in(properties: Properties | None) -> RunStrategy | None:
    """The run strategy that the properties name; None where they name none, or one that is not known here."""
    return RunStrategy.__members__.get(_rule(properties))


def forbids(overview: Overview, *, automatic: bool) -> str | None:
    """Why one more run must not be asked for as the workflow stands; `automatic`: no person was told what it would do."""
    strategy = strategy_in(overview.properties_snapshot)
    living = living_in(overview)
    if _concurrency(overview.properties_snapshot) == 0:
        return "Maestro begins no run of the workflow: its workflow_concurrency is 0"
    if strategy is None or not living:
        return None
    if alone_only(strategy):
        return f"{living} in Maestro, and one more would be created stopped (run strategy {strategy})"
    if ends_others(strategy) and automatic:
        return f"{living} in Maestro, and one more would stop others (run strategy {strategy})"
    return None


def living_in(overview: Overview) -> str:
    """The workflow's instances that have not ended, in words; empty where there are none."""
    counts = {status: overview.nonterminal_instances.get(status, 0) for status in OPEN}
    queued, running = counts[QUEUED], sum(counts.values()) - counts[QUEUED]
    parts = [f"{count} {word}" for count, word in ((running, "running"), (queued, "queued")) if count > 0]
    if not parts:
        return ""
    return f"{' and '.join(parts)} {'run lives' if running + queued == 1 else 'runs live'}"


def _rule(properties: Properties | None) -> str:
    """Its name in capitals: older definitions hold it alone, without its concurrency."""
    told = properties.run_strategy if properties is not None else None
    named = told.get("rule") if isinstance(told, Mapping) else told
    return named.upper() if isinstance(named, str) else ""


def _concurrency(properties: Properties | None) -> Any:
    told = properties.run_strategy if properties is not None else None
    return told.get("workflow_concurrency") if isinstance(told, Mapping) else None
