"""Writes what `explain` found for a person who was woken: what it is, why, the lines that decide, what speaks against it.

It decides nothing and leaves nothing out that decided.
"""

from collections.abc import Iterator

from bot.compose.explain import Explained, matched, quoted, ruled_out
from bot.compose.explain_rerun import Ruling
from bot.evidence import REPORTED, UNKNOWN, Evidence, Explanation, RetryHint, Said
from bot.incidents.keys import JobKey

HINTS = {
    RetryHint.LIKELY: "would likely help",
    RetryHint.UNLIKELY: "would hardly help: it fails the same way again",
    RetryHint.DEPENDS: "may or may not help",
}
INDENT = 14


def as_text(explained: Explained, *, job: JobKey | None) -> str:
    """The answer for a person; `job` is the one for which the rerun rule was asked."""
    explanation = explained.explanation
    parts = [
        list(_what(explanation)),
        list(_lines(explanation.evidence)),
        list(_seen(explanation)),
        list(_against(explanation)),
    ]
    if explained.ruling is not None:
        parts.append(list(_rerun(explained.ruling, job)))
    return "\n\n".join("\n".join(part) for part in parts if part)


def _what(explanation: Explanation) -> Iterator[str]:
    evidence = explanation.evidence
    cause, root = evidence.cause, evidence.root
    said = next((one.said for one in explanation.tried if one.id == cause.id), None)
    yield f"{cause.id}: {cause.title}"
    yield _row("why", f"{cause.reason}, line {said.line}" if said and said.line != REPORTED else cause.reason)
    named = root.type and root.type not in root.message
    yield _row("root error", " ".join((f"{root.type}: {root.message}" if named else root.message).split()))
    licence = "an unknown cause is never rerun by itself" if cause.id == UNKNOWN else "only a safe mark licenses one"
    yield _row("a rerun", f"{HINTS[cause.retry_hint]}; {'its rule says never' if _never(evidence) else licence}")
    yield _row("fingerprint", evidence.fingerprint)
    if cause.platform_team:
        yield _row("platform", f"{cause.platform_team} looks after what it is about")


def _never(evidence: Evidence) -> bool:
    return evidence.cause.never_safe and evidence.cause.id != UNKNOWN


def _lines(evidence: Evidence) -> Iterator[str]:
    for line in evidence.root.lines:
        number = str(line.number) if line.number != REPORTED else "told"
        yield f"{'>' if line.decisive else ' '}{number:>7}  {line.text}"


def _seen(explanation: Explanation) -> Iterator[str]:
    if not explanation.scanned:
        yield "the log could not be searched, so that no rule was tried"
        return
    cause = explanation.evidence.cause
    others = [one for one in matched(explanation) if one.id not in (cause.id, *cause.ruled_out_by)]
    if others:
        yield "also seen"
    shown = {line.number for line in explanation.evidence.root.lines}
    for one in others:
        what = "a sign against a passing cause" if one.excludes else one.title
        yield f"  {one.id}: {what}; {one.said.reason}, {_where(one.said, shown)}"


def _where(said: Said, shown: set[int]) -> str:
    """The line, with its words where they do not stand above."""
    return f"line {said.line}" if said.line != REPORTED and said.line in shown else quoted(said)


def _against(explanation: Explanation) -> Iterator[str]:
    told = ruled_out(explanation)
    if told:
        yield "ruled out"
    for id_, why, _ in told:
        yield f"  {id_}: {why}"


def _rerun(ruling: Ruling, job: JobKey | None) -> Iterator[str]:
    yield f"{job or 'the job'}: {ruling.says}"
    yield _row("decided by", ruling.decided_by)
    for at, assumed in enumerate(ruling.assumed):
        yield _row("assumed" if at == 0 else "", assumed)


def _row(name: str, text: str) -> str:
    return f"  {name}".ljust(INDENT) + f"  {text}"
