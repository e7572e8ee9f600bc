"""An occurrence of every status and variant, each played and not built by hand, so that none shows a state that cannot be."""

from collections.abc import Callable

from bot.incidents.events import (
    Acknowledged,
    AnswerKind,
    FixDeclared,
    HandOverWanted,
    LeaveWanted,
    NotNeeded,
    OwedChoice,
    PauseWanted,
    RerunWanted,
    RetireWanted,
    StartWanted,
)
from bot.incidents.keys import Action, Capability, Cost, Trigger
from bot.incidents.model import AtEnd
from tests.incidents import outages
from tests.incidents.worlds import (
    ALL,
    BEN,
    DAY,
    HOUR,
    MINUTE,
    MONDAY,
    PLATFORM,
    SAFE,
    TUESDAY,
    UNKNOWN,
    UNSAFE,
    Play,
    World,
    by,
    failed,
    late,
    rerun_of,
    run,
    started,
    succeeded,
)

POOR = {"estimate": Cost(amount=30.0)}


def opened(cause: str = UNSAFE) -> Play:
    play = Play()
    play.tell(failed(cause=cause))
    play.now += 5 * MINUTE
    return play


def open_mailed() -> Play:
    """Nobody has answered until the step that also goes by mail."""
    play = opened()
    play.after(HOUR)
    return play


def nothing() -> Play:
    return Play()


def retired_before() -> Play:
    return Play(World(changes={"retired": True}))


def open_acknowledged() -> Play:
    play = opened()
    play.tell(Acknowledged(by=by(BEN, play.now)))
    return play


def open_late() -> Play:
    play = Play(now=MONDAY + 15 * MINUTE)
    play.tell(late())
    return play


def open_lost() -> Play:
    play = rerunning_requested()
    play.answer(AnswerKind.CANNOT_TELL)
    return play


def open_by_hand() -> Play:
    play = awaiting()
    play.tell(started(run(trigger=Trigger.RERUN, generation=1), at=play.now, by="Olga"))
    return play


def open_pausing() -> Play:
    play = opened()
    play.tell(PauseWanted(by=by(at=play.now), until=play.now + 3 * DAY))
    return play


def open_pause_over() -> Play:
    play = opened()
    play.tell(PauseWanted(by=by(at=play.now), until=play.now + DAY, at_end=AtEnd.ASK))
    play.answer(AnswerKind.TAKEN, Action.PAUSE)
    play.after(DAY)
    return play


def open_handed_over() -> Play:
    play = opened()
    play.tell(HandOverWanted(by=by(at=play.now), team=PLATFORM.name, note="their gateway is down"))
    play.now += 5 * MINUTE
    return play


def open_partly_not_needed() -> Play:
    play = opened()
    play.now = TUESDAY + 20 * MINUTE
    play.tell(failed(run(TUESDAY), UNSAFE))
    play.tell(NotNeeded(by=by(at=play.now), nominal_times=(MONDAY,), reason="Tuesday brings it"))
    return play


def rerunning_fixed() -> Play:
    play = opened()
    play.tell(FixDeclared(by=by(at=play.now), what="new key", choices=((MONDAY, OwedChoice.RERUN_NOW),)))
    return play


def rerunning_backing_off() -> Play:
    play = Play()
    play.tell(failed(cause=SAFE))
    play.now += MINUTE
    return play


def rerunning_requested() -> Play:
    play = rerunning_backing_off()
    play.after(4 * MINUTE)
    return play


def rerunning_by_start() -> Play:
    play = open_late()
    play.tell(StartWanted(by=by(at=play.now)))
    return play


def rerunning_looked_up() -> Play:
    play = rerunning_requested()
    play.after(30 * MINUTE)
    return play


def rerunning() -> Play:
    play = rerunning_requested()
    play.tell(started(rerun_of(), at=play.now, rerun_key=play.incident.rerun and play.incident.rerun.key))
    return play


def rerunning_for_owner() -> Play:
    play = opened()
    play.tell(RerunWanted(by=by(at=play.now)))
    play.tell(started(rerun_of(), at=play.now, rerun_key=play.incident.rerun and play.incident.rerun.key))
    return play


def awaiting() -> Play:
    play = Play(World(changes=POOR))
    play.tell(failed(cause=SAFE))
    play.now += 5 * MINUTE
    return play


