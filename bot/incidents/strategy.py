"""How a scheduler treats runs of one job that would be alive at once, by Netflix Maestro's names, and what that means for a rerun.

Pure: it decides nothing itself; the rerun rule and the messages ask it.
"""

from collections.abc import Collection
from datetime import datetime
from enum import StrEnum


class RunStrategy(StrEnum):
    """What a new run does to those that live, and a failed one to those that wait.

    SEQUENTIAL: one after the other, in order; PARALLEL: side by side. STRICT_SEQUENTIAL: one after the other, and a failed
    run blocks all later ones. FIRST_ONLY: a new run is given up while another lives. LAST_ONLY: a new run stops the one
    that lives. SERIAL_LATEST_ONLY: one after the other, and a new run takes the place of those that wait.
    """

    SEQUENTIAL = "SEQUENTIAL"
    STRICT_SEQUENTIAL = "STRICT_SEQUENTIAL"
    FIRST_ONLY = "FIRST_ONLY"
    LAST_ONLY = "LAST_ONLY"
    SERIAL_LATEST_ONLY = "SERIAL_LATEST_ONLY"
    PARALLEL = "PARALLEL"


class Consequence(StrEnum):
    """What asking for a rerun does beside running it again."""

    NOTHING = "nothing"
    WAITS = "waits"
    GIVEN_UP = "given_up"
    MAY_BE_GIVEN_UP = "may_be_given_up"
    STOPS = "stops"
    MAY_STOP = "may_stop"
    DROPS = "drops"
    MAY_DROP = "may_drop"
    RELEASES = "releases"


COSTS: dict[RunStrategy | None, str] = {
    RunStrategy.LAST_ONLY: "which a rerun would stop",
    RunStrategy.SERIAL_LATEST_ONLY: "and a rerun would stop those that wait behind it",
}


def ends_others(strategy: RunStrategy | None) -> bool:
    """A new run of the job is at the cost of those that live or wait."""
    return strategy in COSTS


def alone_only(strategy: RunStrategy | None) -> bool:
    """A new run of the job comes to nothing while another lives."""
    return strategy is RunStrategy.FIRST_ONLY


def consequence_of(strategy: RunStrategy | None, *, others_live: bool) -> Consequence:
    """What a rerun asked for now does, by what is known of the job's other runs; others may begin until it is asked for."""
    match strategy:
        case RunStrategy.LAST_ONLY:
            return Consequence.STOPS if others_live else Consequence.MAY_STOP
        case RunStrategy.SERIAL_LATEST_ONLY:
            return Consequence.DROPS if others_live else Consequence.MAY_DROP
        case RunStrategy.FIRST_ONLY:
            return Consequence.GIVEN_UP if others_live else Consequence.MAY_BE_GIVEN_UP
        case RunStrategy.STRICT_SEQUENTIAL:
            return Consequence.RELEASES
        case RunStrategy.SEQUENTIAL if others_live:
            return Consequence.WAITS
        case _:
            return Consequence.NOTHING


def others(
    live: Collection[datetime | None], nominal_times: Collection[datetime | None]
) -> tuple[datetime | None, ...]:
    """The nominal times of the living runs that are not of these, the oldest first; those without one last."""
    found = [one for one in live if one is None or one not in nominal_times]
    return tuple(sorted(found, key=lambda one: (one is None, one.timestamp() if one else 0.0)))


def refusal(
    strategy: RunStrategy | None, *, live: Collection[datetime | None], nominal_time: datetime | None
) -> str | None:
    """Why no rerun of `nominal_time` may be asked for without a person's word; None where nothing speaks against it."""
    beside = others(live, (nominal_time,))
    if ends_others(strategy) and beside:
        return f"another run of the job lives, {COSTS[strategy]} (run strategy {strategy})"
    return gives_up(strategy, live=beside)


def gives_up(strategy: RunStrategy | None, *, live: Collection[datetime | None]) -> str | None:
    """Why a rerun would come to nothing while these live, whoever asks for it; None where it would not."""
    if alone_only(strategy) and live:
        return f"another run of the job lives, and a rerun would be given up (run strategy {strategy})"
    return None
