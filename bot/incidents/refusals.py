"""Who may say what about an occurrence, and what they are told who may not, or who come too late.

It must not carry anybody's word out, but for the traces that an outsider may leave.
"""

from bot.incidents import rerun_words, words
from bot.incidents.draft import Draft
from bot.incidents.effects import ToldKind
from bot.incidents.events import Acknowledged, HandBackWanted, PersonEvent, RerunWanted
from bot.incidents.people import Standing


def may_decide(draft: Draft, event: PersonEvent) -> bool:
    """Owners, the on-call and admins decide; others are told who can, and leave at most a trace.

    Whoever handed an occurrence over may take that back, though another team decides about it since.
    """
    standing = draft.situation.directory.standing(event.by.person, draft.now)
    if standing.decides or (isinstance(event, HandBackWanted) and _handed_it(draft, event, standing)):
        return True
    if standing is Standing.OUTSIDER and draft.incident.status.unresolved:
        match event:
            case Acknowledged():
                words.watching(draft, event)
                return False
            case RerunWanted():
                rerun_words.outsider_rerun(draft, event)
                return False
    if standing is Standing.UNSURE:
        draft.tell(ToldKind.UNSURE, "who belongs to the owning team could not be read lately")
    else:
        draft.tell(ToldKind.NOT_YOURS, "only the owning team, its on-call or an admin decides")
    draft.note("refused", f"{type(event).__name__} by {event.by.person}, who may not decide", by=event.by)
    return False


def other_state(draft: Draft, event: PersonEvent) -> None:
    draft.tell(ToldKind.OTHER_STATE, f"it is {draft.incident.status}", status=draft.incident.status)
    draft.note("refused", f"{type(event).__name__} does not fit: it is {draft.incident.status}", by=event.by)


def settled(draft: Draft, event: PersonEvent) -> None:
    incident = draft.incident
    by = incident.decision.by.person if incident.decision else None
    draft.tell(ToldKind.SETTLED, f"it is {incident.status}", status=incident.status, run=incident.closed_by_run, by=by)
    draft.note("too_late", f"{type(event).__name__} came when it was {incident.status}", by=event.by)


def _handed_it(draft: Draft, event: HandBackWanted, standing: Standing) -> bool:
    handed = draft.incident.handed
    return standing is not Standing.NOBODY and bool(handed) and handed[-1].by.person.id == event.by.person.id
