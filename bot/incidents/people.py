"""Who may decide about a job, worked out from a directory that was read earlier. No look-ups here."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from bot.incidents.policy import Door


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Someone who acts: `id` is the Slack id, or the e-mail address where there is none."""

    id: str
    name: str = ""

    def __str__(self) -> str:
        return self.name or self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class By:
    """Who said something, when, and through which door (`slack`, `email`, `web`, `cli`)."""

    person: Person
    at: datetime
    door: str = "slack"


@dataclass(frozen=True, slots=True, kw_only=True)
class Handover:
    """An occurrence was handed to another team: `team` answers it from then on, `came_from` (empty: none) did before."""

    team: str
    came_from: str
    by: By
    note: str = ""


class Standing(StrEnum):
    """What a person is to the job's team."""

    OWNER = "owner"
    ONCALL = "oncall"
    ADMIN = "admin"
    OUTSIDER = "outsider"
    NOBODY = "nobody"
    UNSURE = "unsure"

    @property
    def decides(self) -> bool:
        return self in (Standing.OWNER, Standing.ONCALL, Standing.ADMIN)


class MentionKind(StrEnum):
    """How a message addresses someone."""

    PERSON = "person"
    GROUP = "group"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """Someone whom a message notifies: a Slack user or user group; `name` is for mails and screen readers."""

    kind: MentionKind
    id: str
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """Where an ask goes: a channel id, a person's direct messages, an e-mail address or a webhook.

    `shared`: the mail address of a list, so that whoever answers has to be told from others; else `person` alone reads it.
    """

    door: Door
    address: str
    shared: bool = False
    person: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Directory:
    """The people of one job's team as last read, resolved to ids.

    `owners` are the members of the owning team, `oncall` those on call now, `admins` may always decide. `inactive` holds
    deactivated users, guests, strangers and bots: they never decide. `read_at` None means never read. Beyond `stale_after`
    the directory fails closed for deciding by group membership; `literal` ids (written in policies.yaml) still count.
    `unread` are in a group, but what they are themselves (a guest, a bot) could not be read lately.
    The mail addresses of an audience are those by which it is reached: none that a mail system gave up on. `mail_alone` are
    those of people whom the chat does not know: no other door leads to them.
    """

    owners: frozenset[str] = frozenset()
    oncall: frozenset[str] = frozenset()
    admins: frozenset[str] = frozenset()
    literal: frozenset[str] = frozenset()
    inactive: frozenset[str] = frozenset()
    unread: frozenset[str] = frozenset()
    oncall_mentions: tuple[Mention, ...] = ()
    team_mentions: tuple[Mention, ...] = ()
    manager_mentions: tuple[Mention, ...] = ()
    oncall_mail: tuple[Destination, ...] = ()
    team_mail: tuple[Destination, ...] = ()
    manager_mail: tuple[Destination, ...] = ()
    mail_alone: frozenset[str] = frozenset()
    names: tuple[tuple[str, str], ...] = ()
    read_at: datetime | None = None
    stale_after: timedelta = timedelta(minutes=15)

    def standing(self, person: Person, now: datetime) -> Standing:
        """What `person` is to this team; UNSURE when only what was not read lately speaks for them."""
        if person.id in self.inactive:
            return Standing.NOBODY
        claim = self._claim(person.id)
        if claim is Standing.OUTSIDER or person.id in self.literal:
            return claim
        fresh = self.read_at is not None and now - self.read_at <= self.stale_after
        return claim if fresh and person.id not in self.unread else Standing.UNSURE

    def _claim(self, person_id: str) -> Standing:
        if person_id in self.owners:
            return Standing.OWNER
        if person_id in self.oncall:
            return Standing.ONCALL
        if person_id in self.admins:
            return Standing.ADMIN
        return Standing.OUTSIDER
