"""Asking people: whom a step reaches, what an ask writes, and what an acknowledgement changes."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from bot.incidents import reach, strategy
from bot.incidents.chase import can_ask_now
from bot.incidents.draft import Draft
from bot.incidents.effects import ReplyKind
from bot.incidents.model import Acknowledgement, Ask, AskKind, Chase, Proposal
from bot.incidents.people import By, Destination, MentionKind, Person
from bot.incidents.policy import Audience, Door
from bot.incidents.reach import Reach
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
    kind = AskKind.AGAIN if held else AskKind.OPENING
    whom = _whoever(draft)
    for person in also:
        whom = reach.together(reach.person_alone(draft.incident, draft.situation, person), whom)
    _write_ask(draft, reason, kind=kind, whom=whom, doors=(Door.CHANNEL,), step=0, proposal=proposal)


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
            _ask_oncall(draft, "the next run is near", ask.kind)
            draft.set(chase=replace(draft.incident.chase, asked_before=ask.run_at))
        case AskKind.OPENING:
            ask_owner(draft, draft.incident.chase.reason or "the owner is needed")
        case AskKind.LADDER if ask.step < len(draft.situation.policy.chase.ladder):
            _ask_step(draft, ask.step, f"nobody has answered: step {ask.step + 1} of the ladder")
        case _:
            _ask_oncall(draft, "still without an answer", AskKind.AGAIN)


def acknowledge(draft: Draft, by: By) -> None:
    """A word of the team counts as an acknowledgement where nobody holds one."""
    if draft.incident.first_word_at is None:
        draft.set(first_word_at=by.at)
    held = draft.incident.acknowledgement
    if held is None or held.until <= draft.now:
        until = draft.now + draft.situation.policy.chase.acknowledgement
        draft.set(acknowledgement=Acknowledgement(by=by, until=until))
    draft.set(chase=replace(draft.incident.chase, reason=""))


def on_it(draft: Draft) -> Reach:
    """Whom to tell of something new: who holds it, else the on-call; nobody of a low-urgency job out of hours."""
    if not can_ask_now(draft.situation, draft.now):
        return Reach()
    return _whoever(draft)


def by_mail_instead(draft: Draft, *, since: datetime, code: str) -> None:
    """What was asked in the chat at `since` is not there: ask the same people by mail, where they were not mailed yet."""
    incident, situation = draft.incident, draft.situation
    step, ladder = incident.chase.step, situation.policy.chase.ladder
    climbing = incident.acknowledgement is None and 0 < step <= len(ladder)
    whom = reach.audience(incident, situation, ladder[step - 1].ask) if climbing else _whoever(draft)
    mailed = tuple(one for one in whom.mail if one.address not in situation.directory.mail_alone)
    mail = mailed or tuple(one for one in reach.fallback(incident, situation) if one.door is Door.EMAIL)
    if not mail:
        draft.note("not_mailed", "no mail address is known of those who were asked")
        return
    proposal, reason = incident.proposal, incident.reason
    draft.reply(
        ReplyKind.ASK if proposal is None else ReplyKind.APPROVAL,
        thread=False,
        elsewhere=mail,
        step=step,
        slack_late={"since": since, "code": code},
        **(
            _asked(draft, reason, AskKind.LADDER if climbing else AskKind.OPENING, whom)
            if proposal is None
            else facts_of(proposal, situation)
        ),
    )
    addresses = tuple(one.address.lower() for one in mail)
    draft.set(chase=replace(draft.incident.chase, mailed=addresses, mailed_at=draft.now))
    draft.note("asked", f"not in the chat since it was asked ({code}): asked by mail", asked=", ".join(addresses))


def move_on(draft: Draft, reason: str) -> None:
    """What was asked has reached nobody by mail: the next step is asked now, or as soon as somebody may be asked."""
    chase, ladder = draft.incident.chase, draft.situation.policy.chase.ladder
    quiet = chase.quiet_until is not None and chase.quiet_until > draft.now
    if quiet or _called_just_now(draft) or not can_ask_now(draft.situation, draft.now):
        if chase.step < len(ladder):
            draft.set(chase=replace(chase, laddered_at=draft.now - ladder[chase.step].after))
        draft.note("ask", f"{reason}: the next step is asked as soon as somebody may be asked")
    elif chase.step < len(ladder):
        _ask_step(draft, chase.step, f"{reason}: step {chase.step + 1} of the ladder")
    else:
        _ask_oncall(draft, reason, AskKind.AGAIN)


def facts_of(proposal: Proposal, situation: Situation) -> dict[str, Any]:
    """What a message says that asks for a yes to the proposal; `beside`: what a rerun does to the job's other runs."""
    others = strategy.others(situation.live, proposal.nominal_times)
    beside = {"strategy": situation.run_strategy, "others": others} if situation.run_strategy else None
    return {
        "number": proposal.number,
        "reason": proposal.reason,
        "estimate": proposal.estimate,
        "left": proposal.left,
        "expires_at": proposal.expires_at,
        "owed": proposal.nominal_times,
        "asked_by": proposal.asked_by,
        **({"beside": beside} if beside else {}),
    }


def _whoever(draft: Draft) -> Reach:
    held = draft.incident.acknowledgement
    if held is not None:
        return reach.holder(draft.incident, draft.situation, held.by.person)
    return reach.audience(draft.incident, draft.situation, Audience.ONCALL)


