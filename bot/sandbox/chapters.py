"""The chapters of the story, a job each, as its people live through them. They run side by side and share nothing.

A chapter acts only as a person can: by buttons, modals and sample actions.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from bot.incidents.model import Outcome, ProposalReason, Status
from bot.sandbox.seed import ANA, BEN, GITA, SAM
from bot.sandbox.telling import Chapter, Stage
from bot.sandbox.witness import Json, Seen

PAUSE = timedelta(seconds=13)
LEFT = timedelta(minutes=1)
EVERY_SEGMENTS = timedelta(seconds=10)
EVERY_MODEL = timedelta(seconds=12)
FIRST = timedelta(seconds=40)


def healthy(stage: Stage) -> None:
    """A job that runs well is never spoken of."""
    chapter = Chapter(stage=stage, job="orders_summary")
    _good_run(chapter)
    chapter.await_true(
        "healthy channel", "runs well and is not mentioned anywhere", lambda: not _spoken_of(stage, chapter.job)
    )


def rerun_by_itself(stage: Stage) -> None:
    """A dropped connection, marked safe: rerun and recovered, and nobody is called."""
    chapter = Chapter(stage=stage, job="payments_import")
    _good_run(chapter)
    stage.press("drop-payments")
    chapter.see(
        "incident with evidence",
        "failed by network.connection_reset; error, last good run and downstream are told",
        thread=lambda seen: seen.says("Connection reset by peer", "Last good run", "revenue_report"),
        record=lambda seen: (
            seen.incident.failure.cause == "network.connection_reset" and stage.witness.has_evidence(seen.incident)
        ),
    )
    chapter.see(
        "automatic rerun",
        "is rerun under its safe mark, within its budget",
        thread=lambda seen: seen.says("Reruns", "network.connection_reset is marked safe"),
        record=lambda seen: [one.automatic for one in stage.witness.bookings(seen.incident)] == [True],
    )
    seen = chapter.see(
        "recovered",
        "recovered by the rerun; nobody was mentioned, and what it cost is settled",
        thread=lambda seen: "recovered after a rerun" in seen.root_text and not seen.mentions,
        record=lambda seen: (
            seen.incident.outcome is Outcome.RECOVERED
            and [one.result for one in stage.witness.bookings(seen.incident)] == ["succeeded"]
        ),
    )
    _released(chapter, seen, downstream="revenue_report")


def approved_rerun(stage: Stage) -> None:
    """The same failure over budget: a stranger is refused, an owner says yes."""
    chapter = Chapter(stage=stage, job="refunds_import")
    _good_run(chapter)
    stage.press("drop-refunds")
    seen = chapter.see(
        "approval over budget",
        "waits for approval, and the on-call is called",
        thread=lambda seen: (
            "waits for approval" in seen.root_text and seen.called("S0FINONCALL", "waits for your approval")
        ),
        record=lambda seen: (
            seen.incident.proposal is not None and seen.incident.proposal.reason is ProposalReason.OVER_BUDGET
        ),
        within=FIRST,
    )
    chapter.click(SAM, "approve", seen)
    chapter.await_true(
        "stranger refused",
        "is not Sam's to approve: he alone is told who can",
        lambda: any("Only the owning team" in text and "Ana" in text for text in stage.witness.whispers(SAM)),
    )
    still = chapter.see(
        "nothing changed",
        "still waits for approval",
        thread=lambda seen: "waits for approval" in seen.root_text,
        record=lambda seen: seen.incident.status is Status.AWAITING_APPROVAL and not seen.incident.reruns,
    )
    chapter.click(ANA, "approve", still)
    chapter.see(
        "approved",
        "is rerun after Ana's yes, booked apart from the allowance, and recovered",
        thread=lambda seen: seen.says("approved") and "recovered after a rerun" in seen.root_text,
        record=lambda seen: (
            seen.incident.outcome is Outcome.RECOVERED
            and [(one.automatic, one.result) for one in stage.witness.bookings(seen.incident)] == [(False, "succeeded")]
        ),
    )


def repaired_by_a_person(stage: Stage) -> None:
    """Acknowledged, repaired, confirmed by a good run; then broken again, and left."""
    chapter = Chapter(stage=stage, job="exchange_rates")
    stage.press("break-rates")
    seen = chapter.see(
        "incident with evidence",
        "failed by data.bad_record, and price_list waits for it",
        thread=lambda seen: seen.says("could not convert string to float") and "price_list" in seen.root_text,
        record=lambda seen: (
            seen.incident.failure.cause == "data.bad_record" and seen.incident.chase.asked_at is not None
        ),
    )
    chapter.click(ANA, "ack", seen)
    seen = chapter.see(
        "acknowledged",
        "is Ana's now",
        thread=lambda seen: _on_it(seen, "Ana"),
        record=lambda seen: (
            seen.incident.acknowledgement is not None and seen.incident.acknowledgement.by.person.id == ANA
        ),
    )
    chapter.click(BEN, "ack", seen)
    chapter.await_true(
        "second person told",
        "is taken: Ben is told that Ana has it",
        lambda: any(
            "On it: ana" in text.replace("*", "").replace("Ana", "ana") for text in stage.witness.whispers(BEN)
        ),
    )
    stage.press("repair-rates")
    fix = "Wrote the dollar's rate with a zero"
    chapter.fill(ANA, "fixed", seen, lambda view: {"what": fix, **_next_run_pays(view)}, more=False)
    chapter.see(
        "fixed",
        "is said to be fixed, and waits for a good run",
        thread=lambda seen: seen.says("says that it is fixed", fix),
        record=lambda seen: (
            seen.incident.fix is not None and seen.incident.status in (Status.VERIFYING, Status.RESOLVED)
        ),
    )
    first = chapter.see(
        "verified",
        "is fixed: a good run confirms it",
        thread=lambda seen: "is fixed" in seen.root_text and seen.says("a good run confirms it"),
        record=lambda seen: seen.incident.outcome is Outcome.FIXED and seen.incident.closed_by_run is not None,
    )
    _released(chapter, first, downstream="price_list")
    _did_not_hold(chapter, first)


def paused_and_resumed(stage: Stage) -> None:
    """A lost column; paused for a while; the schedule goes on by itself."""
    chapter = Chapter(stage=stage, job="customer_segments")
    _good_run(chapter)
    stage.press("lose-column")
    seen = chapter.see(
        "evidence of what changed",
        "failed by data.schema_changed; the column that is gone is named, and Gita is called",
        thread=lambda seen: seen.says("country", "removed") and GITA in seen.mentions,
        record=lambda seen: seen.incident.failure.cause == "data.schema_changed",
    )
    until = stage.clock().replace(microsecond=0) + PAUSE
    values = {"until": int(until.timestamp()), "at_end": "resume", "reason": "The export is being repaired"}
    chapter.fill(GITA, "pause", seen, lambda _: dict(values), more=True)
    paused = chapter.see(
        "paused",
        "is paused; its scheduler confirms",
        thread=lambda seen: "is paused" in seen.root_text and seen.says("The scheduler confirms"),
        record=lambda seen: (
            seen.incident.status is Status.PAUSED
            and seen.incident.decision is not None
            and seen.incident.decision.holds_schedule
        ),
    )
    stage.press("restore-column")
    in_force_at = paused.incident.decision.in_force_at if paused.incident.decision else None
    chapter.see(
        "resumed by itself",
        "started no run while it was paused, and is resumed at the end of the pause",
        thread=lambda seen: seen.says("The pause is over"),
        record=lambda seen: (
            seen.incident.status is not Status.PAUSED
            and _stood_still(chapter, in_force_at, until=until, every=EVERY_SEGMENTS)
        ),
    )
    chapter.see(
        "good again",
        "runs well again, which settles it",
        thread=lambda seen: "recovered" in seen.root_text,
        record=lambda seen: seen.incident.status is Status.RESOLVED and _has_begun(stage, chapter.job, until),
    )


def retired_and_back(stage: Stage) -> None:
    """Killed for its memory; asked about before the next run; retired by mistake, and taken back."""
    chapter = Chapter(stage=stage, job="attribution_model")
    stage.press("widen-window")
    chapter.see(
        "memory limit",
        "was killed at its memory limit",
        thread=lambda seen: "Out of memory" in seen.root_text,
        record=lambda seen: seen.incident.failure.cause == "resource.out_of_memory",
    )
    seen = chapter.see(
        "asked before the next run",
        "is asked about once more before its next run: a new message calls Gita",
        thread=lambda seen: seen.called(GITA, "The next run is near"),
        record=lambda seen: seen.incident.chase.asked_before is not None and seen.incident.chase.count >= 2,
    )
    chapter.fill(GITA, "retire", seen, lambda _: {"reason": "Nobody reads it any more"}, more=True)
    retired = chapter.see(
        "retired",
        "is retired; its scheduler confirms",
        thread=lambda seen: "is retired" in seen.root_text and seen.says("The scheduler confirms"),
        record=lambda seen: seen.incident.status is Status.RETIRED,
    )
    stage.press("narrow-window")
    in_force_at = retired.incident.decision.in_force_at if retired.incident.decision else None
    others_ran = (in_force_at or stage.clock()) + timedelta(seconds=13)
    chapter.await_true(
        "stopped", "starts no run, while other jobs go on", lambda: _has_begun(stage, "orders_summary", others_ran)
    )
    chapter.see(
        "still stopped",
        "did not run since",
        thread=lambda seen: "is retired" in seen.root_text,
        record=lambda _: _stood_still(chapter, in_force_at, until=others_ran, every=EVERY_MODEL),
    )
    chapter.click(GITA, "unretire", retired)
    chapter.see(
        "un-retired",
        "is taken back by Gita, runs again, and is good",
        thread=lambda seen: seen.says("took the retirement back") and "recovered" in seen.root_text,
        record=lambda seen: seen.incident.status is Status.RESOLVED and _has_begun(stage, chapter.job, others_ran),
    )


def late_and_done(stage: Stage) -> None:
    """Somebody holds the ledger's lock: late, never rerun, and closed by itself with its delay."""
    chapter = Chapter(stage=stage, job="ledger_close")
    stage.press("hold-ledger")
    chapter.see(
        "late",
        "has not finished in time; it is not rerun while it may live",
        thread=lambda seen: "has not finished in time" in seen.root_text and "S0FINONCALL" in seen.mentions,
        record=lambda seen: seen.incident.failure.cause == "late.not_finished" and not seen.incident.reruns,
    )
    stage.press("release-ledger")
    chapter.see(
        "late, then done",
        "ended, and its incident closed by itself with the delay told",
        thread=lambda seen: "recovered by itself" in seen.root_text and seen.says("Late by"),
        record=lambda seen: seen.incident.outcome is Outcome.RECOVERED_ALONE,
    )


