"""A failure or a late run: what opens an occurrence, what joins the one that is unresolved, what is only noted."""

from dataclasses import replace
from datetime import datetime, timedelta

from bot.incidents import asking, closing, downstream, planning, reruns, storms
from bot.incidents.draft import Draft
from bot.incidents.effects import ReplyKind
from bot.incidents.events import RunFailed, RunLate, RunStarted
from bot.incidents.keys import Trigger
from bot.incidents.lateness import NOT_STARTED
from bot.incidents.licence import Licence, verdict
from bot.incidents.measured import Measured
from bot.incidents.model import (
    Failure,
    Incident,
    Outcome,
    Owed,
    OwedPlan,
    Returned,
    Status,
)
from bot.incidents.policy import JobPolicy, Mode, RecoversBy
from bot.incidents.reach import Reach
from bot.incidents.situation import Situation

FREQUENT = timedelta(minutes=15)
KEEP_FINGERPRINTS = 20
RETIRED_RAN = "policy.retired_ran"


def open_incident(draft: Draft, event: RunFailed | RunLate) -> None:
    """Nothing is unresolved: open an occurrence, unless the event is no trouble yet."""
    refusal = _no_incident(event, draft.situation)
    if refusal:
        draft.note("no_incident", refusal)
        return
    _open(draft, event.failure, event.at)


def retired_ran(draft: Draft, event: RunStarted) -> None:
    """A run of a retired job is an incident of its own."""
    failure = Failure(
        run=event.run,
        at=event.at,
        fingerprint="retired-ran",
        cause=RETIRED_RAN,
        title="A retired job ran",
        message="The job was retired, yet its scheduler started it.",
        never_safe=True,
    )
    _open(draft, failure, event.at)


def join(draft: Draft, event: RunFailed | RunLate) -> None:
    """A failure of the job while its occurrence is unresolved."""
    incident, situation = draft.incident, draft.situation
    if isinstance(event, RunFailed) and event.will_retry:
        draft.note("attempt_failed", "its scheduler tries again", cause=event.failure.cause)
        return
    mine = reruns.settle(draft, event) if isinstance(event, RunFailed) else False
    overtaken = _overtaken(event, situation)
    if mine and event.run.nominal_time not in {owed.nominal_time for owed in incident.owed}:
        overtaken = "what it was for is no longer owed"
    if overtaken:
        draft.note("superseded", overtaken)
        if mine and incident.status is Status.RERUNNING:
            draft.set(status=Status.OPEN)
            planning.consider(draft, "another run is still owed")
        return
    if _pays_nothing(event, incident) and not mine:
        draft.note("manual_failed", f"a {event.run.trigger} run failed that pays nothing owed")
        return
    rerun = incident.rerun
    _add_failure(draft, event.failure, event.at)
    draft.note("failed", event.failure.title, cause=event.failure.cause, run=event.run.run_id)
    if mine and rerun is not None:
        reruns.tell(draft, rerun, "failed", cause=event.failure.cause, message=event.failure.message)
    _go_on(draft, event, incident, mine=mine)


def plan_of(policy: JobPolicy, nominal_time: datetime | None) -> OwedPlan:
    """Which run pays a failed time, by the policy or by whether the job's runs have nominal times."""
    if policy.recovers_by is RecoversBy.ANY_LATER_RUN or nominal_time is None:
        return OwedPlan.ANY_LATER_RUN
    return OwedPlan.SAME_RUN


def _no_incident(event: RunFailed | RunLate, situation: Situation) -> str | None:
    if isinstance(event, RunFailed) and event.will_retry:
        return "its scheduler tries again"
    overtaken = _overtaken(event, situation)
    if overtaken:
        return overtaken
    if event.run.trigger is Trigger.MANUAL and not situation.policy.watch_manual:
        return "a run by hand failed that pays nothing owed"
    needed = open_after(situation.policy, situation.interval)
    if isinstance(event, RunFailed) and situation.failures_in_a_row < needed:
        return f"failure {situation.failures_in_a_row} of {needed} in a row: the next run is the rerun"
    return None


def _overtaken(event: RunFailed | RunLate, situation: Situation) -> str | None:
    """Why a failure that was told late is no trouble any more: what it stood for has come meanwhile."""
    time = event.run.nominal_time
    if time is not None and time in situation.paid:
        return "that nominal time has a good run already"
    if event.failure.cause == NOT_STARTED and time in situation.live:
        return "it has started meanwhile"
    if plan_of(situation.policy, time) is not OwedPlan.ANY_LATER_RUN:
        return None
    good_at, good_time = situation.last_good_at, situation.last_good_time
    later = good_time > time if time is not None and good_time is not None else False
    if later or (time is None and good_at is not None and good_at > event.at):
        return "a later run was good, which pays it as well"
    return None


