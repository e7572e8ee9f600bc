"""Finds the places in a log where something says that it failed, and how they hang together.

It does not choose among them, and it knows no causes.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum

from bot.evidence.lines import Level, LogLine

MESSAGE_CAP = 2000
CONTINUATION = 8


class Link(StrEnum):
    """How a finding hangs on the one before it."""

    NONE = "none"
    CAUSE = "cause"
    WRAPPER = "wrapper"
    CONTEXT = "context"


class Weight(IntEnum):
    """How much a finding says by itself."""

    WRAPPER = 1
    WARNING = 2
    TOLD = 3
    TYPED = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One statement of failure: lines `first` to `last` (indices), and what they say."""

    type: str | None
    message: str
    text: str
    first: int
    last: int
    weight: Weight
    link: Link = Link.NONE
    chain: int = 0


_NAME = (
    r"(?:[A-Za-z_$][\w$]{0,80}(?:\.|/|::)){0,14}[A-Za-z_$][\w$]{0,80}?"
    r"(?:Error|Exception|Failure|Fault|Timeout|Interrupt|Exit|Refused|Disconnected|NotFound|Failed|Conflict|Denied|Expired"
    r"|Violation|Throttled|Aborted|Unavailable|Crash|Rollback|Cancelled|Canceled|Killed)\d{0,2}(?:\$\w{1,60})?"
)
_EXCEPTION = re.compile(
    rf"(?:Caused by: |Exception in thread \"[^\"\n]{{0,120}}\" |Exception: (?=[\w.]{{1,120}}(?:Error|Exception)\b)|Uncaught |Unhandled exception[.:]? ?|(?:\s{{0,4}}---> ))?"
    rf"(?P<type>{_NAME})(?:\((?P<inner>[\w.$]{{1,200}})\))?(?:: ?(?P<message>.*)|\s*$)"
)
_CAUSED = re.compile(r"\s{0,8}(?:Caused by:|---> )")
_WITHIN = re.compile(rf"(?<![\w.$/(])(?P<type>(?:[a-z_$][\w$]{{0,60}}\.){{1,14}}[A-Z_$]\w{{0,80}}|{_NAME})(?:\(([\w.$]{{1,200}})\))?: (?P<message>.*)")
_PLAIN_TYPE = re.compile(r"(?P<type>[A-Za-z_][\w.]{0,200})(?:: ?(?P<message>.*)|\s*$)")
_TRACEBACK = re.compile(r"\s{0,8}(?:\+ Exception Group )?Traceback \(most recent call last\):")
_FRAME = re.compile(r"\s{0,12}(?:File \"|at (?:\S{1,300}\(|\S{1,200} \()|\.{3} \d{1,6} (?:more|common)|Suppressed: |\^|~|\| )")
_HEAD = re.compile(
    r"(?:"
    r"(?:fatal|error|FATAL|Error|ERROR|panic|Fatal error|fatal error|FAILED|Failure|ERR!|npm ERR!|\[error\]|##\[error\]|E:|\*\*\*)(?:\[[\w.:-]{1,40}\])?:? "
    r"|\[error\] ?|##\[error\] ?|Error in .{1,200}? : ?|Error response from daemon: "
    r"|Query \S{1,80} failed: |Execution failed: |(?:ERROR|FATAL) \d{1,6}(?: \(\w{1,10}\))?(?: at line \d{1,8})?: |mysqldump: (?=Got error)"
    r"|(?:psql|pg_dump|pg_restore|curl|wget|rsync|ssh|scp|gzip|tar|aws|gsutil|bq|git|docker|kubectl|helm|make|cp|mv|rm|cat|sh|bash|java|node|python3?|Rscript): "
    r"|(?:Access denied|Permission denied|Unable to|Cannot|Could not|Couldn't|Can't|Failed to) "
    r"|thread '[^'\n]{0,80}' panicked at "
    r"|\[?(?:ORA|DB2|SQL|TNS|PLS)-?\d{4,5}[NE]?\]?:? "
    r")"
)
_DBT = re.compile(
    r"\s{0,6}(?:(?P<kind>Database|Runtime|Compilation|Parsing|Dependency|Validation) Error(?: in .{1,200})?|Failure in test .{1,200}"
    r"|Encountered an error:?|.{0,80}(?P<own>Compilation Error) in .{1,200})$"
)
_EVENT = re.compile(r"\s{0,6}(?:\d{1,4}[smhd]\S{0,12}\s{1,12})?Warning\s{1,12}(?P<type>\w{1,60})\s{1,12}(?P<message>\S.*)")
_STATUS = re.compile(r"\s{0,8}(?:- )?(?:[Rr]eason|last_termination_reason):\s{1,12}(?P<type>[A-Z]\w{2,60})\s*$")
_ABRUPT = re.compile(
    r".{0,200}?(?:terminated by signal \d|exited with code -\d|died unexpectedly with exit code|Segmentation fault|core dumped"
    r"|: command not found|: No such file or directory|: Permission denied|OOMKilled|oom-kill|Out of memory: Kill"
    r"|\bKilled\b(?: {2,}\S|$)|Spot Task was interrupted|Aborting task|No space left on device|cannot allocate memory"
    r"|Unable to acquire lock|Negsignal\.|goroutine \d{1,6} \[running\])",
    re.IGNORECASE,
)
_DIRECT = "The above exception was the direct cause of the following exception"
_DURING = "During handling of the above exception, another exception occurred"
_WRAPPER = re.compile(
    r"\s*(?:"
    r".{0,120}\b(?:exit(?:ed)?(?: with)?(?: (?:a )?non-?zero)?(?: exit)?(?: (?:code|status))?:? ?-?\d{1,3}|exit status \d{1,3})\.?\s*$"
    r"|.{0,60}\bjob failed, see\b|.{0,40}Process completed with exit code|Task failed with exception|.{0,60}\bMarking (?:task|run)\b"
    r"|.{0,120}\bfailed \d{1,4} times; aborting job|Command exited with|Bash command failed|BUILD FAILURE|Tests run:"
    r"|\[?\d{0,5} ?of \d{1,5} (?:ERROR|FAIL|SKIP)\b|\d{1,5} of \d{1,5} (?:ERROR|FAIL)|Completed with \d|Done\. PASS|creating sql "
    r"|Failed at executing callback|Failed to execute (?:job|task)|Error executing process|Command error|Execution halted"
    r"|Back-?off\b|BackoffLimitExceeded|.{0,40}Crash detected! Execution was cancelled by the runtime"
    r"|Received SIGTERM|Task received SIGTERM|.{0,40}child process .{0,60}returned|Unable to load native-hadoop"
    r"|.{0,40}(?:Job aborted due to stage failure|Writing job failed|User class threw exception|Exception thrown in awaitResult)"
    r"|.{0,100}non-zero exit code|.{0,60}finished with \d{1,4} failures?|.{0,60}terminated with error$|Finished in state Failed"
    r"|(?:\S{1,60} ){0,7}\S{0,60}(?:[Ff]ailed|FAILED|[Ff]ailure|[Aa]borted|[Ee]xception|[Ee]rror|excepted)[.:]?\s*$"
    r"|Exiting because a job execution failed|Error: The process '.{1,200}' failed with exit code"
    r"|Command `.{1,80}` failed|Steps failed|shutting down|rolled back|exit\s*$|failed\s*$"
    r")"
)
_QUIET = re.compile(r"\d{1,5} (?:errors?|failures?|warnings?)\b.{0,80}$|no errors\b|without errors?\b|\berrors?[ =:]{1,3}0\b", re.IGNORECASE)


