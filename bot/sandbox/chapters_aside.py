"""The chapters of the story about jobs that are put aside, and about one that is late. They run side by side.

A chapter acts only as a person can: by buttons, modals and sample actions.
"""

from datetime import timedelta

from bot.incidents.model import Outcome, Status
from bot.sandbox.proofs import good_run, has_begun, stood_still
from bot.sandbox.seed import GITA
from bot.sandbox.telling import Chapter, Stage

PAUSE = timedelta(seconds=13)
EVERY_SEGMENTS = timedelta(seconds=10)
EVERY_MODEL = timedelta(seconds=12)


def paused_and_resumed(stage: Stage) -> None:
    """A lost column; paused for a while; the schedule goes on by itself."""
    chapter = Chapter(stage=stage, job="customer_segments")
    good_run(chapter)
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
            and stood_still(chapter, in_force_at, until=until, every=EVERY_SEGMENTS)
        ),
    )
    chapter.see(
        "good again",
        "runs well again, which settles it",
        thread=lambda seen: "recovered" in seen.root_text,
        record=lambda seen: seen.incident.status is Status.RESOLVED and has_begun(stage, chapter.job, until),
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
        "stopped", "starts no run, while other jobs go on", lambda: has_begun(stage, "orders_summary", others_ran)
    )
    chapter.see(
        "still stopped",
        "did not run since",
        thread=lambda seen: "is retired" in seen.root_text,
        record=lambda _: stood_still(chapter, in_force_at, until=others_ran, every=EVERY_MODEL),
    )
    chapter.click(GITA, "unretire", retired)
    chapter.see(
        "un-retired",
        "is taken back by Gita, runs again, and is good",
        thread=lambda seen: seen.says("took the retirement back") and "recovered" in seen.root_text,
        record=lambda seen: seen.incident.status is Status.RESOLVED and has_begun(stage, chapter.job, others_ran),
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
