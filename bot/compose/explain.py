"""What `explain` does: reads logs as an incident would and says what was made of them, one by one or as a batch.

It stores nothing and sends nothing.
"""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bot.compose.explain_rerun import Judge, Ruling, past_of
from bot.evidence import UNKNOWN, ErrorReport, Explanation, RuleSet, Said, Tried, explain_failure, load_rules
from bot.evidence.types import REPORTED
from bot.incidents.keys import JobKey
from bot.policies import Policies

_CODE = re.compile(r"\s*([+-]?\d{1,9})\b(?!\.)")
_SIGNAL = re.compile(r"\bSIG[A-Z0-9]{2,12}\b")


class BadLine(ValueError):
    """A line of a batch that cannot be read; the text names the field and says what was expected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """A failure as it was read, and what the rerun rule says of it where a job was named."""

    explanation: Explanation
    ruling: Ruling | None = None


class Explainer:
    """Reads failures by one set of rules, loaded once; with a `judge` it also says whether ontrack would rerun."""

    def __init__(self, rules: RuleSet, judge: Judge | None = None) -> None:
        self._rules = rules
        self._judge = judge

    def explain(self, error: ErrorReport) -> Explained:
        """Read one failure. It does not raise on any text."""
        explanation = explain_failure(error=error, rules=self._rules)
        return Explained(
            explanation=explanation, ruling=self._judge.ruling(explanation.evidence) if self._judge else None
        )

    def batch(self, lines: Iterable[bytes], *, say: Callable[[str], None]) -> bool:
        """Explain each JSON line `{"id", "log", "exit"}` at once, in order; returns whether all could be read.

        A line that cannot be read is told of with its id and costs no other.
        """
        whole = True
        for line in lines:
            if not line.strip():
                continue
            told = self._line(line)
            whole = whole and "error" not in told
            say(json.dumps(told))
        return whole

    def _line(self, line: bytes) -> dict[str, Any]:
        id_: Any = None
        try:
            raw = _object(line)
            id_ = raw.get("id")
            return {"id": id_, **as_object(self.explain(_report(raw)))}
        except BadLine as bad:
            return {"id": id_, "error": str(bad)}
        except Exception as failed:  # noqa: BLE001 one log that cannot be read must not cost the others
            return {"id": id_, "error": f"could not be explained: {type(failed).__name__}"}


def explainer(policies: Policies | None, job: JobKey | None, *, database_url: str, now: datetime) -> Explainer:
    """By the rules of the product, those of a company, or those of one of its jobs; the last also judges reruns."""
    if policies is None:
        return Explainer(load_rules())
    if job is None:
        return Explainer(policies.rules)
    past = past_of(job, policies.job(job), now, database_url=database_url)
    return Explainer(policies.rules_of(job), Judge(policies, job, past, now))


def as_object(explained: Explained) -> dict[str, Any]:
    """The answer for a program."""
    explanation = explained.explanation
    evidence, cause = explanation.evidence, explanation.evidence.cause
    made: dict[str, Any] = {
        "cause": cause.id,
        "group": cause.group,
        "retry_hint": cause.retry_hint.value,
        "root_error": {
            "type": evidence.root.type,
            "message": evidence.root.message,
            "line": explanation.root_line,
        },
        "fingerprint": evidence.fingerprint,
        "matched": [_entry(one.id, one.said) for one in matched(explanation)],
        "ruled_out": [{"id": id_, "why": why, "line": line} for id_, why, line in ruled_out(explanation)],
    }
    if (ruling := explained.ruling) is not None:
        made["rerun"] = {
            "allowed": ruling.allowed,
            "decided_by": ruling.decided_by,
            "says": ruling.says,
            "assumed": list(ruling.assumed),
        }
    return made


def matched(explanation: Explanation) -> list[Tried]:
    """The rules of which all signs are there and none against, the cause itself first."""
    live = [one for one in explanation.tried if not one.ruled_out]
    return sorted(live, key=lambda one: one.id != explanation.evidence.cause.id)


def ruled_out(explanation: Explanation) -> list[tuple[str, str, int | None]]:
    """What was ruled out, why, and by which line: rules by their own word, the cause by what was seen beside it."""
    cause = explanation.evidence.cause
    told = [
        (one.id, f"{quoted(one.against)} speaks against it", line_of(one.against))
        for one in explanation.tried
        if one.against is not None
    ]
    if cause.id != UNKNOWN and cause.ruled_out_by:
        tried = {one.id: one for one in explanation.tried}
        for sign in cause.ruled_out_by:
            said = tried[sign].said if sign in tried else None
            where = f": {quoted(said)}" if said is not None else ""
            told.append((cause.id, f"no safe mark covers it: {sign} was seen as well{where}", line_of(said)))
    return told


def quoted(said: Said) -> str:
    """The words that were found, with where."""
    where = f"line {said.line}" if said.line != REPORTED else "what was reported"
    return f"{where} ({said.text})" if said.text else where


def line_of(said: Said | None) -> int | None:
    return said.line if said is not None and said.line != REPORTED else None


def named_exit(text: str) -> tuple[int | None, str | None] | None:
    """Exit code and signal as people write them: `137`, `-9 (SIGKILL)`, `SIGTERM`; None when it is neither."""
    code, signal = _CODE.match(text), _SIGNAL.search(text)
    if code is None and signal is None:
        return None
    return int(code[1]) if code else None, signal[0] if signal and code is None else None


def _entry(id_: str, said: Said) -> dict[str, Any]:
    return {"id": id_, "why": f"{said.reason}: {said.text}" if said.text else said.reason, "line": line_of(said)}


def _object(line: bytes) -> dict[str, Any]:
    try:
        raw = json.loads(line.decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError) as failed:
        place = f" at character {failed.pos + 1}" if isinstance(failed, json.JSONDecodeError) else ""
        raise BadLine(f"expected one JSON object a line, this is none{place}") from failed
    if not isinstance(raw, dict):
        raise BadLine("expected a JSON object with id, log and exit")
    return raw


def _report(raw: dict[str, Any]) -> ErrorReport:
    log = raw.get("log")
    if not isinstance(log, str):
        raise BadLine("log: expected a text")
    given = raw.get("exit")
    if given is None or (isinstance(given, str) and not named_exit(given)):
        return ErrorReport(log=log)
    if isinstance(given, str):
        code, signal = named_exit(given) or (None, None)
        return ErrorReport(log=log, exit_code=code, signal=signal)
    if isinstance(given, float) and given.is_integer():
        given = int(given)
    if isinstance(given, bool) or not isinstance(given, int):
        raise BadLine("exit: expected an exit code, or null where it is not known")
    return ErrorReport(log=log, exit_code=given)
