"""Writes a decision: the incident, its timeline, its effects as rows, its bookings. Translation only; it decides nothing.

Keys are `<record>.<number>/<version>/<index>`, so that the same decision is the same rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from bot.incidents import memory as past
from bot.incidents.canary import Stage
from bot.incidents.effects import (
    AskScheduler,
    Effect,
    HoldStorm,
    JoinStorm,
    LookFor,
    MarkCause,
    OpenThread,
    Release,
    Reply,
    ReplyKind,
    RerunResult,
    Reserve,
    Settle,
    StageRerun,
    StormAsked,
    TellTeam,
)
from bot.incidents.model import Incident
from bot.incidents.policy import Door, SafeMark
from bot.incidents.situation import Decision, Situation
from bot.intake.gates import Gates
from bot.intake.surroundings import Read, World, in_unit, scopes_of
from bot.store import Booking, EffectKind, NewEffect, UnitOfWork

LANE_ASK, LANE_REQUEST, LANE_REPLY, LANE_CLOSING = 1, 0, 5, 7
LANES = {
    ReplyKind.ASK: LANE_ASK,
    ReplyKind.APPROVAL: LANE_ASK,
    ReplyKind.HOLDER_NOTE: LANE_ASK,
    ReplyKind.STORM_ASK: LANE_ASK,
    ReplyKind.RESOLVED: LANE_CLOSING,
}
ELSEWHERE = {Door.CHANNEL: EffectKind.DIRECT, Door.DM: EffectKind.DIRECT, Door.EMAIL: EffectKind.EMAIL}


class AllowanceGone(Exception):
    """Somebody else booked the allowance meanwhile: read again and decide again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pen:
    """What every write of one decision needs."""

    uow: UnitOfWork
    read: Read
    world: World
    situation: Situation
    now: datetime
    gates: Gates


def write(pen: Pen, decision: Decision, before: Incident | None) -> Incident | None:
    """Write `decision` and return the incident as stored. Raises `AllowanceGone` and `StaleIncident`."""
    incident = decision.incident
    if incident is None:
        _write_effects(pen, decision, None)
        return None
    if before is None or incident.version != before.version:
        incident = pen.uow.save_incident(incident, expected=before.version if before else None)
    key = f"{incident.id}/{incident.version}"
    if decision.notes:
        pen.uow.add_notes(incident=incident, notes=decision.notes, key=key, at=pen.now)
    _write_effects(pen, decision, incident)
    return incident


def _write_effects(pen: Pen, decision: Decision, incident: Incident | None) -> None:
    rows: list[NewEffect] = []
    for index, effect in enumerate(decision.effects):
        match effect:
            case OpenThread() if incident is not None:
                _open_thread(pen, incident, effect)
            case JoinStorm() if incident is not None:
                _join_storm(pen, incident, effect)
            case HoldStorm():
                pen.gates.storms.taken(effect.channel, effect.held)
            case StormAsked():
                pen.gates.storms.asked(effect.channel, who=effect.who, step=effect.step)
            case Reply() | AskScheduler() | LookFor() if incident is not None:
                rows += _rows(pen, incident, effect, f"{incident.id}/{incident.version}/{index}")
            case Reserve() if incident is not None:
                _reserve(pen, incident, effect)
            case Settle():
                _settle(pen, effect)
            case Release():
                _release(pen, effect)
            case StageRerun(stage=None):
                pen.gates.canaries.lost(key=effect.key, cause=effect.cause, job=pen.read.key)
            case StageRerun(stage=Stage() as stage):
                pen.gates.canaries.moved(key=effect.key, cause=effect.cause, stage=stage)
            case TellTeam():
                _tell_team(pen, effect)
            case MarkCause():
                _mark(pen, effect)
    if rows and incident is not None:
        pen.uow.add_effects(incident=incident, effects=rows, now=pen.now)


def _open_thread(pen: Pen, incident: Incident, effect: OpenThread) -> None:
    if effect.channel is None:
        return
    if incident.storm is None:
        pen.gates.storms.opened(effect.channel, None, pen.world.policy.storm)
    last = incident.returned.last_number if incident.returned and effect.same_thread else None
    pen.uow.open_thread(incident=incident, channel=effect.channel, continue_from=last)


def _join_storm(pen: Pen, incident: Incident, effect: JoinStorm) -> None:
    team = pen.situation.team
    pen.gates.storms.opened(effect.place.channel, effect.place, pen.world.policy.storm)
    pen.uow.join_storm(incident=incident, place=effect.place, team=team.name if team is not None else "")


