"""Whether a start by the active definition can stand for a failed run, and for which time it would run. Pure."""

from datetime import UTC, datetime

from bot.ports import SchedulerRequest
from bot.schedulers.maestro.requests import RUN_TS
from bot.schedulers.maestro.shapes import Instance, Overview

SIGNAL = "SIGNAL"


class NotAfresh(Exception):
    """A start could not stand for the failed run; the text says why."""


def wants_the_newest(request: SchedulerRequest, failed: Instance, overview: Overview) -> bool:
    """It is to run with what is active now, which is another definition than the failed run's, which a restart takes."""
    return (request.fresh or request.fixed) and overview.active_version_id != failed.workflow_version_id


def time_afresh(request: SchedulerRequest, *, first: Instance, failed: Instance, overview: Overview) -> datetime:
    """The time for which to start in place of the `failed` run, whose instance the `first` began; raises `NotAfresh`."""
    if not overview.active_version_id:
        raise NotAfresh("no version of it is active in Maestro")
    if first.initiator.type == SIGNAL:
        raise NotAfresh("a signal started it, whose parameters a start would not have: the signal must be sent again")
    own = sorted({*first.run_params, *failed.run_params} - {RUN_TS})
    if own:
        raise NotAfresh(f"it was started with parameters of its own ({', '.join(own)}), which a start would not have")
    time = min(request.nominal_times, default=None) or run_time(failed)
    if time is None:
        raise NotAfresh("Maestro does not tell for which time it ran, so that no start can stand for it")
    return time


def run_time(run: Instance) -> datetime | None:
    """The time for which it runs: what started it says so, else its parameter, which a restart keeps."""
    told = run.params.get(RUN_TS) or run.run_params.get(RUN_TS)
    value = (told.get("evaluated_result") or told.get("value")) if isinstance(told, dict) else None
    found = run.initiator.trigger_time or value
    return datetime.fromtimestamp(found / 1000, UTC) if isinstance(found, int) else None
