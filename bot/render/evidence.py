"""The first reply of a thread: the error, what changed since the last good run, what waits; the log goes beside it as a file.

It must not read a log: what it shows was read and masked before.
"""

import re
from collections.abc import Sequence

from bot.evidence.cleaning import clean
from bot.evidence.types import REPORTED, Change, ChangeKind, Evidence, EvidenceLine
from bot.render.blocks import Block, preformatted, table
from bot.render.rendered import FileContent, Rendered
from bot.render.root import values_of
from bot.render.snapshot import Snapshot
from bot.render.templates import draft
from bot.render.text import one_line, shortened, shortened_middle

MOST_CHANGES = 10
MOST_LINES = 12
MOST_LINE = 160
MOST_FILE = 256 * 1024
_KINDS = {ChangeKind.ADDED: "new", ChangeKind.REMOVED: "gone", ChangeKind.CHANGED: ""}
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")


def evidence(snapshot: Snapshot) -> Rendered:
    """What is known of the failure, with the end of its log as a file."""
    found = snapshot.evidence
    changes = found.changes if found else None
    values = {
        **values_of(snapshot),
        "late": found is None and snapshot.incident.failure.late,
        "cause_why": found.cause.reason if found and snapshot.cause_known else "",
        "error_lines": error_lines(found.root.lines) if found else None,
        "beside_log": found is not None and not any(line.decisive for line in found.root.lines),
        "changes": changes if changes is None else changes[:MOST_CHANGES],
        "more": max(0, len(changes or ()) - MOST_CHANGES),
        "change_table": change_table(changes) if changes else None,
        "downstream": snapshot.downstream,
        "log_lines": found.log_lines if found and found.log_tail.strip() else 0,
    }
    drafted = draft("evidence", values, zone=snapshot.zone)
    return Rendered(text=drafted.text, blocks=drafted.blocks, file=log_file(snapshot))


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


def change_table(changes: Sequence[Change]) -> Block:
    """Before and after, the likeliest first."""
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


def log_file(snapshot: Snapshot) -> FileContent | None:
    """The end of the log as a text file; None when none was delivered."""
    found: Evidence | None = snapshot.evidence
    if found is None or not found.log_tail.strip():
        return None
    incident = snapshot.incident
    name = _UNFIT.sub("-", one_line(incident.job.name, 60)).strip("-.") or "job"
    return FileContent(
        name=f"{name}-{incident.id}-log.txt",
        title=f"Log of {one_line(incident.job.name, 80)}, last lines",
        text=clean(found.log_tail)[-MOST_FILE:],
    )


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