def _called_just_now(draft: Draft) -> bool:
    """The newest ask called people in the chat as well, so that the least distance between two asks holds."""
    chase, policy = draft.incident.chase, draft.situation.policy.chase
    if chase.asked_at is None or not 0 < chase.step <= len(policy.ladder):
        return False
    step = policy.ladder[chase.step - 1]
    whom = reach.audience(draft.incident, draft.situation, step.ask)
    called = bool(whom.mentions) and not {Door.CHANNEL, Door.DM}.isdisjoint(step.by)
    return called and draft.now < chase.asked_at + policy.floor


def _ask_step(draft: Draft, number: int, reason: str) -> None:
    step = draft.situation.policy.chase.ladder[number]
    whom = reach.audience(draft.incident, draft.situation, step.ask)
    _write_ask(draft, reason, kind=AskKind.LADDER, whom=whom, doors=step.by, step=number + 1)


def _ask_oncall(draft: Draft, reason: str, kind: AskKind) -> None:
    """Ask the on-call in the channel, wherever the ladder stands."""
    whom = reach.audience(draft.incident, draft.situation, Audience.ONCALL)
    _write_ask(draft, reason, kind=kind, whom=whom, doors=(Door.CHANNEL,), step=draft.incident.chase.step)


def _write_ask(
    draft: Draft,
    reason: str,
    *,
    kind: AskKind,
    whom: Reach,
    doors: tuple[Door, ...],
    step: int,
    proposal: Mapping[str, Any] | None = None,
) -> None:
    incident, situation = draft.incident, draft.situation
    if draft.taken is not None:
        _is_taken(draft, draft.taken)
        return
    usable = tuple(door for door in doors if door in situation.doors)
    elsewhere = _elsewhere(usable, whom) if whom.somebody else _lead_to_nobody(draft, whom)
    in_channel = Door.CHANNEL in usable or not elsewhere
    draft.reply(
        ReplyKind.ASK if proposal is None else ReplyKind.APPROVAL,
        mention=whom.mentions if in_channel else (),
        broadcast=kind is AskKind.LADDER and in_channel,
        elsewhere=elsewhere,
        step=step,
        **(_asked(draft, reason, kind, whom) if proposal is None else proposal),
    )
    chase = incident.chase
    climbs = kind is not AskKind.BEFORE_RUN and (step != chase.step or step == 0)
    by_mail = Door.EMAIL in usable or not whom.mentions
    mailed = tuple(one.address.lower() for one in elsewhere if one.door is Door.EMAIL and by_mail)
    draft.set(
        chase=Chase(
            asked_at=draft.now,
            laddered_at=draft.now if climbs else chase.laddered_at,
            count=chase.count + 1,
            step=step,
            asked_before=chase.asked_before,
            mailed=mailed,
            mailed_at=draft.now if mailed else chase.mailed_at,
        )
    )
    draft.note("asked", reason, asked=str(whom) or "nobody: the owner record leads to no one", ask=kind)


def _asked(draft: Draft, reason: str, kind: AskKind, whom: Reach) -> dict[str, Any]:
    """The facts of a plain ask."""
    incident, situation = draft.incident, draft.situation
    return {
        "ask": kind,
        "reason": reason,
        "status": incident.status,
        "owed": tuple(owed.nominal_time for owed in incident.owed),
        "next_run_at": situation.next_run_at,
        "rerun_phase": incident.rerun.phase if incident.rerun else None,
        "broken_owner": not whom.somebody,
    }


def _elsewhere(doors: tuple[Door, ...], whom: Reach) -> tuple[Destination, ...]:
    """Where an ask goes beside the channel; by mail always to those whom nothing else reaches."""
    found: list[Destination] = []
    if Door.DM in doors:
        people = [mention for mention in whom.mentions if mention.kind is MentionKind.PERSON]
        found += [Destination(door=Door.DM, address=mention.id) for mention in people]
    found += reach.merged(whom.mail if Door.EMAIL in doors else (), whom.alone)
    if Door.WEBHOOK in doors:
        found.append(Destination(door=Door.WEBHOOK, address=""))
    return tuple(found)


def _lead_to_nobody(draft: Draft, whom: Reach) -> tuple[Destination, ...]:
    """The owner record leads to nobody who could decide: the fallback learns of it, and the team's list where it has one."""
    return reach.merged(reach.fallback(draft.incident, draft.situation), whom.mail)


def _is_taken(draft: Draft, held: Held) -> None:
    """Somebody is on it for all jobs of the team in the storm: for this one as well, from now on."""
    first_word_at = draft.incident.first_word_at or max(held.by.at, draft.incident.opened_at)
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
    there = reach.person_alone(draft.incident, draft.situation, held.by.person)
    called = tuple(Destination(door=Door.DM, address=one.id) for one in there.mentions)
    draft.reply(
        ReplyKind.HOLDER_NOTE,
        thread=False,
        elsewhere=(*called, *there.alone),
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
    whom = reach.holder(draft.incident, draft.situation, held.by.person)
    _write_ask(draft, reason, kind=AskKind.LAPSED, whom=whom, doors=(Door.CHANNEL,), step=0)
