"""The evidence in a mail: the lines around the error, and what changed since the last good run, the likeliest first.

It must not read a log: what it shows was read and masked before.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from bot.evidence.types import Change
from bot.render.evidence import diff_lines, error_lines, told
from bot.render.mail.parts import Heading, Items, Line, Paragraph, Part, Verbatim, line, plain
from bot.render.segments import words
from bot.render.snapshot import Snapshot
from bot.render.templates import phrase
from bot.render.text import one_line, shortened_middle

MOST_CHANGES = 5


def evidence_parts(snapshot: Snapshot, values: Mapping[str, Any]) -> tuple[Part, ...]:
    """What is known of the failure beyond its facts; nothing of a late run, of which there is no log."""
    found = snapshot.evidence
    if found is None:
        return ()
    block = error_lines(found.root.lines)
    error = (Heading(text="The error in the log"), _verbatim(block)) if block else ()
    return (*error, Heading(text="What changed since the last good run"), *_changes(snapshot, values, found.changes))


def _changes(snapshot: Snapshot, values: Mapping[str, Any], changes: Sequence[Change] | None) -> tuple[Part, ...]:
    if not changes:
        said = phrase("mail/changes", {**values, "changes": changes}, zone=snapshot.zone)
        return (Paragraph(lines=(line(said),)),)
    ranked = sorted(changes, key=lambda each: each.rank)
    first = ranked[:MOST_CHANGES]
    items = Items(items=tuple(_change(each, values, snapshot) for each in first))
    rest = len(ranked) - len(first)
    more = (Paragraph(lines=(plain(f"and {rest} more, in the record"),), small=True),) if rest else ()
    return (items, *more, *_diff(first))


def _change(change: Change, values: Mapping[str, Any], snapshot: Snapshot) -> Line:
    says = change.says or ""
    shown = {
        **values,
        "one": change,
        "reason": told(says) if says else None,
        "path": words(shortened_middle(one_line(change.path, 400), 80), 80),
        "before": words(change.before or "", 110),
        "after": words(change.after or "", 110),
    }
    return line(phrase("mail/change", shown, zone=snapshot.zone))


def _diff(changes: Sequence[Change]) -> tuple[Part, ...]:
    """How the first text that differs differs."""
    for change in changes:
        if change.diff and (part := _verbatim(diff_lines(change.diff))).text.strip():
            name = one_line(change.path.removeprefix("inputs.").removesuffix(".text"), 80)
            return (Heading(text=f"How {name} differs"), part)
    return ()


def _verbatim(block: Mapping[str, Any]) -> Verbatim:
    return Verbatim(text="".join(str(each["text"]) for each in block["elements"][0]["elements"]))