CHAPTERS: tuple[Callable[[Stage], None], ...] = (
    healthy,
    rerun_by_itself,
    approved_rerun,
    repaired_by_a_person,
    paused_and_resumed,
    retired_and_back,
    late_and_done,
)


def _did_not_hold(chapter: Chapter, first: Seen) -> None:
    stage = chapter.stage
    stage.press("break-rates")
    seen = chapter.see(
        "reopened",
        "failed the same way: the same record, occurrence 2, and the fix did not hold",
        thread=lambda seen: seen.says("the fix did not hold"),
        record=lambda seen: seen.incident.record == first.incident.record and seen.incident.number == 2,
    )
    until = int((stage.clock() + LEFT).timestamp())
    values = {"why": "known", "until": until, "reason": "The bank mends it"}
    chapter.fill(ANA, "leave", seen, lambda _: dict(values), more=True)
    left = chapter.see(
        "left",
        "is left as it is for a while",
        thread=lambda seen: "is left as it is" in seen.root_text and seen.says("leaves it as it is until"),
        record=lambda seen: seen.incident.status is Status.LEFT,
    )
    chapter.see(
        "only noted",
        "failed again, which is noted without a message",
        thread=lambda seen: "more failure" in seen.root_text and len(seen.replies) == len(left.replies),
        record=lambda seen: seen.incident.status is Status.LEFT and seen.incident.noted > 0,
    )


