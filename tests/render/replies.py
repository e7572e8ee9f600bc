"""The facts of each reply as delivery hands them over (JSON builtins of the core's values); nothing here checks anything."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import msgspec

from bot.incidents.effects import ReplyKind, Told, ToldKind
from bot.incidents.keys import Action, Cost
from bot.incidents.model import (
    AskKind,
    AtEnd,
    DecisionKind,
    Outcome,
    ProposalReason,
    RerunPhase,
    Status,
)
from bot.incidents.people import Mention
from bot.incidents.situation import Waiting
from bot.incidents.strategy import RunStrategy
from bot.incidents.waits import Hung
from bot.render.snapshot import Snapshot
from tests.render import cases, rich
from tests.render.beside_cases import AWAITING, TOMORROW
from tests.render.cases import ANA, BEN, DUE, NEXT, NOW, ONCALL

UNTIL = NOW + timedelta(hours=4)
OPEN = cases.snapshot()
HELD = cases.SNAPSHOTS["open acknowledged"]

BOARD = "airflow-prod/board.daily_pack"
DONE_LATE = Waiting(
    job=BOARD, waits=False, since=NOW, ended_at=NOW + timedelta(hours=2), delay=timedelta(hours=2, minutes=5)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A reply to render."""

    kind: ReplyKind
    facts: Mapping[str, Any] = field(default_factory=dict)
    mention: tuple[Mention, ...] = ()
    snapshot: Snapshot = OPEN

    def builtins(self) -> dict[str, Any]:
        """The facts as they come back from the database."""
        known: dict[str, Any] = msgspec.to_builtins(dict(self.facts))
        return known


def case(kind: ReplyKind, snapshot: Snapshot = OPEN, mention: tuple[Mention, ...] = (), **facts: Any) -> Case:
    return Case(kind=kind, facts=facts, mention=mention, snapshot=snapshot)


def ask(kind: AskKind, snapshot: Snapshot = OPEN, mention: tuple[Mention, ...] = (ONCALL,), **facts: Any) -> Case:
    usual = {
        "reason": snapshot.incident.reason,
        "status": snapshot.incident.status,
        "owed": (DUE,),
        "next_run_at": NEXT,
        "rerun_phase": None,
        "broken_owner": not mention,
    }
    return case(ReplyKind.ASK, snapshot, mention, ask=kind, **{**usual, **facts})


def rerun(state: str, **facts: Any) -> Case:
    usual = {"action": Action.RERUN, "automatic": True, "nominal_times": (DUE,), "by": None, "at": NOW}
    return case(ReplyKind.RERUN, state=state, **{**usual, **facts})


def decided(state: str, kind: str = DecisionKind.PAUSED, **facts: Any) -> Case:
    usual = {"by": ANA, "until": UNTIL, "reason": "the vendor migrates", "at_end": AtEnd.RESUME, "message": ""}
    return case(ReplyKind.DECISION, decision=kind, state=state, **{**usual, **facts})


def resolved(outcome: Outcome, **facts: Any) -> Case:
    usual = {"run": cases.RUN, "nominal_time": DUE, "delay": None, "by": None, "hand": None, "fix": None}
    done = cases.settled(Status.RESOLVED, outcome=outcome)
    return case(ReplyKind.RESOLVED, done, outcome=outcome, downstream=OPEN.downstream, **{**usual, **facts})


