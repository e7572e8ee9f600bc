"""What is sent: roots and replies, leases that lapse, workers that meet."""

from datetime import timedelta
from typing import Any

from bot.incidents.events import Acknowledged, Released
from bot.incidents.model import Status
from bot.store import EffectRow, EffectState, ViewRow
from tests.races.racing import End, Races
from tests.races.reports import NOMINAL, REVENUE, failed, succeeded
from tests.races.scenes import Scene, nothing_wrong, said_by
from tests.races.town import Town
from tests.world.clock import Clock
from tests.world.people import LOST_COLUMN


def nothing_posted(town: Town, *, born_leased: bool = False) -> Scene:
    """An incident was opened; its root and replies wait."""
    calm = nothing_wrong(town, born_leased=born_leased)
    calm.one.hears(failed(log=LOST_COLUMN))
    town.clock.tick()
    return Scene(one=calm.one, other=calm.other, incident=town.incident(REVENUE))


def claimed_root(scene: Scene) -> ViewRow:
    (view,) = scene.one.storage.claim_views(now=scene.one.clock(), limit=9)
    return view


def strayed(end: End[Any]) -> list[str]:
    """What stands elsewhere than under the one root, or came before what was written earlier."""
    (root,) = end.town.room.roots()
    posts = [post for post in end.town.room.posted if post.channel == root.channel and post is not root]
    loose = [post.message.key for post in posts if post.message.thread_ts != root.ts]
    rows = end.town.storage.reads.outbox(states=tuple(EffectState), limit=100)
    written_at = {row.key: row.id for row in rows}
    numbers = [written_at[post.message.key] for post in posts]
    return loose + [post.message.key for post, *_ in zip(posts, numbers, strict=True) if numbers != sorted(numbers)]


def test_a_root_that_is_posted_while_a_reply_is_added(race: Races) -> None:
    def before(town: Town) -> tuple[Scene, ViewRow]:
        scene = nothing_posted(town)
        return scene, claimed_root(scene)

    for end in race(
        before,
        worker=lambda both: both[0].one.shows(both[1]),
        ana=lambda both: both[0].other.is_told(Acknowledged(by=said_by(both[0])), both[0].incident),
    ):
        assert strayed(end) == []
        assert end.town.incident(REVENUE).acknowledgement is not None


def test_a_root_that_is_posted_by_its_process_while_another_one_sends_what_it_wrote(race_of_processes: Races) -> None:
    """Both send what they commit themselves: the reply must wait for the root, whoever has it in hand."""

    def acknowledges(scene: Scene) -> None:
        scene.other.is_told(Acknowledged(by=said_by(scene)), scene.incident)
        scene.other.delivers_its_own()

    for end in race_of_processes(
        lambda town: nothing_posted(town, born_leased=True),
        worker=lambda scene: scene.one.delivers_its_own(),
        ana=acknowledges,
    ):
        assert strayed(end) == []


def test_a_root_that_is_posted_while_another_worker_looks_for_replies(race_of_processes: Races) -> None:
    def before(town: Town) -> tuple[Scene, ViewRow]:
        scene = nothing_posted(town)
        return scene, claimed_root(scene)

    for end in race_of_processes(
        before,
        root=lambda both: both[0].one.shows(both[1]),
        replies=lambda both: both[0].other.delivers(),
    ):
        assert strayed(end) == []


def test_two_workers_that_deliver_everything(race_of_processes: Races) -> None:
    for end in race_of_processes(
        nothing_posted, one=lambda scene: scene.one.delivers(), other=lambda scene: scene.other.delivers()
    ):
        assert strayed(end) == []
        assert len(end.town.room.files) == 1


def test_a_worker_and_the_one_that_wrote(race_of_processes: Races) -> None:
    """What was born leased is its writer's; what was not is anybody's."""

    def hears_and_sends(scene: Scene) -> None:
        scene.one.hears(failed(nominal=NOMINAL + timedelta(days=1)))
        scene.one.delivers_its_own()

    for end in race_of_processes(
        lambda town: nothing_posted(town, born_leased=True),
        writer=hears_and_sends,
        worker=lambda scene: scene.other.delivers(),
    ):
        assert strayed(end) == []
        assert end.town.incident(REVENUE).count == 2


