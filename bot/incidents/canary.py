"""The canary of a cause: where many jobs fail alike, one is rerun first, and the others follow in waves. Pure values.

It decides about the shared rule only; what a held or stopped rerun means for its incident is `planning`'s.

    off                more than N reruns planned within the window: on, with a wave of 1
    on                 what is planned from then on is held; so is what backed off and finds the wave full
    a wave is over     each of it went well: the next has twice as many, the longest held first
    the first failure  off again, stopped: everything held is let go to its owner, and nothing under this cause is
                       rerun by licence for as long as a rerun may be held

One that goes away before it was asked for (taken, fixed, paused) gives its place to the next.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from bot.incidents.policy import CanaryPolicy
from bot.incidents.tally import Tally, counted, lately

FORGET_AFTER = timedelta(hours=24)


class Stage(StrEnum):
    """Where an automatic rerun stands to the canary of its cause; one that has ended has no stage.

    PLANNED backs off. HELD waits for a wave. LET may go, and has not gone yet. OUT was asked for. STOPPED was held when
    the canary failed.
    """

    PLANNED = "planned"
    HELD = "held"
    LET = "let"
    OUT = "out"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Canary:
    """The reruns by licence under one cause. `wave` is how many may go in this wave, 0 while no canary is on.

    While it is on, `gone` counts those of the wave that went, `out` those that have no result yet, `planned` and `held`
    those before that. `told` are the teams that were asked about held reruns since it was last on.
    `stirred_at`: when it last changed.
    """

    cause: str
    joined: Tally = ()
    wave: int = 0
    gone: int = 0
    out: int = 0
    planned: int = 0
    held: int = 0
    stopped_at: datetime | None = None
    stopped_by: str = ""
    told: tuple[str, ...] = ()
    stirred_at: datetime | None = None

    @property
    def on(self) -> bool:
        return self.wave > 0

    @property
    def full(self) -> bool:
        """No more of this wave may go."""
        return self.on and self.gone >= self.wave

    @property
    def due(self) -> int:
        """How many of those held may go now: the places of the wave that nobody who backs off will take."""
        return min(self.held, max(0, self.wave - self.gone - self.planned)) if self.on else 0


def remembered(canary: Canary, now: datetime) -> Canary:
    """The canary as it counts now: of one that nothing has stirred for so long nobody waits any more."""
    forgotten = canary.on and canary.stirred_at is not None and now - canary.stirred_at > FORGET_AFTER
    return Canary(cause=canary.cause) if forgotten else canary


def opens(canary: Canary, policy: CanaryPolicy, now: datetime) -> bool:
    """Whether one more planned rerun turns the canary on."""
    return not canary.on and lately(canary.joined, window=policy.window, now=now) >= policy.jobs


def stage_of_next(canary: Canary, policy: CanaryPolicy, now: datetime) -> Stage:
    """Whether a rerun that is planned now may back off, or is held."""
    return Stage.HELD if canary.on or opens(canary, policy, now) else Stage.PLANNED


def refusal(canary: Canary, policy: CanaryPolicy, now: datetime) -> str | None:
    """Why no rerun under this cause is licensed now: one of many has just failed."""
    if canary.stopped_at is None or now >= canary.stopped_at + policy.hold:
        return None
    return f"many jobs failed of {canary.cause}, and the rerun of {canary.stopped_by} did not help"


def opened(canary: Canary, *, planned: int, out: int) -> Canary:
    """On, with what was under way before anybody knew that there are so many; all of that must go well first."""
    return replace(canary, wave=1, gone=out, out=out, planned=planned, held=0, stopped_at=None, stopped_by="", told=())


def joined(canary: Canary, policy: CanaryPolicy, now: datetime) -> Canary:
    """One more rerun is planned; where it turns the canary on, `opened` comes first."""
    canary = replace(canary, joined=counted(canary.joined, window=policy.window, now=now))
    return replace(canary, held=canary.held + 1) if canary.on else canary


def moved(canary: Canary, *, was: Stage, to: Stage) -> Canary:
    """A rerun went on, or was held after its back-off."""
    if not canary.on:
        return canary
    match was, to:
        case Stage.PLANNED, Stage.HELD:
            return replace(canary, planned=canary.planned - 1, held=canary.held + 1)
        case Stage.PLANNED, Stage.OUT:
            return replace(canary, planned=canary.planned - 1, gone=canary.gone + 1, out=canary.out + 1)
        case _:
            return canary


def let(canary: Canary, count: int) -> Canary:
    """So many of those held may go: they have their places in the wave."""
    return replace(canary, held=canary.held - count, gone=canary.gone + count, out=canary.out + count)


def left(canary: Canary, *, was: Stage) -> Canary:
    """A rerun that tells nothing went away: it was not asked for, or was taken back."""
    if not canary.on:
        return canary
    match was:
        case Stage.PLANNED:
            return _over(replace(canary, planned=canary.planned - 1))
        case Stage.HELD:
            return _over(replace(canary, held=canary.held - 1))
        case Stage.LET | Stage.OUT:
            return _over(replace(canary, gone=canary.gone - 1, out=canary.out - 1))
        case Stage.STOPPED:
            return canary


def went_well(canary: Canary) -> Canary:
    """A rerun that was out brought a good run; with the last of a wave the next begins."""
    if not canary.on:
        return canary
    canary = replace(canary, out=canary.out - 1)
    if canary.out == 0 and canary.full:
        canary = replace(canary, wave=canary.wave * 2, gone=0)
    return _over(canary)


def stopped(canary: Canary, *, by: str, now: datetime) -> Canary:
    """A rerun that was out brought no good run."""
    if not canary.on:
        return canary
    return replace(canary, wave=0, gone=0, out=0, planned=0, held=0, stopped_at=now, stopped_by=by)


def _over(canary: Canary) -> Canary:
    """Off when nobody is left."""
    waits = canary.planned + canary.held + canary.out
    return canary if waits else replace(canary, wave=0, gone=0)
