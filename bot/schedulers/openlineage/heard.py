"""What one OpenLineage event says, in our words: the values between decoding and the use case. They hold no behaviour."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from bot.store.lineage import Known


class Word(StrEnum):
    """The event types of a run; what is none of them, or missing, is `OTHER`."""

    START = "START"
    RUNNING = "RUNNING"
    COMPLETE = "COMPLETE"
    FAIL = "FAIL"
    ABORT = "ABORT"
    OTHER = "OTHER"


@dataclass(frozen=True, slots=True, kw_only=True)
class Uses:
    """The datasets of an event by their names: what is read and written (other names of them too), and what is told of
    each. `after` names the jobs that the run waited for."""

    inputs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    described: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHeard:
    """One event of a run. `key` is the same for the same event sent twice; `ignored` tells of facets that were not
    understood. `root` is the root that the event itself names, if any."""

    key: str
    word: Word
    at: datetime
    run_id: str
    job: str
    known: Known
    uses: Uses
    parent: str | None = None
    root: str | None = None
    own: bool = False
    attempt: int = 1
    ignored: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return self.run_id


@dataclass(frozen=True, slots=True, kw_only=True)
class JobHeard:
    """What is told of a job outside any run."""

    key: str
    at: datetime
    job: str
    uses: Uses
    owner: str | None = None
    ignored: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return self.job


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetHeard:
    """What is told of a dataset outside any run."""

    key: str
    at: datetime
    name: str
    described: Mapping[str, Any]
    ignored: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return self.name


Heard = RunHeard | JobHeard | DatasetHeard
