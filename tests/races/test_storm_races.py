"""Many occurrences open in one channel, in two processes: one storm, each row once, one ask."""

from datetime import timedelta

from bot.incidents.keys import JobKey
from tests.races.policies import POLICIES
from tests.races.racing import Races
from tests.races.reports import BROKE_AT, SCHEDULER, failed
from tests.races.scenes import Calm
from tests.races.town import Town, loaded
from tests.world.people import LOST_COLUMN

FEEDS = tuple(JobKey(scheduler=SCHEDULER, name=f"feed-{letter}") for letter in "abcdef")
STORMY = POLICIES.replace("defaults:", "defaults:\n  storm: {jobs: 2, window: 5m}\n  canary: {jobs: 1000}")


def before_the_storm(town: Town) -> Calm:
    """Two have failed; what fails now is one too many."""
    town.policies = loaded(STORMY)
    calm = Calm(one=town.process(), other=town.process())
    town.clock.now = BROKE_AT
    for job in FEEDS[:2]:
        calm.one.hears(failed(job, log=LOST_COLUMN))
    town.settles(calm.one)
    town.clock.now = BROKE_AT + timedelta(seconds=30)
    return calm


def rows(town: Town) -> list[int]:
    places = [town.incident(job).storm for job in FEEDS[2:]]
    return sorted(place.row for place in places if place is not None)


def test_two_failures_at_once_begin_one_storm(race: Races) -> None:
    for end in race(
        before_the_storm,
        one=lambda calm: calm.one.hears(failed(FEEDS[2], log=LOST_COLUMN)),
        other=lambda calm: calm.other.hears_all(*(failed(job, log=LOST_COLUMN) for job in FEEDS[3:])),
    ):
        assert rows(end.town) == [1, 2, 3, 4]
        assert {place.storm for job in FEEDS[2:] if (place := end.town.incident(job).storm)} == {"C0FINANCE/1"}
        asks = [post for post in end.town.room.posted if "failed at once, and need you" in str(post.message.blocks)]
        assert len(asks) == 1
        storms = [post for post in end.town.room.posted if "Storm:" in post.message.text]
        assert len(storms) == 1