def test_a_root_whose_lease_lapses_before_its_holder_begins(race_of_processes: Races) -> None:
    """By its own clock the holder is in time; by that of the other, a little ahead, it is not."""

    def before(town: Town) -> tuple[Scene, ViewRow]:
        scene = nothing_posted(town)
        view = claimed_root(scene)
        town.clock.now += timedelta(seconds=87)
        ahead = town.process(clock=Clock(town.clock.now + timedelta(seconds=4)))
        return Scene(one=scene.one, other=ahead, incident=scene.incident), view

    for end in race_of_processes(
        before,
        holder=lambda both: both[0].one.shows(both[1]),
        other=lambda both: both[0].other.delivers(),
    ):
        assert strayed(end) == []


def test_a_message_whose_lease_lapses_before_its_holder_begins(race_of_processes: Races) -> None:
    def lapsing(town: Town) -> tuple[Scene, EffectRow]:
        scene = nothing_posted(town)
        left = scene.one.deliverer._view(claimed_root(scene))
        assert left is not None
        (row,) = left.effects
        town.clock.now += timedelta(seconds=87)
        ahead = town.process(clock=Clock(town.clock.now + timedelta(seconds=4)))
        return Scene(one=scene.one, other=ahead, incident=scene.incident), row

    for end in race_of_processes(
        lapsing,
        holder=lambda both: both[0].one.sends(both[1]),
        other=lambda both: both[0].other.delivers(),
    ):
        assert strayed(end) == []


def test_an_update_of_the_root_while_it_changes_again(race: Races) -> None:
    """The root shows the newest state in the end, however many changes it was told at once."""

    def before(town: Town) -> Scene:
        scene = nothing_posted(town)
        town.settles(scene.one)
        scene.one.is_told(Acknowledged(by=said_by(scene)), scene.incident)
        return scene

    for end in race(
        before,
        worker=lambda scene: scene.one.delivers(),
        source=lambda scene: scene.other.hears(succeeded(run_id="by-hand", generation=0)),
    ):
        (root,) = end.town.room.roots()
        assert end.town.incident(REVENUE).status is Status.RESOLVED
        assert "recovered" in str(end.town.room.shown[root.ts].text).lower()


def test_a_thread_that_moves_to_another_channel_while_its_root_is_posted(race_of_processes: Races) -> None:
    """Its root stands in one of the channels, and what follows stands under it."""

    def before(town: Town) -> tuple[Scene, ViewRow]:
        scene = nothing_posted(town)
        return scene, claimed_root(scene)

    for end in race_of_processes(
        before,
        worker=lambda both: both[0].one.shows(both[1]),
        mover=lambda both: both[0].other.storage.move_conversation(
            conversation=both[1].conversation,
            left=(both[1].channel, both[1].root_ts),
            channel="C0JOBS",
            now=both[0].other.clock(),
        ),
    ):
        found = end.town.storage.reads.conversation_of(record=end.scene[0].incident.record, number=1)
        assert found is not None
        channel, ts = found
        assert ts in {post.ts for post in end.town.room.posted if post.channel == channel}


def test_a_note_that_is_added_while_the_one_before_it_is_settled(race: Races) -> None:
    """Either the settlement sees the new note and leases it, or the writer sees that its thread is free: no sweep is needed."""

    def before(town: Town) -> tuple[Scene, EffectRow]:
        calm = nothing_posted(town)
        town.settles(calm.one)
        calm.one.is_told(Acknowledged(by=said_by(calm)), calm.incident)
        sender, writer = town.process(born_leased=True), town.process(born_leased=True)
        (row,) = sender.storage.claim_effects(now=town.clock.now, limit=9)
        return Scene(one=sender, other=writer, incident=town.incident(REVENUE)), row

    def sends(both: tuple[Scene, EffectRow]) -> int:
        both[0].one.sends(both[1])
        return len(both[0].one.room.posted)

    def releases(both: tuple[Scene, EffectRow]) -> int:
        both[0].other.is_told(Released(by=said_by(both[0])), both[0].incident)
        both[0].other.delivers_its_own()
        return len(both[0].other.room.posted)

    for end in race(before, sender=sends, writer=releases):
        assert strayed(end) == []
        assert max(end.results.values()) == len(end.town.room.posted), "something was left for the sweep"
