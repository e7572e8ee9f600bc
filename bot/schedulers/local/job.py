"""A local job as it was declared: what to run, when, where, and within which bounds.

Values only; nothing here starts a process or reads a file.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from bot.incidents.policy import Schedule


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalJob:
    """`command` is a program with its arguments, or a text for `sh -c`. `memory` is in bytes.

    `inputs` are paths seen from `directory`; what they hold when a run starts goes into its facts.
    `env` is added to the few variables that a command inherits; ontrack's own settings are never among them.
    `overlap`: a scheduled run may start while another run of the job lives, else it is skipped.
    `kill_after` is how long a command may take to end by itself once it was told to (TERM, then KILL).
    """

    command: tuple[str, ...] | str
    schedule: Schedule | None = None
    directory: Path = Path()
    timeout: timedelta | None = None
    memory: int | None = None
    inputs: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    overlap: bool = False
    kill_after: timedelta = timedelta(seconds=10)

    @property
    def argv(self) -> tuple[str, ...]:
        """The program and its arguments as they are executed."""
        return ("sh", "-c", self.command) if isinstance(self.command, str) else self.command
