"""What a mail of the outbox says: the row's frozen content, told with the occurrence as it stands when it is sent.

It must not send, and it renders nothing that is not wanted any more.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.delivery.vain import asks_in_vain
from bot.incidents.effects import ReplyKind
from bot.mail import CommandWord
from bot.ports import SendFailed
from bot.render.digest import expired
from bot.render.mail import MailKind, MailLinks, RenderedMail, answer_mail, incident_mail, notice_mail, offered
from bot.render.snapshot import Snapshot
from bot.signed import ActingLink, Signer
from bot.store import EffectRow

PAGE_LASTS = timedelta(days=30)
_REPLIES = frozenset(kind.value for kind in ReplyKind)
_ANSWERS = frozenset({MailKind.ANSWER.value, MailKind.CONFIRM.value})


def page_url(signer: Signer, public_url: str, *, record: int, number: int, now: datetime) -> str:
    """The address of an occurrence's page; whoever holds it may read its record for a while."""
    path = f"/i/{record}"
    return f"{public_url}{path}.{number}?k={signer.page(path, now=now, lasts=PAGE_LASTS)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Letters:
    """`public_url` None: there are no pages, so no mail has a link to one. `replies`: an answer by mail is read."""

    snapshot_of: Callable[[int, int, str | None], Snapshot | None]
    thread_of: Callable[[int, int], str | None]
    signer: Signer
    public_url: str | None
    replies: bool = False

    def __call__(self, row: EffectRow, now: datetime) -> RenderedMail | None:
        """None: nothing is to be said any more. Raises `SendFailed` where what it is about is not there."""
        kind, content = str(row.content["kind"]), row.content
        if kind not in _REPLIES and kind not in _ANSWERS:
            return None if expired(content, now) else notice_mail(content)
        snapshot = self._about(row)
        if kind in _ANSWERS:
            return answer_mail(content, snapshot, self._links(row, snapshot, now))
        if snapshot is None:
            raise SendFailed("occurrence_not_found", permanent=True)
        if asks_in_vain(row, snapshot.incident):
            return None
        return incident_mail(
            ReplyKind(kind),
            content.get("facts", {}),
            snapshot,
            shared=content.get("shared") is not False,
            replies=self.replies,
            links=self._links(row, snapshot, now),
        )

    def _about(self, row: EffectRow) -> Snapshot | None:
        if not row.record:
            return None
        return self.snapshot_of(row.record, row.number, row.content.get("facts", {}).get("evidence"))

    def _links(self, row: EffectRow, snapshot: Snapshot | None, now: datetime) -> MailLinks:
        if snapshot is None:
            return MailLinks()
        thread = self.thread_of(row.record, row.number)
        if self.public_url is None:
            return MailLinks(thread=thread)
        return MailLinks(
            page=page_url(self.signer, self.public_url, record=row.record, number=row.number, now=now),
            thread=thread,
            decisions=self._decisions(row, snapshot),
        )

    def _decisions(self, row: EffectRow, snapshot: Snapshot) -> tuple[tuple[CommandWord, str], ...]:
        """Links that act: for one person only, since whoever holds the mail is believed to be that person."""
        content = row.content
        if content.get("shared") is not False:
            return ()
        if content["kind"] == MailKind.CONFIRM:
            word = content.get("word")
            return ((CommandWord(word), self._link(row, word, sure=bool(content.get("sure")))),) if word else ()
        words = offered(snapshot, proposal=content.get("facts", {}).get("number"))
        return tuple((word, self._link(row, word, sure=False)) for word in words)

    def _link(self, row: EffectRow, word: str, *, sure: bool) -> str:
        name = self.signer.link(ActingLink(mail=row.id, word=word, sure=sure))
        return f"{self.public_url}/d/{name}/{word}{'?sure=1' if sure else ''}"
