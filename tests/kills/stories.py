"""What happens to jobs while processes die: each story is played by one thread, step by step, each step until it is taken.

How a story ends is known when it begins, whatever dies in between; whether it did is judged in `audit`.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

import httpx

from bot.incidents.model import Status
from bot.sandbox.slack.client import ActRefused
from tests.kills import company
from tests.kills.journals import NotSeen
from tests.kills.source import Source, event
from tests.kills.town import Town

Json = dict[str, Any]
MONDAY = datetime(2026, 11, 30, 3, tzinfo=UTC)
DAY = timedelta(days=1)
PATIENCE = 150.0
MODAL_WITHIN = 4.0
SCREEN = threading.Lock()
CLICK_AGAIN_AFTER = 0.1
OK = 200


class Kind(StrEnum):
    """`safe` is rerun and recovers, `twice` owes two times (in two occurrences, if one is paid before the other fails),
    `strange` waits for its owner, `acknowledged` has one, `approved` costs nobody knows what and is rerun on the owner's
    word, `paused` is, `mended` is run by hand, `well` never fails.
    """

    SAFE = "safe"
    TWICE = "twice"
    STRANGE = "strange"
    ACKNOWLEDGED = "acknowledged"
    APPROVED = "approved"
    PAUSED = "paused"
    MENDED = "mended"
    WELL = "well"


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """How a story ends: the occurrence's status (None: it never had one), and how many reruns and pauses were taken."""

    status: Status | None
    reruns: int = 0
    pauses: int = 0


ENDS: Mapping[Kind, End] = {
    Kind.SAFE: End(status=Status.RESOLVED, reruns=1),
    Kind.TWICE: End(status=Status.RESOLVED, reruns=2),
    Kind.STRANGE: End(status=Status.OPEN),
    Kind.ACKNOWLEDGED: End(status=Status.OPEN),
    Kind.APPROVED: End(status=Status.RESOLVED, reruns=1),
    Kind.PAUSED: End(status=Status.PAUSED, pauses=1),
    Kind.MENDED: End(status=Status.RESOLVED),
    Kind.WELL: End(status=None),
}


@dataclass(slots=True)
class Story:
    """One job's story. `failed` are the nominal times whose failures were taken in."""

    kind: Kind
    team: str
    name: str
    town: Town
    source: Source
    failed: list[datetime] = field(default_factory=list)
    done: threading.Event = field(default_factory=threading.Event)
    went_wrong: BaseException | None = None
    _pause: threading.Event = field(default_factory=threading.Event)

    @property
    def job(self) -> str:
        return f"{self.team}-{self.name}"

    def play(self) -> None:
        """To its last step; what goes wrong is kept for whoever waits."""
        try:
            PLAYED[self.kind](self)
        except BaseException as wrong:
            self.went_wrong = wrong
            raise
        finally:
            self.done.set()

    def good(self, nominal: datetime, **run: Any) -> None:
        self.source.report([event("succeeded", self.job, nominal=nominal, **run)])

    def fails(self, nominal: datetime, error: str) -> None:
        self.source.report([event("failed", self.job, nominal=nominal, error=error)])
        self.failed.append(nominal)

    def presses(self, action: str, *, until: Callable[[], Any]) -> None:
        """The owner presses the button in the job's thread, until the product has answered or has surely taken it."""
        seen = self.town.seen
        while not until():
            seen.wait_for(
                lambda: seen.message_with(action, self.job) or until(), within=PATIENCE, what=f"{action} of {self.job}"
            )
            if (found := seen.message_with(action, self.job)) is not None and self._clicks(action, *found):
                return

    def _clicks(self, action: str, channel: str, ts: str, button: Json) -> bool:
        place = {"channel": channel, "ts": ts, "block_id": button["block_id"]}
        return self._acts(lambda: self.town.workspace.click(user=company.OWNER, action_id=action, **place))

    def pauses(self) -> None:
        """By the modal behind More; what was half done when the product died is begun anew."""
        with SCREEN:
            while not self._is_paused():
                self._tries_to_pause()

    def _is_paused(self) -> bool:
        return any(request["job"] == self.job for request in self.town.seen.taken("pause"))

    def _tries_to_pause(self) -> None:
        seen, slack = self.town.seen, self.town.workspace
        known = len(seen.views)
        self.presses("more", until=self._is_paused)
        try:
            more = seen.wait_for(lambda: seen.view_with("more:pause", known), within=MODAL_WITHIN, what="More")
            press = {"action_id": "pause", "view_id": more["id"], "block_id": "more:pause"}
            if not self._acts(lambda: slack.click(user=company.OWNER, **press)):
                return
            form = seen.wait_for(lambda: seen.view_with("until", known), within=MODAL_WITHIN, what="Pause")
            until = {"until": int((datetime.now(UTC) + DAY).timestamp()), "reason": "known"}
            if self._acts(lambda: slack.submit(user=company.OWNER, values=until, view_id=form["id"])):
                seen.wait_for(self._is_paused, within=MODAL_WITHIN, what=f"the pause of {self.job}")
        except NotSeen:
            return

    def _acts(self, act: Callable[[], Json]) -> bool:
        try:
            if act()["status"] == OK:
                return True
        except (ActRefused, httpx.HTTPError):
            pass
        self._pause.wait(CLICK_AGAIN_AFTER)
        return False


def safe(story: Story) -> None:
    story.good(MONDAY - DAY)
    story.fails(MONDAY, company.RESET)


def twice(story: Story) -> None:
    story.good(MONDAY - DAY)
    story.fails(MONDAY, company.RESET)
    story.fails(MONDAY + DAY, company.RESET)


def strange(story: Story) -> None:
    story.fails(MONDAY, company.STRANGE)
    story.fails(MONDAY, company.STRANGE)


def acknowledged(story: Story) -> None:
    story.fails(MONDAY, company.STRANGE)
    story.presses("ack", until=lambda: story.town.seen.message_with("ack_1h", story.job))


def approved(story: Story) -> None:
    story.fails(MONDAY, company.RESET)
    story.presses("approve", until=lambda: any(each["job"] == story.job for each in story.town.seen.taken("rerun")))


def paused(story: Story) -> None:
    story.fails(MONDAY, company.STRANGE)
    story.pauses()


def mended(story: Story) -> None:
    story.fails(MONDAY, company.STRANGE)
    story.good(MONDAY, generation=1, trigger="manual")


def well(story: Story) -> None:
    for day in range(3):
        story.good(MONDAY + day * DAY)


PLAYED: Mapping[Kind, Callable[[Story], None]] = {
    Kind.SAFE: safe,
    Kind.TWICE: twice,
    Kind.STRANGE: strange,
    Kind.ACKNOWLEDGED: acknowledged,
    Kind.APPROVED: approved,
    Kind.PAUSED: paused,
    Kind.MENDED: mended,
    Kind.WELL: well,
}
