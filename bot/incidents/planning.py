"""What to do about owed times: rerun by licence, ask for a yes, or leave it to the owner; and the requests that follow.

Nothing here follows a rerun once it was asked for: that is `reruns`.
"""

from dataclasses import replace
from datetime import datetime
from hashlib import sha256

from bot.incidents import asking, canary, reruns, strategy, waves
from bot.incidents.canary import Stage
from bot.incidents.draft import Draft
from bot.incidents.effects import AskScheduler, Reserve, StageRerun
from bot.incidents.keys import Action, Capability, Cost
from bot.incidents.lateness import NOT_STARTED
from bot.incidents.licence import Licence, verdict
from bot.incidents.model import Incident, Owed, OwedPlan, Proposal, ProposalReason, Rerun, RerunPhase, Status
from bot.incidents.people import By

RUN_LETTERS = 8


def consider(draft: Draft, reason: str = "") -> None:
    """Nothing is under way for what is owed: rerun the oldest by licence, propose it, or leave it to the owner.

    One owed time that may not be rerun automatically leaves all of them to the owner.
    """
    incident, situation = draft.incident, draft.situation
    wanted = worth_rerunning(incident.owed)
    verdicts = []
    for owed in wanted:
        verdicts.append(verdict(owed, situation, draft.now, incident=incident))
        if verdicts[-1].licence is Licence.REFUSED:
            break
    refused = next((one for one in verdicts if one.licence is Licence.REFUSED), None)
    if refused or not verdicts:
        why = refused.reason if refused else "nothing is owed that could be rerun"
        draft.set(status=Status.OPEN, reason=why)
        draft.note("not_rerun", why)
        asking.ask_owner(draft, reason or why)
        return
    proposed = next((one for one in verdicts if one.propose), None)
    if proposed and proposed.propose:
        propose(draft, proposed.propose, proposed.reason)
        return
    plan(draft, wanted[0], verdicts[0].reason)


def worth_rerunning(owed: tuple[Owed, ...]) -> tuple[Owed, ...]:
    """The owed times of which each needs a rerun of its own: those that a later one of them pays as well are left out."""
    return tuple(
        one
        for index, one in enumerate(owed)
        if one.plan is not OwedPlan.ANY_LATER_RUN or one.nominal_time is None or index == len(owed) - 1
    )


def plan(draft: Draft, owed: Owed, reason: str) -> None:
    """Reserve, and back off or wait for the canary: the licensed rerun of one owed time."""
    incident, situation = draft.incident, draft.situation
    cause = owed.failure.cause
    stage = waves.stage_of_next(draft, cause)
    goes_at = draft.now + situation.policy.rerun.backoff
    held = stage is Stage.HELD
    rerun = Rerun(
        key=rerun_key(incident),
        run=owed.failure.run,
        waiting=(owed.nominal_time,),
        automatic=True,
        cause=cause,
        phase=RerunPhase.HELD if held else RerunPhase.BACKING_OFF,
        due_at=draft.now + situation.policy.canary.hold if held else goes_at,
        estimate=situation.estimate,
        goes_at=goes_at,
        reason=reason,
    )
    licensed = (*(one for one in incident.licensed if one[0] != owed.nominal_time), (owed.nominal_time, rerun.cause))
    draft.set(
        status=Status.RERUNNING,
        rerun=rerun,
        reruns=incident.reruns + 1,
        licensed=licensed,
        reason=reason,
        proposal=None,
    )
    draft.add(_reserve(rerun, stage))
    if held:
        waves.tell_held(draft, rerun)
    else:
        draft.note("rerun_planned", reason, at=goes_at)
        reruns.tell(draft, rerun, "planned", at=goes_at, reason=reason)


def propose(draft: Draft, why: ProposalReason, reason: str, *, by: By | None = None) -> None:
    """Ask the owner for a yes; no answer by the next run (at most the policy's limit) means no."""
    incident, situation = draft.incident, draft.situation
    latest = draft.now + situation.policy.limits.approval
    expires_at = min(latest, situation.next_run_at) if situation.next_run_at else latest
    wanted = worth_rerunning(incident.owed)
    times = tuple(owed.nominal_time for owed in wanted)
    estimate = _times(situation.estimate, len(times))
    proposal = Proposal(
        number=incident.proposals + 1,
        reason=why,
        run=wanted[0].failure.run,
        nominal_times=times,
        expires_at=expires_at,
        estimate=estimate,
        left=situation.allowance.left if situation.allowance else None,
        asked_by=by,
    )
    draft.set(status=Status.AWAITING_APPROVAL, proposal=proposal, proposals=proposal.number, reason=reason)
    draft.note("proposed", reason, by=by, number=proposal.number, expires_at=expires_at)
    asking.ask_owner(draft, f"a rerun waits for a yes: {reason}", proposal=asking.facts_of(proposal, situation))


def request(
    draft: Draft, *, owed: tuple[Owed, ...], by: By, reason: str, afresh: tuple[datetime | None, ...] = ()
) -> None:
    """An owner's rerun (or start) goes out at once, booked apart from the automatic allowance; later times follow it.

    Those of `afresh` run from the beginning, where the scheduler tells that from going on where it failed.
    """
    incident, situation = draft.incident, draft.situation
    rerun = Rerun(
        key=rerun_key(incident),
        run=owed[0].failure.run,
        waiting=tuple(one.nominal_time for one in owed),
        automatic=False,
        action=action_for(owed[0]),
        cause=owed[0].failure.cause,
        phase=RerunPhase.REQUESTED,
        due_at=draft.now + situation.policy.rerun.start_within,
        requested_at=draft.now,
        estimate=situation.estimate,
        by=by,
        reason=reason,
        afresh=afresh if Capability.FRESH_START in situation.can else (),
    )
    draft.set(status=Status.RERUNNING, rerun=rerun, reruns=incident.reruns + 1, proposal=None, reason=reason)
    draft.add(_reserve(rerun), _ask(rerun))
    draft.note("rerun_requested", reason, by=by, key=rerun.key)
    reruns.tell(draft, rerun, "requested", reason=reason)


