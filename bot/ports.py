"""The protocols that the use cases speak to; adapters implement them, tests and the composition root hand them over.

Nothing here does anything. Who calls a port, what it returns and what it raises stands beside it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

from bot.incidents.keys import Action, Capability, JobKey, RunRef
from bot.incidents.policy import Schedule, Team
from bot.sources import SourceEvent

Clock = Callable[[], datetime]
"""Returns the aware UTC instant; only composition root, ticker and adapters hold one."""

Report = Callable[[Sequence[SourceEvent]], None]
"""Hands source events to intake; returns after their commit, raises when nothing could be stored (report again later)."""

BY_ITSELF = "ontrack"
"""Who asks where no person decided it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerRequest:
    """One thing asked of a scheduler. `key` is deterministic: the same key is the same request, however often it is made.

    `run` is the failed run for `rerun`, our own rerun for `stop`; None for `start`, `pause`, `resume`, `retire`.
    `nominal_times` are those to run again or to start, oldest first. `fresh`: a rerun from the beginning, asked only of a
    scheduler that declares `fresh_start`; else it may go on where the run failed. `fixed`: an owner has said that what made
    it fail is mended: it is to run with what is deployed now.
    """

    action: Action
    key: str
    job: JobKey
    run: RunRef | None = None
    nominal_times: tuple[datetime, ...] = ()
    requested_by: str = BY_ITSELF
    reason: str = ""
    fresh: bool = False
    fixed: bool = False


class Taken(StrEnum):
    """How a scheduler answered a request."""

    TAKEN = "taken"
    ALREADY = "already"
    REFUSED = "refused"
    UNCERTAIN = "uncertain"


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerAnswer:
    """`message` is the scheduler's own words (told to people). `retry_after` is set with a refusal for the moment only:
    nothing was taken, and it may be asked again after that (load, no connection)."""

    taken: Taken
    message: str = ""
    retry_after: timedelta | None = None


class Looked(StrEnum):
    """What a look for a request's key found at the scheduler."""

    STARTED = "started"
    NOT_STARTED = "not_started"
    CANNOT_TELL = "cannot_tell"


class Scheduler(Protocol):
    """A scheduler as delivery speaks to it. No method raises: what goes wrong on the way is `UNCERTAIN` or `CANNOT_TELL`.

    `deduplicates`: whatever is asked again under the same key is done once, so that after an uncertain answer it is asked
    again; of any other scheduler `look` must tell first.
    """

    name: str
    can: frozenset[Capability]
    deduplicates: bool

    def ask(self, request: SchedulerRequest) -> SchedulerAnswer:
        """Ask once, within 30 s."""

    def look(self, request: SchedulerRequest) -> Looked:
        """Tell whether the request with this key has taken effect."""

    def schedule_of(self, job: JobKey) -> Schedule | None:
        """The job's schedule as the scheduler knows it; None when it cannot tell. Answers from memory, no I/O."""


class HistoryDown(Exception):
    """A scheduler's past cannot be read; the text says why, in words for the person who asked for it."""


@runtime_checkable
class Historian(Protocol):
    """A scheduler that can tell of runs that ended before anybody listened; for `import`, by hand and before launch."""

    name: str

    def history(self, *, since: datetime, until: datetime) -> Iterator[Sequence[SourceEvent]]:
        """What became of the runs that ended in `[since, until)`, page by page, as its poller would have told it: every
        generation of a run in its order, the runs of one job in the order of their ends as far as the scheduler can.

        Paced like a poll. Raises `HistoryDown` when it cannot go on.
        """


class SendFailed(Exception):
    """A send that did not succeed. `permanent`: sending again cannot help. `uncertain`: it may have been accepted.

    `code` is the other side's own error name, `retry_after` its wish.
    """

    def __init__(
        self, code: str, *, permanent: bool = False, uncertain: bool = False, retry_after: timedelta | None = None
    ) -> None:
        super().__init__(code)
        self.code = code
        self.permanent = permanent
        self.uncertain = uncertain
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatFile:
    """A text file for a thread: `name` holds the key by which it can be looked up."""

    name: str
    title: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """A message as rendered: top-level `text`, Block Kit `blocks` (dicts), the key that its metadata carries.

    `richer` shows the same in blocks that not every workspace takes; whoever does not know of it sends `blocks`.
    """

    key: str
    text: str
    blocks: tuple[dict[str, Any], ...]
    richer: tuple[dict[str, Any], ...] = ()
    thread_ts: str | None = None
    broadcast: bool = False
    file: ChatFile | None = None


