"""Incidents as people meet them, each a snapshot to render; nothing here checks anything."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.evidence.types import Cause, Change, ChangeKind, Evidence, EvidenceLine, RetryHint, RootError
from bot.incidents.keys import Capability, Cost, JobKey, RunRef
from bot.incidents.memory import GoodRun
from bot.incidents.model import (
    Acknowledgement,
    Ask,
    AskKind,
    AtEnd,
    Chase,
    DecisionKind,
    Failure,
    Fix,
    Incident,
    Outcome,
    Owed,
    OwedPlan,
    OwnerDecision,
    Proposal,
    ProposalReason,
    Rerun,
    RerunPhase,
    Returned,
    Status,
)
from bot.incidents.people import By, Handover, Mention, MentionKind, Person
from bot.incidents.policy import JobPolicy, Mode, SafeMark, Team
from bot.incidents.situation import Allowance, Waiting
from bot.render.snapshot import Snapshot

NOW = datetime(2026, 11, 30, 2, 12, 30, tzinfo=UTC)
DUE = datetime(2026, 11, 30, 2, 0, tzinfo=UTC)
NEXT = datetime(2026, 12, 1, 2, 0, tzinfo=UTC)
ANA = By(person=Person(id="U0ANA", name="Ana"), at=NOW)
BEN = By(person=Person(id="U0BEN", name="Ben"), at=NOW)
ONCALL = Mention(kind=MentionKind.GROUP, id="S0FINONCALL", name="fin-oncall")
CALL_ANA = Mention(kind=MentionKind.PERSON, id="U0ANA", name="Ana")
ALL_POWERS = frozenset(Capability) - {Capability.FRESH_START}
RUN = RunRef(run_id="scheduled__2026-11-30", nominal_time=DUE, url="https://airflow.example.com/runs/1")
HOSTILE = "<!channel> <@U0ANA> <https://evil.example/|click> `*_~ & \u202eevil\u202c \x00\x07 :rotating_light: @here | "
HOSTILE += "x" * 5000


def failure(**changes: Any) -> Failure:
    plain = Failure(
        run=RUN,
        at=NOW,
        fingerprint="f1",
        cause="network.connection_reset",
        title="Connection reset by the other side",
        message="psycopg.OperationalError: server closed the connection unexpectedly",
        evidence="e1",
    )
    return replace(plain, **changes)


def owed(time: datetime | None = DUE, of: Failure | None = None) -> Owed:
    return Owed(nominal_time=time, since=NOW, failure=of or failure(), plan=OwedPlan.SAME_RUN)


def incident(status: Status = Status.OPEN, **changes: Any) -> Incident:
    plain = Incident(
        record=12,
        number=1,
        job=JobKey(scheduler="airflow-prod", name="finance.daily_revenue"),
        status=status,
        version=3,
        opened_at=NOW,
        fingerprint="f1",
        failure=failure(),
        owed=(owed(),),
        reason="the owning team has not marked network.connection_reset safe",
        chase=Chase(next=Ask(at=NOW + timedelta(minutes=15), kind=AskKind.LADDER, step=0)),
    )
    return replace(plain, **changes)


def evidence(**changes: Any) -> Evidence:
    plain = Evidence(
        root=RootError(
            type="psycopg.OperationalError",
            message="server closed the connection unexpectedly",
            lines=(
                EvidenceLine(number=118, text="loading orders, batch 41"),
                EvidenceLine(number=119, text="psycopg.OperationalError: server closed the connection", decisive=True),
                EvidenceLine(number=120, text="    cleaning up"),
            ),
        ),
        cause=Cause(
            id="network.connection_reset",
            title="Connection reset by the other side",
            group="network",
            retry_hint=RetryHint.LIKELY,
            never_safe=False,
            reason="exception psycopg.OperationalError with this message",
        ),
        fingerprint="f1",
        changes=(
            Change(path="code.version", kind=ChangeKind.CHANGED, before="4f2a9c1", after="9be0d77", note=None, rank=1),
            Change(
                path="inputs.orders.rows",
                kind=ChangeKind.CHANGED,
                before="120,431",
                after="61,002",
                note="49 % fewer",
                rank=2,
            ),
            Change(path="params.region", kind=ChangeKind.ADDED, before=None, after="eu", note=None, rank=3),
            Change(path="env.PGSSLMODE", kind=ChangeKind.REMOVED, before="require", after=None, note=None, rank=4),
        ),
        facts={},
        log_tail="loading orders\npsycopg.OperationalError: server closed the connection\n",
        log_lines=120,
    )
    return replace(plain, **changes)


def snapshot(of: Incident | None = None, **changes: Any) -> Snapshot:
    plain = Snapshot(
        incident=of or incident(),
        evidence=evidence(),
        team="finance-data",
        owners=("Ana", "Ben"),
        can=ALL_POWERS,
        policy=JobPolicy(runbook="https://wiki.example.com/finance-runbook"),
        zone="Europe/Berlin",
        next_run_at=NEXT,
        usual_duration=timedelta(minutes=24),
        last_good=GoodRun(
            run=RunRef(run_id="scheduled__2026-11-29", nominal_time=DUE - timedelta(days=1)),
            ended_at=DUE - timedelta(days=1) + timedelta(minutes=23),
        ),
        estimate=Cost(amount=0.4),
        allowance=Allowance(unit="run_hours", job=3.25, team=30.0),
        downstream=(Waiting(job="airflow-prod/board.daily_pack", waits=True, since=NOW),),
        record_url="https://ontrack.example.com/i/12",
    )
    return replace(plain, **changes)


def rerun(phase: RerunPhase, **changes: Any) -> Rerun:
    plain = Rerun(
        key="k1",
        run=RUN,
        waiting=(DUE,),
        automatic=True,
        cause="network.connection_reset",
        phase=phase,
        due_at=NOW + timedelta(minutes=5),
        estimate=Cost(amount=0.4),
        reason="network.connection_reset is marked safe by Ana",
        requested_at=None if phase is RerunPhase.BACKING_OFF else NOW + timedelta(minutes=5),
    )
    return replace(plain, **changes)


def rerunning(phase: RerunPhase) -> Snapshot:
    chase = Chase(next=Ask(at=NEXT - timedelta(minutes=30), kind=AskKind.BEFORE_RUN, run_at=NEXT))
    return snapshot(incident(Status.RERUNNING, rerun=rerun(phase), reruns=1, chase=chase))


def proposal(reason: ProposalReason, **changes: Any) -> Snapshot:
    plain = Proposal(
        number=2,
        reason=reason,
        run=RUN,
        nominal_times=(DUE,),
        expires_at=NEXT,
        estimate=Cost(amount=0.4),
        left=0.1,
    )
    waits = incident(Status.AWAITING_APPROVAL, proposal=replace(plain, **changes), reason="over budget")
    return snapshot(waits, allowance=Allowance(unit="run_hours", job=0.1))


def decision(kind: DecisionKind, **changes: Any) -> OwnerDecision:
    plain = OwnerDecision(
        kind=kind,
        by=ANA,
        reason="the vendor migrates until Monday",
        until=NOW + timedelta(days=4),
        key="k2",
        in_force_at=NOW + timedelta(minutes=1),
    )
    return replace(plain, **changes)


def settled(status: Status, **changes: Any) -> Snapshot:
    gone = {"owed": (), "closed_at": NOW + timedelta(hours=1), "closed_by_run": RUN.run_id, "chase": Chase()}
    closed_for = RUN.nominal_time if changes.get("closed_by_run", RUN.run_id) == RUN.run_id else None
    return snapshot(incident(status, **{**gone, **changes}), closed_for=closed_for)


def unknown(**changes: Any) -> Incident:
    lost = failure(cause="unknown", title="", message="exit code 1")
    return incident(failure=lost, owed=(owed(of=lost),), reason="the cause is unknown", **changes)


def late(cause: str, by: str) -> Snapshot:
    title = f"Not {cause.removeprefix('late.not_')} by {by}"
    lacks = failure(cause=cause, title=title, message="", evidence="")
    return snapshot(incident(failure=lacks, owed=(owed(of=lacks),), reason=title.lower()), evidence=None)


def backfill() -> Snapshot:
    old = tuple(owed(DUE - timedelta(days=day)) for day in range(300))
    return snapshot(incident(owed=old, count=300, reason="a backfill run is never rerun automatically"))


def hostile() -> Snapshot:
    bad = failure(
        run=replace(RUN, run_id=HOSTILE, url="javascript:alert(1)"),
        title=HOSTILE,
        message=HOSTILE,
        cause=HOSTILE[:200],
        also=(HOSTILE,),
        ruled_out_by=(HOSTILE,),
    )
    what = incident(
        job=JobKey(scheduler=HOSTILE, name=HOSTILE),
        failure=bad,
        reason=HOSTILE,
        owed=(owed(of=bad),),
        acknowledgement=Acknowledgement(by=By(person=Person(id="U0EVE", name=HOSTILE), at=NOW), until=NEXT),
        watchers=(Person(id="U0EVE", name=HOSTILE),),
    )
    lines = tuple(EvidenceLine(number=number, text=HOSTILE, decisive=True) for number in range(40))
    changed = tuple(
        Change(path=HOSTILE, kind=ChangeKind.CHANGED, before=HOSTILE, after=HOSTILE, note=HOSTILE, rank=rank)
        for rank in range(40)
    )
    root = RootError(type=HOSTILE, message=HOSTILE, lines=lines)
    return snapshot(
        what,
        evidence=evidence(root=root, changes=changed, log_tail=HOSTILE),
        team=HOSTILE,
        owners=(HOSTILE,) * 50,
        zone=HOSTILE[:60],
        downstream=tuple(Waiting(job=HOSTILE, waits=True) for _ in range(40)),
        policy=JobPolicy(runbook="javascript:alert(1)"),
        record_url="https://ontrack.example.com/i/12",
        allowance=Allowance(unit=HOSTILE, job=1.0),
        estimate=Cost(amount=1.0, unit=HOSTILE),
    )


def two_rules() -> Snapshot:
    both = failure(also=("schema.column_missing",))
    reason = "network.connection_reset is marked safe, but schema.column_missing matched as well and is not"
    return snapshot(incident(failure=both, reason=reason), marks=(mark(),))


def mark(**changes: Any) -> SafeMark:
    plain = SafeMark(cause="network.connection_reset", team="finance-data", by="Ana", since=NOW - timedelta(days=20))
    return replace(plain, **changes)


def returned(outcome: str) -> Returned:
    return Returned(
        last_number=1,
        last_outcome=outcome,
        last_closed_at=NOW - timedelta(days=3),
        times=3,
        last_fix=Fix(by=BEN, what="raised the pool size") if outcome == "fixed" else None,
    )


HANDED = Handover(team="platform", came_from="finance-data", by=ANA, note="their gateway resets all connections")
FIX = Fix(by=ANA, what="raised the pool size", cause="network.connection_reset", link="https://git.example.com/c/1")
SNAPSHOTS: dict[str, Snapshot] = {
    "open": snapshot(),
    "open acknowledged": snapshot(
        incident(
            acknowledgement=Acknowledgement(by=ANA, until=NOW + timedelta(hours=4)),
            watchers=(Person(id="U0BEN", name="Ben"),),
        )
    ),
    "open unknown cause": snapshot(unknown()),
    "open no last good run": snapshot(
        incident(), evidence=evidence(changes=None), last_good=None, estimate=None, usual_duration=None
    ),
    "open two rules": two_rules(),
    "open void mark": snapshot(marks=(mark(by="Eve", void="Eve is not of the owning team"),)),
    "open fix did not hold": snapshot(incident(number=2, returned=returned("fixed"), count=2)),
    "open came back": snapshot(incident(number=3, returned=returned("recovered"))),
    "open scheduler refused": snapshot(
        incident(
            decision=decision(DecisionKind.PAUSED, in_force_at=None, refused="403 Forbidden: missing permission"),
            reason="paused is not in force: 403 Forbidden",
        )
    ),
    "open pause asked": snapshot(incident(decision=decision(DecisionKind.PAUSED, in_force_at=None))),
    "open rerun lost": snapshot(
        incident(rerun=rerun(RerunPhase.LOST, due_at=None), reason="whether the rerun started cannot be told")
    ),
    "open run under way": snapshot(
        incident(
            chase=Chase(
                next=Ask(at=NOW + timedelta(minutes=39), kind=AskKind.LADDER),
                asked_at=NOW,
                quiet_until=NOW + timedelta(minutes=39),
            ),
            reason="ben started a run of it by hand",
        )
    ),
    "open handed over": snapshot(
        incident(handed=(HANDED,), reason="Ana handed it over from finance-data"),
        team="platform",
        teams=("finance-data", "growth", "platform"),
        policy=JobPolicy(team=Team(name="finance-data")),
    ),
    "open scheduler only reports": snapshot(can=frozenset()),
    "open observe": snapshot(incident(observed=True), policy=JobPolicy(mode=Mode.OBSERVE)),
    "open backfill": backfill(),
    "open hostile": hostile(),
    "open long name": snapshot(incident(job=JobKey(scheduler="airflow-prod", name="finance." + "daily_" * 82 + "end"))),
    "open no nominal time": snapshot(
        incident(failure=failure(run=RunRef(run_id="manual-7")), owed=(owed(None),)), next_run_at=None, team=""
    ),
    "late not started": late("late.not_started", "08:15 CET (policy: at its nominal time and 15m grace)"),
    "late not finished": late("late.not_finished", "09:15 (policy: 09:00 Europe/Berlin and 15m grace)"),
    "rerunning backing off": rerunning(RerunPhase.BACKING_OFF),
    "rerunning requested": rerunning(RerunPhase.REQUESTED),
    "rerunning running": rerunning(RerunPhase.RUNNING),
    "rerunning held": rerunning(RerunPhase.HELD),
    "rerunning to confirm a fix": snapshot(
        incident(Status.RERUNNING, rerun=rerun(RerunPhase.REQUESTED, automatic=False, by=ANA), fix=FIX, reruns=1)
    ),
    "awaiting over budget": proposal(ProposalReason.OVER_BUDGET),
    "awaiting unknown cost": proposal(ProposalReason.UNKNOWN_COST, estimate=None, left=None),
    "awaiting outsider": proposal(ProposalReason.ASKED_BY_OUTSIDER, asked_by=BEN),
    "verifying": snapshot(incident(Status.VERIFYING, fix=FIX, verify_by=NEXT + timedelta(minutes=39))),
    "verifying unconfirmed": snapshot(incident(Status.VERIFYING, fix=FIX, unconfirmed=True)),
    "resolved recovered": settled(Status.RESOLVED, outcome=Outcome.RECOVERED, reruns=1),
    "resolved fixed": settled(Status.RESOLVED, outcome=Outcome.FIXED, fix=FIX),
    "resolved by hand": settled(Status.RESOLVED, outcome=Outcome.RECOVERED_BY_HAND),
    "resolved alone": settled(Status.RESOLVED, outcome=Outcome.RECOVERED_ALONE),
    "resolved not needed": settled(Status.RESOLVED, outcome=Outcome.NOT_NEEDED, closed_by_run=None),
    "paused": settled(Status.PAUSED, decision=decision(DecisionKind.PAUSED), noted=2),
    "paused then ask": settled(Status.PAUSED, decision=decision(DecisionKind.PAUSED, at_end=AtEnd.ASK)),
    "paused silences only": settled(Status.PAUSED, decision=decision(DecisionKind.PAUSED, silences_only=True)),
    "retired": settled(Status.RETIRED, decision=decision(DecisionKind.RETIRED, until=None)),
    "left": settled(Status.LEFT, decision=decision(DecisionKind.LEFT, false_alarm=True), owed=(owed(),)),
}
