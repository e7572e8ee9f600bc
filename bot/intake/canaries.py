"""The canaries of one transaction: locked before the fold, kept true by it, written at its end. The rule itself is the core's."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime

from bot.incidents import canary
from bot.incidents.canary import Canary, Stage
from bot.incidents.keys import JobKey
from bot.incidents.policy import CanaryPolicy
from bot.store import Booking, Gate, UnitOfWork


def gate_of(cause: str) -> str:
    return f"cause:{cause}"


class Canaries:
    """Every write about a rerun's stage goes through here; a cause that was not foreseen is locked when it is met."""

    def __init__(self, uow: UnitOfWork, now: datetime) -> None:
        self._uow = uow
        self._now = now
        self._known: dict[str, Canary] = {}
        self._read: dict[str, Canary] = {}
        self._stages: dict[str, Stage] = {}

    def know(self, gates: Mapping[str, Gate], causes: Collection[str], keys: Collection[str]) -> None:
        """Take over the gates that were locked for these causes; `keys` are the reruns whose stages may be asked for."""
        for cause in causes:
            gate = gates[gate_of(cause)]
            self._take(cause, gate)
        if any(one.on or one.stopped_at for one in self._known.values()):
            self._stages.update(self._uow.stages(keys=keys))

    @property
    def known(self) -> tuple[Canary, ...]:
        return tuple(self._known[cause] for cause in sorted(self._known))

    def stage(self, *, key: str, cause: str) -> Stage | None:
        """Where a rerun stands; asked for only where that matters, which is while its canary is on or has failed."""
        known = self._known.get(cause)
        if known is None or not (known.on or known.stopped_at):
            return None
        if key not in self._stages:
            self._stages.update(self._uow.stages(keys=[key]))
        return self._stages.get(key)

    def planned(self, booking: Booking, policy: CanaryPolicy) -> None:
        """A rerun was booked; where it is one too many, its cause's canary is on from now on."""
        if booking.stage is None:
            return
        known = self._canary(booking.cause)
        if canary.opens(known, policy, self._now):
            standing = self._uow.standing(cause=booking.cause)
            known = canary.opened(known, planned=standing.get(Stage.PLANNED, 0), out=standing.get(Stage.OUT, 0))
        self._known[booking.cause] = canary.joined(known, policy, self._now)
        self._stages[booking.key] = booking.stage

    def moved(self, *, key: str, cause: str, stage: Stage) -> None:
        """A rerun was held after its back-off, or is asked for."""
        known = self._canary(cause)
        was = self._stages.get(key, Stage.PLANNED)
        if self._uow.stage_rerun(key=key, stage=stage):
            self._known[cause] = canary.moved(known, was=was, to=stage)
            self._stages[key] = stage

    def lost(self, *, key: str, cause: str, job: JobKey) -> None:
        """Nobody can tell what becomes of a rerun: whoever waited for it goes back to its owner."""
        known, was = self._canary(cause), self._stages.pop(key, None)
        if self._uow.stage_rerun(key=key, stage=None) and was is Stage.OUT:
            self._stop(known, job)

    def ended(self, booking: Booking, *, ok: bool, taken_back: bool, job: JobKey) -> None:
        """A booked rerun has come to its end; `taken_back`: it never ran since we did not want it any more."""
        if booking.stage is None:
            return
        known, was = self._canary(booking.cause), self._stages.pop(booking.key, booking.stage)
        if was is not Stage.OUT or taken_back:
            self._known[booking.cause] = canary.left(known, was=was)
        elif ok:
            self._known[booking.cause] = canary.went_well(known)
        else:
            self._stop(known, job)

    def told(self, *, cause: str, team: str) -> None:
        """The team was asked about what the canary of this cause held."""
        known = self._canary(cause)
        if team not in known.told:
            self._known[cause] = replace(known, told=(*known.told, team))

    def save(self) -> None:
        """Let go whom the waves have places for, and write what changed."""
        for cause in sorted(self._known):
            known = self._known[cause]
            if known.due:
                self._uow.let_held(cause=cause, count=known.due)
                known = canary.let(known, known.due)
            if known != self._read[cause]:
                known = replace(known, stirred_at=self._now)
                self._uow.save_gate(Gate(name=gate_of(cause), canary=known))

    def _stop(self, known: Canary, job: JobKey) -> None:
        self._known[known.cause] = canary.stopped(known, by=str(job), now=self._now)
        if known.on:
            self._uow.stop_held(cause=known.cause)

    def _take(self, cause: str, gate: Gate) -> None:
        self._read[cause] = gate.canary or Canary(cause=cause)
        self._known[cause] = canary.remembered(self._read[cause], self._now)

    def _canary(self, cause: str) -> Canary:
        if cause not in self._known:
            name = gate_of(cause)
            self._take(cause, self._uow.lock_gates(names=[name])[name])
        return self._known[cause]