def open_after(policy: JobPolicy, interval: timedelta | None) -> int:
    """How many failures in a row open an occurrence: where a frequent job's next run is its rerun, the second."""
    if policy.open_after is not None:
        return policy.open_after
    frequent = interval is not None and interval <= FREQUENT
    return 2 if frequent and policy.recovers_by is RecoversBy.ANY_LATER_RUN else 1


def _open(draft: Draft, failure: Failure, at: datetime) -> None:
    situation = draft.situation
    previous = situation.previous if situation.previous and situation.previous.status is Status.RESOLVED else None
    returned = _returned(previous, situation, draft.now) if previous else None
    owed = _owed(failure, at, situation)
    draft.open(
        Incident(
            record=previous.record if previous else 0,
            number=previous.number + 1 if previous else 1,
            job=draft.situation.job,
            status=Status.OPEN,
            version=0,
            opened_at=draft.now,
            fingerprint=failure.fingerprint,
            failure=failure,
            count=max(1, len(owed)),
            fingerprints=(failure.fingerprint,),
            owed=owed,
            returned=returned,
            linked_record=None if previous else situation.linked,
            observed=situation.policy.mode is Mode.OBSERVE,
            upstream=situation.upstream,
            measured=Measured(
                failed_at=failure.due_at or failure.at,
                estimate=situation.estimate,
                late_runs=1 if failure.late else 0,
            ),
        )
    )
    downstream.begin(draft, failure)
    draft.note("opened", failure.title, cause=failure.cause, run=failure.run.run_id)
    if situation.upstream:
        draft.note("upstream", f"it waited for {situation.upstream}")
    storms.show(draft)
    if returned is not None:
        _tell_returned(draft, returned)
    draft.reply(ReplyKind.EVIDENCE, evidence=failure.evidence, downstream=situation.downstream)
    planning.consider(draft, "" if owed else failure.title)


def _owed(failure: Failure, at: datetime, situation: Situation) -> tuple[Owed, ...]:
    if failure.cause == RETIRED_RAN:
        return ()
    nominal_time = failure.run.nominal_time
    earlier = tuple(owed for owed in situation.unpaid if owed.nominal_time != nominal_time)
    now_owed = Owed(nominal_time=nominal_time, since=at, failure=failure, plan=plan_of(situation.policy, nominal_time))
    return ordered((*earlier, now_owed))


def _returned(previous: Incident, situation: Situation, now: datetime) -> Returned:
    return Returned(
        last_number=previous.number,
        last_outcome=previous.outcome or Outcome.RECOVERED_ALONE,
        last_closed_at=previous.closed_at or previous.opened_at,
        times=situation.times + 1,
        last_fix=previous.fix,
        last_decision=previous.decision,
        same_thread=now - previous.opened_at <= situation.policy.limits.new_root_after and not previous.handed,
    )


def _tell_returned(draft: Draft, returned: Returned) -> None:
    held = returned.last_outcome != Outcome.FIXED
    reason = "the same failure came back" if held else "the fix did not hold"
    draft.note("returned", reason, times=returned.times, last_outcome=returned.last_outcome)
    draft.reply(
        ReplyKind.RETURNED,
        broadcast=returned.same_thread,
        times=returned.times,
        last_outcome=returned.last_outcome,
        last_number=returned.last_number,
        last_closed_at=returned.last_closed_at,
        last_fix=returned.last_fix,
        last_decision=returned.last_decision,
        held=held,
    )


def _pays_nothing(event: RunFailed | RunLate, incident: Incident) -> bool:
    if event.run.trigger is not Trigger.MANUAL:
        return False
    return event.run.nominal_time not in {owed.nominal_time for owed in incident.owed}


