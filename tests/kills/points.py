"""The named moments at which a process is killed: each plays a story to that moment, and leaves the product dead.

Where the moment is inside a call, the stand-in that gets the call kills its caller. Where it is in the database or in the
product itself, it is what can be seen from outside.
"""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from tests.kills import company
from tests.kills.edge import Moment
from tests.kills.load import Load
from tests.kills.picture import Watch
from tests.kills.rest import until
from tests.kills.source import event
from tests.kills.stories import MONDAY, Kind
from tests.kills.town import StandIn, Town

IN_TIME = 45.0
PROCESS = "run"
POST, UPDATE, SHARE, BYTES = "/chat.postMessage", "/chat.update", "/files.completeUploadExternal", "/upload/v1/"
LOOK, ASKED = "/conversations.history", "/ontrack"


class NotKilled(Exception):
    """The moment did not come."""


@dataclass(slots=True, kw_only=True)
class Stage:
    """What a point has at hand; the product lives when it begins, and is dead when it ends."""

    town: Town
    load: Load
    watch: Watch


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """`name` is also the name of the team whose job it is."""

    name: str
    play: Callable[[Stage, str], None]


@contextmanager
def dies_in(stage: Stage, where: StandIn, path: str, moment: Moment, **calls: tuple[str, ...]) -> Iterator[None]:
    """In or after the block such a call comes, and its caller dies of it."""
    stage.town.trap(where, path, moment, role=PROCESS, **calls)
    yield
    if not where.has_sprung(within=IN_TIME):
        raise NotKilled(f"no call of {path} with {calls}")
    stage.town.buried(PROCESS)


def in_root(moment: Moment, kind: Kind = Kind.STRANGE) -> Callable[[Stage, str], None]:
    def play(stage: Stage, team: str) -> None:
        contains = (company.channel_of(team),)
        with dies_in(stage, stage.town.slack, POST, moment, contains=contains, lacks=('"thread_ts"',)):
            stage.load.begin(kind, team=team, name="root")

    return play


def in_reply(moment: Moment, kind: Kind = Kind.SAFE) -> Callable[[Stage, str], None]:
    def play(stage: Stage, team: str) -> None:
        contains = (company.channel_of(team), '"thread_ts"')
        with dies_in(stage, stage.town.slack, POST, moment, contains=contains):
            stage.load.begin(kind, team=team, name="reply")

    return play


def in_update(moment: Moment) -> Callable[[Stage, str], None]:
    def play(stage: Stage, team: str) -> None:
        with dies_in(stage, stage.town.slack, UPDATE, moment, contains=(company.channel_of(team),)):
            stage.load.begin(Kind.SAFE, team=team, name="update")

    return play


def in_sharing(moment: Moment) -> Callable[[Stage, str], None]:
    def play(stage: Stage, team: str) -> None:
        with dies_in(stage, stage.town.slack, SHARE, moment, contains=(company.channel_of(team),)):
            stage.load.begin(Kind.STRANGE, team=team, name="share")

    return play


def in_bytes(stage: Stage, team: str) -> None:
    with dies_in(stage, stage.town.slack, BYTES, Moment.TAKEN, contains=(f"loading {team}-bytes",)):
        stage.load.begin(Kind.STRANGE, team=team, name="bytes")


def in_request(action: str, moment: Moment, kind: Kind) -> Callable[[Stage, str], None]:
    def play(stage: Stage, team: str) -> None:
        contains = (f'"{action}"', f"{team}-{action}")
        with dies_in(stage, stage.town.scheduler, ASKED, moment, contains=contains):
            stage.load.begin(kind, team=team, name=action)

    return play


def in_look(stage: Stage, team: str) -> None:
    """Twice: in the post of a root, and in the look for it in the next life."""
    in_root(Moment.TAKEN, Kind.SAFE)(stage, team)
    stage.town.start()
    with dies_in(stage, stage.town.slack, LOOK, Moment.ARRIVED):
        pass


def event_without_answer(stage: Stage, team: str) -> None:
    job = f"{team}-unread"
    stage.load.source.sends_and_hangs_up([event("failed", job, nominal=MONDAY, error=company.STRANGE)])
    stage.town.kill()
    stage.load.begin(Kind.STRANGE, team=team, name="unread")


def event_with_answer(stage: Stage, team: str) -> None:
    story = stage.load.begin(Kind.STRANGE, team=team, name="read")
    until(lambda: story.failed, within=IN_TIME, what="an answer")
    stage.town.kill()


def as_a_click_is_taken(stage: Stage, team: str) -> None:
    """The word is stored; whether the click was answered, nobody knows."""
    job = f"{team}-click"
    stage.load.begin(Kind.ACKNOWLEDGED, team=team, name="click")
    until(lambda: stage.watch.is_acknowledged(job), within=IN_TIME, what="the acknowledgement")
    stage.town.kill()


def approval(stage: Stage, team: str) -> None:
    with dies_in(stage, stage.town.scheduler, ASKED, Moment.TAKEN, contains=('"rerun"', f"{team}-approve")):
        stage.load.begin(Kind.APPROVED, team=team, name="approve")


