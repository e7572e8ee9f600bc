"""The pen with which the transitions write one decision: the incident so far, its effects, notes and answer.

A draft lives inside one call of `decide`; it must not decide anything itself.
"""

from dataclasses import replace
from datetime import datetime
from typing import Any

from bot.incidents.effects import Effect, Note, Reply, ReplyKind, Told, ToldKind
from bot.incidents.model import Incident
from bot.incidents.people import By, Destination, Mention
from bot.incidents.policy import Mode
from bot.incidents.situation import Decision, Situation


class Draft:
    """One decision in the making."""

    __slots__ = ("_incident", "effects", "notes", "now", "situation", "told")

    def __init__(self, incident: Incident | None, situation: Situation, now: datetime) -> None:
        self._incident = incident
        self.situation = situation
        self.now = now
        self.effects: list[Effect] = []
        self.notes: list[Note] = []
        self.told: Told | None = None

    @property
    def incident(self) -> Incident:
        """The incident as it stands; only transitions of an existing incident may ask."""
        if self._incident is None:
            raise LookupError("no incident has been opened in this decision")
        return self._incident

    def open(self, incident: Incident) -> None:
        self._incident = incident

    def set(self, **changes: Any) -> None:
        """Replace fields of the incident."""
        self._incident = replace(self.incident, **changes)

    def add(self, *effects: Effect) -> None:
        self.effects.extend(effects)

    def note(self, kind: str, reason: str, *, by: By | None = None, **facts: Any) -> None:
        """Add a row to the timeline."""
        self.notes.append(Note(kind=kind, reason=reason, by=by, facts=facts))

    def reply(
        self,
        kind: ReplyKind,
        *,
        mention: tuple[Mention, ...] = (),
        broadcast: bool = False,
        elsewhere: tuple[Destination, ...] = (),
        thread: bool = True,
        **facts: Any,
    ) -> None:
        """Add a message to the thread; in observe mode nobody is mentioned and nothing leaves the thread."""
        quiet = self.situation.policy.mode is Mode.OBSERVE
        if quiet and not thread:
            return
        self.effects.append(
            Reply(
                kind=kind,
                facts=facts,
                mention=() if quiet else mention,
                broadcast=broadcast and not quiet,
                elsewhere=() if quiet else elsewhere,
                thread=thread,
            )
        )

    def tell(self, kind: ToldKind, reason: str, *, about: str | None = None, **facts: Any) -> None:
        """Answer the person who spoke; `about` names the input to mend."""
        self.told = Told(kind=kind, reason=reason, input=about, facts=facts)

    def decision(self) -> Decision:
        return Decision(incident=self._incident, effects=tuple(self.effects), notes=tuple(self.notes), told=self.told)