def _add_failure(draft: Draft, failure: Failure, at: datetime) -> None:
    incident = draft.incident
    nominal_time = failure.run.nominal_time
    known = next((owed for owed in incident.owed if owed.nominal_time == nominal_time), None)
    if known is not None:
        now_owed = replace(known, failure=failure)
    else:
        plan = plan_of(draft.situation.policy, nominal_time)
        now_owed = Owed(nominal_time=nominal_time, since=at, failure=failure, plan=plan)
    others = tuple(owed for owed in incident.owed if owed.nominal_time != nominal_time)
    fingerprints = tuple(dict.fromkeys((*incident.fingerprints, failure.fingerprint)))[:KEEP_FINGERPRINTS]
    if failure.late and not (known is not None and known.failure.late):
        draft.set(measured=replace(incident.measured, late_runs=incident.measured.late_runs + 1))
    draft.set(
        owed=ordered((*others, now_owed)),
        failure=failure,
        count=incident.count + 1,
        fingerprints=fingerprints,
        noted=0,
        chase=replace(incident.chase, quiet_until=None),
    )
    downstream.begin(draft, failure)


def ordered(owed: tuple[Owed, ...]) -> tuple[Owed, ...]:
    """Oldest first; a run without nominal time is ordered by when it failed."""
    return tuple(sorted(owed, key=lambda one: one.nominal_time or one.since))


def _go_on(draft: Draft, event: RunFailed | RunLate, before: Incident, *, mine: bool) -> None:
    """Where a joined failure leads, by what the occurrence waits for; `before` is the occurrence without it."""
    failure = event.failure
    different = failure.fingerprint not in before.fingerprints
    match draft.incident.status:
        case Status.VERIFYING if _contradicts(event, before, mine=mine):
            _fix_failed(draft, failure, before, different=different)
        case Status.RERUNNING if mine and _to_confirm(before):
            _fix_failed(draft, failure, before, different=different)
        case Status.RERUNNING if mine:
            draft.set(status=Status.OPEN)
            if different:
                _tell_joined(draft, failure, mention=False)
            planning.consider(draft, "the rerun failed")
        case Status.OPEN if mine:
            if different:
                _tell_joined(draft, failure, mention=False)
            asking.ask_owner(draft, "the rerun failed")
        case Status.OPEN if before.failure.late and not failure.late:
            _tell_joined(draft, failure, mention=False)
            planning.consider(draft, "it was late, then failed")
        case Status.OPEN if before.by_hand == failure.run.run_id:
            draft.set(by_hand=None)
            planning.consider(draft, "the run started by hand failed")
        case _ if different:
            _tell_joined(draft, failure, mention=not _heals(draft))


def _contradicts(event: RunFailed | RunLate, before: Incident, *, mine: bool) -> bool:
    """Whether the failure tells anything about the fix: it came of a run after the owner's word."""
    return closing.after_word(event.run, event.at, before) and not (mine and not _to_confirm(before))


def _to_confirm(before: Incident) -> bool:
    """The rerun was asked for after the fix, to confirm it."""
    rerun, since = before.rerun, before.verify_after
    asked_at = rerun.requested_at if rerun else None
    return before.fix is not None and since is not None and asked_at is not None and asked_at >= since


def _heals(draft: Draft) -> bool:
    """A licensed rerun is under way, and the newest failure may be rerun by licence as well: nobody is needed."""
    incident = draft.incident
    if incident.status is not Status.RERUNNING or incident.rerun is None or not incident.rerun.automatic:
        return False
    newest = next(one for one in incident.owed if one.failure == incident.failure)
    return verdict(newest, draft.situation, draft.now, incident=incident).licence is Licence.GRANTED


def _fix_failed(draft: Draft, failure: Failure, before: Incident, *, different: bool) -> None:
    if before.fix is None:
        reason = "it failed after it was resumed"
    else:
        reason = "it failed differently; the fix is unconfirmed" if different else "the fix did not hold"
    fixer = (before.fix.by.person,) if before.fix else ()
    draft.set(status=Status.OPEN, acknowledgement=None, verify_by=None, reason=reason)
    _tell_joined(draft, failure, mention=False, while_verifying=True, different=different)
    if not different:
        draft.set(fix=None)
    asking.ask_owner(draft, reason, also=fixer)


def _tell_joined(
    draft: Draft, failure: Failure, *, mention: bool, while_verifying: bool = False, different: bool = True
) -> None:
    """One reply that mentions who is on it, unless an ask follows."""
    whom = asking.on_it(draft) if mention else Reach()
    draft.reply(
        ReplyKind.JOINED,
        mention=whom.mentions,
        elsewhere=whom.alone,
        cause=failure.cause,
        title=failure.title,
        message=failure.message,
        evidence=failure.evidence,
        count=draft.incident.count,
        while_verifying=while_verifying,
        different=different,
        fix=draft.incident.fix if while_verifying else None,
    )
