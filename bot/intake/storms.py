"""The storms of one transaction's channels: locked before the fold, kept true by it, written at its end. The rule is the core's."""

from collections.abc import Collection, Mapping
from datetime import datetime

from bot.incidents import storm
from bot.incidents.policy import StormPolicy
from bot.incidents.storm import Held, Storm, StormPlace
from bot.store import Gate, UnitOfWork


def gate_of(channel: str) -> str:
    return f"channel:{channel}"


class Storms:
    """A channel that was not foreseen is locked when it is met."""

    def __init__(self, uow: UnitOfWork, now: datetime) -> None:
        self._uow = uow
        self._now = now
        self._known: dict[str, Storm] = {}
        self._read: dict[str, Storm] = {}

    def know(self, gates: Mapping[str, Gate], channels: Collection[str]) -> None:
        """Take over the gates that were locked for these channels."""
        for channel in channels:
            known = gates[gate_of(channel)].storm or Storm(channel=channel)
            self._known[channel] = self._read[channel] = known

    def of(self, channel: str) -> Storm:
        if channel not in self._known:
            name = gate_of(channel)
            self.know(self._uow.lock_gates(names=[name]), [channel])
        return self._known[channel]

    def opened(self, channel: str, place: StormPlace | None, policy: StormPolicy) -> None:
        """An occurrence opened in the channel, in a thread of its own or at that place."""
        self._known[channel] = storm.after_opening(self.of(channel), place, policy, self._now)

    def asked(self, channel: str, *, who: str, step: int) -> None:
        self._known[channel] = storm.after_ask(self.of(channel), who, step, self._now)

    def taken(self, channel: str, held: Held) -> None:
        known = self._known[channel] = storm.after_taking(self.of(channel), held)
        self._uow.show_storm(key=f"{channel}/{known.number}")

    def save(self) -> None:
        for channel in sorted(self._known):
            if self._known[channel] != self._read[channel]:
                self._uow.save_gate(Gate(name=gate_of(channel), storm=self._known[channel]))
