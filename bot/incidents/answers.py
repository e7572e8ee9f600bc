"""What schedulers tell by themselves of an occurrence: an answer to what we asked, and that the next runs are others.

It must not ask them anything.
"""

from dataclasses import replace

from bot.incidents import asking, closing, holding, reruns, unblocking
from bot.incidents.draft import Draft
from bot.incidents.effects import ReplyKind
from bot.incidents.events import AnswerKind, ScheduleChanged, SchedulerAnswered
from bot.incidents.keys import Action
from bot.incidents.model import Status

GOES_ON = (AnswerKind.TAKEN, AnswerKind.STARTED)


def rescheduled(draft: Draft, event: ScheduleChanged) -> None:
    """The next runs are not what they were: what hangs on them is worked out anew."""
    incident, next_run_at = draft.incident, draft.situation.next_run_at
    draft.note("schedule_changed", event.reason or "its next runs were worked out anew")
    if incident.status is Status.VERIFYING:
        draft.set(verify_by=closing.verify_by(draft.situation, draft.now))
    if incident.proposal is not None and next_run_at is not None and next_run_at < incident.proposal.expires_at:
        draft.set(proposal=replace(incident.proposal, expires_at=next_run_at))
    if event.told:
        draft.reply(ReplyKind.CHANGED, reason=event.reason)
    if event.gone and incident.status is not Status.RERUNNING:
        asking.ask_owner(draft, f"{event.reason}: retire it?")


def answered(draft: Draft, event: SchedulerAnswered) -> None:
    """What a scheduler says about something that we asked of it."""
    incident = draft.incident
    if event.action in (Action.RERUN, Action.START):
        if incident.rerun is not None and incident.rerun.key == event.key:
            reruns.answered(draft, incident.rerun, event)
        else:
            draft.note("stale_answer", f"an answer to {event.key}, which nothing waits for")
    elif event.action is Action.STOP:
        draft.note("stop_answered", f"{event.answer} {event.message}".strip(), key=event.key)
        if incident.rerun is not None and event.key == reruns.stop_key(incident.rerun) and event.answer not in GOES_ON:
            reruns.tell(
                draft, incident.rerun, "not stopped", reason=event.message or "its scheduler did not confirm it"
            )
    elif event.action is Action.UNBLOCK:
        unblocking.answered(draft, event)
    else:
        holding.answered(draft, event)
