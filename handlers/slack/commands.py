"""`/job-health`: what is open now, and who is on it. It must not count, compare or judge anything."""

from collections.abc import Sequence
from typing import Any

from bot.render.text import one_line
from handlers.slack.desk import Desk, OpenRecord

SHOWN = 20
LONGEST_JOB = 150
LONGEST_NAME = 80

Block = dict[str, Any]


def on_job_health(desk: Desk) -> dict[str, Any]:
    """The private answer to the command."""
    records = desk.reads.open_records()
    return {"response_type": "ephemeral", "text": _summary(records), "blocks": _listed(records)}


def _summary(records: Sequence[OpenRecord]) -> str:
    if not records:
        return "Nothing is open: every job that ontrack knows is on track."
    unattended = sum(record.on_it is None for record in records)
    counted = "1 job is open" if len(records) == 1 else f"{len(records)} jobs are open"
    return f"{counted}, {unattended} of them with nobody on it." if unattended else f"{counted}; somebody is on each."


def _listed(records: Sequence[OpenRecord]) -> list[Block]:
    blocks: list[Block] = [{"type": "section", "text": {"type": "plain_text", "text": _summary(records)}}]
    if records:
        lines = [_line(record) for record in records[:SHOWN]]
        blocks.append(
            {"type": "rich_text", "elements": [{"type": "rich_text_list", "style": "bullet", "elements": lines}]}
        )
    if len(records) > SHOWN:
        more = f"and {len(records) - SHOWN} more"
        blocks.append({"type": "context", "elements": [{"type": "plain_text", "text": more}]})
    return blocks


def _line(record: OpenRecord) -> Block:
    job = one_line(str(record.job), LONGEST_JOB)
    name = {"type": "link", "url": record.url, "text": job} if record.url else {"type": "text", "text": job}
    who = f"on it: {one_line(record.on_it, LONGEST_NAME)}" if record.on_it else "nobody yet"
    status = record.status.replace("_", " ")
    return {"type": "rich_text_section", "elements": [name, {"type": "text", "text": f" · {status} · {who}"}]}
