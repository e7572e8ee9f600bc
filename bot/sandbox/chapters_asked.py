"""The chapter in which a manager asks how the jobs do, and shares what she is told.

A chapter acts only as a person can: by commands and buttons.
"""

from bot.sandbox.proofs import FIRST
from bot.sandbox.seed import FINANCE, MARIA
from bot.sandbox.slack.text import text_of
from bot.sandbox.telling import Chapter, Stage
from bot.sandbox.witness import Json

COMMAND = "/job-health"


def asked_how_they_do(stage: Stage) -> None:
    """Figures, chart and table for Maria alone; then the same for the channel, under her name, once."""
    chapter = Chapter(stage=stage, job="payments_import")
    failed = "fails, so that there is something to ask about"
    chapter.await_true(
        "a failure", failed, lambda: stage.witness.seen(chapter.job) is not None, within=FIRST, told=False
    )
    answer = _asked(stage, "finance-data 7d")
    chapter.await_true(
        "a manager asks",
        "is in the figures that Maria is told, with chart and table",
        lambda: _drawn(answer, chapter.job),
    )
    stage.workspace.click(user=MARIA, channel=FINANCE, ts=answer["ts"], **_share(answer))
    chapter.await_true(
        "a manager shares",
        "stands in the figures that Maria shared in the channel, once",
        lambda: len(_shared(stage)) == 1,
    )
    chapter.await_true(
        "a wrong name",
        "is named where a name was not quite right",
        lambda: "Did you mean" in text_of(_asked(stage, "payment_import"), stage.workspace.names()),
    )


def _asked(stage: Stage, words: str) -> Json:
    stage.workspace.command(user=MARIA, channel=FINANCE, command=COMMAND, text=words)
    return stage.workspace.ephemerals(MARIA)[-1]


def _drawn(message: Json, job: str) -> bool:
    kinds = {block["type"] for block in message.get("blocks", [])}
    return {"data_visualization", "data_table"} <= kinds and job in str(message["blocks"])


def _share(message: Json) -> Json:
    (row,) = (block for block in message["blocks"] if block["type"] == "actions")
    return {"action_id": row["elements"][0]["action_id"], "block_id": row["block_id"]}


def _shared(stage: Stage) -> list[Json]:
    return [each for each in stage.workspace.messages(FINANCE) if "Shared by Maria" in str(each.get("blocks"))]
