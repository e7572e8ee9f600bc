"""The chapters of the story about reruns and repairs, as their people live through them. They run side by side.

A chapter acts only as a person can: by buttons, modals and sample actions.
"""

from datetime import timedelta

from bot.incidents.model import Outcome, ProposalReason, Status
from bot.sandbox.proofs import FIRST, good_run, next_run_pays, on_it, released, spoken_of
from bot.sandbox.seed import ANA, BEN, SAM
from bot.sandbox.telling import Chapter, Stage
from bot.sandbox.witness import Seen

LEFT = timedelta(minutes=1)
GOOD_RUNS = 3


def healthy(stage: Stage) -> None:
    """A job that runs well is never spoken of."""
    chapter = Chapter(stage=stage, job="orders_summary")
    good_run(chapter)
    chapter.await_true(
        "healthy",
        "runs well again and again, and no message speaks of it",
        lambda: len(stage.witness.memory(chapter.job).samples) >= GOOD_RUNS and not spoken_of(stage, chapter.job),
    )


def rerun_by_itself(stage: Stage) -> None:
    """A dropped connection, marked safe: rerun and recovered, and nobody is called."""
    chapter = Chapter(stage=stage, job="payments_import")
    good_run(chapter)
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
            and seen.incident.chase.count == 0
            and [one.result for one in stage.witness.bookings(seen.incident)] == ["succeeded"]
        ),
    )
    released(chapter, seen, downstream="revenue_report")


def approved_rerun(stage: Stage) -> None:
    """The same failure over budget: a stranger is refused, an owner says yes."""
    chapter = Chapter(stage=stage, job="refunds_import")
    good_run(chapter)
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
        thread=lambda seen: on_it(seen, "Ana"),
        record=lambda seen: (
            seen.incident.acknowledgement is not None and seen.incident.acknowledgement.by.person.id == ANA
        ),
    )
    chapter.click(BEN, "ack", seen)
    chapter.see(
        "second person told",
        "stays Ana's: Ben, who came second, is told that she has it",
        thread=lambda _: any("On it" in text and "Ana" in text for text in stage.witness.whispers(BEN)),
        record=lambda seen: (
            seen.incident.acknowledgement is not None and seen.incident.acknowledgement.by.person.id == ANA
        ),
    )
    stage.press("repair-rates")
    fix = "Wrote the dollar's rate with a zero"
    chapter.fill(ANA, "fixed", seen, lambda view: {"what": fix, **next_run_pays(view)}, more=False)
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
    released(chapter, first, downstream="price_list")
    _did_not_hold(chapter, first)


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
