"""The buttons of an occurrence with their labels, styles and the questions asked before they count.

It must not choose which of them are shown.
"""

from collections.abc import Iterable
from dataclasses import replace

from bot.incidents.keys import Capability
from bot.incidents.model import Outcome, Status
from bot.render.actions import ActionId, value_of
from bot.render.beside import at_cost, beside
from bot.render.blocks import Block, actions, button, dialog
from bot.render.readings import amount
from bot.render.snapshot import Snapshot
from bot.render.text import one_line

_LABELS = {
    ActionId.ACK: "Acknowledge",
    ActionId.ACK_1H: "1 hour",
    ActionId.ACK_4H: "4 hours",
    ActionId.ACK_MORNING: "Until the morning",
    ActionId.RELEASE: "Release",
    ActionId.TAKE_OVER: "Take over",
    ActionId.RERUN: "Rerun",
    ActionId.RERUN_CHOOSE: "Choose runs",
    ActionId.STOP_RERUN: "Stop rerun",
    ActionId.APPROVE: "Approve",
    ActionId.DECLINE: "Decline",
    ActionId.FIXED: "Fixed",
    ActionId.NOT_FIXED: "Not fixed",
    ActionId.NOT_NEEDED: "Not needed",
    ActionId.STILL_NEEDED: "Needed after all",
    ActionId.START_NOW: "Start now",
    ActionId.WAIT_UNTIL: "Wait until",
    ActionId.PAUSE: "Pause",
    ActionId.CHANGE_UNTIL: "Change until",
    ActionId.RESUME: "Resume",
    ActionId.RETIRE: "Retire",
    ActionId.UNRETIRE: "Un-retire",
    ActionId.LEAVE: "Leave",
    ActionId.NOT_LEFT: "Not left",
    ActionId.REOPEN: "Reopen",
    ActionId.CAUSE: "Correct cause",
    ActionId.MARK_SAFE: "Mark safe",
    ActionId.REVOKE_MARK: "Revoke mark",
    ActionId.HAND_OVER: "Hand over",
    ActionId.HAND_BACK: "Hand back",
    ActionId.MORE: "More",
    ActionId.OPEN_RECORD: "Open record",
    ActionId.OPEN_THREAD: "Open thread",
    ActionId.TAKE_STORM: "We are on it",
}


def row(snapshot: Snapshot, wanted: Iterable[ActionId], *, name: str = "actions") -> tuple[Block, ...]:
    """A row of buttons, or nothing; its block_id changes with the occurrence's version."""
    incident = snapshot.incident
    made = [one(snapshot, action) for action in wanted]
    return (actions(f"{name}:{incident.id}:{incident.version}", made),) if made else ()


def one(snapshot: Snapshot, action: ActionId) -> Block:
    """The button of one action; only those of an approval name their proposal."""
    incident = snapshot.incident
    proposal = incident.proposal.number if incident.proposal else None
    approval = action in (ActionId.APPROVE, ActionId.DECLINE)
    return button(
        action,
        _label(snapshot, action),
        value=value_of(incident, proposal if approval else None),
        style="primary" if action is _primary(snapshot) else None,
        ask=_question(snapshot, action),
        url=snapshot.record_url if action is ActionId.OPEN_RECORD else None,
    )


def _primary(snapshot: Snapshot) -> ActionId:
    """The one button that stands out."""
    return ActionId.APPROVE if snapshot.incident.status is Status.AWAITING_APPROVAL else ActionId.ACK


def cost_of(snapshot: Snapshot, runs: int) -> str:
    """What reruns of so many owed times cost, as a sentence."""
    if snapshot.estimate is None:
        return "What it costs is not known."
    return f"It costs about {amount(replace(snapshot.estimate, amount=snapshot.estimate.amount * runs))}."


def came_from(snapshot: Snapshot) -> str:
    """The team that a hand-over took it from, in words."""
    handed = snapshot.incident.handed
    return one_line(handed[-1].came_from, 60) if handed and handed[-1].came_from else "The job's own team"


def _label(snapshot: Snapshot, action: ActionId) -> str:
    incident = snapshot.incident
    owed = len(incident.owed)
    if action is ActionId.RERUN and incident.unconfirmed:
        return "Rerun to verify"
    if action is ActionId.RERUN and owed > 1:
        return f"Rerun all {owed}"
    if action is ActionId.PAUSE and Capability.PAUSE not in snapshot.can:
        return "Silence"
    if action is ActionId.CAUSE and not incident.status.unresolved:
        by_hand = incident.outcome is Outcome.RECOVERED_BY_HAND
        return "What fixed it?" if by_hand and incident.fix is None else "Cause and fix"
    return _LABELS[action]


def _question(snapshot: Snapshot, action: ActionId) -> Block | None:
    """The question before a click counts; on Rerun only the one about an unknown cause has the style of a danger."""
    incident = snapshot.incident
    runs = max(1, len(incident.owed))
    costs = f"{cost_of(snapshot, runs)} {beside(snapshot)}".rstrip()
    if action is ActionId.RERUN and snapshot.blind:
        text = f"The cause is not known, so the rerun may fail the same way, or do harm. {costs}"
        return dialog(title="Rerun without a known cause?", text=text, yes="Rerun anyway", style="danger")
    if action is ActionId.RERUN and runs > 1:
        text = f"All {runs} owed runs are run again, oldest first. {costs}"
        return dialog(title=f"Rerun all {runs}?", text=text, yes="Rerun all")
    if action in (ActionId.RERUN, ActionId.START_NOW) and at_cost(snapshot):
        word = "Start" if action is ActionId.START_NOW else "Rerun"
        return dialog(title=f"{word} beside other runs?", text=costs, yes=word)
    if action is ActionId.APPROVE and snapshot.blind:
        text = f"The cause is not known, so the rerun may fail the same way, or do harm. {beside(snapshot)}"
        text = f"{text.strip()} Your yes is recorded."
        return dialog(title="Approve without a known cause?", text=text, yes="Approve", style="danger")
    if action is ActionId.APPROVE and at_cost(snapshot):
        text = f"{beside(snapshot)} Your yes is recorded."
        return dialog(title="Approve beside other runs?", text=text, yes="Approve")
    if action is ActionId.HAND_BACK:
        to = came_from(snapshot)
        text = f"{to} answers it again, and its on-call is asked. The other team decides about it no more."
        return dialog(title="Hand it back?", text=text, yes="Hand back")
    if action is ActionId.REVOKE_MARK:
        text = "This cause is not rerun by itself any more for this job. What runs already goes on."
        return dialog(title="Revoke the safe mark?", text=text, yes="Revoke")
    return None