def as_the_row_appears(stage: Stage, team: str) -> None:
    stage.load.begin(Kind.STRANGE, team=team, name="row")
    until(lambda: stage.watch.rows_of(f"{team}-row"), within=IN_TIME, what="a row of the outbox")
    stage.town.kill()


def as_the_timer_comes_due(stage: Stage, team: str) -> None:
    stage.load.begin(Kind.SAFE, team=team, name="timer")
    due: list[datetime] = []
    until(lambda: _noted(due, stage.watch.timer_of(f"{team}-timer", "rerun")), within=IN_TIME, what="a timer")
    until(lambda: datetime.now(UTC) >= due[-1], within=IN_TIME, what="the instant")
    stage.town.kill()


def as_it_is_settled(stage: Stage, team: str) -> None:
    stage.load.begin(Kind.SAFE, team=team, name="settled")
    until(lambda: stage.watch.is_resolved(f"{team}-settled"), within=IN_TIME, what="the end of the occurrence")
    stage.town.kill()


def while_it_shuts_down(stage: Stage, team: str) -> None:
    """Told to stop while a call is under way, and killed before it was answered."""
    stage.town.workspace.inject("chat.postMessage", channel=company.channel_of(team), delay_ms=1500)
    stage.load.begin(Kind.STRANGE, team=team, name="stopping")
    until(stage.town.slack.faults_met, within=IN_TIME, what="the call")
    stage.town.tell(PROCESS, signal.SIGTERM)
    until(lambda: not stage.town.answers(), within=IN_TIME, what="the end of the answers")
    stage.town.kill()


def while_policies_are_published(stage: Stage, team: str) -> None:
    known = stage.watch.published()
    stage.load.begin(Kind.SAFE, team=team, name="policies")
    stage.town.write_policies(remark=team)
    until(lambda: stage.watch.published() > known, within=IN_TIME, what="another version")
    stage.town.kill()


def while_it_starts(stage: Stage, team: str) -> None:
    """Twice in a row, a moment after it began."""
    stage.load.begin(Kind.SAFE, team=team, name="starting")
    for part in (0.1, 0.4):
        stage.town.kill()
        stage.town.begin(PROCESS)
        ends = time.monotonic() + part
        until(lambda ends=ends: time.monotonic() > ends, within=IN_TIME, what="a moment")
    stage.town.kill()


def in_migration(stage: Stage) -> None:
    """Before anything else: the first life ends in the middle of making the schema."""
    stage.town.begin(PROCESS)
    until(stage.watch.is_being_migrated, within=IN_TIME, what="the migration")
    stage.town.kill()


POINTS = (
    Point(name="rootarrived", play=in_root(Moment.ARRIVED)),
    Point(name="rootlater", play=in_root(Moment.ARRIVED_AND_TAKEN_LATER)),
    Point(name="rootanswered", play=in_root(Moment.ANSWERED, Kind.SAFE)),
    Point(name="replyarrived", play=in_reply(Moment.ARRIVED)),
    Point(name="replylater", play=in_reply(Moment.ARRIVED_AND_TAKEN_LATER)),
    Point(name="replytaken", play=in_reply(Moment.TAKEN, Kind.STRANGE)),
    Point(name="replyanswered", play=in_reply(Moment.ANSWERED)),
    Point(name="bytes", play=in_bytes),
    Point(name="sharetaken", play=in_sharing(Moment.TAKEN)),
    Point(name="shareanswered", play=in_sharing(Moment.ANSWERED)),
    Point(name="updatearrived", play=in_update(Moment.ARRIVED)),
    Point(name="updatetaken", play=in_update(Moment.TAKEN)),
    Point(name="rerunarrived", play=in_request("rerun", Moment.ARRIVED, Kind.SAFE)),
    Point(name="rerunlater", play=in_request("rerun", Moment.ARRIVED_AND_TAKEN_LATER, Kind.SAFE)),
    Point(name="reruntaken", play=in_request("rerun", Moment.TAKEN, Kind.SAFE)),
    Point(name="rerunanswered", play=in_request("rerun", Moment.ANSWERED, Kind.TWICE)),
    Point(name="approved", play=approval),
    Point(name="pausetaken", play=in_request("pause", Moment.TAKEN, Kind.PAUSED)),
    Point(name="clicked", play=as_a_click_is_taken),
    Point(name="eventunread", play=event_without_answer),
    Point(name="eventread", play=event_with_answer),
    Point(name="rowappears", play=as_the_row_appears),
    Point(name="timerdue", play=as_the_timer_comes_due),
    Point(name="settled", play=as_it_is_settled),
    Point(name="stopping", play=while_it_shuts_down),
    Point(name="policies", play=while_policies_are_published),
    Point(name="starting", play=while_it_starts),
    Point(name="looked", play=in_look),
)


def _noted(found: list[datetime], at: datetime | None) -> bool:
    if at is not None:
        found.append(at)
    return at is not None
