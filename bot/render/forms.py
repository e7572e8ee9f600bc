"""Reads what a person filled into a modal: typed values, or an error under the field that must be mended.

It must not decide whether the person may, nor what follows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.incidents.events import OwedChoice
from bot.incidents.model import AtEnd
from bot.render.form_fields import FieldErrors, FormReader, Values
from bot.render.holding import LEAVE_REASONS, LeaveReason
from bot.render.modal_parts import ALL


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedForm:
    what: str
    cause: str
    link: str
    choices: tuple[tuple[datetime | None, OwedChoice], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseForm:
    until: datetime
    reason: str
    at_end: AtEnd


@dataclass(frozen=True, slots=True, kw_only=True)
class RetireForm:
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveForm:
    until: datetime
    reason: str
    false_alarm: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitForm:
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseForm:
    cause: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkForm:
    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotNeededForm:
    """Empty `nominal_times`: all that is owed."""

    nominal_times: tuple[datetime | None, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StillNeededForm:
    """Empty `nominal_times`: all that was said not to be needed."""

    nominal_times: tuple[datetime | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOverForm:
    team: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RerunForm:
    """Empty `nominal_times`: all that is owed. `fresh`: from the beginning."""

    nominal_times: tuple[datetime, ...]
    confirmed: bool
    reason: str
    fresh: bool = False


def read_fixed(values: Values, *, owed: Sequence[datetime | None]) -> FixedForm | FieldErrors:
    """`owed` are the owed times as they stand now, for the choice that means all of them."""
    form = FormReader(values)
    what = form.words("what", required="Say in a few words what was done.")
    cause = form.cause(required=False)
    link = form.link("link")
    choices: list[tuple[datetime | None, OwedChoice]] = []
    for block_id in values:
        if block_id.startswith("owed:"):
            choice = form.choice(block_id, OwedChoice)
            times = owed if block_id == f"owed:{ALL}" else form.times(block_id, [block_id.removeprefix("owed:")])
            choices += [(time, choice) for time in times if choice is not None]
    return form.errors or FixedForm(what=what, cause=cause, link=link, choices=tuple(choices))


def read_pause(values: Values, *, now: datetime) -> PauseForm | FieldErrors:
    form = FormReader(values)
    until = form.until(now)
    reason = form.words("reason", required="Say why, for those who find it paused.")
    at_end = form.choice("at_end", AtEnd) if "at_end" in values else AtEnd.RESUME
    return form.errors or PauseForm(until=until, reason=reason, at_end=at_end or AtEnd.RESUME)


def read_change_until(values: Values, *, now: datetime) -> PauseForm | FieldErrors:
    form = FormReader(values)
    until = form.until(now)
    at_end = form.choice("at_end", AtEnd) if "at_end" in values else AtEnd.RESUME
    return form.errors or PauseForm(until=until, reason=form.words("reason"), at_end=at_end or AtEnd.RESUME)


def read_retire(values: Values) -> RetireForm | FieldErrors:
    form = FormReader(values)
    reason = form.words("reason", required="Say why, for those who look for it later.")
    return form.errors or RetireForm(reason=reason)


def read_leave(values: Values, *, now: datetime, most: timedelta) -> LeaveForm | FieldErrors:
    """`most` is the policy's limit of how long a failure may be left."""
    form = FormReader(values)
    why = form.choice("why", LeaveReason)
    until = form.until(now, most=most)
    said = form.words("reason")
    if why is LeaveReason.OTHER and not said:
        form.refuse("reason", "Say which reason.")
    label = said if why is LeaveReason.OTHER else LEAVE_REASONS[why or LeaveReason.OTHER]
    reason = label if why is LeaveReason.OTHER or not said else f"{label}. {said}"
    return form.errors or LeaveForm(until=until, reason=reason, false_alarm=why is LeaveReason.FALSE_ALARM)


def read_wait(values: Values, *, now: datetime) -> WaitForm | FieldErrors:
    form = FormReader(values)
    until = form.until(now)
    return form.errors or WaitForm(until=until)


def read_cause(values: Values) -> CauseForm | FieldErrors:
    form = FormReader(values)
    cause = form.cause(required=True)
    return form.errors or CauseForm(cause=cause, note=form.words("note"))


def read_mark_safe(values: Values) -> MarkForm | FieldErrors:
    form = FormReader(values)
    cause = form.selected("cause")
    if not cause:
        form.refuse("cause", "Choose the cause.")
    return form.errors or MarkForm(cause=cause)


def read_not_needed(values: Values) -> NotNeededForm | FieldErrors:
    form = FormReader(values)
    times = form.chosen_times("nominal_times")
    reason = form.words("reason", required="Say why, for those who look for that run later.")
    return form.errors or NotNeededForm(nominal_times=times, reason=reason)


def read_still_needed(values: Values) -> StillNeededForm | FieldErrors:
    form = FormReader(values)
    times = form.chosen_times("nominal_times")
    return form.errors or StillNeededForm(nominal_times=times)


def read_hand_over(values: Values, *, teams: Sequence[str], now_with: str) -> HandOverForm | FieldErrors:
    """`teams` are all that there are, `now_with` the one that answers now."""
    form = FormReader(values)
    team = form.selected("team") or form.words("team", required="Choose the team.")
    if team and team not in teams:
        form.refuse("team", "There is no team of that name in policies.yaml.")
    if team and team == now_with:
        form.refuse("team", f"{team} answers it already.")
    return form.errors or HandOverForm(team=team, note=form.words("note"))


def read_rerun(values: Values) -> RerunForm | FieldErrors:
    form = FormReader(values)
    times = tuple(time for time in form.chosen_times("nominal_times") if time is not None)
    confirmed = bool(form.many("confirmed"))
    if "confirmed" in values and not confirmed:
        form.refuse("confirmed", "Please confirm, or cancel.")
    fresh = "how" in values and form.choice("how", OwedChoice) is OwedChoice.FRESH_START
    return form.errors or RerunForm(nominal_times=times, confirmed=confirmed, reason=form.words("reason"), fresh=fresh)
