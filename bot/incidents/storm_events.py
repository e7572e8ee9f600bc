"""What a person can say about an occurrence because it is a row of a storm. Values only; nothing here decides."""

from dataclasses import dataclass

from bot.incidents.people import By


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadWanted:
    """A person wants to see the occurrence in a thread of its own."""

    by: By


@dataclass(frozen=True, slots=True, kw_only=True)
class StormTaken:
    """A person of the team is on it, for all rows of the team in the storm of which the occurrence is one."""

    by: By


StormEvent = ThreadWanted | StormTaken
