"""What a storm means for one incident: it opens as a row, its asks are made for all of its team, and it can be taken out.

The rule that the incidents of a channel share is `storm`.
"""

from dataclasses import replace

from bot.incidents import storm
from bot.incidents.draft import Draft
from bot.incidents.effects import JoinStorm, OpenThread, ReplyKind, ToldKind
from bot.incidents.events import ThreadWanted
from bot.incidents.situation import Situation


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


def open_thread(draft: Draft, event: ThreadWanted) -> None:
    """A row becomes a thread of its own, with its evidence; the row stays and follows."""
    incident = draft.incident
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
