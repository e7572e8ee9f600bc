"""The pen with which the transitions write one decision: the incident so far, its effects, notes and answer.

A draft lives inside one call of `decide`; it must not decide anything itself.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from bot.incidents import canary, mailed, reach, storm
from bot.incidents.canary import Stage
from bot.incidents.effects import Effect, Note, Reply, ReplyKind, StormAsked, Told, ToldKind
from bot.incidents.model import Incident
from bot.incidents.people import By, Destination, Mention
from bot.incidents.policy import Door, Mode
from bot.incidents.situation import Decision, Platform, Situation
from bot.incidents.storm import Held


class Draft:
    """One decision in the making. `speaks_of`: the cause whose held reruns an ask of it stands for as well."""

    __slots__ = ("_incident", "effects", "notes", "now", "situation", "speaks_of", "told")

    def __init__(self, incident: Incident | None, situation: Situation, now: datetime) -> None:
        self._incident = incident
        self.situation = situation
        self.now = now
        self.effects: list[Effect] = []
        self.notes: list[Note] = []
        self.told: Told | None = None
        self.speaks_of: str | None = None

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
        step: int = 0,
        **facts: Any,
    ) -> None:
        """Add a message to the thread; in observe mode nobody is mentioned and nothing leaves the thread.

        A team that answers from another channel is called there; whoever was mailed about it hears of it by mail. Of an
        occurrence that is a row of a storm only asks are said, in the storm's thread, for all of the team at once: to
        `step` of the ladder.
        """
        quiet = self.situation.policy.mode is Mode.OBSERVE
        if quiet and not thread:
            return
        if self._incident is not None:
            elsewhere = reach.usable(self._incident, self.situation, elsewhere)
        if self._incident is not None and storm.aside(self._incident.storm):
            if (mention or elsewhere) and not quiet:
                self._ask_for_all(mention, elsewhere, broadcast=broadcast, thread=thread, step=step, facts=facts)
            return
        if mention and thread and not quiet and self.situation.away:
            there = (Destination(door=Door.CHANNEL, address=self.situation.away),)
            self.effects.append(Reply(kind=kind, facts=facts, mention=mention, elsewhere=there, thread=False))
            mention, broadcast = (), False
        elsewhere = () if quiet else self._with_mail(kind, facts, elsewhere)
        if not thread and not elsewhere:
            return
        self.effects.append(
            Reply(
                kind=kind,
                facts=facts,
                mention=() if quiet else mention,
                broadcast=broadcast and not quiet,
                elsewhere=elsewhere,
                thread=thread,
            )
        )

    def _with_mail(
        self, kind: ReplyKind, facts: Mapping[str, Any], elsewhere: tuple[Destination, ...]
    ) -> tuple[Destination, ...]:
        """Also to whoever was mailed about it and has to hear of this; who is mailed now hears how it goes on."""
        if self._incident is None:
            return elsewhere
        hearing = reach.usable(self.incident, self.situation, mailed.to_hear(self.incident, kind, facts))
        elsewhere = reach.merged(elsewhere, hearing)
        now_mailed = tuple(one for one in elsewhere if one.door is Door.EMAIL)
        self.set(mailed=reach.merged(self.incident.mailed, now_mailed))
        return elsewhere

    @property
    def taken(self) -> Held | None:
        """Who is on it for all jobs of the team, where the occurrence is a row of a storm."""
        known, team = self.situation.storm, self.situation.team
        if known is None or not storm.aside(self.incident.storm):
            return None
        return storm.held_by(known, storm.team_key(team.name if team is not None else ""), self.now)

    def ask_platform(self, who: Platform) -> None:
        """The team that answers for the cause is asked once a storm."""
        if self.situation.policy.mode is not Mode.OBSERVE:
            self._ask_in_storm(f"platform {who.team}", 0, mention=who.mentions, facts={"platform": who.team})

    def _ask_for_all(
        self,
        mention: tuple[Mention, ...],
        elsewhere: tuple[Destination, ...],
        *,
        broadcast: bool,
        thread: bool,
        step: int,
        facts: Mapping[str, Any],
    ) -> None:
        team = self.situation.team
        name = team.name if team is not None else ""
        who = storm.team_key(name) if thread else f"holder {', '.join(each.address for each in elsewhere)}"
        told = {"team": name, "ask": facts.get("ask"), "reason": self.incident.reason}
        self._ask_in_storm(
            who, step, mention=mention, elsewhere=elsewhere, broadcast=broadcast, thread=thread, facts=told
        )

    def _ask_in_storm(
        self,
        who: str,
        step: int,
        *,
        mention: tuple[Mention, ...],
        elsewhere: tuple[Destination, ...] = (),
        broadcast: bool = False,
        thread: bool = True,
        facts: Mapping[str, Any],
    ) -> None:
        place, known = self.incident.storm, self.situation.storm
        if place is None or known is None:
            return
        if storm.covers(known, who, step, self.now):
            self.note("asked_for_all", "asked together with the other jobs of the storm")
            return
        self.situation = replace(self.situation, storm=storm.after_ask(known, who, step, self.now))
        self.effects.append(StormAsked(channel=known.channel, who=who, step=step))
        self.effects.append(
            Reply(
                kind=ReplyKind.STORM_ASK,
                facts=facts,
                mention=mention,
                broadcast=broadcast,
                elsewhere=elsewhere,
                thread=thread,
                storm=place.storm,
            )
        )

    def stop_canary(self, cause: str) -> None:
        """The incident's own rerun under `cause` brought no good run: nothing of that cause is licensed any more."""
        known = self.situation.canary(cause)
        if known.on and self.situation.stage is Stage.OUT:
            after = canary.stopped(known, by=str(self.situation.job), now=self.now)
            others = tuple(one for one in self.situation.canaries if one.cause != cause)
            self.situation = replace(self.situation, canaries=(*others, after))
            self.speaks_of = cause

    def tell(self, kind: ToldKind, reason: str, *, about: str | None = None, **facts: Any) -> None:
        """Answer the person who spoke; `about` names the input to mend."""
        self.told = Told(kind=kind, reason=reason, input=about, facts=facts)

    def decision(self) -> Decision:
        effects = mailed.without_repeats(self.effects)
        return Decision(incident=self._incident, effects=effects, notes=tuple(self.notes), told=self.told)
