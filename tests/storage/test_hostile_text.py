"""Text that a database cannot keep is stored without what it cannot keep, the same on both."""

from dataclasses import replace

import pytest

from bot.incidents.effects import Note
from bot.incidents.keys import JobKey
from bot.store import EffectState, RunState
from storage.columns import clean
from storage.opening import SqlStorage
from tests.storage.samples import NIGHT, NOW, evidence, incident, lock, request, run, run_row

HOSTILE = "a\0b\ud800c é 😀"
CLEAN = "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}c é 😀"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("plain", "plain"),
        (HOSTILE, CLEAN),
        ("\ud83d\ude00", "😀"),
        ("\udc00", "\N{REPLACEMENT CHARACTER}"),
        ("\0", "\N{REPLACEMENT CHARACTER}"),
    ],
)
def test_what_cannot_be_kept_is_replaced(given: str, kept: str) -> None:
    assert clean(given) == kept


def test_hostile_text_is_kept_in_columns_and_documents(storage: SqlStorage) -> None:
    job = JobKey(scheduler="cron", name=CLEAN)
    effect = replace(request("key"), content={"said": HOSTILE, HOSTILE: [HOSTILE]})
    with storage.begin_write(born_leased=True, now=NOW) as uow:
        number = lock(uow, job)
        one = uow.save_incident(incident(job=job, fingerprint=HOSTILE), expected=None)
        uow.save_run(run_row(number, run=run(run_id=HOSTILE), state=RunState.FAILED, facts={"env": HOSTILE}))
        uow.save_evidence(key="ev", evidence=replace(evidence(), log_tail=HOSTILE))
        uow.add_notes(incident=one, notes=[Note(kind="opened", reason=HOSTILE)], key="event-1", at=NOW)
        uow.add_effects(incident=one, effects=[effect], now=NOW)
        uow.remember_outcome(key="event-1", outcome={"reason": HOSTILE}, at=NOW)
        uow.commit()

    (row,) = storage.reads.outbox(states=[EffectState.WAITING], limit=9)
    found = storage.reads.evidence(key="ev")
    with storage.begin_write(born_leased=False, now=NOW) as uow:
        (known,) = uow.run_rows(wanted=[(number, NIGHT)])[number, NIGHT]
    assert row.content["said"].replace("\0", "\N{REPLACEMENT CHARACTER}") == CLEAN
    assert known.run.run_id == CLEAN
    assert found is not None
    assert found.log_tail.encode()
    assert storage.reads.timeline(record=one.record, number=1)[0].reason == CLEAN