REPLIES: dict[str, Case] = {
    "moved": case(
        ReplyKind.MOVED, left="C0FINANCE", url="https://example.slack.com/archives/C0FINANCE/p1", code="is_archived"
    ),
    "changed": case(ReplyKind.CHANGED, reason="its scheduler names Ana as its owner"),
    "changed hostile": case(ReplyKind.CHANGED, reason=cases.HOSTILE),
    "downstream hung": case(
        ReplyKind.DOWNSTREAM, what="hung", job=BOARD, hung=Hung.LATE, since=NOW, jobs=(), delay=None
    ),
    "downstream hung, the first": case(
        ReplyKind.DOWNSTREAM,
        OPEN,
        (ONCALL,),
        what="hung",
        job=BOARD,
        hung=Hung.FAILED,
        since=NOW,
        jobs=(),
        delay=None,
    ),
    "downstream was skipped": case(
        ReplyKind.DOWNSTREAM, what="hung", job=cases.HOSTILE, hung=Hung.SKIPPED, since=NOW, jobs=(), delay=None
    ),
    "downstream done": case(
        ReplyKind.DOWNSTREAM,
        cases.settled(Status.RESOLVED, outcome=Outcome.FIXED),
        what="done",
        job="",
        hung=None,
        since=None,
        jobs=(DONE_LATE,),
        delay=DONE_LATE.delay,
    ),
    "downstream many done": case(
        ReplyKind.DOWNSTREAM,
        cases.settled(Status.RESOLVED, outcome=Outcome.FIXED),
        what="done",
        job="",
        hung=None,
        since=None,
        jobs=tuple(replace(DONE_LATE, job=f"{BOARD}_{number}") for number in range(7)),
        delay=timedelta(hours=14, minutes=35),
    ),
    "moved without a thread before": case(ReplyKind.MOVED, left="C0FINANCE", url=None, code="not_in_channel"),
    "evidence": case(ReplyKind.EVIDENCE, evidence="e1", downstream=OPEN.downstream),
    "evidence no last good run": case(ReplyKind.EVIDENCE, cases.SNAPSHOTS["open no last good run"]),
    "evidence nothing changed": case(ReplyKind.EVIDENCE, replace(OPEN, evidence=cases.evidence(changes=()))),
    "evidence of a late run": case(ReplyKind.EVIDENCE, cases.SNAPSHOTS["late not started"]),
    "evidence rich": case(ReplyKind.EVIDENCE, rich.snapshot()),
    "evidence first of its kind": case(ReplyKind.EVIDENCE, replace(OPEN, past_times=0)),
    "evidence hostile": case(ReplyKind.EVIDENCE, cases.SNAPSHOTS["open hostile"]),
    "ask opening": ask(AskKind.OPENING),
    "ask ladder": ask(AskKind.LADDER, reason="nobody has answered: step 2 of the ladder"),
    "ask before run": ask(AskKind.BEFORE_RUN, reason="the next run is near", rerun_phase=RerunPhase.RUNNING),
    "ask lapsed": ask(AskKind.LAPSED, mention=(cases.CALL_ANA,)),
    "ask again": ask(AskKind.AGAIN),
    "ask approval": ask(AskKind.OPENING, cases.SNAPSHOTS["awaiting over budget"]),
    "ask broken owner": ask(AskKind.OPENING, mention=()),
    "ask observe": ask(AskKind.OPENING, cases.SNAPSHOTS["open observe"]),
    "ask hostile": ask(AskKind.OPENING, cases.SNAPSHOTS["open hostile"], reason=cases.HOSTILE),
    "holder note": case(ReplyKind.HOLDER_NOTE, HELD, until=UNTIL, next_run_at=NEXT, owed=(DUE,)),
    "approval": case(
        ReplyKind.APPROVAL,
        cases.SNAPSHOTS["awaiting over budget"],
        number=2,
        reason=ProposalReason.OVER_BUDGET,
        estimate=Cost(amount=0.4),
        left=0.1,
        expires_at=NEXT,
        owed=(DUE,),
        asked_by=None,
    ),
    "approval beside another run": case(
        ReplyKind.APPROVAL,
        AWAITING,
        number=2,
        reason=ProposalReason.OVER_BUDGET,
        estimate=Cost(amount=0.4),
        left=0.1,
        expires_at=NEXT,
        owed=(DUE,),
        asked_by=None,
        beside={"strategy": RunStrategy.LAST_ONLY, "others": (TOMORROW,)},
    ),
    "approval of an outsider": case(
        ReplyKind.APPROVAL,
        replace(cases.SNAPSHOTS["awaiting outsider"], incident=cases.unknown(proposal=None)),
        number=2,
        reason=ProposalReason.ASKED_BY_OUTSIDER,
        estimate=None,
        left=None,
        expires_at=NEXT,
        owed=(DUE,),
        asked_by=BEN,
    ),
    "ask handed over": ask(AskKind.OPENING, cases.SNAPSHOTS["open handed over"]),
    "joined": case(
        ReplyKind.JOINED,
        mention=(cases.CALL_ANA,),
        cause="schema.column_missing",
        title="A column is missing",
        message='column "amount" does not exist',
        evidence="e2",
        count=2,
        while_verifying=False,
        different=True,
    ),
    "joined while verifying": case(
        ReplyKind.JOINED, cause="unknown", title="", message="exit 1", count=2, while_verifying=True, different=True
    ),
    "joined fix did not hold": case(
        ReplyKind.JOINED,
        cause="unknown",
        title="",
        message="exit 1",
        count=2,
        while_verifying=True,
        different=False,
        fix=cases.FIX,
    ),
    "owed remains": case(ReplyKind.OWED_REMAINS, ran=NEXT, owed=(DUE,)),
    "rerun planned": rerun("planned", at=NOW + timedelta(minutes=5), reason="network.connection_reset is marked safe"),
    "rerun requested": rerun("requested", by=ANA, automatic=False, reason="Ana asked for it"),
    "rerun from the beginning": rerun("requested", by=ANA, automatic=False, fresh=True, reason="to confirm the fix"),
    "rerun started": rerun("started"),
    "rerun failed": rerun("failed", cause="schema.column_missing", message='column "amount" does not exist', reason=""),
    "rerun refused": rerun("refused", message="409 run is already queued", reason="the scheduler refused the rerun"),
    "rerun lost": rerun("lost", reason="the rerun has brought no result in time"),
    "rerun stopped": rerun("stopped", reason="stopped by Ana"),
    "rerun cancelled": rerun("cancelled", reason="a newer run has started"),
    "rerun not started": rerun("not_started"),
    "start requested": rerun("requested", action=Action.START, by=ANA, automatic=False, reason="Ana started it"),
    "acknowledged": case(ReplyKind.ACKNOWLEDGED, HELD, by=ANA, until=UNTIL, changed=False),
    "acknowledged for longer": case(ReplyKind.ACKNOWLEDGED, HELD, by=ANA, until=UNTIL, changed=True),
    "taken over": case(ReplyKind.ACKNOWLEDGED, HELD, by=ANA, until=UNTIL, taken_from=BEN.person),
    "waiting for a late run": case(ReplyKind.ACKNOWLEDGED, by=ANA, until=UNTIL, waits=True),
    "released": case(ReplyKind.RELEASED, by=ANA, held_by=ANA.person),
    "watching": case(ReplyKind.WATCHING, by=BEN),
    "decision recorded": decided("recorded"),
    "decision in force": decided("in_force", at_end=AtEnd.ASK),
    "decision refused": decided("refused", message="403 Forbidden: missing permission"),
    "decision silences only": decided("silences_only"),
    "decision changed": decided("changed"),
    "decision undone": decided("undone", until=None),
    "decision retired": decided("in_force", DecisionKind.RETIRED, until=None),
    "decision left": decided("in_force", DecisionKind.LEFT, false_alarm=True),
    "decision reopened": decided("undone", Status.RESOLVED, until=None, reason=""),
    "decision not fixed": decided("undone", DecisionKind.FIXED, until=None, reason=""),
    "decision approval expired": case(ReplyKind.DECISION, decision="approval", state="expired"),
    "decision declined": case(ReplyKind.DECISION, decision="declined", by=ANA, state="recorded"),
    "fixed": case(
        ReplyKind.FIXED,
        cases.SNAPSHOTS["verifying"],
        by=ANA,
        what="raised the pool size",
        cause="network.connection_reset",
        link="https://git.example.com/c/1",
        verify_by=NEXT,
        owed=(DUE,),
        not_needed=(DUE - timedelta(days=1),),
    ),
    "not needed": case(ReplyKind.NOT_NEEDED, by=ANA, nominal_times=(DUE,), reason="the report was dropped"),
    "needed after all": case(ReplyKind.NOT_NEEDED, by=ANA, nominal_times=(DUE,), reason="", back=True),
    "unconfirmed": case(
        ReplyKind.UNCONFIRMED,
        cases.SNAPSHOTS["verifying unconfirmed"],
        (ONCALL,),
        verify_by=NEXT,
        fix=cases.FIX,
    ),
    "resumed": case(ReplyKind.RESUMED, cases.SNAPSHOTS["verifying"], by=None, verify_by=NEXT),
    "resumed by hand": case(ReplyKind.RESUMED, cases.SNAPSHOTS["verifying"], by=None, by_hand=True, verify_by=NEXT),
    "resume refused": case(ReplyKind.RESUMED, OPEN, (ONCALL,), by=ANA, refused=True, message="403 Forbidden"),
    "resolved recovered": resolved(Outcome.RECOVERED),
    "resolved fixed": resolved(Outcome.FIXED, fix=cases.FIX),
    "resolved by hand": resolved(Outcome.RECOVERED_BY_HAND, hand="ben@example.com"),
    "resolved alone": resolved(Outcome.RECOVERED_ALONE, delay=timedelta(minutes=83)),
    "resolved not needed": resolved(Outcome.NOT_NEEDED, run=None, nominal_time=None, by=ANA),
    "returned": case(ReplyKind.RETURNED, times=3, last_outcome="recovered", last_closed_at=NOW, held=True),
    "returned after fixed": case(
        ReplyKind.RETURNED, times=2, last_outcome="fixed", last_fix=cases.FIX, last_decision=None, held=False
    ),
    "run by hand": case(ReplyKind.RUN, what="by_hand", run=cases.RUN, by="ben", nominal_time=DUE, withdrew=True),
    "run started late": case(ReplyKind.RUN, what="started", run=cases.RUN, by=None, nominal_time=DUE),
    "run cancelled": case(ReplyKind.RUN, what="cancelled", run=cases.RUN, by=None, nominal_time=DUE),
    "run skipped": case(ReplyKind.RUN, what="skipped", run=cases.RUN, reason="a holiday", nominal_time=DUE),
    "cause corrected": case(
        ReplyKind.CAUSE, by=ANA, cause="service.throttled", was="network.connection_reset", note="quota of the API"
    ),
    "cause correction taken back": case(
        ReplyKind.CAUSE, by=ANA, cause="network.connection_reset", was="service.throttled", note="", back=True
    ),
    "cause unknown again": case(ReplyKind.CAUSE, by=ANA, cause="unknown", was="service.throttled", note="", back=True),
    "handed over": case(
        ReplyKind.HANDED,
        cases.SNAPSHOTS["open handed over"],
        by=ANA,
        to="platform",
        was="finance-data",
        note="their gateway resets all connections",
        back=False,
        asked=True,
    ),
    "handed over while rerunning": case(
        ReplyKind.HANDED, by=ANA, to="platform", was="finance-data", note="", back=False, asked=False
    ),
    "handed back": case(
        ReplyKind.HANDED, by=BEN, to="finance-data", was="platform", note="the gateway is fine", back=True, asked=True
    ),
    "cause marked": case(ReplyKind.CAUSE, by=ANA, cause="network.connection_reset", marked=True, revoked=False),
    "cause revoked": case(ReplyKind.CAUSE, by=ANA, cause="network.connection_reset", marked=False, revoked=True),
    "storm ask team": case(
        ReplyKind.STORM_ASK, mention=(ONCALL,), team="finance", ask="opening", reason="the cause is unknown"
    ),
    "storm taken": case(ReplyKind.STORM_TAKEN, by=ANA, team="finance", until=UNTIL),
    "storm ask platform": case(ReplyKind.STORM_ASK, mention=(ONCALL,), platform="network"),
    "chronic": case(ReplyKind.CHRONIC, cases.SNAPSHOTS["resolved recovered"], (ONCALL,), times=3, days=7),
}


