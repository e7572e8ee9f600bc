"""The mails that ontrack has sent in a world, and what people write back to them. It judges nothing and sends nothing."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import msgspec

from bot.incidents.effects import Told
from bot.ports import ArrivedMail
from bot.render.private import told as rendered_told
from bot.replies import Correspondence, Links
from bot.signed import ActingLink, Signer
from bot.store import EffectKind, EffectRow, MailboxPlace, NewMail
from tests.mail.mails import mail
from tests.world.people import PEOPLE
from tests.world.world import World

BOT = "ontrack@bot.example.com"
SERVER = "mx.example.com"
KEY = "a-key-of-at-least-thirty-two-letters"
MAILBOX = "imap.example.com/INBOX"
LATER = timedelta(days=300)
VALIDITY = 7
BACK = ("answer", "confirm")


def address_of(person: str) -> str:
    return f"{person}@example.com" if person in PEOPLE else person


def passed(sender: str) -> str:
    """What the receiving server writes about a mail that is truly from there."""
    domain = sender.rpartition("@")[2]
    return f"{SERVER}; dmarc=pass header.from={domain}; dkim=pass header.d={domain}"


@dataclass(slots=True)
class Post:
    """Mails go out as rows that nobody sends in time; people are named as in the world, or by their address."""

    world: World
    links_work: bool = True
    signer: Signer = field(default_factory=lambda: Signer(KEY))
    uid: int = 0
    sent: int = 0

    def correspondence(self, **other: Any) -> Correspondence:
        """Of the process that lives now; `other` arguments replace its own."""
        given: dict[str, Any] = {
            **self._parts(),
            "bot": BOT,
            "authserv_id": SERVER,
            "links": self.links_work,
            **other,
        }
        return Correspondence(**given)

    @property
    def links(self) -> Links:
        return Links(**self._parts())

    def asks(
        self, job: str, whom: str, *, shared: bool = False, kind: str = "ask", number: int | None = None
    ) -> EffectRow:
        """A mail about the job's newest occurrence goes to that person, or to a list."""
        incident = self.world.incident(job)
        if kind == "approval" and number is None:
            assert incident.proposal is not None, f"nothing of {job} waits for a yes"
            number = incident.proposal.number
        facts = {"number": number} if number is not None else {}
        content = {"kind": kind, "facts": facts, "door": "email", "shared": shared}
        return self.writes(content, whom, occurrence=(incident.record, incident.number))

    def wants_approval(self, job: str, whom: str, *, shared: bool = False) -> EffectRow:
        return self.asks(job, whom, shared=shared, kind="approval")

    def writes(self, content: dict[str, Any], whom: str, *, occurrence: tuple[int, int] | None) -> EffectRow:
        self.sent += 1
        key = f"mail-{self.sent}"
        new = NewMail(
            key=key, address=address_of(whom), content=content, due_at=self.world.now + LATER, occurrence=occurrence
        )
        assert self.world.service.storage.put_mail(new, now=self.world.now)
        (row,) = [row for row in self.world.outbox() if row.key == key]
        return row

    def reply(self, row: EffectRow, line: str, *more: str, by: str = "ana", **how: Any) -> bytes:
        """A whole mail in which somebody answers the row's with this text; `more` header lines."""
        self.uid += 1
        token = self.signer.mail(row.id)
        named = f"ontrack+{token}@bot.example.com"
        sender = address_of(by)
        given = {line.partition(":")[0].lower() for line in more}
        headers = [
            header
            for header in (
                f"Message-ID: <{self.uid}@mail.example.com>",
                f"In-Reply-To: <{named}>",
                f"References: <{named}>",
                f"Return-Path: <{sender}>",
            )
            if header.partition(":")[0].lower() not in given
        ]
        how.setdefault("passed", passed(sender))
        how.setdefault("to", named)
        return mail(line, *headers, *more, sender=how.pop("sender", f"Somebody <{sender}>"), **how)

    def takes(self, raw: bytes, **other: Any) -> list[EffectRow]:
        """The mailbox gives the mail over; returns the answers that were written for it."""
        return self.takes_by(self.correspondence(**other), raw)

    def takes_by(self, correspondence: Correspondence, raw: bytes) -> list[EffectRow]:
        self.uid += 1
        self.world.clock.tick()
        before = {row.id for row in self.mails()}
        place = MailboxPlace(validity=VALIDITY, uid=self.uid)
        correspondence.take(ArrivedMail(uid=self.uid, message=raw), place=place, mailbox=MAILBOX, now=self.world.now)
        answers = [row for row in self.mails() if row.id not in before and row.content["kind"] in BACK]
        self.world.settles()
        return answers

    def says(self, row: EffectRow, line: str, *more: str, by: str = "ana", **how: Any) -> list[EffectRow]:
        """Somebody answers the row's mail, and the mailbox gives it over."""
        return self.takes(self.reply(row, line, *more, by=by, **how))

    def mails(self) -> list[EffectRow]:
        return [row for row in self.world.outbox() if row.kind is EffectKind.EMAIL]

    def link(self, row: EffectRow, word: str, *, sure: bool = False) -> str:
        """The name in the link of that mail."""
        return self.signer.link(ActingLink(mail=row.id, word=word, sure=sure))

    def words(self, answer: EffectRow) -> str:
        """What the core told, in the words that Slack shows."""
        told = told_in(answer)
        assert told is not None, answer.content
        return rendered_told(told, self.world.service.records.snapshot(answer.record, answer.number)).text

    @property
    def now(self) -> datetime:
        return self.world.now

    def _parts(self) -> dict[str, Any]:
        service = self.world.service
        return {
            "storage": service.storage,
            "take_in": service.intake.take_in,
            "snapshot_of": service.records.snapshot,
            "policies": lambda: service.policies.current,
            "people": service.directory.people,
            "signer": self.signer,
        }


def told_in(answer: EffectRow) -> Told | None:
    """What the core told, as it stands in the answer."""
    told = answer.content["facts"].get("told")
    return msgspec.convert(told, Told) if told is not None else None


def reason_in(answer: EffectRow) -> str:
    """Why a mail did nothing, as it stands in the answer."""
    return str(answer.content["facts"]["reason"])
