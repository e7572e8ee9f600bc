"""The first reply of a thread: the error, what changed since the last good run, what waits; the log goes beside it as a file.

It must not read a log: what it shows was read and masked before.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from bot.evidence.cleaning import clean
from bot.evidence.text_diffs import cut_in_the_middle
from bot.evidence.types import REPORTED, Change, ChangeKind, Evidence, EvidenceLine
from bot.render.blocks import Block, container, preformatted, table
from bot.render.bounds import bounded
from bot.render.rendered import FileContent, Rendered
from bot.render.root import values_of
from bot.render.segments import Words, literal
from bot.render.snapshot import Snapshot
from bot.render.templates import draft, phrase
from bot.render.text import one_line, shortened, shortened_middle

MOST_CHANGES = 10
MOST_REASONS = 5
MOST_DIFF = 24
MOST_LINES = 12
MOST_LINE = 160
MOST_FILE = 256 * 1024
_KINDS = {ChangeKind.ADDED: "new", ChangeKind.REMOVED: "gone", ChangeKind.CHANGED: ""}
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")


def evidence(snapshot: Snapshot) -> Rendered:
    """What is known of the failure, with the end of its log as a file."""
    found = snapshot.evidence
    changes = found.changes if found else None
    ranked = sorted(changes or (), key=lambda each: each.rank)
    diffed = _diffed(ranked)
    values = {
        **values_of(snapshot),
        "late": found is None and snapshot.incident.failure.late,
        "cause_why": found.cause.reason if found and snapshot.cause == found.cause.id and snapshot.cause_known else "",
        "error_lines": error_lines(found.root.lines) if found else None,
        "beside_log": found is not None and not any(line.decisive for line in found.root.lines),
        "changes": changes if changes is None else ranked[:MOST_CHANGES],
        "more": max(0, len(ranked) - MOST_CHANGES),
        "reasons": [told(each.says) for each in ranked[:MOST_REASONS] if each.says],
        "diff_of": diffed.path.removeprefix("inputs.").removesuffix(".text") if diffed else "",
        "diff": diff_lines(diffed.diff) if diffed and diffed.diff else None,
        "cut": diff_file(snapshot) is not None,
        "file": log_file(snapshot),
        "change_table": change_table([each for each in ranked if each is not diffed]),
        "same_cause": tuple(key.name for key in snapshot.same_cause),
        "downstream": snapshot.downstream,
        "log_lines": found.log_lines if found and found.log_tail.strip() else 0,
    }
    changed = draft("changes", values, zone=snapshot.zone).blocks if changes else ()
    drafted = draft("evidence", {**values, "changed": changed}, zone=snapshot.zone)
    richer = _folded(drafted.blocks, changed, values) if changed else ()
    return bounded(Rendered(text=drafted.text, blocks=drafted.blocks, richer=richer, file=log_file(snapshot)))


def _folded(blocks: Sequence[Block], changed: Sequence[Block], values: Mapping[str, Any]) -> tuple[Block, ...]:
    """The blocks, those of what changed folded together under one line."""
    title = literal(phrase("changes_title", values, zone="UTC"))
    first = next(index for index, block in enumerate(blocks) if block is changed[0])
    return (*blocks[:first], container(title, changed), *blocks[first + len(changed) :])


def error_lines(lines: Sequence[EvidenceLine]) -> Block | None:
    """The lines around the error, the decisive ones marked; None when the log says nothing."""
    if not lines:
        return None
    width = len(str(max(line.number for line in lines)))
    shown = [
        f"{'▶' if line.decisive else ' '} {_numbered(line):>{width}}  {shortened(_verbatim(line.text), MOST_LINE)}"
        for line in _around_decisive(lines)
    ]
    return preformatted("\n".join(line.rstrip() for line in shown))


def told(says: str) -> tuple[Words, ...]:
    """One line in which what stands between backticks is shown as code."""
    pieces = one_line(says, 400).split("`")
    if len(pieces) % 2 == 0:
        pieces = ["`".join(pieces)]
    return tuple(Words(text=piece, most=400, code=index % 2 == 1) for index, piece in enumerate(pieces) if piece)


def diff_lines(diff: str) -> Block:
    """A unified diff, cut in its middle when it is long."""
    lines = [shortened(_verbatim(line), MOST_LINE) for line in diff.rstrip().split("\n")]
    return preformatted("\n".join(cut_in_the_middle(lines, MOST_DIFF)))


def change_table(changes: Sequence[Change]) -> Block | None:
    """Before and after, the likeliest first; None without any."""
    if not changes:
        return None
    rows = [("What", "Last good run", "This run")]
    for change in sorted(changes, key=lambda each: each.rank)[:MOST_CHANGES]:
        remark = " ".join(filter(None, (_KINDS[change.kind], change.note or "")))
        after = one_line(change.after or "", 110)
        rows.append(
            (
                shortened_middle(one_line(change.path, 400), 80),
                one_line(change.before or "", 110),
                one_line(f"{after} ({remark})" if after and remark else after or remark, 150),
            )
        )
    return table(rows)


def diff_file(snapshot: Snapshot) -> FileContent | None:
    """The whole of the diff that the message shows, where the message had to cut it."""
    found = snapshot.evidence
    diffed = _diffed(sorted((found.changes if found else None) or (), key=lambda each: each.rank))
    if diffed is None or diffed.diff is None or not _is_cut(diffed.diff):
        return None
    what = one_line(diffed.path, 80)
    name = _UNFIT.sub("-", what).strip("-.") or "changes"
    text = clean(f"--- last good run: {diffed.path}\n+++ this run: {diffed.path}\n{diffed.diff}")
    return FileContent(name=f"{name}-{snapshot.incident.id}.diff", title=f"How {what} differs", text=text[:MOST_FILE])


def _diffed(ranked: Sequence[Change]) -> Change | None:
    return next((each for each in ranked[:MOST_CHANGES] if each.diff and clean(each.diff).strip()), None)


def _is_cut(diff: str) -> bool:
    lines = diff.rstrip().split("\n")
    return len(lines) > MOST_DIFF or any(len(_verbatim(line)) > MOST_LINE for line in lines)


def log_file(snapshot: Snapshot) -> FileContent | None:
    """The end of the log as a text file, below it all changes that the message has no room for; None without either."""
    found: Evidence | None = snapshot.evidence
    if found is None:
        return None
    log, changes = found.log_tail if found.log_tail.strip() else "", _all_changes(found)
    if not log and not changes:
        return None
    both = ["The last lines of the log", log.rstrip(), changes] if log and changes else [log or changes]
    incident = snapshot.incident
    name = _UNFIT.sub("-", one_line(incident.job.name, 60)).strip("-.") or "job"
    return FileContent(
        name=f"{name}-{incident.id}-log.txt",
        title=_titled(one_line(incident.job.name, 80), log=bool(log), changes=bool(changes)),
        text=clean("\n\n".join(both))[:MOST_FILE],
    )


def _titled(job: str, *, log: bool, changes: bool) -> str:
    if not log:
        return f"All changes of {job}"
    return f"Log of {job}, last lines{', then all changes' if changes else ''}"


def _all_changes(found: Evidence) -> str:
    """Every change with its whole text; nothing when the message shows them all."""
    changes = sorted(found.changes or (), key=lambda each: each.rank)
    if len(changes) <= MOST_CHANGES and not any(each.diff for each in changes):
        return ""
    lines = [f"What changed since the last good run ({len(changes)}, the likeliest first)", ""]
    for number, each in enumerate(changes, start=1):
        lines.append(f"{number}. {each.says or each.path}")
        lines += [f"   {each.path}: {each.before or '-'} -> {each.after or '-'}"] if not each.diff else []
        lines += [f"   {line}" for line in each.diff.split("\n")] if each.diff else []
    return "\n".join(lines)


def _around_decisive(lines: Sequence[EvidenceLine]) -> Sequence[EvidenceLine]:
    """At most so many lines, the decisive ones among them."""
    first = next((index for index, line in enumerate(lines) if line.decisive), 0)
    start = max(0, min(first - MOST_LINES // 2, len(lines) - MOST_LINES))
    return lines[start : start + MOST_LINES]


def _numbered(line: EvidenceLine) -> str:
    """The number under which the log holds a line; none for what the scheduler said itself."""
    return "-" if line.number == REPORTED else str(line.number)


def _verbatim(text: str) -> str:
    """Keep a line's indentation, drop what cannot be seen."""
    return clean(text[: MOST_LINE * 8]).replace("\n", " ").replace("\t", "    ").rstrip()
