"""What is known of a mail that we sent, by its token: what it is about, for whom, and whether an answer still counts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from bot.incidents.effects import ReplyKind
from bot.incidents.people import Person
from bot.mail import TokenFact, TokenState
from bot.people import People
from bot.policies import Policies
from bot.render.snapshot import Snapshot
from bot.replies.persons import left_out, person_at
from bot.replies.saying import meant
from bot.signed import Signer
from bot.store import EffectRow, Storage

LASTS = timedelta(days=14)
SETTLED_LASTS = timedelta(days=1)

SnapshotOf = Callable[[int, int], Snapshot | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A mail of ours about an occurrence, and the occurrence as it stands now.

    `person`: for whom alone it was written, None when it went to a list. `proposal`: the one that it asks about.
    `expired`: why an answer to it no longer counts. `zone`: in which a day of an answer begins.
    """

    row: EffectRow
    snapshot: Snapshot
    person: Person | None
    proposal: int | None
    expired: str | None
    zone: str

    @property
    def address(self) -> str:
        return str(self.row.content.get("address", ""))

    @property
    def occurrence(self) -> tuple[int, int]:
        return self.row.record, self.row.number

    @property
    def for_all(self) -> bool:
        """It asks its team about all of their jobs in a storm, as the message with the button for all of them does."""
        asks_team = self.row.content.get("kind") == ReplyKind.STORM_ASK and not _facts(self.row).get("platform")
        return asks_team and self.snapshot.incident.storm is not None

    @property
    def fact(self) -> TokenFact:
        return TokenFact(
            state=TokenState.STALE if self.expired else TokenState.LIVE,
            person=self.address if self.person is not None else None,
            occurrence=self.snapshot.incident.id,
            offers=meant(self.snapshot, proposal=self.proposal),
            zone=self.zone,
            says=self.expired or "",
        )


class Notices:
    """Looks them up: by the token of an answer, or by the number in a link."""

    def __init__(
        self,
        *,
        storage: Storage,
        snapshot_of: SnapshotOf,
        policies: Callable[[], Policies],
        people: Callable[[], People],
        signer: Signer,
    ) -> None:
        self._storage = storage
        self._snapshot_of = snapshot_of
        self._policies = policies
        self._people = people
        self._signer = signer

    def row_of(self, token: str) -> EffectRow | None:
        """The mail that the token was made for; None: it is none of ours."""
        number = self._signer.read_mail(token)
        return self._storage.sent_mail(id=number) if number is not None else None

    def answered_by(self, token: str, now: datetime) -> Notice | None:
        """The mail with this token, if it is about an occurrence."""
        row = self.row_of(token)
        return self._notice(row, now) if row is not None else None

    def numbered(self, number: int, now: datetime) -> Notice | None:
        """The mail with this number, if it is about an occurrence."""
        row = self._storage.sent_mail(id=number)
        return self._notice(row, now) if row is not None else None

    def _notice(self, row: EffectRow, now: datetime) -> Notice | None:
        snapshot = self._snapshot_of(row.record, row.number) if row.record else None
        if snapshot is None:
            return None
        policies, people = self._policies(), self._people()
        alone = row.content.get("shared") is False
        person = person_at(str(row.content.get("address", "")), people) if alone else None
        expired = _expired(row, snapshot, now)
        if expired is None and person is not None and left_out(snapshot, person, policies, people, now):
            expired = f"it was handed to {snapshot.team} since, whose people decide now"
        return Notice(
            row=row,
            snapshot=snapshot,
            person=person,
            proposal=_proposal(row),
            expired=expired,
            zone=snapshot.team_zone,
        )


def _expired(row: EffectRow, snapshot: Snapshot, now: datetime) -> str | None:
    incident = snapshot.incident
    if row.created_at is not None and now - row.created_at > LASTS:
        return f"it is older than {LASTS.days} days"
    if snapshot.occurrences > incident.number:
        return f"the failure came back since, as occurrence {snapshot.occurrences}: that one has to be answered"
    closed_at = incident.closed_at
    if not incident.status.unresolved and closed_at is not None and now - closed_at > SETTLED_LASTS:
        return "what it was about has been settled for more than a day"
    return None


def _proposal(row: EffectRow) -> int | None:
    number = _facts(row).get("number")
    return number if isinstance(number, int) else None


def _facts(row: EffectRow) -> Mapping[str, Any]:
    facts = row.content.get("facts")
    return facts if isinstance(facts, Mapping) else {}
