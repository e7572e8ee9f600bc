"""Puts an import together: the database, the policies, and those schedulers that can tell of their past. It serves nothing."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any

import msgspec

from bot.compose.schedulers import Connect, connected
from bot.importing import Imported, Importing, Progress
from bot.intake.worlds import Worlds
from bot.people import People
from bot.policies import Policies
from bot.policies.specs import LocalSpec
from bot.ports import Clock, Historian
from bot.settings import Settings
from storage.opening import SqlStorage, open_storage

LEFT_TO_THE_SERVICE = timedelta(hours=1)
"""What ended later is read by the service when it starts, and may be an incident: it is no past yet."""


class NoHistorian(Exception):
    """Nothing can be imported; the text says why, and what could be."""


def historians(policies: Policies, *, only: str | None, connect: Connect = connected) -> tuple[Historian, ...]:
    """The schedulers that can tell of their past, or the one that is named. Raises `NoHistorian`."""
    if only is not None and only not in policies.schedulers:
        known = ", ".join(sorted(policies.schedulers)) or "none"
        raise NoHistorian(f"--scheduler: policies.yaml declares no {only!r} (it declares: {known})")
    specs = [spec for name, spec in policies.schedulers.items() if only in (None, name)]
    found = (connect(spec) for spec in specs if not isinstance(spec, LocalSpec))
    telling = tuple(one for one in found if isinstance(one, Historian))
    if not telling:
        which = f"{only!r} tells nothing" if only is not None else "no scheduler of policies.yaml tells"
        raise NoHistorian(f"{which} of its past: those of the types airflow and maestro do")
    return telling


def bring_in(
    settings: Settings,
    policies: Policies,
    telling: Sequence[Historian],
    *,
    since: datetime,
    clock: Clock,
    said: Callable[[Progress], None],
) -> Iterator[Imported]:
    """Import from one after the other. Raises what opening the database raises, and `StorageDown`."""
    with closing(open_storage(settings.database_url, instance="import")) as storage:
        elsewhere = (spec for spec in policies.schedulers.values() if not isinstance(spec, LocalSpec))
        schedulers = {spec.name: connected(spec) for spec in elsewhere}
        worlds = Worlds(policies=lambda: policies, people=People, schedulers=lambda: schedulers, doors=frozenset())
        for one in telling:
            importing = Importing(storage=storage, worlds=worlds, clock=clock, said=said)
            yield importing.bring_in(one, since=since, until=max(since, _until(storage, one.name, clock())))


def row_of(done: Imported) -> dict[str, Any]:
    """One JSON-able object a scheduler."""
    tally = done.tally
    row = {
        "scheduler": done.scheduler,
        "since": done.since,
        "until": done.until,
        "jobs": done.jobs,
        "runs": tally.runs,
        "failures": tally.failures,
        "occurrences": tally.occurrences,
        "known": tally.known,
        "listened": tally.listened,
        "unpaid": tally.unpaid,
        "rejected": tally.rejected,
        "trouble": done.trouble or None,
    }
    built: dict[str, Any] = msgspec.to_builtins(row)
    return built


def _until(storage: SqlStorage, scheduler: str, now: datetime) -> datetime:
    """Where the past ends: what came after it was, or will be, told to the service itself."""
    heard = [row.heard_at for row in storage.sources() if row.name == scheduler and row.heard_at is not None]
    return min([now - LEFT_TO_THE_SERVICE, *heard])
