"""What a person fills into a modal is read back, or told under the field that must be mended."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bot.incidents.events import OwedChoice
from bot.incidents.model import AtEnd
from bot.render import forms, holding, modals
from bot.render.form_fields import FieldErrors
from tests.render import cases
from tests.render.cases import DUE, NOW
from tests.render.test_modals import CAUSES, MANY, OPEN, PAUSED, SEVERAL, SILENT, UNKNOWN, View

UNTIL = NOW + timedelta(days=2)


def filled(view: View, **entered: Any) -> dict[str, dict[str, dict[str, Any]]]:
    """The state of `view` when somebody submits it with these entries; what is not entered keeps its initial value."""
    return {
        block["block_id"]: {"value": entry(block["element"], entered.get(block["block_id"].replace(":", "_")))}
        for block in view["blocks"]
        if block["type"] == "input"
    }


def entry(element: View, value: Any) -> dict[str, Any]:
    """What Slack sends for one element."""
    options = {option["value"]: option for option in element.get("options", ())}
    match element["type"]:
        case "plain_text_input" | "url_text_input":
            return {"value": value if value is not None else element.get("initial_value")}
        case "datetimepicker":
            return {"selected_date_time": value if value is not None else element.get("initial_date_time")}
        case "static_select" | "radio_buttons":
            return {"selected_option": options[value] if value else element.get("initial_option")}
        case _:
            chosen = element.get("initial_options", []) if value is None else [options[each] for each in value]
            return {"selected_options": chosen}


def test_fixed_reads_cause_link_and_a_choice_for_each_owed_time() -> None:
    view = modals.modal_fixed(SEVERAL, causes=CAUSES)
    state = filled(view, what="  raised the\npool size ", cause="service.throttled", link="https://git.example.com/c/1")
    middle = f"owed:{(DUE - timedelta(days=1)).isoformat()}"
    state[middle]["value"]["selected_option"] = {"value": "not_needed"}

    read = forms.read_fixed(state, owed=())

    assert read == forms.FixedForm(
        what="raised the pool size",
        cause="service.throttled",
        link="https://git.example.com/c/1",
        choices=(
            (DUE - timedelta(days=2), OwedChoice.RERUN_NOW),
            (DUE - timedelta(days=1), OwedChoice.NOT_NEEDED),
            (DUE, OwedChoice.RERUN_NOW),
        ),
    )


def test_where_no_rerun_is_possible_the_next_run_is_the_default() -> None:
    view = modals.modal_fixed(cases.snapshot(can=frozenset()))

    read = forms.read_fixed(filled(view, what="x"), owed=())

    assert isinstance(read, forms.FixedForm)
    assert read.choices == ((DUE, OwedChoice.NEXT_RUN),)


def test_one_choice_may_stand_for_all_of_many_owed_times() -> None:
    owed = tuple(one.nominal_time for one in MANY.incident.owed)

    read = forms.read_fixed(filled(modals.modal_fixed(MANY), what="x"), owed=owed)

    assert isinstance(read, forms.FixedForm)
    assert read.choices == tuple((time, OwedChoice.RERUN_NOW) for time in owed)


def test_a_run_without_nominal_time_is_read_back_as_such() -> None:
    view = modals.modal_fixed(cases.SNAPSHOTS["open no nominal time"])

    read = forms.read_fixed(filled(view, what="x"), owed=())

    assert isinstance(read, forms.FixedForm)
    assert read.choices == ((None, OwedChoice.RERUN_NOW),)


@pytest.mark.parametrize(
    ("entered", "refused"),
    [
        pytest.param({"what": ""}, {"what"}, id="nothing said"),
        pytest.param({"what": " \u200b\n"}, {"what"}, id="only blanks said"),
        pytest.param({"link": "git.example.com/c/1"}, {"link"}, id="no scheme"),
        pytest.param({"link": "javascript:alert(1)"}, {"link"}, id="another scheme"),
        pytest.param({"link": "https://[bad"}, {"link"}, id="broken address"),
        pytest.param({"link": "https://" + "x" * 2000}, {"link"}, id="endless address"),
        pytest.param({"cause": "other"}, {"cause_other"}, id="another cause without a name"),
        pytest.param({"cause_other": "ledger closed"}, {"cause_other"}, id="two causes"),
        pytest.param({"what": "", "link": "x"}, {"what", "link"}, id="all at once"),
    ],
)
def test_fixed_names_the_fields_to_mend(entered: dict[str, str], refused: set[str]) -> None:
    read = forms.read_fixed(filled(modals.modal_fixed(OPEN), **{"what": "x", **entered}), owed=())

    assert isinstance(read, FieldErrors)
    assert set(read.errors) == refused


def test_another_cause_is_read_in_the_owners_words() -> None:
    state = filled(modals.modal_fixed(OPEN), what="x", cause="other", cause_other="ledger  closed")

    read = forms.read_fixed(state, owed=())

    assert isinstance(read, forms.FixedForm)
    assert read.cause == "ledger closed"


def test_pause_reads_until_reason_and_what_follows() -> None:
    state = filled(holding.modal_pause(OPEN, now=NOW), until=int(UNTIL.timestamp()), reason="migration", at_end="ask")

    assert forms.read_pause(state, now=NOW) == forms.PauseForm(until=UNTIL, reason="migration", at_end=AtEnd.ASK)


def test_silencing_needs_no_word_on_what_follows() -> None:
    state = filled(holding.modal_pause(SILENT, now=NOW), until=int(UNTIL.timestamp()), reason="migration")

    assert forms.read_pause(state, now=NOW) == forms.PauseForm(until=UNTIL, reason="migration", at_end=AtEnd.RESUME)


@pytest.mark.parametrize(
    ("until", "says"),
    [
        pytest.param(int(NOW.timestamp()) - 60, "still to come", id="past"),
        pytest.param(int(NOW.timestamp()), "still to come", id="now"),
        pytest.param("tomorrow", "a date and a time", id="words"),
        pytest.param(10**18, "a date and a time", id="out of range"),
        pytest.param(True, "a date and a time", id="a boolean"),
    ],
)
def test_a_bad_until_is_told_under_its_field(until: Any, says: str) -> None:
    state = filled(holding.modal_pause(OPEN, now=NOW), until=until, reason="x")

    read = forms.read_pause(state, now=NOW)

    assert isinstance(read, FieldErrors)
    assert says in read.errors["until"]


def test_an_end_of_a_pause_can_be_changed_without_a_reason() -> None:
    state = filled(holding.modal_change_until(PAUSED, now=NOW), until=int(UNTIL.timestamp()))

    assert forms.read_change_until(state, now=NOW) == forms.PauseForm(until=UNTIL, reason="", at_end=AtEnd.RESUME)


@pytest.mark.parametrize("read", [forms.read_retire, forms.read_not_needed])
def test_a_decision_for_good_needs_its_reason(read: Callable[..., Any]) -> None:
    result = read({"reason": {"value": {"value": "  "}}})

    assert isinstance(result, FieldErrors)
    assert set(result.errors) == {"reason"}


def test_a_false_alarm_is_left_with_its_reason() -> None:
    state = filled(holding.modal_leave(OPEN, now=NOW), why="false_alarm", until=int(UNTIL.timestamp()), reason="a test")

    read = forms.read_leave(state, now=NOW, most=timedelta(days=90))

    assert read == forms.LeaveForm(until=UNTIL, reason="False alarm: nothing is wrong. a test", false_alarm=True)


@pytest.mark.parametrize(
    ("entered", "refused"),
    [
        pytest.param({"why": None}, {"why"}, id="no reason chosen"),
        pytest.param({"why": "other"}, {"reason"}, id="another reason not said"),
        pytest.param({"until": int((NOW + timedelta(days=91)).timestamp())}, {"until"}, id="beyond the limit"),
    ],
)
def test_leave_names_the_fields_to_mend(entered: dict[str, Any], refused: set[str]) -> None:
    state = filled(holding.modal_leave(OPEN, now=NOW), **{"why": "known", **entered})

    read = forms.read_leave(state, now=NOW, most=timedelta(days=90))

    assert isinstance(read, FieldErrors)
    assert set(read.errors) == refused


def test_waiting_reads_its_instant() -> None:
    state = filled(holding.modal_wait(OPEN, now=NOW))

    assert forms.read_wait(state, now=NOW) == forms.WaitForm(until=datetime(2026, 11, 30, 3, 0, tzinfo=UTC))


def test_a_corrected_cause_is_read_with_its_note() -> None:
    state = filled(modals.modal_cause(UNKNOWN, causes=CAUSES), cause="service.throttled", note="quota")

    assert forms.read_cause(state) == forms.CauseForm(cause="service.throttled", note="quota")


def test_a_secret_among_somebodys_words_is_masked() -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9" * 2
    state = filled(modals.modal_cause(UNKNOWN, causes=CAUSES), cause="service.throttled", note=f"{token} had run out")

    read = forms.read_cause(state)

    assert isinstance(read, forms.CauseForm)
    assert "had run out" in read.note
    assert token not in read.note


def test_a_correction_needs_a_cause() -> None:
    read = forms.read_cause(filled(modals.modal_cause(UNKNOWN, causes=CAUSES)))

    assert isinstance(read, FieldErrors)
    assert set(read.errors) == {"cause"}


def test_a_mark_is_read_with_the_cause_that_was_shown() -> None:
    state = filled(modals.modal_mark_safe(OPEN))

    assert forms.read_mark_safe(state) == forms.MarkForm(cause="network.connection_reset")
    assert isinstance(forms.read_mark_safe({}), FieldErrors)


def test_not_needed_reads_the_chosen_times() -> None:
    state = filled(modals.modal_not_needed(SEVERAL), nominal_times=[DUE.isoformat()], reason="dropped")

    assert forms.read_not_needed(state) == forms.NotNeededForm(nominal_times=(DUE,), reason="dropped")


def test_not_needed_without_any_time_is_refused() -> None:
    read = forms.read_not_needed(filled(modals.modal_not_needed(SEVERAL), reason="dropped"))

    assert isinstance(read, FieldErrors)
    assert set(read.errors) == {"nominal_times"}


def test_a_rerun_reads_the_chosen_times() -> None:
    state = filled(modals.modal_rerun(SEVERAL), nominal_times=[DUE.isoformat()], reason="the network is back")

    read = forms.read_rerun(state)

    assert read == forms.RerunForm(nominal_times=(DUE,), confirmed=False, reason="the network is back")


def test_all_of_many_is_read_as_all() -> None:
    read = forms.read_rerun(filled(modals.modal_rerun(MANY)))

    assert read == forms.RerunForm(nominal_times=(), confirmed=False, reason="")


def test_a_rerun_of_an_unknown_cause_counts_as_confirmed_only_with_the_box_ticked() -> None:
    view = modals.modal_rerun(UNKNOWN)

    ticked = forms.read_rerun(filled(view, confirmed=["yes"]))
    bare = forms.read_rerun(filled(view))

    assert ticked == forms.RerunForm(nominal_times=(DUE,), confirmed=True, reason="")
    assert isinstance(bare, FieldErrors)
    assert set(bare.errors) == {"confirmed"}


@pytest.mark.parametrize("value", ["yesterday", "2026-11-30T02:00:00", "", "9" * 400])
def test_a_tampered_time_is_refused(value: str) -> None:
    state: dict[str, Any] = {
        "nominal_times": {"value": {"selected_options": [{"value": value}]}},
        "reason": {"value": {"value": "x"}},
    }

    assert isinstance(forms.read_not_needed(state), FieldErrors)


@pytest.mark.parametrize("broken", [{}, {"what": None}, {"what": {"value": None}}, {"what": {"value": {"value": 7}}}])
def test_a_broken_submission_is_an_error_under_a_field_and_no_crash(broken: Any) -> None:
    assert isinstance(forms.read_fixed(broken, owed=()), FieldErrors)
