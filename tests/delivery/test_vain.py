"""What is not worth sending any more, told from the row and the occurrence alone."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.delivery.vain import OUTAGE, asks_in_vain, is_replay
from bot.incidents.effects import ReplyKind
from bot.incidents.model import Chase, Incident, Proposal, ProposalReason, Status
from bot.store import EffectKind, EffectRow, EffectState
from tests.storage.samples import JOB, NOW, acknowledged, incident, resolved, run

MINUTE = timedelta(minutes=1)


def row(kind: ReplyKind, *, minutes: float = 0, **content: Any) -> EffectRow:
    return EffectRow(
        id=1,
        key="k",
        kind=EffectKind.REPLY,
        record=5,
        number=1,
        job=JOB,
        content={"kind": kind.value, **content},
        due_at=NOW,
        state=EffectState.WAITING,
        created_at=NOW + minutes * MINUTE,
    )


def waiting(number: int) -> Incident:
    proposal = Proposal(
        number=number,
        reason=ProposalReason.OVER_BUDGET,
        run=run(),
        nominal_times=(NOW,),
        expires_at=NOW + timedelta(hours=4),
    )
    return incident(status=Status.AWAITING_APPROVAL, proposal=proposal)


@pytest.mark.parametrize(
    ("one", "minutes", "in_vain"),
    [
        (incident(), 0, False),
        (resolved(incident()), 0, True),
        (acknowledged(incident()), -1, True),
        (acknowledged(incident()), 1, False),
        (replace(incident(), chase=Chase(asked_at=NOW)), 0, False),
        (replace(incident(), chase=Chase(asked_at=NOW)), -1, True),
    ],
    ids=["open", "settled", "taken since", "asked its holder", "the newest", "overtaken"],
)
def test_an_ask_is_in_vain_once_it_is_settled_taken_or_overtaken(one: Incident, minutes: float, in_vain: bool) -> None:
    assert asks_in_vain(row(ReplyKind.ASK, minutes=minutes), one) is in_vain


@pytest.mark.parametrize(
    ("one", "in_vain"),
    [(waiting(2), False), (waiting(3), True), (incident(), True), (resolved(incident()), True)],
    ids=["waits", "a newer one waits", "answered", "settled"],
)
def test_an_approval_is_in_vain_once_its_proposal_waits_no_more(one: Incident, in_vain: bool) -> None:
    assert asks_in_vain(row(ReplyKind.APPROVAL, facts={"number": 2}), one) is in_vain


@pytest.mark.parametrize("kind", [ReplyKind.RESOLVED, ReplyKind.EVIDENCE, ReplyKind.DECISION])
def test_what_asks_nothing_is_never_asked_in_vain(kind: ReplyKind) -> None:
    assert not asks_in_vain(row(kind, minutes=-60), resolved(incident()))


@pytest.mark.parametrize(
    ("kind", "content", "replay"),
    [
        (ReplyKind.ACKNOWLEDGED, {}, True),
        (ReplyKind.JOINED, {"mention": []}, True),
        (ReplyKind.JOINED, {"mention": [{"kind": "group", "id": "S0"}]}, False),
        (ReplyKind.RERUN, {}, True),
        (ReplyKind.EVIDENCE, {}, False),
        (ReplyKind.ASK, {}, False),
        (ReplyKind.DECISION, {}, False),
        (ReplyKind.RESOLVED, {}, False),
    ],
)
def test_steps_on_the_way_are_not_replayed_after_an_outage(
    kind: ReplyKind, content: dict[str, Any], replay: bool
) -> None:
    late = NOW + OUTAGE + MINUTE

    assert is_replay(row(kind, **content), late) is replay
    assert not is_replay(row(kind, **content), NOW + MINUTE)
