"""Which person's word each modal is, once its fields were read by `bot.render.forms`. Nothing here is taken in."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bot.incidents.events import (
    CauseCorrected,
    CauseMarked,
    FixDeclared,
    HandOverWanted,
    LeaveWanted,
    NotNeeded,
    PauseWanted,
    PersonEvent,
    RerunWanted,
    RetireWanted,
    StillNeeded,
    WaitWanted,
)
from bot.incidents.people import By
from bot.render import forms
from bot.render.actions import CallbackId
from bot.render.form_fields import FieldErrors, Values
from bot.render.snapshot import Snapshot

Said = PersonEvent | FieldErrors


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """A modal as it was submitted, with the occurrence as it stands now."""

    by: By
    values: Values
    snapshot: Snapshot


def _fixed(filled: Filled) -> Said:
    owed = [owed.nominal_time for owed in filled.snapshot.incident.owed]
    form = forms.read_fixed(filled.values, owed=owed)
    if isinstance(form, FieldErrors):
        return form
    return FixDeclared(by=filled.by, what=form.what, cause=form.cause, link=form.link, choices=form.choices)


def _pause(filled: Filled) -> Said:
    return _paused(filled, forms.read_pause(filled.values, now=filled.by.at))


def _change_until(filled: Filled) -> Said:
    return _paused(filled, forms.read_change_until(filled.values, now=filled.by.at))


def _paused(filled: Filled, form: forms.PauseForm | FieldErrors) -> Said:
    if isinstance(form, FieldErrors):
        return form
    return PauseWanted(by=filled.by, until=form.until, reason=form.reason, at_end=form.at_end)


def _retire(filled: Filled) -> Said:
    form = forms.read_retire(filled.values)
    return form if isinstance(form, FieldErrors) else RetireWanted(by=filled.by, reason=form.reason)


def _leave(filled: Filled) -> Said:
    form = forms.read_leave(filled.values, now=filled.by.at, most=filled.snapshot.policy.limits.leave)
    if isinstance(form, FieldErrors):
        return form
    return LeaveWanted(by=filled.by, until=form.until, reason=form.reason, false_alarm=form.false_alarm)


def _wait(filled: Filled) -> Said:
    form = forms.read_wait(filled.values, now=filled.by.at)
    return form if isinstance(form, FieldErrors) else WaitWanted(by=filled.by, until=form.until)


def _cause(filled: Filled) -> Said:
    form = forms.read_cause(filled.values)
    return form if isinstance(form, FieldErrors) else CauseCorrected(by=filled.by, cause=form.cause, note=form.note)


def _mark_safe(filled: Filled) -> Said:
    form = forms.read_mark_safe(filled.values)
    return form if isinstance(form, FieldErrors) else CauseMarked(by=filled.by, cause=form.cause)


def _not_needed(filled: Filled) -> Said:
    form = forms.read_not_needed(filled.values)
    if isinstance(form, FieldErrors):
        return form
    return NotNeeded(by=filled.by, nominal_times=form.nominal_times, reason=form.reason)


def _rerun(filled: Filled) -> Said:
    form = forms.read_rerun(filled.values)
    if isinstance(form, FieldErrors):
        return form
    return RerunWanted(
        by=filled.by,
        nominal_times=form.nominal_times,
        confirmed=form.confirmed,
        reason=form.reason,
        fresh=form.fresh,
    )


def _still_needed(filled: Filled) -> Said:
    form = forms.read_still_needed(filled.values)
    return form if isinstance(form, FieldErrors) else StillNeeded(by=filled.by, nominal_times=form.nominal_times)


def _hand_over(filled: Filled) -> Said:
    snapshot = filled.snapshot
    form = forms.read_hand_over(filled.values, teams=snapshot.teams, now_with=snapshot.team)
    return form if isinstance(form, FieldErrors) else HandOverWanted(by=filled.by, team=form.team, note=form.note)


READ: Mapping[str, Callable[[Filled], Said]] = {
    CallbackId.FIXED: _fixed,
    CallbackId.PAUSE: _pause,
    CallbackId.CHANGE_UNTIL: _change_until,
    CallbackId.RETIRE: _retire,
    CallbackId.LEAVE: _leave,
    CallbackId.WAIT: _wait,
    CallbackId.CAUSE: _cause,
    CallbackId.MARK_SAFE: _mark_safe,
    CallbackId.NOT_NEEDED: _not_needed,
    CallbackId.RERUN: _rerun,
    CallbackId.STILL_NEEDED: _still_needed,
    CallbackId.HAND_OVER: _hand_over,
}