def find_failures(lines: Sequence[LogLine]) -> tuple[Finding, ...]:
    """Return the findings in order, each with the number of the chain to which it belongs."""
    found: list[Finding] = []
    link = Link.NONE
    index = 0
    while index < len(lines):
        text = lines[index].text
        if _DIRECT in text or _DURING in text:
            link = Link.WRAPPER if _DIRECT in text else Link.CONTEXT
            index += 1
            continue
        finding = _traceback(lines, index) if _TRACEBACK.match(text) else _at(lines, index)
        if finding is None:
            index += 1
            continue
        finding = _linked(finding, found, link)
        link = Link.NONE
        found.append(finding)
        index = finding.last + 1
    return tuple(found)


def _linked(finding: Finding, found: Sequence[Finding], link: Link) -> Finding:
    previous = found[-1] if found else None
    if previous is None:
        return replace(finding, link=Link.NONE, chain=0)
    if finding.link is Link.CAUSE and finding.first - previous.last < 400:
        return replace(finding, chain=previous.chain)
    if link is not Link.NONE and previous.weight is Weight.TYPED:
        return replace(finding, link=link, chain=previous.chain)
    return replace(finding, link=Link.NONE, chain=previous.chain + 1)


def _traceback(lines: Sequence[LogLine], start: int) -> Finding | None:
    """Read a Python traceback; its exception is the first line after the frames that is not indented."""
    for index in range(start + 1, min(start + 400, len(lines))):
        text = lines[index].text
        if _TRACEBACK.match(text) or _DIRECT in text or _DURING in text:
            return None
        if text.startswith((" ", "\t")) or _FRAME.match(text) or not text.strip():
            continue
        found = _EXCEPTION.match(text) or _PLAIN_TYPE.match(text)
        if found is None or (lines[index].level is not Level.NONE and not _EXCEPTION.match(text)):
            return None if lines[index].level is Level.NONE else _at(lines, index)
        return _typed(lines, index, found["type"], found["message"] or "", Weight.TYPED)
    return None