def verifying() -> Play:
    play = opened()
    play.tell(FixDeclared(by=by(at=play.now), what="put the column back", choices=((MONDAY, OwedChoice.NEXT_RUN),)))
    return play


def unconfirmed() -> Play:
    play = verifying()
    play.until(TUESDAY + HOUR)
    return play


def resumed() -> Play:
    play = paused()
    play.until(play.now + 3 * DAY)
    return play


def recovered() -> Play:
    play = rerunning()
    play.now += 20 * MINUTE
    play.tell(succeeded(rerun_of(), at=play.now, rerun_key=play.incident.rerun and play.incident.rerun.key))
    return play


def fixed() -> Play:
    play = verifying()
    play.now = TUESDAY + 30 * MINUTE
    play.tell(succeeded(run(TUESDAY), at=play.now))
    return play


def resolved_while_rerunning() -> Play:
    play = rerunning()
    play.tell(succeeded(run(run_id="manual__1", trigger=Trigger.MANUAL), at=play.now, by="Olga"))
    return play


def resolved_while_pausing() -> Play:
    play = open_pausing()
    play.tell(succeeded(run(run_id="manual__1", trigger=Trigger.MANUAL), at=play.now, by="Olga"))
    return play


def open_retiring() -> Play:
    play = opened()
    play.tell(RetireWanted(by=by(at=play.now)))
    return play


def paused() -> Play:
    play = open_pausing()
    play.answer(AnswerKind.TAKEN, Action.PAUSE)
    return play


def silenced() -> Play:
    play = opened()
    play.world.changes["can"] = ALL - {Capability.PAUSE, Capability.RESUME, Capability.RETIRE}
    play.tell(PauseWanted(by=by(at=play.now), until=play.now + 3 * DAY))
    return play


def retired() -> Play:
    play = opened()
    play.tell(RetireWanted(by=by(at=play.now), reason="replaced by the stream"))
    play.answer(AnswerKind.TAKEN, Action.RETIRE)
    return play


def left() -> Play:
    play = opened()
    play.tell(LeaveWanted(by=by(at=play.now), until=play.now + 7 * DAY, reason="harmless"))
    return play


STATES: dict[str, Callable[[], Play]] = {
    "(none)": nothing,
    "(none), the job was retired": retired_before,
    "open": opened,
    "open, cause unknown": lambda: opened(UNKNOWN),
    "open, Ben is on it": open_acknowledged,
    "open, asked by mail": open_mailed,
    "open, a row of a storm": outages.in_storm,
    "open, taken out of a storm": outages.in_storm_opened,
    "open, its run is late": open_late,
    "open, its rerun is lost": open_lost,
    "open, a run by hand took the proposal's place": open_by_hand,
    "open, a pause is recorded": open_pausing,
    "open, a retirement is recorded": open_retiring,
    "open, its pause is over and its schedule still held": open_pause_over,
    "open, handed to the platform": open_handed_over,
    "open, one of two is not needed": open_partly_not_needed,
    "rerunning, to confirm a fix": rerunning_fixed,
    "rerunning, backing off": rerunning_backing_off,
    "rerunning, requested": rerunning_requested,
    "rerunning, held by a canary": outages.rerunning_held,
    "rerunning, let go by a canary": outages.rerunning_let,
    "rerunning, its canary failed": outages.rerunning_stopped,
    "rerunning, its canary failed and the team knows": outages.rerunning_stopped_and_told,
    "rerunning, the canary of many": lambda: outages.first_of_many(rerunning()),
    "rerunning, looked up": rerunning_looked_up,
    "rerunning, running": rerunning,
    "rerunning for its owner": rerunning_for_owner,
    "rerunning, a start requested": rerunning_by_start,
    "awaiting approval": awaiting,
    "verifying": verifying,
    "verifying, unconfirmed": unconfirmed,
    "verifying, resumed": resumed,
    "resolved, recovered": recovered,
    "resolved, fixed": fixed,
    "resolved by rerun, again and again": lambda: outages.mended_again(rerunning()),
    "resolved, our rerun still runs": resolved_while_rerunning,
    "resolved, a pause is recorded": resolved_while_pausing,
    "paused": paused,
    "paused, silences only": silenced,
    "retired": retired,
    "left": left,
}
