"""Whom an ask reaches: the people of an audience, called in the chat where it knows them, else at their mail address.

Pure; it asks nobody.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from bot.incidents.model import Incident
from bot.incidents.people import Destination, Directory, Mention, MentionKind, Person
from bot.incidents.policy import Audience, Door
from bot.incidents.situation import Situation


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How people are reached: `mentions` are called in the chat, `alone` by mail and no other way; `mail` is where all
    of them are reached by mail."""

    mentions: tuple[Mention, ...] = ()
    alone: tuple[Destination, ...] = ()
    mail: tuple[Destination, ...] = ()

    @property
    def somebody(self) -> bool:
        return bool(self.mentions or self.alone)

    def __str__(self) -> str:
        return ", ".join((*(one.name or one.id for one in self.mentions), *(one.address for one in self.alone)))


def audience(incident: Incident, situation: Situation, who: Audience) -> Reach:
    """The people of an audience; one that leads to nobody falls to the next wider one, the on-call first."""
    wanted = {
        Audience.ONCALL: (Audience.ONCALL, Audience.TEAM),
        Audience.TEAM: (Audience.TEAM, Audience.ONCALL),
        Audience.MANAGER: (Audience.MANAGER, Audience.TEAM),
    }[who]
    found = [_of(incident, situation, each) for each in wanted]
    lists = next((each.mail for each in found if each.mail), ())
    return next((each for each in found if each.somebody), Reach(mail=lists))


def holder(incident: Incident, situation: Situation, person: Person) -> Reach:
    """Who holds it; the on-call where no door leads to them any more."""
    there = person_alone(incident, situation, person)
    return there if there.somebody else audience(incident, situation, Audience.ONCALL)


def person_alone(incident: Incident, situation: Situation, person: Person) -> Reach:
    """One person, in the chat if they are known there; nobody, where their mail address is all there was and leads nowhere."""
    if _is_address(person.id):
        own = usable(incident, situation, (Destination(door=Door.EMAIL, address=person.id, person=person.id),))
        return Reach(alone=own, mail=own)
    known = situation.directory
    mail = (one for one in (*known.oncall_mail, *known.team_mail, *known.manager_mail) if one.person == person.id)
    mention = Mention(kind=MentionKind.PERSON, id=person.id, name=person.name)
    return Reach(mentions=(mention,), mail=usable(incident, situation, mail)[:1])


def together(first: Reach, then: Reach) -> Reach:
    """Both, nobody twice."""
    known = {one.id for one in first.mentions}
    return Reach(
        mentions=(*first.mentions, *(one for one in then.mentions if one.id not in known)),
        alone=merged(first.alone, then.alone),
        mail=merged(first.mail, then.mail),
    )


def usable(incident: Incident, situation: Situation, destinations: Iterable[Destination]) -> tuple[Destination, ...]:
    """Without the mail addresses that lead nowhere: mail is off, or one about this occurrence could not be delivered."""
    on = Door.EMAIL in situation.doors
    return tuple(
        one
        for one in destinations
        if one.door is not Door.EMAIL or (on and one.address.lower() not in incident.unreached)
    )


def merged(first: tuple[Destination, ...], then: Iterable[Destination]) -> tuple[Destination, ...]:
    """Both, no address twice by the same door."""
    known = {(one.door, one.address.lower()) for one in first}
    return (*first, *(one for one in then if (one.door, one.address.lower()) not in known))


def fallback(incident: Incident, situation: Situation) -> tuple[Destination, ...]:
    """The owner record leads to nobody: whoever watches the fallback channel and mail learns of it."""
    known = situation.policy.fallback
    found: list[Destination] = []
    if known.channel and Door.CHANNEL in situation.doors:
        found.append(Destination(door=Door.CHANNEL, address=known.channel))
    if known.email:
        found.append(Destination(door=Door.EMAIL, address=known.email, shared=True))
    return usable(incident, situation, found)


def _of(incident: Incident, situation: Situation, who: Audience) -> Reach:
    known = situation.directory
    mentions, mail, ids = {
        Audience.ONCALL: (known.oncall_mentions, known.oncall_mail, known.oncall),
        Audience.TEAM: (known.team_mentions, known.team_mail, known.owners),
        Audience.MANAGER: (known.manager_mentions, known.manager_mail, _persons(known.manager_mail)),
    }[who]
    alone = usable(incident, situation, _alone(known, ids))
    return Reach(mentions=mentions, alone=alone, mail=usable(incident, situation, mail))


def _alone(known: Directory, ids: frozenset[str]) -> Iterable[Destination]:
    return (Destination(door=Door.EMAIL, address=one, person=one) for one in sorted(ids & known.mail_alone))


def _persons(mail: tuple[Destination, ...]) -> frozenset[str]:
    return frozenset(one.person for one in mail)


def _is_address(person_id: str) -> bool:
    return "@" in person_id