def _at(lines: Sequence[LogLine], index: int) -> Finding | None:
    line = lines[index]
    text = line.text
    if not text.strip() or _FRAME.match(text):
        return None
    quiet = line.level in (Level.DEBUG, Level.INFO)
    if quiet:
        return _abrupt(lines, index) if _ABRUPT.match(text) else None
    if text.strip() == "Caused by:" or (text.startswith("Caused by:") and not _EXCEPTION.match(text)):
        return _bare_cause(lines, index)
    if (found := _EXCEPTION.match(text)) is not None:
        return _exception(lines, index, found)
    if (found := _DBT.match(text)) is not None:
        return _dbt(lines, index, found)
    if (found := _EVENT.match(text)) is not None or (found := _STATUS.match(text)) is not None:
        return _event(lines, index, found)
    if line.level is Level.ERROR:
        return _told(lines, index)
    if line.level is Level.WARN:
        return _warned(lines, index)
    if _HEAD.match(text) or _ABRUPT.match(text):
        return _told(lines, index)
    if not line.prefixed and (found := _WITHIN.search(text[:600])) is not None and found.start() < 160:
        return _typed(lines, index, found["type"], _after(text, found), Weight.TYPED)
    if (found := _WITHIN.search(text[:600])) is not None and _names_error(found["type"]):
        return _typed(lines, index, found["type"], _after(text, found), Weight.TYPED)
    return None


def _after(text: str, found: re.Match[str]) -> str:
    return text[found.start("message") :]


def _names_error(name: str) -> bool:
    return re.search(r"(?:Error|Exception|Failure|Fault|Timeout)\d{0,2}$", name) is not None


def _exception(lines: Sequence[LogLine], index: int, found: re.Match[str]) -> Finding:
    line = lines[index]
    weight = Weight.WARNING if line.level is Level.WARN else Weight.TYPED
    message = found["message"] or ""
    inner = found["inner"]
    if "." not in found["type"] and found["type"] in ("Failed", "Error", "Exception", "Failure", "Exit", "Killed"):
        return _told(lines, index)
    finding = _typed(lines, index, inner or found["type"], message, weight)
    return replace(finding, link=Link.CAUSE) if _CAUSED.match(line.text) else finding


def _typed(lines: Sequence[LogLine], index: int, name: str, message: str, weight: Weight) -> Finding:
    message, last = _continued(lines, index, message)
    if not message.strip() and "." not in name and name.endswith("Failed"):
        weight = min(weight, Weight.TOLD)
    if message and _WRAPPER.match(message):
        weight = min(weight, Weight.WRAPPER)
    return Finding(type=name, message=message, text=lines[index].text, first=index, last=last, weight=weight)


def _told(lines: Sequence[LogLine], index: int) -> Finding:
    text = lines[index].text
    within = _WITHIN.search(text[:600])
    if within is not None and (_names_error(within["type"]) or "Exception" in within["type"]):
        finding = _typed(lines, index, within["type"], _after(text, within), Weight.TYPED)
        return replace(finding, first=index)
    message, last = _continued(lines, index, text)
    wrapper = _WRAPPER.match(text) or _QUIET.search(text[:400])
    return Finding(
        type=None, message=message, text=text, first=index, last=last, weight=Weight.WRAPPER if wrapper else Weight.TOLD
    )


