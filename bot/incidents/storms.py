"""What a storm means for one incident: it opens as a row, its asks are made for all of its team, and it can be taken out.

The rule that the incidents of a channel share is `storm`.
"""

from collections.abc import Callable
from dataclasses import replace

from bot.incidents import storm
from bot.incidents.draft import Draft
from bot.incidents.effects import HoldStorm, JoinStorm, OpenThread, Reply, ReplyKind, ToldKind
from bot.incidents.events import PersonEvent
from bot.incidents.people import Standing
from bot.incidents.situation import Situation
from bot.incidents.storm import Held
from bot.incidents.storm_events import StormEvent, StormTaken, ThreadWanted


def show(draft: Draft) -> None:
    """A new occurrence gets its thread, or its row in the channel's storm."""
    incident, situation = draft.incident, draft.situation
    channel, known = channel_of(situation), situation.storm
    place = storm.place_of_next(known, situation.policy.storm, draft.now) if known else None
    if known is None or place is None or channel is None:
        same_thread = incident.returned.same_thread if incident.returned else False
        draft.add(OpenThread(channel=channel, same_thread=same_thread))
        return
    draft.situation = replace(situation, storm=storm.after_opening(known, place, situation.policy.storm, draft.now))
    draft.set(storm=place)
    draft.add(JoinStorm(place=place))
    draft.note("in_storm", "many occurrences opened at once: it is a row of the channel's storm", row=place.row)
    if situation.platform is not None:
        draft.ask_platform(situation.platform)


def channel_of(situation: Situation) -> str | None:
    """Where a new occurrence is shown."""
    team = situation.policy.team
    return (team.channel if team else None) or situation.policy.fallback.channel


def said(draft: Draft, event: StormEvent, may_decide: Callable[[Draft, PersonEvent], bool]) -> None:
    """A person's word on a row of a storm: anybody may look at it by itself, the team alone takes it."""
    match event:
        case ThreadWanted():
            open_thread(draft, event)
        case StormTaken() if may_decide(draft, event):
            take(draft, event)


def take(draft: Draft, event: StormTaken) -> None:
    """Somebody is on it for all rows of the team: the team is not asked in the storm for as long as an acknowledgement
    lasts. Each job stays open until it is well."""
    place, known, team = draft.incident.storm, draft.situation.storm, draft.situation.team
    name = team.name if team is not None else ""
    if place is None or known is None or known.number != place.number:
        draft.tell(ToldKind.OTHER_STATE, "that storm is over", status=draft.incident.status)
        draft.note("refused", "the storm that is taken is over", by=event.by)
        return
    earlier = storm.held_by(known, storm.team_key(name), draft.now)
    if earlier is not None:
        reason = f"{earlier.by.person} is on it already, for all jobs of {name or 'the team'} in the storm"
        draft.tell(ToldKind.CANNOT, reason)
        draft.note("also_acknowledged", f"{event.by.person} came second: {reason}", by=event.by)
        return
    until = draft.now + draft.situation.policy.chase.acknowledgement
    held = Held(who=storm.team_key(name), by=event.by, until=until)
    if draft.incident.status.unresolved:
        draft.set(first_word_at=draft.incident.first_word_at or event.by.at)
    draft.add(
        HoldStorm(channel=known.channel, held=held),
        Reply(kind=ReplyKind.STORM_TAKEN, facts={"by": event.by, "team": name, "until": until}, storm=place.storm),
    )
    draft.note("storm_taken", f"{event.by.person} is on it for all jobs of the team in the storm", by=event.by)
    draft.tell(ToldKind.DONE, "taken for all jobs of the team in this storm", until=until)


def open_thread(draft: Draft, event: ThreadWanted) -> None:
    """A row becomes a thread of its own, with its evidence; the row stays and follows."""
    incident = draft.incident
    if draft.situation.directory.standing(event.by.person, draft.now) is Standing.NOBODY:
        draft.tell(ToldKind.NOT_YOURS, "only people of this workspace open threads")
        draft.note("refused", f"a thread is wanted by {event.by.person}, who may not", by=event.by)
        return
    place = incident.storm
    if place is None or place.opened:
        draft.tell(ToldKind.OTHER_STATE, "it has a thread of its own", status=incident.status)
        draft.note("thread_there", "it has a thread of its own already", by=event.by)
        return
    draft.set(storm=replace(place, opened=True))
    draft.add(OpenThread(channel=channel_of(draft.situation)))
    draft.reply(ReplyKind.EVIDENCE, evidence=incident.failure.evidence, downstream=draft.situation.downstream)
    draft.note("thread_opened", f"{event.by.person} wants to see it by itself", by=event.by)
    draft.tell(ToldKind.DONE, "it has a thread of its own now")
