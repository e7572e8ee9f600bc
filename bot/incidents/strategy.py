"""How a scheduler treats runs of one job that would be alive at once: by Netflix Maestro's names. Values only."""

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