def _warned(lines: Sequence[LogLine], index: int) -> Finding | None:
    text = lines[index].text
    within = _WITHIN.search(text[:800])
    if within is None and not _ABRUPT.match(text) and "ExecutorLostFailure" not in text:
        return None
    name = within["type"] if within is not None else None
    message = _after(text, within) if within is not None else text
    message, last = _continued(lines, index, message)
    return Finding(type=name, message=message, text=text, first=index, last=last, weight=Weight.WARNING)


def _abrupt(lines: Sequence[LogLine], index: int) -> Finding:
    text = lines[index].text
    return Finding(type=None, message=text, text=text, first=index, last=index, weight=Weight.WARNING)


def _event(lines: Sequence[LogLine], index: int, found: re.Match[str]) -> Finding:
    text = lines[index].text
    message = found.groupdict().get("message") or ""
    if not message and index + 1 < len(lines):
        following = re.match(r"\s{0,8}[Mm]essage:\s{1,12}(.*)", lines[index + 1].text)
        message = following[1] if following else ""
    wrapper = _WRAPPER.match(found["type"]) or found["type"] in ("Error", "BackOff", "Unhealthy")
    weight = Weight.WRAPPER if wrapper else Weight.TOLD
    return Finding(type=found["type"], message=message or found["type"], text=text, first=index, last=index, weight=weight)


def _bare_cause(lines: Sequence[LogLine], index: int) -> Finding | None:
    """Read `Caused by:` whose words follow, on its line or on the next one that is not blank."""
    rest = lines[index].text.partition("Caused by:")[2].strip()
    at = index
    while not rest and at + 1 < len(lines) and at < index + 3:
        at += 1
        rest = lines[at].text.strip()
    if not rest:
        return None
    rest = re.sub(r"^\d{1,3}: ", "", rest)
    found = _WITHIN.match(rest)
    name, message = (found["type"], found["message"]) if found and _names_error(found["type"]) else (None, rest)
    return Finding(
        type=name, message=message, text=rest, first=index, last=at, weight=Weight.TYPED if name else Weight.TOLD, link=Link.CAUSE
    )


def _dbt(lines: Sequence[LogLine], index: int, found: re.Match[str]) -> Finding | None:
    """Read a dbt error, whose words are the lines below its title."""
    body: list[str] = []
    last = index
    for at in range(index + 1, min(index + 12, len(lines))):
        text = lines[at].text
        nested = _DBT.match(text)
        if nested is not None and not body:
            return _dbt(lines, at, nested)
        if not text.strip():
            if body:
                break
            continue
        if re.match(r"Done\. PASS|\d{1,5} of \d|compiled [Cc]ode at|\s{0,4}> |Resource report|Connection |\+ ", text.strip()):
            break
        body.append(text.strip())
        last = at
    if not body:
        return None
    kind = found["kind"] or ("Compilation" if found["own"] else None)
    name = f"dbt.{kind}Error" if kind else None
    message = "\n".join(body)[:MESSAGE_CAP]
    return Finding(type=name, message=message, text=message, first=index, last=last, weight=Weight.TYPED if kind else Weight.TOLD)


def _continued(lines: Sequence[LogLine], index: int, message: str) -> tuple[str, int]:
    """Return the message with the lines that go on saying it."""
    parts = [message]
    last = index
    for at in range(index + 1, min(index + 1 + CONTINUATION, len(lines))):
        line = lines[at]
        ends = line.prefixed and line.number != lines[index].number
        if ends or not line.text.strip() or _FRAME.match(line.text) or _EXCEPTION.match(line.text) or _HEAD.match(line.text):
            break
        if _TRACEBACK.match(line.text) or _DIRECT in line.text or _DURING in line.text or line.text.startswith("Caused by"):
            break
        if re.match(r"\s{0,8}(?:Removing|Exiting|Shutting|cleanup|\+ |=====|---|\[job|INFO|DEBUG|uploading)", line.text):
            break
        parts.append(line.text.strip())
        last = at
    return "\n".join(parts)[:MESSAGE_CAP], last
