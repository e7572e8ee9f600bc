"""What the timeline says of the time in which ontrack itself was not there: it is marked, and nobody is blamed for it."""

from datetime import datetime

from bot.incidents.absence import NotObserved
from bot.incidents.draft import Draft


def not_observed(draft: Draft, event: NotObserved) -> None:
    """A deadline of the job came while nobody could hear whether it was met."""
    draft.note("not_observed", f"not observed {event.absence}: ontrack was not there, so that no lateness is told")


def ask_comes_late(draft: Draft, due_at: datetime) -> None:
    """Mark an ask that was due meanwhile: whoever answers it had no chance to answer before."""
    absence = draft.situation.absence
    if absence is not None and absence.covers(due_at):
        reason = f"an ask comes late: ontrack was not there {absence}"
        draft.note("not_there", reason, since=absence.began_at, until=absence.ended_at, due_at=due_at)