def follow(draft: Draft, ended: Rerun) -> None:
    """The next of several owed times that an owner wants rerun, now that the one before went well."""
    incident = draft.incident
    wanted = tuple(one for one in incident.owed if one.nominal_time in ended.waiting[1:])
    living = bool(wanted) and wanted[0].nominal_time in draft.situation.live
    given_up = strategy.gives_up(draft.situation.run_strategy, live=draft.situation.live)
    if ended.by is None or not wanted or living or given_up:
        consider(draft, "another run is still owed")
        return
    request(draft, owed=wanted, by=ended.by, reason=ended.reason, afresh=ended.afresh)


def refocus(draft: Draft, reason: str) -> None:
    """A waiting rerun or proposal whose times are no longer owed is taken back; nobody at work: the rest is judged anew."""
    incident = draft.incident
    owed = {one.nominal_time for one in incident.owed}
    rerun, proposal = incident.rerun, incident.proposal
    pointless = rerun is not None and rerun.phase in reruns.WAITING and rerun.waiting[0] not in owed
    if not pointless and (proposal is None or owed & set(proposal.nominal_times)):
        return
    reruns.withdraw(draft, reason)
    if incident.acknowledgement is None:
        consider(draft, "another run is still owed")


def released(draft: Draft) -> None:
    """The canary of its cause has let the rerun go, or has failed."""
    rerun = draft.incident.rerun
    if rerun is None or rerun.phase not in reruns.WAITING or draft.situation.stage not in (Stage.LET, Stage.STOPPED):
        draft.note("stale", "no rerun of it is held any more")
        return
    request_planned(draft, rerun)


def request_planned(draft: Draft, rerun: Rerun) -> None:
    """The waiting is over: judge once more, since the world went on, then ask the scheduler, or wait for its turn."""
    stage, goes_at = draft.situation.stage, rerun.goes_at
    if rerun.phase is RerunPhase.HELD and stage is Stage.HELD:
        waves.come_to_nothing(draft, rerun, waves.gave_up(rerun))
        return
    owed = next((one for one in draft.incident.owed if one.nominal_time == rerun.waiting[0]), None)
    if owed is None:
        refocus(draft, "what it was for is no longer owed")
        return
    again = verdict(owed, draft.situation, draft.now, incident=draft.incident, planned=True)
    canary_says = canary.refusal(draft.situation.canary(rerun.cause), draft.situation.policy.canary, draft.now)
    if canary_says or stage is Stage.STOPPED:
        waves.come_to_nothing(draft, rerun, canary_says or waves.STOPPED)
        return
    if again.licence is Licence.REFUSED:
        reruns.withdraw(draft, again.reason)
        draft.set(status=Status.OPEN, reason=again.reason)
        reruns.tell(draft, rerun, "cancelled", reason=again.reason)
        quiet_until = draft.incident.chase.quiet_until
        if quiet_until is None or quiet_until <= draft.now:
            asking.ask_owner(draft, again.reason)
        return
    if goes_at is not None and draft.now < goes_at:
        draft.set(rerun=replace(rerun, phase=RerunPhase.BACKING_OFF, due_at=goes_at))
        draft.note("rerun_planned", "its turn has come; it backs off first", at=goes_at)
        return
    if not waves.may_go(draft, rerun):
        waves.hold(draft, rerun)
        return
    requested = replace(
        rerun,
        phase=RerunPhase.REQUESTED,
        requested_at=draft.now,
        due_at=draft.now + draft.situation.policy.rerun.start_within,
    )
    draft.set(rerun=requested)
    draft.add(StageRerun(key=rerun.key, cause=rerun.cause, stage=Stage.OUT), _ask(requested))
    draft.note("rerun_requested", rerun.reason, key=rerun.key)


def action_for(owed: Owed) -> Action:
    """A run that never started is started, one that failed is rerun."""
    return Action.START if owed.failure.cause == NOT_STARTED else Action.RERUN


def rerun_key(incident: Incident) -> str:
    """The idempotency key of the occurrence's next rerun: job, the occurrence's opening, the failed run and the count.

    The run tells two occurrences apart that were opened in the same instant, as a batch of events may have it.
    """
    run = incident.failure.run
    due = run.nominal_time.isoformat() if run.nominal_time else ""
    named = sha256(f"{due} {run.generation} {run.run_id}".encode("utf-8", "surrogatepass")).hexdigest()[:RUN_LETTERS]
    return f"{incident.job}@{incident.opened_at:%Y%m%dT%H%M%S%fZ}.{named}#{incident.reruns + 1}"


def _reserve(rerun: Rerun, stage: Stage | None = None) -> Reserve:
    return Reserve(
        key=rerun.key,
        nominal_times=rerun.waiting[:1],
        cause=rerun.cause,
        automatic=rerun.automatic,
        estimate=rerun.estimate,
        by=rerun.by,
        stage=stage,
    )


def _ask(rerun: Rerun) -> AskScheduler:
    return AskScheduler(
        action=rerun.action,
        key=rerun.key,
        run=rerun.run,
        nominal_times=rerun.waiting[:1],
        by=rerun.by,
        reason=rerun.reason,
        fresh=rerun.waiting[0] in rerun.afresh,
    )


def _times(estimate: Cost | None, count: int) -> Cost | None:
    return replace(estimate, amount=estimate.amount * count) if estimate else None