def _rows(pen: Pen, incident: Incident, effect: Effect, key: str) -> list[NewEffect]:
    match effect:
        case Reply():
            return _reply(pen, effect, key)
        case AskScheduler():
            content = _content(effect)
            return [_row(pen, effect.key, EffectKind.REQUEST, content, lane=LANE_REQUEST)]
        case LookFor():
            return [_row(pen, f"{effect.key}?{incident.version}", EffectKind.LOOK, _content(effect), lane=LANE_REQUEST)]
    return []


def _reply(pen: Pen, reply: Reply, key: str) -> list[NewEffect]:
    """The message of the thread, the evidence's log as a file after it, and what leaves by other doors."""
    content = _content(reply)
    lane = LANES.get(reply.kind, LANE_REPLY)
    rows = []
    if reply.thread:
        rows.append(_row(pen, key, EffectKind.REPLY, content, lane=lane, in_thread=True, in_storm=reply.storm))
    if reply.kind is ReplyKind.EVIDENCE and reply.facts.get("evidence"):
        log = {"evidence": reply.facts["evidence"]}
        rows.append(_row(pen, f"{key}/log", EffectKind.FILE, log, lane=LANE_CLOSING, in_thread=True))
    for number, destination in enumerate(reply.elsewhere):
        kind = ELSEWHERE.get(destination.door)
        if kind is not None and destination.door in pen.world.doors:
            there = {
                **content,
                "door": destination.door,
                "address": destination.address,
                "shared": destination.shared,
            }
            rows.append(_row(pen, f"{key}/{destination.door}/{number}", kind, there, lane=lane))
    return rows


def _row(
    pen: Pen,
    key: str,
    kind: EffectKind,
    content: Mapping[str, Any],
    *,
    lane: int,
    in_thread: bool = False,
    in_storm: str | None = None,
) -> NewEffect:
    return NewEffect(
        key=key, kind=kind, content=content, due_at=pen.now, in_thread=in_thread, in_storm=in_storm, lane=lane
    )


def _content(effect: Effect) -> dict[str, Any]:
    built: dict[str, Any] = msgspec.to_builtins(effect)
    return built


def _reserve(pen: Pen, incident: Incident, effect: Reserve) -> None:
    limits = scopes_of(pen.read.key, pen.world.policy, pen.now)
    unit = effect.estimate.unit if effect.estimate else "run_hours"
    booking = Booking(
        key=effect.key,
        job_id=pen.read.id,
        record=incident.record,
        number=incident.number,
        nominal_times=effect.nominal_times,
        cause=effect.cause,
        automatic=effect.automatic,
        first=not any(pen.situation.reruns_of(time) for time in effect.nominal_times),
        amount=effect.estimate.amount if effect.estimate else None,
        unit=unit,
        scopes=tuple(scope for scope in limits if scope.unit == unit),
        at=pen.now,
        by=effect.by.person.id if effect.by else None,
        stage=effect.stage,
    )
    within = {scope: limit for scope, limit in limits.items() if scope.unit == unit}
    if not pen.uow.reserve(booking, limits=within):
        raise AllowanceGone(effect.key)
    pen.gates.canaries.planned(booking, pen.world.policy.canary)


def _settle(pen: Pen, effect: Settle) -> None:
    booking = pen.uow.booking(key=effect.key)
    if booking is None or booking.result is not None:
        return
    rates = dict(pen.world.policy.rates)
    amount = in_unit(effect.cost, booking.unit, rates) if effect.cost else None
    pen.uow.settle_booking(key=effect.key, amount=amount, result=effect.result, at=pen.now)
    ok = effect.result is RerunResult.SUCCEEDED
    pen.gates.canaries.ended(booking, ok=ok, taken_back=False, job=pen.read.key)
    if booking.automatic and effect.result is not RerunResult.CANCELLED:
        pen.read.memory = past.reran(pen.read.memory, booking.cause, ok=ok)


def _release(pen: Pen, effect: Release) -> None:
    booking = pen.uow.booking(key=effect.key)
    if booking is None or booking.result is not None:
        return
    pen.uow.release_booking(key=effect.key, at=pen.now)
    pen.gates.canaries.ended(booking, ok=False, taken_back=effect.taken_back, job=pen.read.key)


def _tell_team(pen: Pen, effect: TellTeam) -> None:
    team = pen.situation.team
    if team is not None:
        pen.gates.canaries.told(cause=effect.cause, team=team.name)


def _mark(pen: Pen, effect: MarkCause) -> None:
    team = pen.world.policy.team
    if team is not None:
        mark = SafeMark(cause=effect.cause, team=team.name, by=effect.by.person.id, since=effect.by.at)
        pen.read.memory = past.marked(pen.read.memory, mark, safe=effect.safe)
