"""Asking people: whom a step reaches, what an ask writes, and what an acknowledgement changes."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bot.incidents.chase import can_ask_now
from bot.incidents.draft import Draft
from bot.incidents.effects import ReplyKind
from bot.incidents.model import Acknowledgement, Ask, AskKind, Chase
from bot.incidents.people import By, Destination, Mention, MentionKind, Person
from bot.incidents.policy import Audience, Door
from bot.incidents.situation import Situation
from bot.incidents.storm import Held


def ask_owner(
    draft: Draft, reason: str, *, also: tuple[Person, ...] = (), proposal: Mapping[str, Any] | None = None
) -> None:
    """The owner is needed now: ask who holds it, else the on-call at once, or for low urgency when the hours begin.

    Unless somebody holds it the ladder begins anew. `also` are people who have to do with it (who decided, who asked).
    With the facts of a `proposal` the message asks for the yes to it; it stands in the thread even while nobody is asked.
    """
    held, chase = draft.incident.acknowledgement, draft.incident.chase
    if not can_ask_now(draft.situation, draft.now):
        if proposal is not None:
            draft.reply(ReplyKind.APPROVAL, **proposal)
        draft.set(chase=Chase(count=chase.count, asked_before=chase.asked_before, reason=reason))
        draft.note("ask", f"{reason}; asked when the team's hours begin")
        return
    whom = (mention_of(held.by.person),) if held else audience(draft.situation, Audience.ONCALL)
    kind = AskKind.AGAIN if held else AskKind.OPENING
    mentions = together(whom, also)
    _write_ask(draft, reason, kind=kind, mentions=mentions, doors=(Door.CHANNEL,), step=0, proposal=proposal)


def asked_already(draft: Draft, reason: str) -> None:
    """The owner is needed, and was asked a moment ago about another job for the same reason: the ladder begins at once."""
    chase = draft.incident.chase
    now = draft.now
    draft.set(chase=Chase(asked_at=now, laddered_at=now, count=chase.count, asked_before=chase.asked_before))
    draft.note("ask", f"{reason}; asked together with other jobs of the team")


def ask_due(draft: Draft, ask: Ask) -> None:
    """The timer's ask: one message, whatever was missed meanwhile."""
    match ask.kind:
        case AskKind.HOLDER_NOTE:
            _note_to_holder(draft, ask)
        case AskKind.LAPSED:
            _lapsed(draft)
        case AskKind.BEFORE_RUN if ask.run_at is not None and ask.run_at <= draft.now:
            draft.set(chase=replace(draft.incident.chase, asked_before=ask.run_at))
            draft.note("ask", "the run before which to ask has begun: no ask")
        case AskKind.BEFORE_RUN:
            _write_ask(
                draft,
                "the next run is near",
                kind=ask.kind,
                mentions=audience(draft.situation, Audience.ONCALL),
                doors=(Door.CHANNEL,),
                step=draft.incident.chase.step,
            )
            draft.set(chase=replace(draft.incident.chase, asked_before=ask.run_at))
        case AskKind.OPENING:
            ask_owner(draft, draft.incident.chase.reason or "the owner is needed")
        case AskKind.LADDER if ask.step < len(draft.situation.policy.chase.ladder):
            step = draft.situation.policy.chase.ladder[ask.step]
            _write_ask(
                draft,
                f"nobody has answered: step {ask.step + 1} of the ladder",
                kind=ask.kind,
                mentions=audience(draft.situation, step.ask),
                doors=step.by,
                step=ask.step + 1,
            )
        case _:
            _write_ask(
                draft,
                "still without an answer",
                kind=AskKind.AGAIN,
                mentions=audience(draft.situation, Audience.ONCALL),
                doors=(Door.CHANNEL,),
                step=draft.incident.chase.step,
            )


def acknowledge(draft: Draft, by: By) -> None:
    """A word of the team counts as an acknowledgement where nobody holds one."""
    if draft.incident.first_word_at is None:
        draft.set(first_word_at=by.at)
    held = draft.incident.acknowledgement
    if held is None or held.until <= draft.now:
        until = draft.now + draft.situation.policy.chase.acknowledgement
        draft.set(acknowledgement=Acknowledgement(by=by, until=until))
    draft.set(chase=replace(draft.incident.chase, reason=""))


def audience(situation: Situation, who: Audience) -> tuple[Mention, ...]:
    """The people of an audience; one that leads to nobody falls to the next wider one, the on-call first."""
    directory = situation.directory
    wanted = {
        Audience.ONCALL: (directory.oncall_mentions, directory.team_mentions),
        Audience.TEAM: (directory.team_mentions, directory.oncall_mentions),
        Audience.MANAGER: (directory.manager_mentions, directory.team_mentions),
    }[who]
    return next((mentions for mentions in wanted if mentions), ())


def on_it(draft: Draft) -> tuple[Mention, ...]:
    """Whom to tell of something new: who holds it, else the on-call; nobody of a low-urgency job out of hours."""
    if not can_ask_now(draft.situation, draft.now):
        return ()
    held = draft.incident.acknowledgement
    return (mention_of(held.by.person),) if held else audience(draft.situation, Audience.ONCALL)


