"""One of each message and modal of ours, made up, for `doctor` to show to Slack's own checker. It must not be sent to people."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from bot.evidence import ErrorReport, read_failure
from bot.incidents.effects import ReplyKind
from bot.incidents.health import (
    Comparison,
    Day,
    Health,
    HealthReport,
    HealthRow,
    Period,
    Scope,
    Share,
    Times,
    Unit,
    Verdict,
)
from bot.incidents.keys import Capability, JobKey, RunRef
from bot.incidents.model import Failure, Incident, Owed, OwedPlan, Status
from bot.incidents.people import Mention, MentionKind
from bot.policies import Policies
from bot.render import holding, modals
from bot.render.evidence import evidence
from bot.render.health import HealthAnswer, health_message
from bot.render.more import modal_more
from bot.render.rendered import Rendered
from bot.render.replies import reply
from bot.render.root import root
from bot.render.snapshot import Snapshot

JOB = JobKey(scheduler="doctor", name="sample.job")
LOG = """Traceback (most recent call last):
  File "load.py", line 41, in pull
ConnectionResetError: [Errno 104] Connection reset by peer
"""

Json = Mapping[str, Any]


def messages(policies: Policies, now: datetime) -> Iterator[tuple[str, Json]]:
    """Each message by its name, in its classic form and, where it has one, in its richer form."""
    snapshot = _snapshot(policies, now)
    mention = (Mention(kind=MentionKind.GROUP, id="S0SAMPLE"),)
    made = {
        "the root message": root(snapshot),
        "the evidence": evidence(snapshot),
        **{f"the reply {kind}": reply(kind, {}, mention=mention, snapshot=snapshot) for kind in ReplyKind},
        "the answer to /job-health": health_message(_answer(now)),
    }
    for name, rendered in made.items():
        yield name, _message(rendered)
        if rendered.richer:
            yield f"{name}, rich", {"text": rendered.text, "blocks": rendered.richer}


def views(policies: Policies, now: datetime) -> Iterator[tuple[str, Json]]:
    """Each modal by its name."""
    snapshot = _snapshot(policies, now)
    causes = [(rule.id, rule.title) for rule in policies.every_rule()]
    yield "the modal Fixed", modals.modal_fixed(snapshot, causes=causes)
    yield "the modal Rerun", modals.modal_rerun(snapshot)
    yield "the modal Not needed", modals.modal_not_needed(snapshot)
    yield "the modal Cause", modals.modal_cause(snapshot, causes=causes)
    yield "the modal Mark safe", modals.modal_mark_safe(snapshot)
    yield "the modal Pause", holding.modal_pause(snapshot, now=now)
    yield "the modal Retire", holding.modal_retire(snapshot)
    yield "the modal Leave", holding.modal_leave(snapshot, now=now)
    yield "the modal Wait until", holding.modal_wait(snapshot, now=now)
    yield "the modal More", modal_more(snapshot)


def _message(rendered: Rendered) -> Json:
    return {"text": rendered.text, "blocks": rendered.blocks}


def _answer(now: datetime) -> HealthAnswer:
    """Figures with both charts and the table, which not every workspace draws."""
    period = Period(since=now - timedelta(days=2), until=now, name="2d")
    took = Times(n=1, p50=timedelta(minutes=5), p90=timedelta(minutes=5))
    health = Health(scope=Scope(), period=period, occurrences=1, completed=1, acknowledged=took, recovery=took)
    row = HealthRow(
        name="sample team",
        occurrences=1,
        unresolved=0,
        acknowledged=took,
        recovery=took,
        first_reruns=Share(n=1, yes=1),
        repeats=0,
        late=0,
    )
    days = tuple(Day(begins=(now - timedelta(days=back)).date(), opened=1, settled=1) for back in (1, 0))
    change = Comparison(
        measure="acknowledged",
        unit=Unit.SECONDS,
        before=600,
        after=300,
        n_before=1,
        n_after=1,
        verdict=Verdict.TOO_FEW,
    )
    report = HealthReport(health=health, rows=(row,), days=days, before_name="sample", comparisons=(change,))
    return HealthAnswer(report=report, at=now, share="{}")


def _snapshot(policies: Policies, now: datetime) -> Snapshot:
    due = now - timedelta(minutes=10)
    found = read_failure(
        error=ErrorReport(log=LOG, exit_code=1),
        facts={"code": {"version": "b"}},
        last_good={"code": {"version": "a"}},
        rules=policies.rules,
    )
    run = RunRef(run_id="sample", nominal_time=due)
    failure = Failure(
        run=run, at=now, fingerprint=found.fingerprint, cause=found.cause.id, title=found.cause.title, evidence="sample"
    )
    incident = Incident(
        record=1,
        number=1,
        job=JOB,
        status=Status.OPEN,
        version=1,
        opened_at=now,
        fingerprint=found.fingerprint,
        failure=failure,
        owed=(Owed(nominal_time=due, since=now, failure=failure, plan=OwedPlan.SAME_RUN),),
    )
    return Snapshot(
        incident=incident,
        evidence=found,
        team="sample team",
        owners=("Sample Owner",),
        can=frozenset(Capability),
        policy=policies.job(JOB),
        next_run_at=now + timedelta(days=1),
    )
