"""The modals about runs and causes: fixed, rerun, not needed, cause, safe mark. Each says what will happen before it does.

It must not read an answer; `bot.render.forms` does.
"""

from collections.abc import Sequence

from bot.evidence.types import RetryHint
from bot.incidents.events import OwedChoice
from bot.incidents.keys import Capability
from bot.incidents.model import Owed, RerunPhase
from bot.render import buttons
from bot.render.actions import CallbackId
from bot.render.blocks import MOST_VALUE, Block, checkbox, field, multi_select, option, radio, select, text_input
from bot.render.modal_parts import (
    ALL,
    MOST_OPTIONS,
    CauseChoice,
    cause_fields,
    framed,
    reason_field,
    time_label,
    time_options,
    time_value,
)
from bot.render.snapshot import Snapshot

MOST_SINGLE = 10
MOST_RADIO = 2
CONTINUED = option(OwedChoice.RERUN_NOW, "From where it failed", "What it has done already is kept.")
AFRESH = option(OwedChoice.FRESH_START, "From the beginning", "As a fresh start, with what is deployed now.")


def modal_fixed(snapshot: Snapshot, *, causes: Sequence[CauseChoice] = ()) -> Block:
    """Fixed: the cause, what was done, a link, and what each owed time needs."""
    link = {"type": "url_text_input", "action_id": "value"}
    fields = [
        field("what", "What was done", text_input(multiline=True, most=1000)),
        *cause_fields(snapshot, causes),
        field("link", "Link (change, ticket)", link, optional=True),
        *_owed_fields(snapshot),
    ]
    return framed(snapshot, CallbackId.FIXED, title="Fixed", fields=fields, submit="Fixed")


def modal_rerun(snapshot: Snapshot) -> Block:
    """Rerun: which of the owed times; where the cause is unknown, a yes to that."""
    options = time_options(snapshot)
    initial = options[:1] if options and options[0]["value"] == ALL else options
    fields = [field("nominal_times", "Which runs", multi_select(options, initial=initial))] if options else []
    if Capability.FRESH_START in snapshot.can:
        fields.append(field("how", "How", radio([CONTINUED, AFRESH], initial=CONTINUED)))
    if snapshot.blind:
        yes = option("yes", "Rerun although the cause is not known")
        fields.append(field("confirmed", "Please confirm", checkbox(yes)))
    fields.append(reason_field(optional=True))
    return framed(snapshot, CallbackId.RERUN, title="Rerun", fields=fields, submit="Rerun")


def modal_not_needed(snapshot: Snapshot) -> Block:
    """Not needed: which of the owed times, and why."""
    options = time_options(snapshot)
    initial = options if len(options) == 1 else []
    fields = [field("nominal_times", "Which runs", multi_select(options, initial=initial))] if options else []
    fields.append(reason_field())
    return framed(snapshot, CallbackId.NOT_NEEDED, title="Not needed", fields=fields, submit="Not needed")


def modal_still_needed(snapshot: Snapshot) -> Block:
    """Needed after all: which of the times that a word took away."""
    options = time_options(snapshot, snapshot.incident.waived)
    fields = [field("nominal_times", "Which runs", multi_select(options, initial=options[:1]))] if options else []
    submit = "Needed after all" if options else None
    return framed(snapshot, CallbackId.STILL_NEEDED, title="Needed after all", fields=fields, submit=submit)


def modal_hand_over(snapshot: Snapshot) -> Block:
    """Hand over: to which team, and a note for it."""
    others = [team for team in snapshot.teams if team != snapshot.team]
    choose = select([option(team, team) for team in others]) if len(others) <= MOST_OPTIONS else text_input(most=63)
    note = text_input(multiline=True, most=500, placeholder="What you found out, and why it is theirs")
    fields = [field("team", "To which team", choose), field("note", "Note for them", note, optional=True)]
    return framed(
        snapshot,
        CallbackId.HAND_OVER,
        title="Hand over",
        fields=fields if others else [],
        submit="Hand over" if others else None,
        others=len(others),
    )


