"""The statuses of Maestro's workflow and step instances with their flags, as its models have them; it moves nothing."""

from dataclasses import dataclass

ALIVE = ("CREATED", "IN_PROGRESS", "PAUSED")
ENDED = ("TIMED_OUT", "STOPPED", "FAILED", "SUCCEEDED")
WORKFLOW_ACTIONS: dict[str, tuple[str, ...]] = {
    "CREATED": ("STOP", "KILL"),
    "IN_PROGRESS": ("STOP", "KILL"),
    "PAUSED": ("STOP", "KILL"),
    "TIMED_OUT": ("RESTART",),
    "STOPPED": ("RESTART",),
    "FAILED": ("RESTART", "UNBLOCK"),
    "SUCCEEDED": ("RESTART",),
}


@dataclass(frozen=True, slots=True)
class Flags:
    """`retryable`: the engine itself tries again. `told`: the rollup overview keeps references to such steps."""

    terminal: bool = False
    complete: bool = False
    retryable: bool = False
    told: bool = False


_PASSING = Flags()
_GOES_ON = Flags(told=True)
_WELL = Flags(terminal=True, complete=True)
_TRIED_AGAIN = Flags(terminal=True, retryable=True, told=True)
_FAILED = Flags(terminal=True, told=True)
_OVER = Flags(terminal=True)
STEP: dict[str, Flags] = {
    "NOT_CREATED": _PASSING,
    "CREATED": _PASSING,
    "INITIALIZED": _PASSING,
    "PAUSED": _GOES_ON,
    "WAITING_FOR_SIGNALS": _GOES_ON,
    "EVALUATING_PARAMS": _GOES_ON,
    "WAITING_FOR_PERMITS": _GOES_ON,
    "STARTING": _PASSING,
    "RUNNING": _GOES_ON,
    "FINISHING": _PASSING,
    "DISABLED": _WELL,
    "UNSATISFIED": _WELL,
    "SKIPPED": _WELL,
    "SUCCEEDED": _WELL,
    "COMPLETED_WITH_ERROR": _WELL,
    "USER_FAILED": _TRIED_AGAIN,
    "PLATFORM_FAILED": _TRIED_AGAIN,
    "TIMEOUT_FAILED": _TRIED_AGAIN,
    "FATALLY_FAILED": _FAILED,
    "INTERNALLY_FAILED": _FAILED,
    "STOPPED": _OVER,
    "TIMED_OUT": _OVER,
}
FAILED_STEPS = ("FATALLY_FAILED", "INTERNALLY_FAILED", "USER_FAILED", "PLATFORM_FAILED", "TIMEOUT_FAILED")
TIMES = {
    "CREATED": "create_time",
    "INITIALIZED": "initialize_time",
    "PAUSED": "pause_time",
    "WAITING_FOR_SIGNALS": "wait_signal_time",
    "EVALUATING_PARAMS": "evaluate_param_time",
    "WAITING_FOR_PERMITS": "wait_permit_time",
    "STARTING": "start_time",
    "RUNNING": "execute_time",
    "FINISHING": "finish_time",
}


_END, _AGAIN = ("STOP", "KILL", "SKIP"), ("RESTART", "SKIP")
STEP_ACTIONS: dict[str, tuple[str, ...]] = {
    "CREATED": ("PAUSE", "STOP", "KILL"),
    "INITIALIZED": ("PAUSE", *_END),
    "PAUSED": ("RESUME", *_END),
    "WAITING_FOR_SIGNALS": (*_END, "BYPASS_STEP_DEPENDENCIES"),
    "DISABLED": ("RESTART",),
    "UNSATISFIED": ("RESTART",),
    **dict.fromkeys(("EVALUATING_PARAMS", "WAITING_FOR_PERMITS", "STARTING", "RUNNING", "FINISHING"), _END),
    **dict.fromkeys(("USER_FAILED", "PLATFORM_FAILED", "TIMEOUT_FAILED"), _END),
    **dict.fromkeys(("SKIPPED", "SUCCEEDED", "COMPLETED_WITH_ERROR"), _AGAIN),
    **dict.fromkeys(("FATALLY_FAILED", "INTERNALLY_FAILED", "STOPPED", "TIMED_OUT"), _AGAIN),
}


def restartable(status: str) -> bool:
    """Ended, not well, and given up by the engine."""
    flags = STEP[status]
    return flags.terminal and not flags.complete and not flags.retryable


def workflow_status(steps: list[str]) -> str:
    """What a run becomes when all its steps are over."""
    if any(status in FAILED_STEPS for status in steps):
        return "FAILED"
    for status in ("TIMED_OUT", "STOPPED"):
        if status in steps:
            return status
    return "SUCCEEDED"
