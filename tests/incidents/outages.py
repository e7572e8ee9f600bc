"""Occurrences that have to do with others: rows of a storm, reruns held by a canary, a failure that comes back again and again."""

from dataclasses import replace

from bot.incidents.canary import Canary, Stage
from bot.incidents.storm import Asked, Storm
from bot.incidents.storm_events import ThreadWanted
from bot.incidents.tally import Step
from tests.incidents.worlds import DAY, MINUTE, MONDAY, SAFE, UNSAFE, Play, World, by, failed, rerun_of, succeeded


def in_storm() -> Play:
    """Many occurrences opened in its channel just before it, and its team was asked about one of them."""
    begun = Storm(
        channel="C0FINANCE",
        opened=(Step(begins_at=MONDAY + 19 * MINUTE, count=40),),
        number=1,
        rows=30,
        last_at=MONDAY + 20 * MINUTE,
        asked=(Asked(who="team finance-data", step=0, at=MONDAY + 19 * MINUTE),),
    )
    play = Play(World(changes={"storm": begun}))
    play.tell(failed(cause=UNSAFE))
    play.now += 5 * MINUTE
    return play


def in_storm_opened() -> Play:
    play = in_storm()
    play.tell(ThreadWanted(by=by(at=play.now)))
    return play


def rerunning_held() -> Play:
    """Many other jobs failed alike, and the rerun of one of them is out."""
    flying = Canary(cause=SAFE, wave=1, gone=1, out=1, planned=2)
    play = Play(World(changes={"canaries": (flying,), "stage": Stage.HELD}))
    play.tell(failed(cause=SAFE))
    play.now += 30 * MINUTE
    return play


def rerunning_let() -> Play:
    play = rerunning_held()
    play.world.changes["stage"] = Stage.LET
    return play


def rerunning_stopped() -> Play:
    play = rerunning_held()
    stopped = Canary(cause=SAFE, stopped_at=play.now, stopped_by="airflow-prod/finance.feed")
    play.world.changes |= {"stage": Stage.STOPPED, "canaries": (stopped,)}
    return play


def rerunning_stopped_and_told() -> Play:
    play = rerunning_stopped()
    (stopped,) = play.world.changes["canaries"]
    play.world.changes["canaries"] = (replace(stopped, told=("finance-data",)),)
    return play


def first_of_many(play: Play) -> Play:
    """Its own rerun, which runs, is the canary."""
    play.world.changes |= {"canaries": (Canary(cause=SAFE, wave=1, gone=1, out=1, held=9),), "stage": Stage.OUT}
    return play


def mended_again(play: Play) -> Play:
    """The rerun that runs is the third within a week that mends it, in the night."""
    key = play.incident.rerun.key if play.incident.rerun else None
    nights = (MONDAY - DAY, MONDAY - 2 * DAY)
    play.tell(succeeded(rerun_of(), at=play.now, rerun_key=key), recovered=nights)
    play.world.changes["recovered"] = (play.now, *nights)
    return play
