"""Modals: each reads as its golden file, Slack takes it, and it says what will happen."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.evidence.types import RetryHint
from bot.incidents.keys import Capability
from bot.incidents.model import DecisionKind
from bot.render import holding, modals
from bot.render.actions import ActionId, read_value
from bot.render.more import modal_more
from bot.render.plain import plain_block
from tests.render import beside_cases, cases
from tests.render.cases import DUE, NOW
from tests.render.checking import golden_view, refused_view

View = dict[str, Any]
CAUSES = (("service.throttled", "Throttled by the other side"), ("platform.spot_reclaimed", "Machine taken back"))
OPEN = cases.snapshot()
IN_VAIN = replace(OPEN, evidence=cases.evidence(cause=replace(cases.evidence().cause, retry_hint=RetryHint.UNLIKELY)))
SILENT = cases.snapshot(can=frozenset({Capability.RERUN}))
SEVERAL = cases.snapshot(cases.incident(owed=tuple(cases.owed(DUE - timedelta(days=day)) for day in (2, 1, 0))))
MANY = cases.SNAPSHOTS["open backfill"]
UNKNOWN = cases.SNAPSHOTS["open unknown cause"]
HOSTILE = cases.SNAPSHOTS["open hostile"]
PAUSED = cases.SNAPSHOTS["paused"]
HANDED = cases.SNAPSHOTS["open handed over"]
WAIVED = cases.snapshot(cases.incident(waived=tuple(cases.owed(DUE - timedelta(days=day)) for day in (1, 2))))
AFRESH = cases.snapshot(can=frozenset(Capability))

MODALS: dict[str, Callable[[], View]] = {
    "fixed": lambda: modals.modal_fixed(OPEN, causes=CAUSES),
    "fixed several": lambda: modals.modal_fixed(SEVERAL, causes=CAUSES),
    "fixed many": lambda: modals.modal_fixed(MANY),
    "fixed no rerun possible": lambda: modals.modal_fixed(cases.snapshot(can=frozenset())),
    "fixed hostile": lambda: modals.modal_fixed(HOSTILE, causes=((cases.HOSTILE, cases.HOSTILE),)),
    "rerun": lambda: modals.modal_rerun(SEVERAL),
    "rerun unknown cause": lambda: modals.modal_rerun(UNKNOWN),
    "rerun many": lambda: modals.modal_rerun(MANY),
    "fixed fresh start": lambda: modals.modal_fixed(AFRESH),
    "rerun fresh start": lambda: modals.modal_rerun(AFRESH),
    "rerun beside another run": lambda: modals.modal_rerun(beside_cases.OPEN),
    "fixed beside another run": lambda: modals.modal_fixed(beside_cases.OPEN),
    "fixed in strict order": lambda: modals.modal_fixed(beside_cases.STRICT),
    "not needed in strict order": lambda: modals.modal_not_needed(beside_cases.STRICT),
    "still needed": lambda: modals.modal_still_needed(WAIVED),
    "still needed nothing": lambda: modals.modal_still_needed(OPEN),
    "hand over": lambda: modals.modal_hand_over(HANDED),
    "hand over many teams": lambda: modals.modal_hand_over(replace(HANDED, teams=tuple(f"t{n}" for n in range(150)))),
    "hand over nobody else": lambda: modals.modal_hand_over(replace(HANDED, teams=("platform",))),
    "cause corrected before": lambda: modals.modal_cause(
        cases.snapshot(cases.unknown(corrected_cause="service.throttled")), causes=CAUSES
    ),
    "not needed": lambda: modals.modal_not_needed(SEVERAL),
    "cause": lambda: modals.modal_cause(OPEN, causes=CAUSES),
    "cause unknown": lambda: modals.modal_cause(UNKNOWN, causes=CAUSES),
    "cause settled": lambda: modals.modal_cause(cases.SNAPSHOTS["resolved by hand"], causes=CAUSES),
    "mark safe": lambda: modals.modal_mark_safe(OPEN),
    "mark safe in vain": lambda: modals.modal_mark_safe(IN_VAIN),
    "mark safe unknown": lambda: modals.modal_mark_safe(UNKNOWN),
    "mark safe late": lambda: modals.modal_mark_safe(cases.SNAPSHOTS["late not started"]),
    "pause": lambda: holding.modal_pause(OPEN, now=NOW),
    "pause silences": lambda: holding.modal_pause(SILENT, now=NOW),
    "pause with a planned rerun": lambda: holding.modal_pause(cases.SNAPSHOTS["rerunning backing off"], now=NOW),
    "change until": lambda: holding.modal_change_until(PAUSED, now=NOW),
    "retire": lambda: holding.modal_retire(OPEN),
    "retire silences": lambda: holding.modal_retire(SILENT),
    "leave": lambda: holding.modal_leave(OPEN, now=NOW),
    "wait": lambda: holding.modal_wait(cases.SNAPSHOTS["late not finished"], now=NOW),
    "more": lambda: modal_more(OPEN),
    "more acknowledged": lambda: modal_more(cases.SNAPSHOTS["open acknowledged"]),
    "more late": lambda: modal_more(cases.SNAPSHOTS["late not started"]),
    "more awaiting approval": lambda: modal_more(cases.SNAPSHOTS["awaiting over budget"]),
    "more verifying": lambda: modal_more(cases.SNAPSHOTS["verifying"]),
    "more marked": lambda: modal_more(cases.snapshot(marks=(cases.mark(),))),
    "more only silences": lambda: modal_more(SILENT),
    "more handed over": lambda: modal_more(HANDED),
    "more partly not needed": lambda: modal_more(WAIVED),
    "more rerunning to confirm a fix": lambda: modal_more(cases.SNAPSHOTS["rerunning to confirm a fix"]),
    "more hostile": lambda: modal_more(HOSTILE),
    "more settled": lambda: modal_more(cases.SNAPSHOTS["resolved fixed"]),
}


@pytest.mark.parametrize("name", MODALS)
def test_a_modal_reads_as_its_golden_file_and_slack_takes_it(name: str) -> None:
    view = MODALS[name]()

    assert refused_view(view) == []
    golden_view(f"modal {name}", view)


@pytest.mark.parametrize("name", MODALS)
def test_a_modal_carries_its_occurrence(name: str) -> None:
    record, number, _ = read_value(MODALS[name]()["private_metadata"])

    assert (record, number) == (12, 1)


@pytest.mark.scenario(47)
def test_where_the_scheduler_cannot_pause_the_modal_and_more_say_that_it_only_silences() -> None:
    assert "only silences: ontrack cannot pause" in plain_block(MODALS["pause silences"]()["blocks"][0])
    assert "ontrack cannot pause this job" in "".join(map(plain_block, MODALS["more only silences"]()["blocks"]))


def test_an_unknown_cause_is_never_offered_to_be_marked_safe() -> None:
    actions = [block["accessory"]["action_id"] for block in modal_more(UNKNOWN)["blocks"]]

    assert ActionId.MARK_SAFE not in actions
    assert "submit" not in MODALS["mark safe unknown"]()


def test_what_stands_on_the_root_does_not_stand_under_more() -> None:
    actions = {block["accessory"]["action_id"] for block in modal_more(OPEN)["blocks"]}

    assert actions.isdisjoint({"ack", "rerun", "fixed", "more"})
    assert {"pause", "retire", "leave", "cause", "mark_safe", "open_record"} <= actions


def test_a_pause_that_only_silences_offers_no_resumption() -> None:
    decision = cases.decision(DecisionKind.PAUSED, silences_only=True)
    snapshot = replace(PAUSED, incident=replace(PAUSED.incident, decision=decision))

    blocks = holding.modal_change_until(snapshot, now=NOW)["blocks"]

    assert "at_end" not in [block.get("block_id") for block in blocks]
