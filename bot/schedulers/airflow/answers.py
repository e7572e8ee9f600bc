"""What a call to Airflow, or its failure, is as the answer of a scheduler; it must not call anything by itself."""

from collections.abc import Callable
from datetime import timedelta

from bot.ports import SchedulerAnswer, Taken
from bot.wire.exchange import NoAnswer, NotSent, Refused, Unwell

AGAIN_AFTER = timedelta(seconds=10)
TROUBLES = (Refused, Unwell, NotSent, NoAnswer)

Send = Callable[[], None]


class No(Exception):
    """Nothing is asked, and why."""


class Already(Exception):
    """It was asked for before, and where that shows."""


def prepared(prepare: Callable[[], Send]) -> SchedulerAnswer:
    """Look first, then ask; whatever goes wrong before the request itself has changed nothing."""
    try:
        send = prepare()
    except No as no:
        return refused(str(no))
    except Already as done:
        return SchedulerAnswer(taken=Taken.ALREADY, message=str(done))
    except Refused as no:
        return SchedulerAnswer(taken=Taken.REFUSED, message=str(no), retry_after=no.retry_after)
    except Unwell as unwell:
        wait = unwell.retry_after or AGAIN_AFTER
        return SchedulerAnswer(taken=Taken.REFUSED, message=str(unwell), retry_after=wait)
    except (NotSent, NoAnswer) as nothing:
        return SchedulerAnswer(taken=Taken.REFUSED, message=str(nothing), retry_after=AGAIN_AFTER)
    return changed(send)


def changed(send: Send) -> SchedulerAnswer:
    """The answer to the request itself; one that got no answer may have been taken."""
    try:
        send()
    except Refused as no:
        return SchedulerAnswer(taken=Taken.REFUSED, message=str(no), retry_after=no.retry_after)
    except NotSent as nothing:
        return SchedulerAnswer(taken=Taken.REFUSED, message=str(nothing), retry_after=AGAIN_AFTER)
    except (Unwell, NoAnswer) as unknown:
        return SchedulerAnswer(taken=Taken.UNCERTAIN, message=str(unknown))
    return SchedulerAnswer(taken=Taken.TAKEN)


def refused(message: str) -> SchedulerAnswer:
    return SchedulerAnswer(taken=Taken.REFUSED, message=message)
