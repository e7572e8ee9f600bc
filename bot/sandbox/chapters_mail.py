"""The chapters of the story in which mail does what Slack cannot: an owner who is not in it, and an hour without it.

A chapter acts only as a person can: by answers to mails that came, buttons and sample actions.
"""

from bot.incidents.model import Outcome, Status
from bot.sandbox.mail.client import Json
from bot.sandbox.proofs import good_run, on_it
from bot.sandbox.seed import GITA, NORA, address_of
from bot.sandbox.telling import Chapter, Stage

BY_MAIL = "email"


def answered_by_mail(stage: Stage) -> None:
    """The owner is not in Slack: asked by mail, answers by mail. What somebody else writes in her name does nothing."""
    chapter = Chapter(stage=stage, job="stock_count")
    good_run(chapter)
    stage.press("miscount-stock")
    asked = chapter.see_mail(
        "asked by mail",
        "failed by data.bad_record; Nora, who is not in Slack, is asked by mail",
        box=NORA,
        has=lambda mail: "ack" in mail["offers"] and "eleven" in mail["text"],
    )
    stage.mail.reply(asked, "retire nobody counts any more", as_address=NORA, forged=True)
    stage.mail.reply(asked, "go ahead", as_address=NORA)
    chapter.see_mail(
        "explained once",
        "is not decided by words that are no command: Nora is told what would work",
        box=NORA,
        has=lambda mail: "no command" in mail["text"],
    )
    stage.mail.reply(asked, "ack\n\nNora", as_address=NORA)
    chapter.see(
        "acknowledged by mail",
        "is Nora's now, as its thread shows; the forged answer changed nothing",
        thread=lambda seen: on_it(seen, NORA) and not seen.says("retire"),
        record=lambda seen: (
            seen.incident.status is Status.OPEN
            and seen.incident.acknowledgement is not None
            and seen.incident.acknowledgement.by.door == BY_MAIL
        ),
    )
    chapter.see_mail("told by mail", "is said to be hers", box=NORA, has=lambda mail: "It is yours" in mail["text"])
    stage.press("recount-stock")
    stage.mail.reply(asked, "fixed counted shelf 17 again", as_address=NORA)
    chapter.see(
        "fixed by mail",
        "is fixed: Nora's words are in the thread, and a good run confirms them",
        thread=lambda seen: "is fixed" in seen.root_text and seen.says("counted shelf 17 again"),
        record=lambda seen: seen.incident.outcome is Outcome.FIXED and seen.incident.closed_by_run is not None,
    )
    chapter.see_mail(
        "told how it ended",
        "is closed, which Nora reads in the same conversation",
        box=NORA,
        has=lambda mail: "a good run confirms it" in mail["text"] and mail["conversation"] == asked["conversation"],
    )


def while_slack_is_down(stage: Stage) -> None:
    """Nothing reaches Slack: the ask goes by mail, an answer to it decides, and Slack has the state when it is back."""
    chapter = Chapter(stage=stage, job="campaign_costs")
    gita = address_of(GITA)
    good_run(chapter)
    stage.workspace.go_away()
    try:
        _approved_by_mail(chapter, gita)
    finally:
        stage.workspace.go_away(False)
    chapter.see(
        "Slack is back",
        "stands there once, as recovered; nobody is called for what is over",
        thread=lambda seen: (
            "recovered after a rerun" in seen.root_text
            and seen.says("the rerun went well")
            and GITA not in seen.mentions
            and _threads_of(chapter) == 1
        ),
        record=lambda seen: seen.incident.outcome is Outcome.RECOVERED,
    )


def _approved_by_mail(chapter: Chapter, gita: str) -> None:
    stage = chapter.stage
    stage.press("drop-campaigns")
    asked: Json = chapter.see_mail(
        "asked by mail instead",
        "failed and is not marked safe; Slack is down, so Gita is asked by mail",
        box=gita,
        has=lambda mail: {"ack", "rerun"} <= set(mail["offers"]) and "Connection reset" in mail["text"],
    )
    stage.mail.reply(asked, "ack", as_address=gita)
    chapter.see_mail("confirmed by mail", "is Gita's", box=gita, has=lambda mail: "It is yours" in mail["text"])
    stage.mail.reply(asked, "rerun", as_address=gita)
    chapter.see_mail(
        "told by mail how it ended",
        "recovered, which Gita reads while Slack is still down",
        box=gita,
        has=lambda mail: "recovered after a rerun" in mail["text"],
    )


def _threads_of(chapter: Chapter) -> int:
    roots = (thread[0] for _, thread in chapter.stage.witness.threads())
    return sum(chapter.job in str(root.get("text")) for root in roots)