def modal_cause(snapshot: Snapshot, *, causes: Sequence[CauseChoice] = ()) -> Block:
    """Correct the cause, or add on a settled record what the cause and the fix were."""
    settled = not snapshot.incident.status.unresolved
    note = field("note", "What fixed it" if settled else "Note", text_input(multiline=True, most=500), optional=True)
    title = "Cause and fix" if settled else "Correct the cause"
    fields = [*cause_fields(snapshot, causes), note]
    return framed(snapshot, CallbackId.CAUSE, title=title, fields=fields, submit="Save")


def modal_mark_safe(snapshot: Snapshot) -> Block:
    """Mark the cause safe: what that allows, how often, within which budget; or why it cannot be marked."""
    never = _never(snapshot)
    if never:
        return framed(snapshot, CallbackId.MARK_SAFE, title="Mark safe", fields=[], submit=None, never=never)
    chosen = option(snapshot.cause, snapshot.cause)
    fields = [field("cause", "Cause", radio([chosen], initial=chosen))]
    return framed(
        snapshot,
        CallbackId.MARK_SAFE,
        title="Mark safe",
        fields=fields,
        submit="Mark safe",
        never="",
        unlikely=_unlikely(snapshot),
    )


def _unlikely(snapshot: Snapshot) -> bool:
    """Whether the rule of this cause says that a rerun seldom mends it."""
    cause = snapshot.evidence.cause if snapshot.evidence else None
    return cause is not None and cause.id == snapshot.cause and cause.retry_hint is RetryHint.UNLIKELY


def _never(snapshot: Snapshot) -> str:
    if not snapshot.cause_known:
        return "Its cause is not known, and a failure of unknown cause is never rerun by itself."
    if snapshot.cause.startswith("late."):
        return "A late run may still be running, so it is never rerun by itself."
    if snapshot.incident.failure.never_safe:
        return "Its rule says that a rerun is never safe."
    return "Its name is too long." if len(snapshot.cause) > MOST_VALUE else ""


def _owed_fields(snapshot: Snapshot) -> list[Block]:
    """One question for each owed time; one for all where there are many."""
    owed = snapshot.incident.owed
    if len(owed) > MOST_SINGLE:
        return [_owed_field(snapshot, f"owed:{ALL}", f"All {len(owed)} owed runs", runs=len(owed), wide=False)]
    return [
        _owed_field(
            snapshot,
            f"owed:{time_value(one)}",
            time_label(one, snapshot.zone),
            runs=1,
            wide=len(owed) <= MOST_RADIO,
            one=one,
        )
        for one in owed
    ]


def _owed_field(
    snapshot: Snapshot, block_id: str, label: str, *, runs: int, wide: bool, one: Owed | None = None
) -> Block:
    cost = buttons.cost_of(snapshot, runs)
    now = [option(OwedChoice.RERUN_NOW, "Rerun now", cost)]
    if Capability.FRESH_START in snapshot.can:
        now.insert(0, option(OwedChoice.FRESH_START, "Start afresh now", f"From the beginning. {cost}"))
        now[1] = option(OwedChoice.RERUN_NOW, "Rerun now", f"From where it failed. {cost}")
    options = [
        option(OwedChoice.NEXT_RUN, "The next run pays it", "Nothing is rerun; the next good run counts for it."),
        option(OwedChoice.NOT_NEEDED, "Not needed", "It need not run any more."),
    ]
    if Capability.RERUN in snapshot.can and not _lives(snapshot, one):
        options = [*now, *options]
    element = radio(options, initial=options[0]) if wide else select(options, initial=options[0])
    return field(block_id, label, element)


def _lives(snapshot: Snapshot, one: Owed | None) -> bool:
    """A run that may still live is not rerun."""
    rerun = snapshot.incident.rerun
    asked = rerun is not None and rerun.phase in (RerunPhase.REQUESTED, RerunPhase.RUNNING)
    return asked or (one is not None and one.failure.cause == "late.not_finished")
