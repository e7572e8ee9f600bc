"""A failed run that nothing will bring any more is let go, where its job's run strategy holds up all later runs for it.

It must not ask for that while somebody may still want the run: only a person's word that gives it up does.
"""

from bot.incidents.draft import Draft
from bot.incidents.effects import AskScheduler, ReplyKind
from bot.incidents.events import AnswerKind, SchedulerAnswered
from bot.incidents.keys import Action, Capability, RunRef
from bot.incidents.model import Incident, Owed, OwedPlan, RerunPhase
from bot.incidents.people import By
from bot.incidents.situation import Situation
from bot.incidents.strategy import RunStrategy

LETS_GO = (AnswerKind.TAKEN, AnswerKind.STARTED)


def can_let_go(situation: Situation) -> bool:
    """A failed run of the job holds up all later ones, and its scheduler can be asked to let it go."""
    strict = situation.run_strategy is RunStrategy.STRICT_SEQUENTIAL
    return strict and Capability.UNBLOCK in situation.can


def let_go(draft: Draft, given_up: tuple[Owed, ...], by: By) -> None:
    """Ask for it for each of these times whose run has failed: one that never began, or runs again, is let be."""
    if not can_let_go(draft.situation):
        return
    rerun = draft.incident.rerun
    under_way = (
        rerun.waiting[:1] if rerun is not None and rerun.phase in (RerunPhase.REQUESTED, RerunPhase.RUNNING) else ()
    )
    for owed in given_up:
        run = owed.failure.run
        if owed.failure.late or owed.nominal_time in under_way:
            continue
        draft.add(
            AskScheduler(
                action=Action.UNBLOCK,
                key=key_of(draft.incident, run),
                run=run,
                nominal_times=(owed.nominal_time,),
                by=by,
                reason="nothing brings it any more",
            )
        )
        draft.note("unblock_requested", "asked its scheduler to let later runs go on", by=by, run=run.run_id)


def key_of(incident: Incident, run: RunRef) -> str:
    """The idempotency key of letting that run go."""
    return f"{incident.job}@{incident.opened_at:%Y%m%dT%H%M%S%fZ}:unblock:{run.run_id}.{run.generation}"


def still_given_up(incident: Incident, key: str) -> bool:
    """Nobody has taken the word back by which the run of that key was given up."""
    waiting = tuple(one for one in incident.owed if one.plan is OwedPlan.NEXT_RUN)
    return any(key == key_of(incident, one.failure.run) for one in (*incident.waived, *waiting))


def answered(draft: Draft, event: SchedulerAnswered) -> None:
    """What its scheduler made of it; the thread hears of it where later runs still wait."""
    if not still_given_up(draft.incident, event.key):
        draft.note("stale_answer", f"an answer to {event.key}, which nothing waits for")
        return
    draft.note("unblock_answered", f"{event.answer} {event.message}".strip(), key=event.key)
    if event.answer not in LETS_GO:
        why = event.message or "its scheduler did not confirm it"
        draft.reply(ReplyKind.CHANGED, reason=f"later runs of it still wait in its scheduler: {why}")
