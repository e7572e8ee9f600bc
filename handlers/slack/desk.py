"""What every Slack listener has at hand, and the ways in which it takes a person's word in and answers privately.

It must not know single buttons or modals.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from bot.incidents.effects import Told, ToldKind
from bot.incidents.events import PersonEvent
from bot.incidents.people import By, Person
from bot.intake import Inbound, Outcome, Result
from bot.ports import Clock
from bot.render.actions import from_home
from bot.render.home import Home
from bot.render.modal_parts import CauseChoice
from bot.render.private import told as rendered_told
from bot.render.rendered import Rendered
from bot.render.snapshot import Snapshot
from handlers.meters import Meters
from handlers.slack.answers import PrivateAnswers
from handlers.slack.health import HealthDesk
from handlers.slack.payloads import User
from handlers.slack.places import Place, blocks_of, link_to, told_view

logger = logging.getLogger(__name__)

DOOR = "slack"
WITH_LINK = frozenset({ToldKind.SETTLED, ToldKind.OTHER_STATE})

TakeIn = Callable[[Sequence[Inbound]], list[Outcome]]
Causes = Callable[[], Sequence[CauseChoice]]


def _no_causes() -> Sequence[CauseChoice]:
    return ()


class SlackReads(Protocol):
    """What the listeners read; `bot.reads` implements it."""

    def snapshot(self, record: int, number: int) -> Snapshot | None:
        """The occurrence as it stands now; None when there is none."""

    def permalink(self, record: int, number: int) -> str | None:
        """The address of the occurrence's thread; None when it has none yet."""


class HomePages(Protocol):
    """What the Home tab shows; `bot.home` implements it."""

    def page(self, user: str) -> Home:
        """The page of the person with this chat id, as of now; raises `StorageDown`."""

    def marked_in_chat(self, team: str, cause: str) -> Sequence[tuple[int, int]]:
        """The occurrences through which a team's marks on a cause are changed, one of each job that bears one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """Handed to every listener by `slack_door`; `causes` are those that the rules know now, for the choice of a cause."""

    take_in: TakeIn
    reads: SlackReads
    homes: HomePages
    answers: PrivateAnswers
    clock: Clock
    meters: Meters
    health: HealthDesk
    causes: Causes = _no_causes

    def by(self, user: User) -> By:
        person = Person(id=user.id, name=user.name or user.username or "")
        return By(person=person, at=self.clock(), door=DOOR)

    def taken(self, *, key: str, event: PersonEvent, occurrence: tuple[int, int]) -> Told:
        """Take a person's word in, and return what the person is told; raises `StorageDown`."""
        (outcome,) = self.take_in([Inbound(key=key, event=event, occurrence=occurrence)])
        self.meters.taken(door=DOOR, result=outcome.result)
        if outcome.told is not None:
            return outcome.told
        kind = ToldKind.CANNOT if outcome.result is Result.REJECTED else ToldKind.DONE
        return Told(kind=kind, reason=outcome.reason or "done")

    def shown(self, said: Told, *, occurrence: tuple[int, int]) -> Rendered:
        """`said` in words, with a link to the newest thread of the record where the person looks at an older state."""
        record, number = occurrence
        snapshot = self.reads.snapshot(record, number)
        rendered = rendered_told(said, snapshot)
        if said.kind not in WITH_LINK:
            return rendered
        newest = max(number, snapshot.occurrences if snapshot is not None else number)
        url = self.reads.permalink(record, newest)
        return Rendered(text=rendered.text, blocks=(*blocks_of(rendered), link_to(url))) if url else rendered

    def tell(self, place: Place, say: Callable[[], Rendered]) -> None:
        """Answer privately with what `say` returns; it is called in the background, since it may have to read."""
        if place.view_id is not None:
            self.answers.update_view(view_id=place.view_id, build=lambda: _told_view(say(), place))
        elif place.in_home:
            self.answers.open_view(
                trigger_id=place.trigger_id, view=_told_view(say(), place), too_late=lambda: _untold(place)
            )
        elif place.channel is not None:
            self.answers.ephemeral(channel=place.channel, user=place.user, thread_ts=place.thread_ts, say=say)
        else:
            _untold(place)


def _told_view(said: Rendered, place: Place) -> dict[str, Any]:
    return from_home(told_view(said)) if place.from_home else told_view(said)


def _untold(place: Place) -> None:
    logger.warning("there is no place for a private answer", extra={"user": place.user})