def _good_run(chapter: Chapter) -> None:
    chapter.await_true(
        "first good run",
        "has run well",
        lambda: chapter.stage.witness.memory(chapter.job).last_good is not None,
        within=FIRST,
        told=False,
    )


def _released(chapter: Chapter, seen: Seen, *, downstream: str) -> None:
    """The thread says that the downstream job can go on, and a run of what was owed proves it."""
    owed = seen.incident.failure.run.nominal_time
    chapter.see(
        "downstream released",
        f"lets {downstream} go on",
        thread=lambda seen: seen.says("Downstream can go on", downstream),
        record=lambda _: _brought(chapter.stage, downstream, owed),
    )


def _brought(stage: Stage, job: str, nominal_time: datetime | None) -> bool:
    good = stage.witness.memory(job).last_good
    brought = good.run.nominal_time if good else None
    return brought is not None and nominal_time is not None and brought >= nominal_time


def _has_begun(stage: Stage, job: str, at: datetime) -> bool:
    latest = stage.witness.memory(job).latest_started
    return latest is not None and latest >= at


def _stood_still(chapter: Chapter, since: datetime | None, *, until: datetime, every: timedelta) -> bool:
    """Whether runs were due in this time and none of them was ever told."""
    due = chapter.stage.witness.runs_due(chapter.job, since=since or until, until=until, every=every)
    return bool(due) and not any(ran for _, ran in due)


def _on_it(seen: Seen, name: str) -> bool:
    return any("On it" in line and name in line for line in seen.root_text.splitlines())


def _spoken_of(stage: Stage, job: str) -> bool:
    texts = (str(message.get("text")) for _, thread in stage.witness.threads() for message in thread)
    return any(job in text for text in texts)


def _next_run_pays(view: Json) -> Json:
    """For each owed time: the next run pays it."""
    return {each["block_id"]: "next_run" for each in view["blocks"] if each["block_id"].startswith("owed:")}