def told(kind: ToldKind, reason: str = "", **facts: Any) -> Told:
    return Told(kind=kind, reason=reason, facts=facts)


TOLD: dict[str, tuple[Told, Snapshot | None]] = {
    "done": (told(ToldKind.DONE, "it is yours", until=UNTIL), HELD),
    "not yours": (told(ToldKind.NOT_YOURS, "not of the owning team"), OPEN),
    "not yours but proposed": (told(ToldKind.NOT_YOURS, "proposed to the owning team", noted=True), OPEN),
    "unsure": (told(ToldKind.UNSURE, "the directory is stale"), OPEN),
    "settled": (told(ToldKind.SETTLED, "settled"), cases.SNAPSHOTS["resolved recovered"]),
    "settled elsewhere": (
        told(ToldKind.SETTLED, "another occurrence of the job is unresolved", record=13),
        cases.SNAPSHOTS["resolved recovered"],
    ),
    "other state": (told(ToldKind.OTHER_STATE, "nobody holds it", status=Status.OPEN), OPEN),
    "taken": (told(ToldKind.TAKEN, "somebody has it already", by=ANA.person, until=UNTIL), HELD),
    "expired": (told(ToldKind.EXPIRED, "that proposal is no longer open", status=Status.OPEN), OPEN),
    "confirm unknown": (
        told(ToldKind.CONFIRM_UNKNOWN, "the cause is unknown", estimate=Cost(amount=0.4)),
        cases.SNAPSHOTS["open unknown cause"],
    ),
    "cannot": (told(ToldKind.CANNOT, "its scheduler cannot be asked for reruns"), OPEN),
    "invalid": (told(ToldKind.INVALID, "choose an instant that is still to come"), OPEN),
    "unknown occurrence": (told(ToldKind.OTHER_STATE, "there is no such occurrence"), None),
}
