"""The stages of an occurrence as one block: detected, evidence, acknowledged, rerun or decision, verified.

It must not say anything that the classic form of the message does not say as well.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from bot.incidents.model import RerunPhase, Status
from bot.render.blocks import Block
from bot.render.segments import Segment, literal, rich_line
from bot.render.snapshot import Snapshot
from bot.render.templates import phrases
from bot.render.text import one_line

MOST_TITLE = 150


class Stage(StrEnum):
    DETECTED = "detected"
    EVIDENCE = "evidence"
    ACKNOWLEDGED = "acknowledged"
    DECIDED = "decided"
    VERIFIED = "verified"


class Standing(StrEnum):
    """How far a stage is, as Slack names it."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETE = "complete"
    ERROR = "error"


def lifecycle(snapshot: Snapshot, values: Mapping[str, Any]) -> Block:
    """The plan of the occurrence as it stands; `values` are what its templates may say."""
    title, *told = phrases("lifecycle", {**values, "stages": tuple(Stage)}, zone=snapshot.zone)
    said = zip(Stage, told[::2], told[1::2], strict=False)
    tasks = [_task(snapshot, stage, name, details) for stage, name, details in said]
    return {"type": "plan", "title": one_line(literal(title), MOST_TITLE), "tasks": tasks}


def standing_of(snapshot: Snapshot, stage: Stage) -> Standing:
    """How far the stage is."""
    match stage:
        case Stage.DETECTED | Stage.EVIDENCE:
            return Standing.COMPLETE
        case Stage.ACKNOWLEDGED:
            return _acknowledged(snapshot)
        case Stage.DECIDED:
            return _decided(snapshot)
        case Stage.VERIFIED:
            return _verified(snapshot)


def _acknowledged(snapshot: Snapshot) -> Standing:
    incident = snapshot.incident
    if incident.acknowledgement is not None or not incident.status.unresolved:
        return Standing.COMPLETE
    waits = incident.status in (Status.OPEN, Status.AWAITING_APPROVAL) and not snapshot.observing
    return Standing.IN_PROGRESS if waits else Standing.PENDING


def _decided(snapshot: Snapshot) -> Standing:
    incident = snapshot.incident
    decision, rerun = incident.decision, incident.rerun
    if incident.status in (Status.RERUNNING, Status.AWAITING_APPROVAL):
        return Standing.IN_PROGRESS
    if incident.status is not Status.OPEN:
        return Standing.COMPLETE
    if decision is not None and decision.refused and decision.in_force_at is None:
        return Standing.ERROR
    if rerun is not None and rerun.phase is RerunPhase.LOST:
        return Standing.ERROR
    return Standing.IN_PROGRESS if decision is not None and decision.pending else Standing.PENDING


def _verified(snapshot: Snapshot) -> Standing:
    incident = snapshot.incident
    if incident.status is Status.RESOLVED:
        return Standing.COMPLETE
    if incident.status is Status.VERIFYING:
        return Standing.ERROR if incident.unconfirmed else Standing.IN_PROGRESS
    return Standing.PENDING


def _task(snapshot: Snapshot, stage: Stage, name: Sequence[Segment], details: Sequence[Segment]) -> Block:
    return {
        "type": "task_card",
        "task_id": stage.value,
        "title": one_line(literal(name), MOST_TITLE),
        "status": standing_of(snapshot, stage).value,
        **({"details": rich_line(details)} if details else {}),
    }