def together(mentions: tuple[Mention, ...], also: tuple[Person, ...]) -> tuple[Mention, ...]:
    """`also` first, then the others, nobody twice."""
    extra = tuple(mention_of(person) for person in also)
    return (*extra, *(mention for mention in mentions if mention.id not in {one.id for one in extra}))


def mention_of(person: Person) -> Mention:
    return Mention(kind=MentionKind.PERSON, id=person.id, name=person.name)


def _write_ask(
    draft: Draft,
    reason: str,
    *,
    kind: AskKind,
    mentions: tuple[Mention, ...],
    doors: tuple[Door, ...],
    step: int,
    proposal: Mapping[str, Any] | None = None,
) -> None:
    incident, situation = draft.incident, draft.situation
    if draft.taken is not None:
        _is_taken(draft, draft.taken)
        return
    usable = tuple(door for door in doors if door in situation.doors)
    elsewhere = _elsewhere(situation, usable, mentions) if mentions else _fallback(situation)
    in_channel = Door.CHANNEL in usable or not elsewhere
    draft.reply(
        ReplyKind.ASK if proposal is None else ReplyKind.APPROVAL,
        mention=mentions if in_channel else (),
        broadcast=kind is AskKind.LADDER and in_channel,
        elsewhere=elsewhere,
        step=step,
        **(_asked(draft, reason, kind, mentions) if proposal is None else proposal),
    )
    chase = incident.chase
    climbs = kind is not AskKind.BEFORE_RUN and (step != chase.step or step == 0)
    draft.set(
        chase=Chase(
            asked_at=draft.now,
            laddered_at=draft.now if climbs else chase.laddered_at,
            count=chase.count + 1,
            step=step,
            asked_before=chase.asked_before,
        )
    )
    whom = ", ".join(mention.name or mention.id for mention in mentions) or "nobody: the owner record leads to no one"
    draft.note("asked", reason, asked=whom, ask=kind)


def _asked(draft: Draft, reason: str, kind: AskKind, mentions: tuple[Mention, ...]) -> dict[str, Any]:
    """The facts of a plain ask."""
    incident, situation = draft.incident, draft.situation
    return {
        "ask": kind,
        "reason": reason,
        "status": incident.status,
        "owed": tuple(owed.nominal_time for owed in incident.owed),
        "next_run_at": situation.next_run_at,
        "rerun_phase": incident.rerun.phase if incident.rerun else None,
        "broken_owner": not mentions,
    }


def _elsewhere(situation: Situation, doors: tuple[Door, ...], mentions: tuple[Mention, ...]) -> tuple[Destination, ...]:
    found: list[Destination] = []
    if Door.DM in doors:
        people = [mention for mention in mentions if mention.kind is MentionKind.PERSON]
        found += [Destination(door=Door.DM, address=mention.id) for mention in people]
    if Door.EMAIL in doors:
        found += [Destination(door=Door.EMAIL, address=address) for address in situation.directory.emails]
    if Door.WEBHOOK in doors:
        found.append(Destination(door=Door.WEBHOOK, address=""))
    return tuple(found)


def _fallback(situation: Situation) -> tuple[Destination, ...]:
    """The owner record leads to nobody: whoever watches the fallback channel and mail learns of it."""
    fallback = situation.policy.fallback
    found: list[Destination] = []
    if fallback.channel and Door.CHANNEL in situation.doors:
        found.append(Destination(door=Door.CHANNEL, address=fallback.channel))
    if fallback.email and Door.EMAIL in situation.doors:
        found.append(Destination(door=Door.EMAIL, address=fallback.email))
    return tuple(found)


def _is_taken(draft: Draft, held: Held) -> None:
    """Somebody is on it for all jobs of the team in the storm: for this one as well, from now on."""
    first_word_at = draft.incident.first_word_at or held.by.at
    draft.set(
        acknowledgement=Acknowledgement(by=held.by, until=held.until),
        first_word_at=first_word_at,
        chase=replace(draft.incident.chase, reason=""),
    )
    draft.note("acknowledged", f"{held.by.person} is on it for all jobs of the team in the storm", by=held.by)


def _note_to_holder(draft: Draft, ask: Ask) -> None:
    held = draft.incident.acknowledgement
    if held is None:
        return
    draft.reply(
        ReplyKind.HOLDER_NOTE,
        thread=False,
        elsewhere=(Destination(door=Door.DM, address=held.by.person.id),),
        until=held.until,
        next_run_at=ask.run_at,
        owed=tuple(owed.nominal_time for owed in draft.incident.owed),
    )
    draft.set(
        acknowledgement=replace(held, noted_at=draft.now),
        chase=replace(draft.incident.chase, asked_before=ask.run_at),
    )
    draft.note("noted", f"a quiet note to {held.by.person} before the next run")


def _lapsed(draft: Draft) -> None:
    """The acknowledgement ends: its holder is asked first, then the ladder."""
    held = draft.incident.acknowledgement
    if held is None:
        return
    draft.set(acknowledgement=None)
    reason = f"the acknowledgement of {held.by.person} has ended"
    holder = (mention_of(held.by.person),)
    _write_ask(draft, reason, kind=AskKind.LAPSED, mentions=holder, doors=(Door.CHANNEL,), step=0)