class Chat(Protocol):
    """The chat workspace as delivery speaks to it; every method raises `SendFailed` and nothing else."""

    def post(self, *, channel: str, message: ChatMessage) -> str:
        """Post and return the message's `ts`."""

    def update(self, *, channel: str, ts: str, message: ChatMessage) -> None:
        """Show `message` in place of what stands at `ts`."""

    def upload(self, *, channel: str, thread_ts: str, file: ChatFile) -> str:
        """Share a text file in a thread and return its id."""

    def find(self, *, channel: str, key: str, thread_ts: str | None, since: datetime) -> str | None:
        """The `ts` of our own message that carries `key`, or None when surely there is none. Used after an uncertain post."""

    def find_file(self, *, channel: str, name: str, thread_ts: str, since: datetime) -> str | None:
        """The id of our own file of that name in the thread, or None when surely there is none."""

    def open_direct(self, *, user: str) -> str:
        """The channel id of the direct conversation with `user`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OnCallNow:
    """Who is on call at an instant: `people` by chat id or e-mail address, `handle` a user group that calls them together.

    `named`: a file of ours names them, so that they count also while the workspace cannot be read.
    """

    people: frozenset[str]
    handle: str | None = None
    named: bool = False


class OnCall(Protocol):
    """One way of knowing who is on call. `bot.people` asks each in turn, inside transactions: no I/O, and nothing is raised.

    A calendar or a pager is read outside (as `bot.directory` reads the workspace) and answers from what was read.
    """

    def on_call(self, team: Team, at: datetime) -> OnCallNow | None:
        """Who is on call for the team; None when this way knows nothing of it, or nobody is."""


class FoundPerson(Protocol):
    """A user of the workspace as the directory needs it."""

    @property
    def id(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def email(self) -> str | None: ...

    @property
    def deleted(self) -> bool: ...

    @property
    def bot(self) -> bool: ...

    @property
    def guest(self) -> bool: ...

    @property
    def stranger(self) -> bool: ...


class PeopleSource(Protocol):
    """Where the directory reads people and groups; every method raises `SendFailed` and nothing else."""

    def user(self, user_id: str) -> FoundPerson | None: ...

    def user_by_email(self, email: str) -> FoundPerson | None: ...

    def group_members(self, group: str) -> tuple[str, ...] | None:
        """The members' ids; None when there is no such group or it is disabled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MailMessage:
    """A mail as rendered. `message_id` (with its angle brackets) is deterministic: the same key is the same mail.

    `references`: the earlier mails of its conversation, the oldest first. `answers`: the Message-ID of the mail that it
    answers, None for one that begins with us. `reply_to`: where an answer goes, None where we read none.
    """

    key: str
    message_id: str
    to: str
    subject: str
    text: str
    html: str
    references: tuple[str, ...] = ()
    answers: str | None = None
    reply_to: str | None = None


class Mail(Protocol):
    """The mail server that sends for us."""

    def send(self, message: MailMessage) -> None:
        """Hand it over within 30 s. Raises `SendFailed`: `uncertain` once the text was under way without an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrivedMail:
    """A mail as it lies in the mailbox: its UID, and its bytes (of one larger than the reader takes: its beginning)."""

    uid: int
    message: bytes


class MailboxDown(Exception):
    """The mailbox cannot be read just now; the text says why."""


class Mailbox(Protocol):
    """The mailbox that replies come to; one caller at a time. Every method raises `MailboxDown` and nothing else."""

    def open(self) -> int:
        """Connect where that is needed, and return the UIDVALIDITY (RFC 3501, section 2.3.1.1)."""

    def after(self, uid: int, *, limit: int) -> tuple[ArrivedMail, ...]:
        """The mails with a UID above `uid`, the lowest first. They stay unread and where they are."""

    def wait(self, timeout: timedelta) -> None:
        """Return when something arrived, or after `timeout`."""

    def close(self) -> None:
        """End the connection, also one that another thread waits on."""
