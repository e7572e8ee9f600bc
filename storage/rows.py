"""Rows of the queue in the words of the port. It reads nothing."""

from bot.incidents.keys import JobKey
from bot.store import EffectKind, EffectRow, EffectState
from storage.columns import AnyRow
from storage.effects import PACE


def effect_row(row: AnyRow) -> EffectRow:
    """A row of `EFFECTS` in the words of the port."""
    return EffectRow(
        id=row.id,
        key=row.key,
        kind=EffectKind(row.kind),
        record=row.record or 0,
        number=row.number or 0,
        job=JobKey(scheduler=row.scheduler or "", name=row.name or ""),
        content=row.content,
        due_at=row.due_at,
        state=EffectState(row.state),
        conversation=row.conversation_id,
        channel=row.content["channel"] if row.kind == EffectKind.NOTICE else row.channel,
        root_ts=row.root_ts,
        attempt=row.attempt,
        created_at=row.created_at,
        uncertain_at=row.uncertain_at,
        resent=row.uncertain_at is not None and row.begun_at is not None and row.begun_at > row.uncertain_at,
        paced=row.code == PACE,
    )
