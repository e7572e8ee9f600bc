"""A world's past played again, and what is compared: occurrences, reruns and asks, to the instant. It counts nothing away."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from bot.backtest.history import Looks
from bot.compose.backtest import Backtested, backtested
from bot.incidents.policy import Door
from bot.policies import load
from tests.world.clock import MONDAY_MIDNIGHT
from tests.world.world import World

LONG = timedelta(days=365)


@contextmanager
def played_again(
    world: World, policies: str | None = None, *, since: datetime = MONDAY_MIDNIGHT, until: datetime | None = None
) -> Iterator[Backtested]:
    """The world's database under those policies (None: its own), up to now."""
    doors = {Door.CHANNEL, Door.DM} | ({Door.EMAIL} if world.post is not None else set())
    with backtested(
        world.service.settings,
        load(policies or world.policies, env={}),
        since=since,
        until=until or world.now + timedelta(microseconds=1),
        warm_up=LONG,
        connect=lambda spec: world.scheduler,
        doors=frozenset(doors),
    ) as found:
        yield found


def story(looks: Looks, *, since: datetime = MONDAY_MIDNIGHT, until: datetime | None = None) -> dict[str, Counter[Any]]:
    """Everything that must be the same: occurrences, reruns, asks."""
    period = {"since": since, "until": until or since + LONG}
    return {
        "occurrences": Counter(
            (str(one.job), one.opened_at, one.status, one.outcome, one.closed_at, one.cause)
            for one in looks.occurrences(**period)
        ),
        "reruns": Counter(
            (
                str(one.job),
                one.nominal_times,
                one.automatic,
                one.first,
                one.at,
                one.by,
                one.result,
                one.amount,
                one.unit,
            )
            for one in looks.reruns(**period)
        ),
        "asks": Counter((str(one.job), one.at, one.kind, one.who) for one in looks.asks(**period)),
    }


def differences(found: Backtested, *, since: datetime = MONDAY_MIDNIGHT) -> dict[str, tuple[list[Any], list[Any]]]:
    """What happened and was not replayed, and the other way round."""
    happened, replayed = story(found.happened, since=since), story(found.replayed, since=since)
    return {
        name: (_more(was, replayed[name]), _more(replayed[name], was))
        for name, was in happened.items()
        if was != replayed[name]
    }


def _more(rows: Counter[Any], others: Counter[Any]) -> list[Any]:
    return sorted((rows - others).elements(), key=str)
