"""Mail as the use cases ask for it: what is to be sent, what was read, which addresses are broken. It reads no mail.

Addresses are told apart without their case. A mail of our own is a row of the outbox like any other.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, select, text
from sqlalchemy.dialects.postgresql import insert

from bot.store import BrokenAddress, EffectKind, EffectRow, EffectState, MailboxPlace, NewMail, ReadMail
from storage.mail_tables import WAS_TOLD, broken_addresses, mailboxes, read_mails
from storage.part import Part
from storage.queue import EFFECTS
from storage.queue_tables import outbox
from storage.rows import effect_row
from storage.tables import occurrences

LANE = 1
"""That of asks: whoever wrote to us waits for the answer."""

_PUT_IF_NEW = insert(outbox).on_conflict_do_nothing(index_elements=["key"]).returning(outbox.c.id)
_JOB_OF = select(occurrences.c.job_id).where(
    occurrences.c.record == bindparam("of_record"), occurrences.c.number == bindparam("of_number")
)
_SENT = EFFECTS.where(outbox.c.id == bindparam("of_id"), outbox.c.kind == EffectKind.EMAIL)
_COUNT_TO = select(func.count()).where(
    outbox.c.address == bindparam("to_address"), outbox.c.created_at >= bindparam("since")
)
_REMEMBER = insert(read_mails).on_conflict_do_nothing(index_elements=["key"]).returning(read_mails.c.key)
_DONE = select(read_mails.c.key).where(read_mails.c.key == bindparam("of_key"))
_EXPLAINED = (
    select(read_mails.c.key)
    .where(
        text(WAS_TOLD),
        read_mails.c.sender == bindparam("of_sender"),
        read_mails.c.occurrence == bindparam("of_occurrence"),
    )
    .limit(1)
)
_PLACE = insert(mailboxes)
_BEGIN_AT = _PLACE.on_conflict_do_update(
    index_elements=["name"], set_={"validity": _PLACE.excluded.validity, "uid": _PLACE.excluded.uid}
)
_MOVE_ON = _PLACE.on_conflict_do_update(
    index_elements=["name"],
    set_={"uid": _PLACE.excluded.uid},
    where=(mailboxes.c.validity == _PLACE.excluded.validity) & (mailboxes.c.uid < _PLACE.excluded.uid),
)
_PLACE_IN = select(mailboxes).where(mailboxes.c.name == bindparam("of_name"))
_BREAK = insert(broken_addresses)
_BREAK_OR_AGAIN = _BREAK.on_conflict_do_update(
    index_elements=["address"], set_={"status": _BREAK.excluded.status, "since": _BREAK.excluded.since}
)
_BROKEN = (
    select(broken_addresses).where(broken_addresses.c.since > bindparam("after")).order_by(broken_addresses.c.address)
)
_MEND = delete(broken_addresses).where(broken_addresses.c.address == bindparam("of_address"))


class MailRoom(Part):
    """The part of `bot.store.Storage` about mail that is written and read; `storage.late` has the part about late asks."""

    def put_mail(self, mail: NewMail, *, now: datetime) -> bool:
        with self._database.transaction() as connection:
            return put_if_new(connection, mail, now=now)

    def sent_mail(self, *, id: int) -> EffectRow | None:
        with self._database.read() as connection:
            found = connection.execute(_SENT, {"of_id": id}).first()
        return effect_row(found) if found is not None else None

    def mail_done(self, *, key: str) -> bool:
        return self._is_there(_DONE, {"of_key": key})

    def explained(self, *, sender: str, occurrence: str) -> bool:
        return self._is_there(_EXPLAINED, {"of_sender": _plain(sender), "of_occurrence": occurrence})

    def mails_to(self, *, address: str, since: datetime) -> int:
        with self._database.read() as connection:
            found: int = connection.execute(_COUNT_TO, {"to_address": _plain(address), "since": since}).scalar_one()
        return found

    def done_with(
        self,
        mail: ReadMail,
        *,
        place: MailboxPlace,
        mailbox: str,
        answers: Sequence[NewMail] = (),
        broken: Sequence[BrokenAddress] = (),
        now: datetime,
    ) -> bool:
        with self._database.transaction() as connection:
            new = connection.execute(_REMEMBER, _read(mail)).first() is not None
            for answer in answers if new else ():
                put_if_new(connection, answer, now=now)
            for address in broken if new else ():
                break_address(connection, address)
            connection.execute(_MOVE_ON, _stands(place, mailbox))
        return new

    def place_in(self, *, mailbox: str) -> MailboxPlace | None:
        with self._database.read() as connection:
            found = connection.execute(_PLACE_IN, {"of_name": mailbox}).first()
        return MailboxPlace(validity=found.validity, uid=found.uid) if found is not None else None

    def begin_at(self, place: MailboxPlace, *, mailbox: str) -> None:
        with self._database.transaction() as connection:
            connection.execute(_BEGIN_AT, _stands(place, mailbox))

    def break_address(self, address: BrokenAddress) -> None:
        with self._database.transaction() as connection:
            break_address(connection, address)

    def broken_addresses(self, *, now: datetime, lasts: timedelta) -> tuple[BrokenAddress, ...]:
        with self._database.read() as connection:
            found = connection.execute(_BROKEN, {"after": now - lasts}).all()
        return tuple(BrokenAddress(address=row.address, status=row.status, since=row.since) for row in found)

    def mend_address(self, *, address: str) -> bool:
        with self._database.transaction() as connection:
            return bool(connection.execute(_MEND, {"of_address": _plain(address)}).rowcount == 1)

    def _is_there(self, statement: Any, values: dict[str, Any]) -> bool:
        with self._database.read() as connection:
            return connection.execute(statement, values).first() is not None


def put_if_new(connection: Connection, mail: NewMail, *, now: datetime) -> bool:
    record, number = mail.occurrence or (None, None)
    job_id = None
    if mail.occurrence is not None:
        job_id = connection.execute(_JOB_OF, {"of_record": record, "of_number": number}).scalar_one_or_none()
    known = job_id is not None
    values = {
        "key": mail.key,
        "kind": EffectKind.EMAIL,
        "lane": LANE,
        "job_id": job_id,
        "record": record if known else None,
        "number": number if known else None,
        "content": {**mail.content, "address": mail.address},
        "state": EffectState.WAITING,
        "due_at": mail.due_at,
        "attempt": 0,
        "created_at": now,
        "address": _plain(mail.address),
    }
    return connection.execute(_PUT_IF_NEW, values).first() is not None


def break_address(connection: Connection, broken: BrokenAddress) -> None:
    values = {"address": _plain(broken.address), "status": broken.status, "since": broken.since}
    connection.execute(_BREAK_OR_AGAIN, values)


def _plain(address: str) -> str:
    return address.strip().lower()


def _read(mail: ReadMail) -> dict[str, Any]:
    return {
        "key": mail.key,
        "sender": _plain(mail.sender),
        "occurrence": mail.occurrence,
        "reason": mail.reason,
        "told": mail.told,
        "at": mail.at,
    }


def _stands(place: MailboxPlace, mailbox: str) -> dict[str, Any]:
    return {"name": mailbox, "validity": place.validity, "uid": place.uid}
