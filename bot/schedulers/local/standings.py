"""Whether each job's schedule is in force, and since when: one small file, written whole.

A file that cannot be read stops the scheduler: starting a job that was paused or retired would be worse.
"""

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from bot.schedulers.local.records import JobState, Standing, read, write_whole


class Standings:
    """The standing of every job that was ever seen. A job is first seen as active, from that instant on."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._states: dict[str, JobState] = {}

    def load(self) -> None:
        self._states = {state["job"]: JobState.from_json(state) for state in (read(self._path) or {}).get("jobs", ())}

    def meet(self, names: Iterable[str], now: datetime) -> None:
        """Remember the jobs that were not known before."""
        new = [name for name in names if name not in self._states]
        if new:
            self._save({name: JobState(job=name, standing=Standing.ACTIVE, since=now) for name in new})

    def of(self, name: str) -> JobState:
        return self._states[name]

    def change(self, state: JobState) -> None:
        self._save({state.job: state})

    def _save(self, changed: dict[str, JobState]) -> None:
        states = self._states | changed
        write_whole(self._path, {"jobs": [state.to_json() for state in states.values()]})
        self._states = states
