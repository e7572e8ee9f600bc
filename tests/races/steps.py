"""A step of an actor: what it is about to do to what others may see, and whether two steps may be swapped unnoticed.

Values only. Footprints are coarse on purpose: a table is taken as a whole, so that no order that matters is left out.
"""

import re
from dataclasses import dataclass

from storage import queue_tables
from storage.tables import metadata

ANYTHING = frozenset({"*"})
NOTHING: frozenset[str] = frozenset()
TABLES = frozenset(metadata.tables) | frozenset(table.name for table in (queue_tables.outbox, queue_tables.views))
TURN = "turn"
PRIVATE = frozenset({"jobs", "records", "occurrences", "runs", "timers", "timeline", "evidence"})
"""What belongs to one job: a transaction that has locked the job has it to itself until it commits."""
_WORD = re.compile(r"[a-z_]+")
_LOCKED = re.compile(r"FOR (?:NO KEY )?UPDATE(?: OF ([a-z_, ]+?))?(?: SKIP LOCKED| NOWAIT|\)|$)")
_WRITTEN = re.compile(r"(?:INSERT INTO|UPDATE|DELETE FROM) ([a-z_]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Footprint:
    """What a step touches: `reads` the committed state of tables, waits for and `holds` rows of them, `shows` what was
    written (a commit), or changes something `outside` (the workspace, a scheduler)."""

    reads: frozenset[str] = NOTHING
    holds: frozenset[str] = NOTHING
    shows: frozenset[str] = NOTHING
    outside: frozenset[str] = NOTHING

    def meets(self, other: "Footprint") -> bool:
        """Whether it can matter which of the two comes first."""
        return (
            _meet(self.reads | self.holds, other.shows)
            or _meet(other.reads | other.holds, self.shows)
            or _meet(self.holds, other.holds)
            or _meet(self.outside, other.outside)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What `actor` does next when it is let go."""

    actor: str
    does: str
    footprint: Footprint = Footprint()

    def __str__(self) -> str:
        return f"{self.actor}: {self.does}"


def under_the_jobs_lock(footprint: Footprint) -> Footprint:
    """What is left of a footprint that others may notice, or that may notice others, once the jobs are locked."""
    return Footprint(reads=footprint.reads - PRIVATE, holds=footprint.holds - PRIVATE)


def statement_footprint(statement: str) -> Footprint:
    """What a statement of a write transaction touches."""
    named = TABLES & set(_WORD.findall(statement))
    holds = frozenset(_WRITTEN.findall(statement)) & TABLES
    for locked in _LOCKED.finditer(statement):
        holds |= frozenset(_WORD.findall(locked[1])) if locked[1] else named
    if "pg_advisory_xact_lock" in statement:
        holds |= {TURN}
    return Footprint(reads=frozenset(named), holds=holds)


def statement_label(statement: str) -> str:
    """A statement in a few words."""
    verb = statement.split(None, 1)[0]
    footprint = statement_footprint(statement)
    about = footprint.holds or footprint.reads
    locks = " for update" if verb == "SELECT" and footprint.holds else ""
    return f"{verb} {' '.join(sorted(about))}{locks}"


def _meet(some: frozenset[str], others: frozenset[str]) -> bool:
    return bool(some & others) or (bool(some) and others == ANYTHING) or (bool(others) and some == ANYTHING)
