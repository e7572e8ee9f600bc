"""What a ping says: which run of which job began, ended well or failed. It stores and decides nothing about incidents.

A ping names its job by a token and its run by `rid`. Without one a start begins a new run, and what follows is about the job's
newest run that began by a ping and has not ended; a curl that tries again within `AGAIN` means the run that has just ended.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot import cron
from bot.evidence.types import ErrorReport
from bot.incidents.keys import JobKey, RunRef
from bot.incidents.memory import JobMemory
from bot.incidents.policy import Schedule
from bot.signed import Signer
from bot.sources import SourceEvent, SourceKind

OURS = "ping__"
MOST_LOG = 64 * 1024
AGAIN = timedelta(seconds=10)
START, SUCCESS, FAIL, LOG = "start", "success", "fail", "log"

_RID = re.compile(r"[\w.:@+-]{1,100}", re.ASCII)
_STATUS = re.compile(r"[0-9]{1,3}")


class NotAPing(Exception):
    """`field` is what is wrong with it, the text what was expected there."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, slots=True, kw_only=True)
class Ping:
    """As it came: `word` is what stands behind the token, empty for success; `text` the end of a log, `rid` the run's name."""

    token: str
    word: str = ""
    text: str = ""
    rid: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPiece:
    """A piece of a run's log: nothing happened yet."""

    job: JobKey
    run_id: str
    text: str


class Pings:
    """`memory_of` reads what a job remembers, `schedule_of` when it runs, `log_of` the log that its run wrote so far."""

    def __init__(
        self,
        *,
        signer: Signer,
        memory_of: Callable[[JobKey], JobMemory | None],
        schedule_of: Callable[[JobKey, JobMemory | None], Schedule | None],
        log_of: Callable[[JobKey, str], str],
    ) -> None:
        self._signer = signer
        self._memory_of = memory_of
        self._schedule_of = schedule_of
        self._log_of = log_of

    def read(self, ping: Ping, now: datetime) -> SourceEvent | LogPiece:
        """Raises `NotAPing`."""
        named = self._signer.read_job(ping.token)
        if named is None:
            raise NotAPing("token", "no job has this token; `python -m bot pings JOB` prints a job's addresses")
        if ping.rid and not _RID.fullmatch(ping.rid):
            raise NotAPing("rid", "expected up to 100 letters, digits or . : @ + - _")
        scheduler, _, name = named.partition("/")
        job = JobKey(scheduler=scheduler, name=name)
        word, status = _meaning(ping.word)
        memory = self._memory_of(job)
        text = ping.text[-MOST_LOG:]
        if word == START:
            return self._event(SourceKind.RUN_STARTED, job, self._new(ping, job, memory, now), now, started_at=now)
        run, started_at = _run_of(ping, memory, now, word) or (self._new(ping, job, memory, now), None)
        if word == LOG:
            return LogPiece(job=job, run_id=run.run_id, text=text)
        if word == SUCCESS:
            return self._event(SourceKind.RUN_SUCCEEDED, job, run, now, started_at=started_at)
        log = "\n".join(filter(None, (self._log_of(job, run.run_id), text)))[-MOST_LOG:]
        error = ErrorReport(exit_code=status, log=log)
        return self._event(SourceKind.RUN_FAILED, job, run, now, started_at=started_at, error=error)

    def _new(self, ping: Ping, job: JobKey, memory: JobMemory | None, now: datetime) -> RunRef:
        """A run that was not heard of before; it is the one that was due last, where the schedule is known."""
        schedule = self._schedule_of(job, memory)
        nominal_time = cron.latest_at_or_before(schedule, now) if schedule else None
        return RunRef(run_id=f"{OURS}{ping.rid or f'{now:%Y-%m-%dT%H:%M:%S.%fZ}'}", nominal_time=nominal_time)

    def _event(
        self,
        kind: SourceKind,
        job: JobKey,
        run: RunRef,
        now: datetime,
        *,
        started_at: datetime | None,
        error: ErrorReport | None = None,
    ) -> SourceEvent:
        return SourceEvent(
            id=f"{run.run_id}/{kind}",
            kind=kind,
            at=now,
            job=job,
            run=run,
            started_at=started_at,
            ended_at=now if kind is not SourceKind.RUN_STARTED else None,
            error=error,
        )


def _meaning(word: str) -> tuple[str, int | None]:
    """The word, and the exit status where a number stands for it."""
    if word in ("", SUCCESS):
        return SUCCESS, None
    if word in (START, FAIL, LOG):
        return word, None
    if _STATUS.fullmatch(word) and int(word) <= 255:
        return (FAIL, int(word)) if int(word) else (SUCCESS, None)
    raise NotAPing("path", "expected /start, /success, /fail, /log or an exit status behind the token")


def _run_of(ping: Ping, memory: JobMemory | None, now: datetime, word: str) -> tuple[RunRef, datetime | None] | None:
    """The known run that a ping is about, and when it began if that is known."""
    if memory is None:
        return None
    living = [live for live in memory.live if live.run.run_id.startswith(OURS)]
    if ping.rid:
        living = [live for live in living if live.run.run_id == f"{OURS}{ping.rid}"]
    if living:
        newest = max(living, key=lambda live: live.started_at)
        return newest.run, newest.started_at
    ended = _just_ended(memory, word)
    if ended is None or not ended[0].run_id.startswith(OURS) or now - ended[1] > AGAIN:
        return None
    return (ended[0], None) if ping.rid in ("", ended[0].run_id.removeprefix(OURS)) else None


def _just_ended(memory: JobMemory, word: str) -> tuple[RunRef, datetime] | None:
    """The run that ended last in the way that `word` says, and when."""
    if word == SUCCESS and memory.last_good is not None:
        return memory.last_good.run, memory.last_good.ended_at
    if word == FAIL and memory.streak:
        return memory.streak[-1].run, memory.streak[-1].at
    return None
